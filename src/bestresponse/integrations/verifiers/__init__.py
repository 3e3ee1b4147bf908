"""Environments for verifiers (extra `verifiers`); the modules in `examples/verifiers` give them the
ids it loads."""
