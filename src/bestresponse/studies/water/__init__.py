"""The Water Allocation Challenge as a study: many games, their indicators, their report."""
