"""The benchmark on games of perfect information: what every single move loses."""
