"""Dialogue steered by equilibrium solvers: build the tree once, solve it, and play.

Guided speakers play against unguided ones.
"""
