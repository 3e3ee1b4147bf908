"""Divide the dollar."""
