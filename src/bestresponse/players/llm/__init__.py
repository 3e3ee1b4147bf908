"""Language models in a seat: prompts, reading of answers, agents."""
