"""Runs of checked reasoning one by one: what is measured of each, which games can be told, and what
raters get."""

import csv
from types import SimpleNamespace

import pytest
from checked_attempts import make_attempt, store_run

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.report.document import Paragraph, Quote, Table
from bestresponse.runs.settings import list_settings, read_extra
from bestresponse.studies.verify.audit import sample_verdicts, show_audit
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.measure import _list_changes, _measure_run, measure_reasoning
from bestresponse.studies.verify.plays import prepare_runs
from bestresponse.studies.verify.ratings import read_ratings
from bestresponse.studies.verify.study import list_sheets, show_briefing
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Leaf, Turn, build_tree

PLAIN = {"disguised": False, "inverted": False}


def test_a_run_has_choice_state_payoff_and_gap_of_its_first_and_last_attempt():
    scene = VerifyConfig("m", "prisoners-dilemma", **PLAIN).scene
    play = store_run(
        scene, 4, make_attempt("cooperate", "refuted"), make_attempt(None), make_attempt("defect")
    )
    row = _measure_run(play, scene)
    assert (row["run"], row["repeat"], row["attempts"], len(row["transcript"])) == (
        "run 4",
        4,
        3,
        3,
    )
    # The other defects in equilibrium: cooperating earns 0, defecting 1.
    assert [row[f"first_{name}"] for name in ("choice", "state", "payoff", "gap")] == [
        "cooperate",
        "refuted",
        0.0,
        1.0,
    ]
    assert [row[f"last_{name}"] for name in ("choice", "state", "payoff", "gap")] == [
        "defect",
        "unrefuted",
        1.0,
        0.0,
    ]
    unread = _measure_run(store_run(scene, 0, make_attempt(None)), scene)
    assert [unread[f"first_{name}"] for name in ("choice", "payoff", "gap")] == [None, None, None]
    with pytest.raises(StoreError, match="holds no transcript"):
        _measure_run(store_run(scene, 0), scene)


def test_runs_are_counted_by_attempts_and_troubles_over_all_of_them(tmp_path):
    config = VerifyConfig("m", "prisoners-dilemma", attempts=3, **PLAIN)
    unread = [{"start": 0, "text": "x", "why": "y"}] * 2
    plays = [
        store_run(
            config.scene,
            1,
            make_attempt("defect", unread=unread, troubles={"no reply": 1}),
            make_attempt(
                "defect", partly_read=[{"start": 0, "text": "x", "left_out": ["because I get 7"]}]
            ),
        ),
        store_run(
            config.scene, 0, make_attempt("cooperate", unread=unread[:1], troubles={"no reply": 2})
        ),
        store_run(config.scene, 2, make_attempt(None)),
    ]
    folder = SimpleNamespace(path=tmp_path, sorted_plays=lambda: plays, calls=lambda: ())
    measured = measure_reasoning(config, folder)
    assert [row["repeat"] for row in measured.frames["runs"]] == [0, 1, 2]
    assert [(row["attempts"], row["runs"]) for row in measured.frames["attempts"]] == [
        (1, 2),
        (2, 1),
        (3, 0),
    ]
    assert {row["trouble"]: row["times"] for row in measured.frames["troubles"]} == {
        "sentences unread": 3,
        "sentences partly read": 1,
        "no reply": 3,
    }
    # One cooperates, one defects, one cannot be read.
    assert measured.answered == 2
    assert measured.groups["first",]["chose_defect"].estimate == 0.5


def test_every_model_has_a_group_for_its_first_and_one_for_its_last_attempts(tmp_path):
    config = VerifyConfig(("m", "n"), "prisoners-dilemma", **PLAIN)
    changed = make_attempt("cooperate"), make_attempt("defect")
    plays = [store_run(config.scene, 0, *changed), store_run(config.scene, 0, *changed, model="n")]
    folder = SimpleNamespace(path=tmp_path, sorted_plays=lambda: plays, calls=lambda: ())
    measured = measure_reasoning(config, folder)
    assert measured.labels == ("model", "attempt")
    shares = {heads: group["chose_defect"].estimate for heads, group in measured.groups.items()}
    assert shares == {
        ("m", "first"): 0.0,
        ("m", "last"): 1.0,
        ("n", "first"): 0.0,
        ("n", "last"): 1.0,
    }


