"""The HTML pages of the web app."""
