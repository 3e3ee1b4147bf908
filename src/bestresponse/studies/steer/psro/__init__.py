"""Prompt-space response oracles."""
