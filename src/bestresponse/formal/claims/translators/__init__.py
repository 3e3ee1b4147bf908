"""Find claims about a game in text."""
