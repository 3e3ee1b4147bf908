"""The diner's dilemma."""
