"""The commands `caveat skills` and `caveat contamination`, their sessions, presenters and page."""
