"""The public goods game."""
