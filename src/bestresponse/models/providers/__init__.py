"""Providers of language models."""
