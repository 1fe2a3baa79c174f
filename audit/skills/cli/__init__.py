"""The commands `caveat analyze skills` and `caveat analyze contamination`, their sessions, presenters and page."""
