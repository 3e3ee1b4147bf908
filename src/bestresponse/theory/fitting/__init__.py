"""Models of bounded rationality: quantal response and level-k."""
