"""What recorded play says about players: mixtures of strategies, noisy and bounded reasoning."""
