"""How long mixed equilibria of several players are searched unless the caller says otherwise."""

SECONDS = 30.0
