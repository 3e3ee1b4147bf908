"""What a dialogue may lead to: one module for each kind of deal."""
