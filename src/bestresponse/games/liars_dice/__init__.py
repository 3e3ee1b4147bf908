"""Liar's dice."""
