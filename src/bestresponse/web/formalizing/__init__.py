"""The editor of game programs."""
