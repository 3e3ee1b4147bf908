"""Terms, tokens and the reader of the logic language."""
