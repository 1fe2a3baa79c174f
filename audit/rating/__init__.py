"""A model judge beside blind raters: asked about the items of a rating sheet one by one, or in pairs."""
