"""Solved games of `bestresponse export sft --purpose rl`: `vf-eval bestresponse_solved_games`."""

from bestresponse.integrations.verifiers.environments import ChatHarness, NashGapEnv, SolvedTaskset

__all__ = ["ChatHarness", "NashGapEnv", "SolvedTaskset"]
