"""The benchmark on games played in turn: a model's policy, information set by information set."""
