"""Read claims by rules for single phrases, formulas and tables."""
