"""How long mixed equilibria of several players are searched unless the caller says otherwise."""

__all__ = ["SECONDS"]

SECONDS = 30.0
