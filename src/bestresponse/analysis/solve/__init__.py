"""Everything known of one game, gathered: equilibria and how good they are, dominance, efficiency
and kind."""
