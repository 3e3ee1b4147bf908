"""Any game against solvers, strategies and other models: `vf-eval bestresponse_game`."""

from bestresponse.integrations.verifiers.environments import ChatHarness, GameEnv, GameTaskset

__all__ = ["ChatHarness", "GameEnv", "GameTaskset"]
