"""Links that cannot be guessed, and limits on requests."""
