"""Round robins of strategies and models in a repeated game."""
