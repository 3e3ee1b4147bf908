"""Strategies in a seat."""
