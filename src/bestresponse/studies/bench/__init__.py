"""How far from optimal a model plays: Nash gap and exploitability on generated matrix games."""
