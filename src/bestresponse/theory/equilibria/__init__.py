"""Nash equilibria of games in normal form."""
