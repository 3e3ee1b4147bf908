"""Learning and evolutionary dynamics."""
