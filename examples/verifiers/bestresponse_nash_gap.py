"""Mixed strategies of random zero-sum games: `vf-eval bestresponse_nash_gap`."""

from bestresponse.integrations.verifiers.harness import ChatHarness
from bestresponse.integrations.verifiers.nash_gap import NashGapEnv, NashGapTaskset

__all__ = ["ChatHarness", "NashGapEnv", "NashGapTaskset"]
