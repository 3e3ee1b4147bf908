"""Every setting of a study that is a number: what it is if nothing is said, and where it ends on
both sides."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.studies.behave.config import BehaveConfig
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.improve.contents import Hashed
from bestresponse.studies.improve.rounds import ImproveConfig
from bestresponse.studies.improve.study import TrainConfig
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.stories.study import StoriesConfig
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import Contestant
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.water.config import WaterConfig

SEED = (0, -1, 0, 2**63 - 1, 2**63)


def tokens(usual):
    return (usual, 0, 1, 100_000, 100_001)


def warmth(usual):
    return (usual, -0.1, 0.0, 5.0, 5.1)


# By setting: the default, a value just too small, the least, the most, a value just too large;
# None: not tried.
AGENTS = {
    "repeats": (10, 0, 1, 1_000_000, 1_000_001),
    "seed": SEED,
    "attempts": (3, 0, 1, 20, 21),
    "temperature": warmth(0.7),
    "max_tokens": tokens(512),
}
MATCHES = {**AGENTS, "rounds": (1, 0, 1, 10_000, 10_001)}
STUDIES = {
    "bench": (
        lambda **settings: BenchConfig("m", elicit="sampled", **settings),
        {
            "num_games": (100, 0, 1, 1_000_000, 1_000_001),
            "num_rows": (3, 0, 1, 12, 13),
            "num_cols": (3, 0, 1, 12, 13),
            "scale": (100.0, 0.0, 1e-9, 9.9e11, 1e12),
            "decimals": (0, -1, 0, 12, 13),
            "reasoning_tokens": (None, 0, None, None, 1_000_001),
            "max_tokens": tokens(4000),
            "samples": (10, 0, 1, 10_000, 10_001),
            "attempts": (1, 0, 1, 20, 21),
            "seed": (0, -1, 0, None, None),
        },
    ),
    "behave": (
        lambda **settings: BehaveConfig(["run"], strategies=("grim",), **settings),
        {"bootstraps": (200, 19, 20, 100_000, 100_001), "seed": SEED},
    ),
    "train": (
        lambda **settings: TrainConfig(
            Hashed("weights", ""), data=(Hashed("examples", ""),), **settings
        ),
        {
            "minutes": (20.0, 0.0, 0.001, 100_000, 100_001),
            "steps": (None, 0, 1, None, None),
            "learning_rate": (None, 0.0, 1e-9, 0.999, 1.0),
            "batch_tokens": (32_768, 511, 512, 4_194_304, 4_194_305),
            "lora": (None, 0, 1, 1024, 1025),
        },
    ),
    "improve": (
        lambda **settings: ImproveConfig(Hashed("weights", ""), **settings),
        {
            "rounds": (3, 0, 1, 100, 101),
            "questions": (50, 3, 4, 10_000, 10_001),
            "examples": (50_000, 99, 100, 10_000_000, 10_000_001),
            "minutes": (10.0, 0.0, 0.001, 100_000, 100_001),
            "steps": (None, 0, 1, None, None),
            "lora": (None, 0, 1, 1024, 1025),
            "learning_rate": (None, 0.0, 1e-9, 0.999, 1.0),
            "batch_tokens": (32_768, 511, 512, 4_194_304, 4_194_305),
            "seed": (0, -1, 0, None, None),
        },
    ),
    "simulate": (lambda **settings: SimulateConfig("hawk-dove", "m", **settings), MATCHES),
    "steer": (
        lambda **settings: SteerConfig("meeting", "simulated", **settings),
        {
            "games": (1, 0, 1, None, None),
            "replies": (1, 0, 1, None, None),
            "wordings": (1, 0, 1, None, None),
            "types": (1, 0, 1, None, None),
            "iterations": (1000, 0, 1, None, None),
            "candidates": (3, 0, None, None, None),
            "plays": (20, 0, None, None, None),
            "temperature": (0.7, -0.1, None, 9.9, 10.0),
            "max_tokens": (200, 0, 1, None, None),
            "fresh": (4, -1, 0, None, None),
            "farthest": (0.5, -0.1, 0.0, 2.0, 2.1),
            "max_nodes": (500_000, 0, 1, None, None),
        },
    ),
    "stories": (
        lambda **settings: StoriesConfig("m", **settings),
        {
            "attempts": (5, 0, 1, 20, 21),
            "shots": (1, -1, 0, 10, 11),
            "max_tokens": tokens(1500),
            "temperature": warmth(0.0),
            "samples": (1, 0, 1, 1000, 1001),
        },
    ),
    "tournament": (
        lambda **settings: TournamentConfig("prisoners-dilemma", ["tit-for-tat"], **settings),
        {
            "rounds": (10, 0, 1, 100_000, 100_001),
            "repetitions": (None, 0, 1, 1_000_000, 1_000_001),
            "seed": SEED,
            "temperature": warmth(0.0),
            "max_tokens": tokens(256),
            "attempts": (1, 0, 1, 20, 21),
        },
    ),
    "verify": (
        lambda **settings: VerifyConfig("m", "prisoners-dilemma", **settings),
        {
            "repeats": (30, 0, 1, 100_000, 100_001),
            "attempts": (5, 0, 1, 20, 21),
            "temperature": warmth(1.0),
            "max_tokens": tokens(1024),
        },
    ),
    "water": (
        lambda **settings: WaterConfig("m", **settings),
        {**AGENTS, "days": (None, 0, 1, 10_000, 10_001), "low": (None, -1, 0, None, None)},
    ),
}


@pytest.mark.parametrize("study", STUDIES)
def test_settings_have_their_usual_values_and_both_their_ends(study):
    make, limits = STUDIES[study]
    plain = make()
    assert {name: getattr(plain, name) for name in limits} == {
        name: values[0] for name, values in limits.items()
    }
    for name, (_, *values) in limits.items():
        for value, refused in zip(values, (True, False, False, True), strict=True):
            if value is None:
                continue
            if refused:
                with pytest.raises(UsageError, match=f"{name}: "):
                    make(**{name: value})
            else:
                assert getattr(make(**{name: value}), name) == value


def test_what_is_asked_unless_said_otherwise():
    match = SimulateConfig("hawk-dove", "m")
    assert (match.reasons, match.own_words, match.style, match.memory, match.reasoning) == (
        True,
        True,
        "auto",
        "full",
        "direct",
    )
    tournament = TournamentConfig("prisoners-dilemma", ["tit-for-tat"])
    assert (tournament.reasons, tournament.style, tournament.left_out) == (False, "auto", ())
    verify = VerifyConfig("m", "prisoners-dilemma")
    assert (verify.disguised, verify.inverted, verify.think, verify.feedback) == (
        True,
        True,
        True,
        "positive",
    )
    steer = SteerConfig("meeting", "simulated")
    assert (steer.policy, steer.follow, steer.early_end, steer.swap_seats, steer.cut_short) == (
        "credible",
        False,
        False,
        False,
        False,
    )
    assert BenchConfig("m").plain is False


def test_a_thousand_take_part_in_a_tournament_and_no_more():
    entries = [Contestant(f"player {number}", "model", "m") for number in range(1001)]
    assert len(TournamentConfig("prisoners-dilemma", entries[:1000]).entries) == 1000
    with pytest.raises(UsageError, match="entries: 1001 take part; at most 1000 can"):
        TournamentConfig("prisoners-dilemma", entries)