def test_choices_that_differ_in_signs_alone_have_a_share_each(tmp_path):
    signs = ("+1", "-1")
    game = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(signs, signs))
    config = VerifyConfig("m", game, **PLAIN)
    name = config.game[0].name
    plays = [
        store_run(config.scene, repeat, make_attempt(choice), game=name)
        for repeat, choice in enumerate(("+1", "+1", "-1"))
    ]
    measured = measure_reasoning(
        config, SimpleNamespace(path=tmp_path, sorted_plays=lambda: plays, calls=lambda: ())
    )
    first = measured.groups["first",]
    # Two of three chose +1.
    assert (first["chose__1"].estimate, first["chose__1_2"].estimate) == (
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
    )


def test_a_run_without_a_value_at_one_end_is_no_pair():
    def row(first, last):
        return {
            "first_choice": "A",
            "last_choice": "A",
            "first_state": "unrefuted",
            "last_state": "unrefuted",
            "first_payoff": first,
            "last_payoff": last,
            "first_gap": first,
            "last_gap": last,
        }

    # Without the second and the third the pairs are 1 and 3, and 2 and 2: one more on average.
    payoff, _ = _list_changes([row(1.0, 3.0), row(None, 9.0), row(9.0, None), row(2.0, 2.0)])
    assert (payoff["difference"].estimate, payoff["difference"].n) == (1.0, 2)
    assert list(_list_changes([row(1.0, 3.0), row(None, 9.0)])) == []


def build_fan(before, ways, players=("ann", "bob"), hides=False):
    """Build a game in which the first moves `before` times without a choice, and then chooses among
    `ways`."""

    def expand(depth):
        if isinstance(depth, str):
            return Leaf([0] * len(players))
        if depth < before:
            return Turn(players[0], f"step {depth}", {"on": depth + 1})
        return Turn(players[0], "choice", {f"way {k}": f"end {k}" for k in range(ways)})

    def expand_hidden(state):
        if not state:
            return Turn(players[0], "first", {"left": ("left",), "right": ("right",)})
        if len(state) == 1:
            return Turn(players[1], "second", {"up": (*state, "up"), "down": (*state, "down")})
        return Leaf([0] * len(players))

    return build_tree(players, () if hides else 0, expand_hidden if hides else expand, name="fan")


@pytest.mark.parametrize(
    ("before", "ways", "told"),
    [
        (0, 200, True),
        (0, 201, False),
        (24, 80, True),  # 80 ways of 25 moves: 2,000 together
        (28, 69, False),  # 69 ways of 29 moves: 2,001 together
    ],
)
def test_a_game_is_told_up_to_200_ways_and_2000_moves(before, ways, told):
    tree = build_fan(before, ways)
    if told:
        assert VerifyConfig("m", tree).game[0].name == "fan"
    else:
        with pytest.raises(
            UsageError,
            match=f"can end in {ways:,} ways with {(before + 1) * ways:,} moves together",
        ):
            VerifyConfig("m", tree)


def test_a_game_of_three_is_told_unless_it_hides_something():
    assert VerifyConfig("m", build_fan(0, 2, ("ann", "bob", "eve"))).game[0].name == "fan"
    assert VerifyConfig("m", build_fan(0, 2, hides=True)).game[0].name == "fan"
    with pytest.raises(UsageError, match="hides some moves from some of its 3 players"):
        VerifyConfig("m", build_fan(0, 2, ("ann", "bob", "eve"), hides=True))


def test_games_are_disguised_and_inverted_and_reasons_asked_for_unless_said_otherwise():
    config = VerifyConfig("m", "prisoners-dilemma")
    assert (config.disguised, config.inverted, config.think) == (True, True, True)
    assert config.scene.seat == 0
    assert VerifyConfig("m", "prisoners-dilemma", seat="col").scene.seat == 1
    assert read_extra(list_settings(VerifyConfig)["game"])["argument"]


@pytest.mark.parametrize(
    "settings", [{"model": "verified:m"}, {"model": "m", "translator": "verified:n"}]
)
def test_a_model_that_is_verified_already_is_refused(settings):
    with pytest.raises(UsageError, match="the reasoning is checked anyway"):
        VerifyConfig(game="prisoners-dilemma", **settings)


