"""Mixed strategies of random zero-sum games: `vf-eval bestresponse_nash_gap`."""

from bestresponse.integrations.verifiers.environments import ChatHarness, NashGapEnv, NashGapTaskset

__all__ = ["ChatHarness", "NashGapEnv", "NashGapTaskset"]
