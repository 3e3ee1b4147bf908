"""Wrappers that cache, retry, limit and meter the calls of a model."""