def test_models_are_opened_once_and_rules_are_none():
    def models(**settings):
        return VerifyConfig("m", "prisoners-dilemma", **settings).models

    assert (models(), models(translator="n"), models(translator="m")) == (
        ("m",),
        ("m", "n"),
        ("m",),
    )
    offline = VerifyConfig("m", "prisoners-dilemma", translator="rules")
    assert offline.models == ("m",)
    assert callable(prepare_runs(offline, {}))


def make_claim(number):
    return {
        "words": f"claim {number}",
        "claim": "",
        "correction": "",
        "why": "",
        "verdict": "proved",
        "places": [{"start": number, "text": f"sentence {number}"}],
    }


def make_row(repeat, claims=1):
    first = make_attempt(
        "defect",
        claims=[make_claim(number) for number in range(claims)],
        reasoning=f"first of {repeat}",
    )
    last = make_attempt("defect", reasoning=f"last of {repeat}")
    return {
        "run": f"run {repeat}",
        "model": "m",
        "game": "dilemma",
        "repeat": repeat,
        "attempts": 2,
        "transcript": [first, last],
        "first_choice": "defect",
        "last_choice": "defect",
    }


class Rows(list):
    """A frame of which only the rows are looked at."""

    @property
    def rows(self):
        return list(self)


def test_three_raters_get_a_sheet_each_and_a_filled_one_is_left_alone(tmp_path):
    measured = SimpleNamespace(frames={"runs": Rows([make_row(0), make_row(1)])})
    run = SimpleNamespace(path=tmp_path, config=VerifyConfig("m", "prisoners-dilemma"))
    (tmp_path / "sheet-rater-2.csv").write_text("filled")
    texts = {path.name: content for path, content in list_sheets(measured, run)}
    assert list(texts) == ["sheet-rater-1.csv", "sheet-rater-3.csv", "protocol.txt", "verdicts.csv"]
    first, second = csv.DictReader(texts["sheet-rater-1.csv"].splitlines())
    assert (first["sample"], first["game"], first["attempts"]) == ("run 0", "dilemma", "2")
    assert (first["first_reasoning"], first["last_reasoning"]) == ("first of 0", "last of 0")
    assert (second["first_reasoning"], second["last_reasoning"]) == ("first of 1", "last of 1")


def test_a_hundred_verdicts_are_drawn_always_the_same():
    items = sample_verdicts([make_row(0, claims=150)])
    assert len(items) == len({item["sentence"] for item in items}) == 100
    # Random(0) draws this first of 150.
    first = (items[0]["run"], items[0]["attempt"], items[0]["sentence"])
    assert first == ("run 0", 1, "sentence 98")


def test_four_runs_are_shown_sentence_by_sentence():
    frame = Rows(make_row(repeat) for repeat in range(6))
    blocks = show_audit(SimpleNamespace(frame=lambda name: frame)).blocks
    # The last attempts make no claims, so there is nothing to show of them.
    assert [block.text for block in blocks if isinstance(block, Quote)] == [
        f"first of {k}" for k in range(4)
    ]
    tables = [block for block in blocks if isinstance(block, Table)]
    assert [table.rows[0][0] for table in tables] == ["sentence 0"] * 4
    nothing = show_audit(SimpleNamespace(frame=lambda name: Rows([make_row(0, claims=0)]))).blocks
    assert [type(block) for block in nothing] == [Paragraph]


def test_the_briefing_is_shown_as_the_reasoner_got_it():
    config = VerifyConfig("m", "prisoners-dilemma", **PLAIN)
    shown = show_briefing(SimpleNamespace(config=config))
    assert "If you choose cooperate" in shown.blocks[2].text


def test_ratings_need_both_marks_or_none():
    head = "sample,first_correct,last_correct,error_kinds\n"
    read = read_ratings(head + "a,1,0,\nb,,,\nc,0,1,pa#u\n")
    assert {name: (rating.first, rating.last, rating.kinds) for name, rating in read.items()} == {
        "a": (True, False, ()),
        "c": (False, True, ("pa", "u")),
    }
    with pytest.raises(
        UsageError, match="line 2: first_correct and last_correct are 0 or 1, got '1' and ''"
    ):
        read_ratings(head + "a,1,,\n")
