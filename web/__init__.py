"""The registry on the web: pages for people, documents for programs, as files and over HTTP."""
