"""Which candidates a search goes on playing, on scores worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from bestresponse.studies.steer.meta_game import MetaSolution
from bestresponse.studies.steer.oracles import Oracle


class FixedArena:
    """Plays worth 0, 1, 2, 3, 4, 0, 1, ... plus what the first seat's manner adds."""

    def __init__(self, added):
        self.added = added

    def learn(self, manner):
        assert manner in self.added

    def sample_many(self, wanted):
        return np.array([[self.added[manner] + number % 5, 0.0] for (manner, _), number in wanted])


@pytest.mark.parametrize(("behind", "plays"), [(0.0, 15), (1.5, 15), (2.9, 15), (3.1, 5), (9.0, 5)])
def test_a_candidate_drops_out_when_it_is_more_than_three_standard_errors_behind(behind, plays):
    # Five plays 0, 1, 2, 3, 4 have variance 2.5: the standard error of a mean is sqrt(0.5), of a
    # difference 1.
    arena = FixedArena({"leader": 10.0, "other": 10.0 - behind})
    solution = MetaSolution(np.ones((1, 1)), (np.ones(1), np.ones(1)), np.zeros(2))
    oracle = Oracle(arena, SimpleNamespace(), 0, (("calm",), ("calm",)), solution, 15, 2, 0, 0)
    leader, other = oracle.score(["leader", "other"])
    assert (leader.score, leader.plays) == (12.0, 15)
    assert (other.score, other.plays) == (pytest.approx(12.0 - behind), plays)
