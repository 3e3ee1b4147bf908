"""The common pool."""
