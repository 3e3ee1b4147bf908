"""Any game against solvers, strategies and other models: `vf-eval bestresponse_game`."""

from bestresponse.integrations.verifiers.game import GameEnv, GameTaskset
from bestresponse.integrations.verifiers.harness import ChatHarness

__all__ = ["ChatHarness", "GameEnv", "GameTaskset"]
