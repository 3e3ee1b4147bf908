"""Games in normal form, played once or repeatedly."""
