"""Games in normal form and what can be said of them without solving them."""
