"""Whoever can sit in a seat.

These are strategies, mixed strategies, language models, people at a terminal, and wrappers.
"""
