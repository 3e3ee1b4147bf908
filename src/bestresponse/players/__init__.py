"""Whoever can sit in a seat: strategies, mixed strategies, language models, people at a terminal,
and wrappers."""
