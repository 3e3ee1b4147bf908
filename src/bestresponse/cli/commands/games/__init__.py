"""Commands about a game: list, solve, check, compare and convert."""
