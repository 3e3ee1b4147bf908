"""Games in extensive form."""
