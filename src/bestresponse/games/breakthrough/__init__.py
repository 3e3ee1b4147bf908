"""Breakthrough."""
