"""When a play that was lost with its worker is given up."""

from bestresponse.runs.executors.losses import Losses
from bestresponse.runs.spec import Spec

PLAY = Spec("one", {})


def test_a_play_is_given_up_after_three_workers_that_ended_nothing():
    losses = Losses()
    assert losses.count(PLAY, ended=0) is None
    assert losses.count(PLAY, ended=0) is None
    assert losses.count(Spec("two", {}), ended=0) is None
    assert str(losses.count(PLAY, ended=0).error) == "workers were lost again and again while they played one"


def test_a_worker_that_had_ended_other_plays_counts_a_tenth():
    losses = Losses()
    assert [losses.count(PLAY, ended=5) for _ in range(29)] == [None] * 29
    assert losses.count(PLAY, ended=5).spec == PLAY
