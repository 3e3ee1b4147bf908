"""Environments for verifiers (extra `verifiers`).

The modules in `examples/verifiers` give them the ids it loads.
"""
