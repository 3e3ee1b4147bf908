"""Dialogue steered by equilibrium solvers: build the tree once, solve it, play guided against
unguided."""
