"""Recorded play of models and people: read from any file, checked, and described by strategies and
parameters."""
