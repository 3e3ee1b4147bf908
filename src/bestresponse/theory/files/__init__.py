"""Games in files: Gambit's formats and JSON."""
