"""A game asked for in small questions: its draws and choices in order, then what everybody gets at each end."""
