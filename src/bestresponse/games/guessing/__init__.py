"""The guessing game."""
