"""Two-player zero-sum games, many at once."""
