"""The sixth stage: examples with the solver's answers, and training on them."""
