"""Checked examples: `NAME.txt` tells a story, `NAME.pl` is its game."""

__all__: list[str] = []
