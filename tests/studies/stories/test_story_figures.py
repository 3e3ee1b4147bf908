"""What is said of the programs of a model, from rows put together by hand."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from bestresponse.core.errors import SettingError
from bestresponse.core.player import Status
from bestresponse.formal.evaluate.dataset import Story
from bestresponse.games.logic.tables import table_from_cells, write_table_program
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.models.base import Finish
from bestresponse.studies.stories.study import (
    StoriesConfig,
    _count_attempts,
    _count_right,
    _count_verdicts,
    _decide,
    _describe_kind,
    _find_status,
    _judge,
    _sum_up_programs,
    estimate_calls,
    estimate_share,
    list_correctness,
    list_tasks,
)


def program(story="a", model="m", **more):
    levels = {
        "syntactic": True,
        "functional": True,
        "meaning": True,
        "equivalent": True,
        "first": True,
    }
    told = {
        "game": "dilemma",
        "numeric": True,
        "canonical": True,
        "language": "en",
        "verdict": "same tree",
    }
    return (
        {"model": model, "story": story, "attempts": 1, "prompt": 100, "completion": 10}
        | levels
        | told
        | more
    )


def test_programs_are_summed_up_for_their_model():
    rows = [
        program("a", attempts=2, prompt=300, completion=30, first=False),
        program("b", meaning=False, equivalent=None),
        program(
            "c",
            meaning=False,
            functional=False,
            syntactic=False,
            equivalent=False,
            attempts=3,
            first=False,
        ),
        program("d"),
    ]
    figures = _sum_up_programs(rows)
    assert (figures["programs"], figures["attempts"]) == (4, 7 / 4)
    assert (figures["prompt"], figures["completion"]) == (600, 60)
    assert {
        name: figures[name].estimate for name in ("syntactic", "functional", "meaning", "first")
    } == {
        "syntactic": 0.75,
        "functional": 0.75,
        "meaning": 0.5,
        "first": 0.5,
    }
    # Nobody asked whether the second is equivalent: two of three.
    assert (figures["equivalent"].estimate, figures["equivalent"].n) == (pytest.approx(2 / 3), 3)
    assert _sum_up_programs([program(equivalent=None)])["equivalent"] is None


def test_shares_are_over_stories_where_a_story_has_several_programs():
    # Of different stories the interval of Wilson: for 1 of 2 from 0.0945 to 0.9055. One story tells
    # next to nothing.
    alone = estimate_share([True, False], ["a", "b"])
    assert (alone.method, alone.estimate, alone.n) == ("wilson", 0.5, 2)
    assert (alone.low, alone.high) == (
        pytest.approx(0.0945, abs=1e-4),
        pytest.approx(0.9055, abs=1e-4),
    )
    one = estimate_share([True, True], ["a", "a"])
    assert (one.estimate, one.low, one.high, one.n) == (1.0, 0.0, 1.0, 1)
    several = estimate_share([True, False, True, True], ["a", "a", "b", "b"])
    assert (several.method, several.estimate, several.n) == ("bounded", 0.75, 2)
    assert 0 <= several.low < 0.75 < several.high <= 1


def test_right_programs_are_counted_by_kind_and_model():
    rows = [
        program("a"),
        program("b", meaning=False),
        program("a", "n"),
        program("c", game="chicken", meaning=False),
    ]
    counted = [
        (row["stories"], row["model"], row["right"], row["programs"])
        for row in _count_right(rows, "game", lambda row: row["game"])
    ]
    assert counted == [("chicken", "m", 0, 1), ("dilemma", "m", 1, 2), ("dilemma", "n", 1, 1)]
    chicken, *_ = _count_right(rows, "game", lambda row: row["game"])
    assert (chicken["by"], chicken["share"].estimate, chicken["share"].n) == ("game", 0.0, 1)
    # Two programs for each of two stories are evidence of two stories and not of four.
    twice = [program("a"), program("a"), program("b", meaning=False), program("b")]
    (dilemma,) = _count_right(twice, "game", lambda row: row["game"])
    assert (
        dilemma["right"],
        dilemma["programs"],
        dilemma["share"].estimate,
        dilemma["share"].n,
    ) == (3, 4, 0.75, 2)


def test_verdicts_are_counted_for_every_model():
    rows = [
        program("a"),
        program("b", verdict="different"),
        program("c", verdict="different"),
        program("a", "n"),
    ]
    counted = {
        (row["model"], row["verdict"]): (row["programs"], row["share"].estimate)
        for row in _count_verdicts(rows)
    }
    assert counted["m", "same tree"] == (1, pytest.approx(1 / 3))
    assert counted["m", "different"] == (2, pytest.approx(2 / 3))
    assert counted["m", "no game"] == (0, 0.0)
    assert counted["n", "same tree"] == (1, 1.0)


def test_kinds_of_stories_are_told_in_words():
    assert _describe_kind(program()) == "canonical, numeric"
    assert (
        _describe_kind(program(canonical=False, numeric=False, language="de"))
        == "disguised, in words, de"
    )


def attempt(finish=Finish.STOP, report=None, ok=False, text="text"):
    return SimpleNamespace(reply=SimpleNamespace(finish=finish, text=text), report=report, ok=ok)


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ({"ok": True}, Status.VALID),
        ({"no_game": "a poem"}, Status.REFUSED),
        ({"best": attempt(Finish.LENGTH)}, Status.TRUNCATED),
        ({"best": attempt()}, Status.UNPARSEABLE),
        ({"best": None}, Status.UNPARSEABLE),
        ({"best": attempt(report="two payoffs are missing")}, Status.ILLEGAL),
    ],
)
def test_what_came_of_a_story_is_an_answer_or_a_flaw(written, status):
    assert (
        _find_status(SimpleNamespace(**{"ok": False, "no_game": None, "best": None} | written))
        is status
    )


def test_a_story_without_any_attempt_is_kept_with_nothing_written():
    nothing = SimpleNamespace(
        ok=False,
        no_game="a poem",
        best=None,
        attempts=(),
        source="",
        examples=("x",),
        tokens=(5, 7),
        model="m",
        trouble="no game",
    )
    decision = _decide(nothing)
    assert decision.action == {
        "program": "",
        "attempts": 0,
        "first": False,
        "examples": ["x"],
        "tokens": [5, 7],
        "no_game": "a poem",
    }
    assert (decision.reasoning, decision.calls, decision.reading.how) == ("", (), "no game")


def test_stories_are_taken_one_of_every_game_before_the_second_of_any(monkeypatch):
    def tell(name, game, numeric=True):
        return Story(name, game, numeric, True, "text", None)

    told = (
        tell("a1", "a"),
        tell("a2", "a"),
        tell("a3", "a", numeric=False),
        tell("b1", "b"),
        tell("b2", "b"),
    )
    monkeypatch.setattr(StoriesConfig, "known_stories", told)
    chosen = [story.id for story in StoriesConfig("m").choose_stories()]
    # The first of each game, then the first of its other kind before the second of the same kind,
    # then what is left.
    assert [sorted(chosen[:2]), sorted(chosen[2:4]), chosen[4:]] == [
        ["a1", "b1"],
        ["a3", "b2"],
        ["a2"],
    ]
    assert [story.id for story in StoriesConfig("m", count=3).choose_stories()] == chosen[:3]
    assert {story.id for story in StoriesConfig("m", games=("b",)).choose_stories()} == {"b1", "b2"}


def test_every_story_is_given_to_every_model_as_often_as_asked_for():
    config = StoriesConfig(("m", "n"), count=2, samples=2, temperature=0.5)
    tasks = list(list_tasks(config))
    first, second = (story.id for story in config.choose_stories())
    assert [(task["story"], task["model"], task["sample"]) for task in tasks] == [
        (story, model, sample)
        for story in (first, second)
        for model in ("m", "n")
        for sample in (0, 1)
    ]
    assert tasks[0]["temperature"] == 0.5
    assert "games" not in tasks[0]
    with pytest.raises(SettingError, match="verified:m: programs are checked anyway"):
        StoriesConfig("verified:m")


def test_an_estimate_counts_a_program_for_every_story_model_and_sample():
    estimate = estimate_calls(StoriesConfig(("m", "n"), count=2, samples=3, attempts=4))
    assert (estimate.plays, estimate.what) == (2 * 2 * 3, "2 stories")
    assert estimate.calls == {"m": 2 * 3 * 4, "n": 2 * 3 * 4}


def test_a_program_that_exchanges_the_moves_of_a_story_in_words_does_not_mean_what_it_says():
    moves = (("silent", "confess"),) * 2
    # Ranks of a prisoner's dilemma, then the same with silence in the place of confessing.
    ranks = [tuple(map(Fraction, pair)) for pair in ((3, 3), (1, 4), (4, 1), (2, 2))]
    true = table_from_cells(("Mira", "Paul"), moves, tuple(ranks))
    exchanged = table_from_cells(("Mira", "Paul"), moves, tuple(reversed(ranks)))
    story = Story("a", "prisoners-dilemma", False, True, "text", true)
    assert [judge(table, story) for table in (true, exchanged)] == [(True, True), (True, False)]


def test_a_program_that_was_cut_off_does_not_mean_what_a_story_says_even_where_it_could_be_played():
    moves = (("silent", "confess"),) * 2
    cells = tuple(tuple(map(Fraction, pair)) for pair in ((3, 3), (0, 5), (5, 0), (1, 1)))
    true = table_from_cells(("Mira", "Paul"), moves, cells)
    story = Story("a", "prisoners-dilemma", True, True, "text", true)
    assert judge(true, story) == (True, True)
    assert judge(true, story, Status.TRUNCATED) == (True, False)


def judge(table, story, status=Status.VALID):
    """Return whether a program of this game has the constraints of the story's name, and means what
    it says."""
    action = {"program": write_table_program(table), "tokens": (1, 1), "attempts": 1, "first": True}
    decision = SimpleNamespace(action=action, reading=SimpleNamespace(status=status, how=""))
    record = SimpleNamespace(submissions=[SimpleNamespace(decision=decision)])
    row = _judge(
        SimpleNamespace(data={"model": "m", "sample": 0}, record=record), story, EmbeddedEngine()
    )
    return row["constraints"], row["meaning"]


def test_attempts_are_counted_with_those_that_never_became_a_game():
    rows = [
        program("a", status="valid"),
        program("b", status="valid", attempts=2),
        program("c", status="unparseable", attempts=2),
        program("d", status="valid"),
    ]
    counted = [
        (row["attempt"], row["programs"], row["share"].estimate) for row in _count_attempts(rows, 2)
    ]
    assert counted == [("1", 2, 0.5), ("2", 1, 0.25), ("never", 1, 0.25)]


def test_syntactic_and_semantic_shares_stand_beside_each_other_by_game():
    rows = [
        program("a"),
        program("b", meaning=False),
        program("c", meaning=False, syntactic=False),
        program("d"),
    ]
    kinds = list(_count_right(rows, "game", lambda row: row["game"]))
    shares = [(row["game"], row["level"], row["share"]) for row in list_correctness(kinds)]
    assert shares == [("dilemma", "syntactic", 0.75), ("dilemma", "semantic", 0.5)]


def test_every_level_of_the_study_is_a_figure():
    levels = {"approximate": True, "exact": False, "constraints": None}
    figures = _sum_up_programs([program("a", **levels), program("b", **levels)])
    assert (figures["approximate"].estimate, figures["exact"].estimate, figures["constraints"]) == (
        1.0,
        0.0,
        None,
    )
