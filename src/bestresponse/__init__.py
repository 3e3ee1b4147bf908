"""Language models meet game theory: describe, formalize, solve, play, measure."""

__version__ = "0.1.0"
