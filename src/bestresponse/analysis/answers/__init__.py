"""Single answers of theory by name: dynamics of play, and solution concepts besides the Nash equilibria of `solve`."""
