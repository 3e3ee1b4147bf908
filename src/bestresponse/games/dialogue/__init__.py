"""Dialogues as extensive-form games."""
