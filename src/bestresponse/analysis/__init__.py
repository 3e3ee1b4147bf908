"""Say what theory knows of a game, what each decision cost, and how far raters agree."""
