"""Experiments: what to play, what to measure, what was found."""
