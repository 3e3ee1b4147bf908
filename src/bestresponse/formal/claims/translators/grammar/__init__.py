"""Read claims by a clause grammar over kinds of words."""
