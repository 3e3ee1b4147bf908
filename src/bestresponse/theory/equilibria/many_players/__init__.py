"""Nash equilibria of games with more than two players."""
