"""All that is known of a game: equilibria, their quality, dominance, efficiency, kind."""
