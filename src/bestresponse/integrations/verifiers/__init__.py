"""Environments for verifiers (extra `verifiers`); the top-level modules `bestresponse_*` are the ids it loads."""
