"""Published results found again from recorded runs: each number beside the one in print."""
