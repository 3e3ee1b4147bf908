"""Equilibria that hold in every subgame and at every information set, reached or not."""
