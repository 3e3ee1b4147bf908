"""Any game as a study: who can sit where, what is counted, what theory says beside it, resumption,
the report."""

import json
import re
import threading
from pathlib import Path

import numpy as np
import pytest
import running
from courses import name_course

import bestresponse as br
import bestresponse.formal.formalize.library
from bestresponse.analysis.costs import value_best_reply
from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.player import Decision
from bestresponse.games.lookup import NamedGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.agent import Persona
from bestresponse.report import page
from bestresponse.report.document import Code, Figure, Table
from bestresponse.runs.run import Run, load_run, make_manifest
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import Replay
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.plays import read_plays
from bestresponse.studies.simulate.regrets import judge_seats
from bestresponse.studies.simulate.study import measure_simulation, simulate
from bestresponse.telling.render import write_rules

PROGRAMS = Path(bestresponse.formal.formalize.library.__file__).parent


def settings(game, *players, **more):
    """The game with these players; one for all seats where only one is named."""
    game = name_course(str(game), more)
    roles = NamedGame.find(game).game().roles
    players = players if len(players) > 1 else players * len(roles)
    return SimulateConfig(game, seat=dict(zip(roles, players, strict=True)), **more)


def played(folder, config, models=None):
    return running.run(simulate, config, folder, models)


def figures_of(run, name):
    """A metric of every seat; the middle of its interval where it has one."""
    values = {heads[0]: values[name] for heads, values in run.metrics.groups}
    return {seat: getattr(value, "estimate", value) for seat, value in values.items()}


def read(run):
    """What was played, as the measures see it."""
    return read_plays(run.config, run.folder.sorted_plays())


def one_play(repeat, payoffs, void=None, **moves):
    """A finished play of a run, everybody moving once."""
    submissions = tuple(Submission(role, Decision(move)) for role, move in moves.items())
    players = dict.fromkeys(moves, "random")
    record = Record("g", 1, players, submissions, payoffs, void)
    return StoredPlay(str(repeat), {"repeat": repeat, "seats": []}, record)


def test_two_fixed_strategies_in_a_formalized_dilemma(tmp_path):
    config = settings(
        PROGRAMS / "prisoners_dilemma.pl", "always:Silent", "always:Betray", repeats=6
    )
    run = played(tmp_path, config)
    assert figures_of(run, "payoff") == {"ada": 0.0, "ben": 5.0}
    assert figures_of(run, "equilibrium_payoff") == {"ada": 1.0, "ben": 1.0}
    assert figures_of(run, "regret") == {"ada": 1.0, "ben": 0.0}
    assert [
        (row["seat"], row["move"], row["times"], row["in_equilibrium"])
        for row in run.frame("shares")
    ] == [
        ("ada", "Silent", 6, 0),
        ("ada", "Betray", 0, 1),
        ("ben", "Silent", 0, 0),
        ("ben", "Betray", 6, 1),
    ]
    (game,) = run.frame("game")
    assert (game["plays"], game["void"], game["nash_gap"].estimate) == (6, 0, 1.0)
    # together they had 5 of 6 at most; betraying both, in equilibrium, they would have had 2
    assert (game["welfare"].estimate, game["best_welfare"], game["equilibrium_welfare"]) == (
        5.0,
        6.0,
        2.0,
    )
    assert game["price_of_anarchy"] == 1.2
    (equilibrium,) = run.frame("equilibria")
    assert equilibrium == {
        "equilibrium": "1, pure",
        "nearest": True,
        "welfare": 2.0,
        "regret": 0.0,
        "payoff_ada": 1.0,
        "payoff_ben": 1.0,
    }


def test_regret_and_gap_by_hand():
    """Row matches to win: heads-heads twice, heads-tails, tails-tails. Row wins three of four."""
    config = settings("matching-pennies", "random", repeats=4)
    cells = [("heads", "heads"), ("heads", "heads"), ("heads", "tails"), ("tails", "tails")]
    plays = [
        one_play(number, {"row": won, "col": -won}, row=row, col=col)
        for number, (row, col) in enumerate(cells)
        for won in [1.0 if row == col else -1.0]
    ]
    measured = measure_simulation(read_plays(config, plays))
    seats = {heads[0]: group for heads, group in measured.groups.items()}
    assert seats["row"]["payoff"].estimate == 0.5
    # against heads, heads, tails, tails no single move of row earns more than 0, less than the 0.5
    # it had; col would have won three of four with tails
    assert {seat: group["regret"].estimate for seat, group in seats.items()} == {
        "row": -0.5,
        "col": 1.0,
    }
    # the frequencies (3/4, 1/4) and (1/2, 1/2) give both 0; only col could gain, 1/2 by tails
    (game,) = measured.frames["game"]
    assert game["nash_gap"].estimate == pytest.approx(0.5)
    assert game["nash_gap"].low <= 0.5 <= game["nash_gap"].high
    assert [row["share"].estimate for row in measured.frames["shares"]] == [0.75, 0.25, 0.5, 0.5]
    assert game["price_of_anarchy"] is None


def test_figures_of_a_seat_are_those_worked_out_by_hand():
    config = settings("prisoners-dilemma", "random", repeats=5)
    c, d = "cooperate", "defect"
    cells = [(c, d, 0.0, 5.0), (d, d, 1.0, 1.0), (c, c, 3.0, 3.0), (d, c, 5.0, 0.0)]
    plays = [
        one_play(number, {"row": mine, "col": yours}, row=row, col=col)
        for number, (row, col, mine, yours) in enumerate(cells)
    ]
    void = one_play(4, {}, Void("col", "said nothing"), row=c)
    measured = measure_simulation(read_plays(config, [*plays, void]))
    figures = measured.groups["row", "random"]
    # 9 points in four plays; the fifth would have given 0 at worst and 5 at best
    assert (figures["payoff"].estimate, figures["payoff"].n) == (2.25, 4)
    assert (figures["payoff_least"], figures["payoff_most"]) == (9 / 5, 14 / 5)
    # both defect in equilibrium; against two defections and two cooperations defecting earns 12 in
    # four plays
    assert (figures["equilibrium_payoff"], figures["regret"].estimate) == (1.0, 0.75)
    assert [figures[name] for name in ("best_reply", "best_reply_regret")] == [None] * 2
    # two of the five moves that were read cooperate, and lose 1 against a defector
    assert figures["regret_per_move"].estimate == 0.5


def test_random_players_of_matching_pennies_take_both_sides(tmp_path):
    run = played(tmp_path, settings("matching-pennies", "random", repeats=60, seed=2))
    assert all(row["share"].low < 0.5 < row["share"].high for row in run.frame("shares"))
    payoffs = read(run).payoffs
    np.testing.assert_array_equal(payoffs.sum(axis=1), np.zeros(60))
    assert set(np.abs(payoffs).ravel()) == {1.0}


def test_a_formalized_game_of_three_players(tmp_path):
    """One of three pays: 6 coins doubled, 4 for each."""
    config = settings(
        PROGRAMS / "public_goods.pl", "always:pay", "equilibrium", "always:keep", repeats=2
    )
    run = played(tmp_path, config)
    assert figures_of(run, "payoff") == {"iris": 4.0, "jan": 10.0, "kim": 10.0}
    assert figures_of(run, "regret") == {"iris": 2.0, "jan": 0.0, "kim": 0.0}
    (game,) = run.frame("game")
    assert (game["welfare"].estimate, game["best_welfare"], game["equilibrium_welfare"]) == (
        24.0,
        36.0,
        18.0,
    )


def test_a_formalized_game_of_turns_knows_its_places(tmp_path):
    run = played(tmp_path, settings(PROGRAMS / "trust.pl", "equilibrium", repeats=3))
    (game,) = run.frame("game")
    assert (game["nash_gap"].estimate, game["unseen"]) == (0.0, 1)
    assert run.frame("shares").list_values("place") == ["Nobody has moved yet."]


def test_a_tree_with_chance_deals_the_same_cards_to_other_players(tmp_path):
    passive = played(tmp_path / "a", settings("kuhn-poker", "always:pass", repeats=12, seed=4))
    bold = played(tmp_path / "b", settings("kuhn-poker", "always:bet", repeats=12, seed=4))
    np.testing.assert_array_equal(read(bold).payoffs, 2 * read(passive).payoffs)
    assert len({tuple(row) for row in read(passive).payoffs.tolist()}) == 2
    assert set(bold.frame("shares").select(seat="player 1").list_values("place")) <= {"J", "Q", "K"}
    (game,) = bold.frame("game")
    assert 0 < game["unseen"] < game["places"] == 12


def test_where_no_play_came_the_nearest_equilibrium_is_taken_to_be_played(tmp_path):
    """Taking at once is the equilibrium of the centipede: what would follow is not seen, and costs
    nothing."""
    run = played(tmp_path, settings("centipede", "always:take", repeats=2))
    (game,) = run.frame("game")
    assert (game["places"], game["unseen"]) == (4, 3)
    assert figures_of(run, "regret") == {"player 1": 0.0, "player 2": 0.0}
    # were all moves equally likely there, player 1 would pass each time and get (0.2 + (0.8 + 6.4)
    # / 2) / 2
    assert judge_seats(read(run)).regrets["player 1"].estimate == pytest.approx(1.9 - 0.4)
    said = [block.caption for block in tables(run, "Compared with theory")]
    assert "3 of the 4 decision points were never reached" in said[0]
    assert "as in the nearest equilibrium" in said[0]


def test_all_seats_play_the_same_equilibrium(tmp_path):
    run = played(tmp_path, settings("battle-of-the-sexes", "equilibrium", repeats=3))
    assert run.frame("game")[0]["nash_gap"].estimate == 0.0
    assert read(run).payoffs.min() > 0


@pytest.mark.parametrize(
    ("game", "payoffs"),
    [
        ("trust", {10.0}),
        ("ultimatum", {10.0, 0.0}),
        ("guessing", {2.0}),
    ],
)
def test_equilibria_that_are_known_in_words_are_played(game, payoffs, tmp_path):
    run = played(tmp_path, settings(game, "equilibrium", repeats=1))
    assert set(np.round(read(run).payoffs[0], 9)) == payoffs


def test_amounts_are_told_round_by_round(tmp_path):
    run = played(tmp_path, settings("guessing", "always:8", repeats=2))
    assert read(run).rounds == 10
    rows = run.frame("amounts")
    assert {
        (row["answers"], row["mean"].estimate, row["least"], row["median"], row["most"])
        for row in rows
    } == {(20, 8.0, 8.0, 8.0, 8.0)}
    assert len(run.frame("amounts_by_round")) == 50
    assert len(run.frame("shares")) == 0
    assert "payoffs in points" in run.report().subtitle


def test_answers_are_priced_where_an_equilibrium_is_known_in_words(tmp_path):
    """The receiver returns nothing in equilibrium, so that what is sent is lost."""
    run = played(tmp_path, settings("trust", "always:4", "equilibrium", repeats=2))
    assert figures_of(run, "regret_per_move") == {"sender": 4.0, "receiver": 0.0}
    assert [row["cost"] for row in run.frame("moves")] == [4.0, 0.0, 4.0, 0.0]
    (theory,) = [
        section for section in run.report().sections if section.title == "Compared with theory"
    ]
    assert theory.blocks[0].text.startswith(
        "Subgame-perfect equilibrium: The receiver returns nothing, and therefore"
    )


def test_one_answer_does_not_do_where_two_kinds_are_asked_for(tmp_path):
    with pytest.raises(
        UsageError, match="always:10 cannot play player 1: '10' is not a JSON object"
    ):
        played(tmp_path, settings("public-goods-punishment", "always:10", repeats=1))


def test_the_fields_of_a_form_are_told_apart(tmp_path):
    run = played(tmp_path, settings("public-goods-punishment", "equilibrium", repeats=1))
    amounts = run.frame("amounts")
    assert set(amounts.list_values("part")) == {
        "own choice",
        "player 1",
        "player 2",
        "player 3",
        "player 4",
    }
    assert {row["mean"].estimate for row in amounts} == {0.0}


def test_stopped_in_the_middle_every_repeat_is_played_once(tmp_path):
    config = settings("kuhn-poker", "random", repeats=6, seed=1)
    file = played(tmp_path, config).path / "records.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:3]) + lines[3][:30])
    outcome = played(tmp_path, config).outcome
    assert (outcome.found, outcome.played) == (3, 3)
    assert sorted(file.read_text().splitlines(keepends=True)) == sorted(lines)
    assert len({spec.data["seed"] for spec in simulate.list_specs(config)}) == 6


def test_missing_plays_are_named_in_the_report(tmp_path):
    run = played(tmp_path, settings("stag-hunt", "random", repeats=3))
    records = run.path / "records.jsonl"
    records.write_text("".join(records.read_text().splitlines(keepends=True)[:2]))
    note = load_run(run.path).report().opening[0]
    assert note.text == "1 of the planned plays are missing; run the same command to play them."


def test_an_answer_that_cannot_be_read_voids_the_play_and_is_counted_apart(tmp_path):
    config = settings(
        "prisoners-dilemma", "m", "always:defect", repeats=3, attempts=1, style="line"
    )
    models = {"m": ScriptedModel(["ANSWER: defect", "let me think", "ANSWER: cooperate"], name="m")}
    run = played(tmp_path, config, models)
    assert run.outcome.complete
    assert (run.answered, run.frame("voids").list_values("repeat")) == (2, [1])
    answers = run.frame("answers").select(player="m")[0]
    assert (answers["valid"], answers["unparseable"]) == (2, 1)
    assert figures_of(run, "payoff")["row"] == 0.5
    # row got 1 and 0; the void play could have given it 0 or 5
    assert figures_of(run, "payoff_least")["row"] == pytest.approx(1 / 3)
    assert figures_of(run, "payoff_most")["row"] == 2.0
    assert [row["move"] for row in run.frame("moves")] == [
        "defect",
        "defect",
        "cooperate",
        "defect",
    ]
    assert [row["payoff"] for row in run.rows()] == [1.0, 1.0, None, None, 0.0, 5.0]
    assert "1 play is void" in page.render(run.report())
    assert run.replay().same == 3


def test_where_the_game_lets_a_seat_pass_it_abstains(tmp_path):
    config = settings(
        "survival-auction", "m", "need", "need", "need", "need", repeats=1, attempts=1
    )
    models = {"m": ScriptedModel(lambda request: "no bid from me?", name="m")}
    run = played(tmp_path, config, models)
    assert run.answered == 1
    answers = run.frame("answers").select(player="m")[0]
    assert answers["abstained"] == answers["unparseable"] > 0
    assert run.frame("moves").select(seat="player 1").list_values("move") == ["pass"]
    assert f"{answers['abstained']} times a seat without a usable answer abstained" in page.render(
        run.report()
    )


def test_only_void_plays_make_a_report_without_figures(tmp_path):
    config = settings("prisoners-dilemma", "m", repeats=1, attempts=1)
    models = {"m": ScriptedModel(lambda request: "?", name="m")}
    run = played(tmp_path, config, models)
    titles = [section.title for section in run.report().sections]
    assert titles == [
        "Plays without a result",
        "The rules",
        "How the answers were read",
        "Costs",
        "How it was done",
    ]


def test_seats_that_move_together_are_asked_at_the_same_time(tmp_path):
    together = threading.Barrier(3)

    def answer(request):
        together.wait(timeout=300)
        return "ANSWER: pay"

    config = settings(PROGRAMS / "public_goods.pl", "m", repeats=2, style="line")
    run = played(tmp_path, config, {"m": ScriptedModel(answer, name="m")})
    assert run.outcome.played == 2
    assert run.frame("game")[0]["welfare"].estimate == 36.0


def test_a_model_whose_reasoning_is_refuted_is_asked_again(tmp_path):
    """If row defects and col cooperates row gets 5, not 1."""
    config = settings("prisoners-dilemma", "verified:m", "always:cooperate", repeats=1)
    wrong = "If I choose defect and col chooses cooperate, I get 1.\nANSWER: cooperate"
    right = "If I choose defect and col chooses cooperate, I get 5.\nANSWER: defect"
    models = {"verified:m": ScriptedModel([wrong, right], name="m")}
    run = played(tmp_path, config, models)
    assert figures_of(run, "payoff")["row"] == 5.0
    assert run.frame("answers").select(player="verified:m")[0]["valid"] == 1
    assert run.replay() == Replay(1, ())
    assert run.money == 0.0


ADA = {
    "profession": "clockmaker",
    "personality": "patient",
    "background": "Ada grew up by the sea.",
}


@pytest.mark.parametrize("form", ["mapping", "object", "file"])
def test_a_persona_speaks_from_its_seat_only(form, tmp_path):
    file = tmp_path / "personas.toml"
    file.write_text("[ada]\n" + "".join(f'{key} = "{words}"\n' for key, words in ADA.items()))
    personas = {
        "mapping": {"ada": ADA},
        "object": {"ada": Persona("ada", *ADA.values())},
        "file": file,
    }[form]
    config = settings(
        PROGRAMS / "prisoners_dilemma.pl", "m", repeats=1, personas=personas, style="line"
    )
    file.unlink()
    assert (
        SimulateConfig.from_json(json.loads(json.dumps(config.to_json()))).personas
        == config.personas
    )
    model = ScriptedModel(lambda request: "ANSWER: Silent", name="m")
    played(tmp_path, config, {"m": model})
    assert sorted("clockmaker" in asked.messages[0].content for asked in model.asked) == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("about_others", "said"),
    [
        ("nothing", ""),
        ("participant", "Col is another participant."),
        ("truth", "Col is a program that plays the strategy tit-for-tat."),
    ],
)
def test_models_are_told_of_the_others_what_the_settings_say(about_others, said, tmp_path):
    config = settings(
        "prisoners-dilemma", "m", "tit-for-tat", repeats=1, rounds=2, about_others=about_others
    )
    model = ScriptedModel(lambda request: '{"reasons": "", "answer": "cooperate"}', name="m")
    run = played(tmp_path, config, {"m": model})
    for request in model.asked:
        asked = request.messages[-1].content
        assert re.findall(r"Col is [^.]*\.", asked) == ([said] if said else [])
    assert run.replay().same == 1


def test_in_a_tree_too_models_are_told_who_the_others_are(tmp_path):
    config = SimulateConfig("centipede", "m", others="always:take", repeats=1, about_others="truth")
    model = ScriptedModel(lambda request: '{"reasons": "", "answer": "take"}', name="m")
    played(tmp_path, config, {"m": model})
    assert "Player 2 is a program that always answers take." in model.asked[0].messages[-1].content


@pytest.mark.parametrize(
    ("game", "players", "more", "calls", "sure"),
    [
        ("prisoners-dilemma", ("m", "m"), {}, 2 * 10 * 3, True),
        ("prisoners-dilemma", ("m", "tit-for-tat"), {"rounds": 3}, 3 * 10 * 3, True),
        (
            "prisoners-dilemma",
            ("m", "random"),
            {"reasoning": "refine", "attempts": 1},
            10 * 3,
            True,
        ),
        ("kuhn-poker", ("m", "random"), {"attempts": 1}, 10 * 2, True),
        (
            "guessing",
            ("m",),
            {"attempts": 1, "reasoning": "k-level:2"},
            10 * 50 * (1 + 4 + 16),
            False,
        ),
        ("survival-auction", ("m",), {"attempts": 1, "memory": "summary:3"}, 10 * 50 * 2, True),
        ("stag-hunt", ("verified:m", "random"), {}, 10 * 3 * 5, True),
        ("stag-hunt", ("random",), {}, 0, True),
    ],
)
def test_the_most_calls_are_known_beforehand(game, players, more, calls, sure):
    estimate = simulate.estimate(settings(game, *players, **more))
    assert (estimate.total_calls, estimate.sure) == (calls, sure)


@pytest.mark.parametrize(
    ("game", "players", "more", "sentence"),
    [
        ("prisoners-dilemma", ("me", "random"), {}, "people play with `bestresponse play`"),
        (
            "prisoners-dilemma",
            ("always:both", "random"),
            {},
            "'both' is not one of cooperate, defect",
        ),
        ("water", ("equilibrium",), {}, "no equilibrium of water is known here"),
        (
            "prisoners-dilemma",
            ("m",),
            {"on_failure": "abstain"},
            "on_failure: prisoners-dilemma lets nobody pass",
        ),
        ("prisoners-dilemma", ("m",), {"repeats": 0}, "repeats: expected a whole number from 1"),
        (
            "prisoners-dilemma",
            ("m",),
            {"reasoning": "loudly"},
            "there is no reasoning named 'loudly'",
        ),
        (
            "prisoners-dilemma",
            ("m",),
            {"personas": {"rov": ADA}},
            "personas: 'rov' is not a seat. Did you mean row?",
        ),
        ("prisoners-dilemma", ("random",), {"personas": {"row": ADA}}, "but no model sits there"),
        (
            "prisoners-dilemma",
            ("m",),
            {"personas": {"row": {"age": 3}}},
            "personas: \\[row\\] has no key 'age'",
        ),
        (
            "prisoners-dilemma",
            ("m",),
            {"personas": 3},
            "personas: expected a file or a mapping from seats",
        ),
        (
            "prisoners-dilemma",
            ("m",),
            {"about_others": "lies"},
            "expected one of nothing, participant, truth",
        ),
        ("prisoners-dilemma", ("m", "m"), {"model": "m"}, "model: every seat is taken"),
    ],
)
def test_settings_that_make_no_sense_are_refused(game, players, more, sentence):
    with pytest.raises(UsageError, match=sentence):
        settings(game, *players, **more)


def test_the_model_takes_the_seats_that_nobody_is_named_for():
    def seats(*given, **more):
        return {seat: str(player) for seat, player in SimulateConfig(*given, **more).seats.items()}

    assert seats("stag-hunt", "m") == {"row": "m", "col": "m"}
    assert seats("stag-hunt", "m", others="random") == {"row": "m", "col": "random"}
    assert seats("stag-hunt", "m", seat={"row": "random"}) == {"row": "random", "col": "m"}
    assert seats("stag-hunt") == {"row": "equilibrium", "col": "equilibrium"}
    with pytest.raises(UsageError, match="seat: there is no seat 'left'; expected one of row, col"):
        seats("stag-hunt", seat={"left": "m"})


def test_functions_sit_in_seats_and_are_asked(tmp_path):
    def hunter(prompt: str) -> str:
        return "ANSWER: stag"

    run = br.simulate("stag-hunt", hunter, others="always:stag", repeats=2, output_dir=tmp_path)
    assert run.config.seats == {"row": "hunter", "col": "always:stag"}
    assert [(row["player"], row["move"]) for row in run.frame("moves").select(seat="row")] == [
        ("hunter", "stag")
    ] * 2


def test_a_stored_run_needs_no_file(tmp_path):
    file = tmp_path / "game.json"
    file.write_text(json.dumps({"tables": [[[2, 0], [0, 1]], [[2, 0], [0, 1]]], "name": "meet"}))
    run = played(tmp_path, settings(file, "equilibrium", repeats=2))
    file.unlink()
    assert run.replay().same == 2
    assert run.total == 2
    assert run.game({}).roles == ("row", "col")
    document = load_run(run.path).report()
    assert document.title == "Playing meet"
    rules = next(section for section in document.sections if section.title == "The rules")
    shown = [block.text for block in rules.blocks if isinstance(block, Code)]
    assert shown[0].startswith("You are row in a game between row and col.")
    assert '"name": "meet"' in shown[1]


def test_hostile_names_are_only_text_in_the_report(tmp_path):
    file = tmp_path / "game.json"
    evil = "<script>alert(1)</script>"
    game = {
        "tables": [[[2, 0], [0, 1]], [[2, 0], [0, 1]]],
        "name": evil,
        "players": [evil, "$x_1$ & co"],
        "actions": [["<img src=x onerror=alert(2)>", "=1+1"], ["a", "b"]],
    }
    file.write_text(json.dumps(game))
    document = played(tmp_path, settings(file, "random", repeats=4)).report()
    html = page.render(document)
    assert evil not in html
    assert "<img src=x" not in html
    assert json.loads(document.to_json())["title"] == document.title


def test_a_run_without_plays_has_no_report_and_other_studies_are_told_apart(tmp_path):
    config = settings("stag-hunt", "random")
    with RunFolder.open(tmp_path / "r", make_manifest(simulate, config, {}, running.NOW)) as folder:
        pass
    with pytest.raises(StoreError, match="no finished play yet"):
        Run(folder, simulate).report()
    assert (
        SimulateConfig.from_json(json.loads(json.dumps(config.to_json()))).to_json()
        == config.to_json()
    )


def tables(run, title):
    """The tables of a section."""
    (section,) = [section for section in run.report().sections if section.title == title]
    return [block for block in section.blocks if isinstance(block, Table)]


def captions(run, title):
    """The captions of the figures of a section."""
    (section,) = [section for section in run.report().sections if section.title == title]
    return [block.caption for block in section.blocks if isinstance(block, Figure)]


def test_a_repeated_dilemma_of_strategies_by_hand(tmp_path):
    run = played(
        tmp_path, settings("prisoners-dilemma", "tit-for-tat", "always:defect", repeats=2, rounds=4)
    )
    # tit-for-tat is betrayed once (0 and 5), then both earn 1: a round 3 / 4 and 8 / 4
    assert read(run).payoffs.tolist() == [[0.75, 2.0], [0.75, 2.0]]
    assert figures_of(run, "regret")["row"] == 0.25
    first = run.frame("shares_by_round").select(seat="row", move="cooperate")
    assert [(row["turn"], row["times"]) for row in first] == [(1, 2), (2, 0), (3, 0), (4, 0)]
    assert [caption.partition(":")[0] for caption in captions(run, "Round by round")] == [
        "row",
        "col",
    ]


@pytest.mark.parametrize(
    ("others", "more", "value"),
    [
        # Nine times 3 for cooperation and 5 for the last round, which tit-for-tat cannot answer.
        ("tit-for-tat", {"rounds": 10}, 3.2),
        ("grim", {"rounds": 10}, 3.2),
        # Whoever cooperates whatever happens is exploited in every round, one who defects can only
        # be defected against.
        ("cooperator", {"rounds": 10}, 5.0),
        ("defector", {"rounds": 10}, 1.0),
        # Two rounds, of which the second counts half: 3 + 5 / 2 instead of 5 + 1 / 2, over weights
        # 1 + 1/2.
        ("tit-for-tat", {"rounds": 2, "discount": 0.5}, 5.5 / 1.5),
        # One move in four goes wrong on either side: against a cooperator defecting earns 3/4 of
        # (15/4 + 1/4) where it is made, and 1/4 of (9/4 + 0) where cooperation is made instead.
        (
            "cooperator",
            {"rounds": 3, "noise": 0.25},
            0.75 * (0.75 * 5 + 0.25 * 1) + 0.25 * (0.75 * 3),
        ),
    ],
)
def test_the_best_reply_to_an_automaton_is_worked_out_by_hand(others, more, value):
    name = name_course("prisoners-dilemma", more := dict(more))
    config = SimulateConfig(name, "model/m", others=others, **more)
    game = config.make_game()
    assert value_best_reply(game, "row", config.strategies) == pytest.approx(value)
    assert value_best_reply(game, "col", config.strategies) is None


def test_the_best_possible_reply_to_tit_for_tat_loses_nothing_though_its_external_regret_is_large(
    tmp_path,
):
    asked = []

    def reply(prompt):
        asked.append(prompt)
        return "defect" if len(asked) == 10 else "cooperate"

    run = br.simulate(
        "prisoners-dilemma", reply, others="tit-for-tat", rounds=10, repeats=1, output_dir=tmp_path
    )
    assert figures_of(run, "payoff")["row"] == pytest.approx(3.2)
    assert figures_of(run, "best_reply_regret")["row"] == pytest.approx(0.0)
    # Defecting throughout would earn 5 in each of ten rounds, had the other cooperated all the
    # same.
    assert figures_of(run, "regret")["row"] == pytest.approx(5.0 - 3.2)


def test_the_report_shows_every_frame_once(tmp_path):
    run = played(
        tmp_path, settings("prisoners-dilemma", "tit-for-tat", "always:defect", repeats=2, rounds=4)
    )
    (moves,) = tables(run, "Choices")
    assert [column.name for column in moves.columns] == [
        "seat",
        "move",
        "times",
        "share",
        "in equilibrium",
    ]
    assert moves.rows[0][:3] == ("row", "cooperate", 2)
    assert captions(run, "What they earned")[0].startswith("Every value a dot")
    assert captions(run, "Choices") == ["How often every seat made each move."]
    gap, equilibria = tables(run, "Compared with theory")
    assert [column.name for column in gap.columns] == ["Nash gap of the frequencies"]
    assert equilibria.rows[0] == ("1, pure", True, 2.0, 0.0, 1.0, 1.0)
    (together,) = tables(run, "Totals")
    # 0.75 + 2 of the 6 that they could have had in a round
    assert [getattr(cell, "estimate", cell) for cell in together.rows[0]] == [
        2.75,
        2.0,
        6.0,
        6 / 2.75,
    ]


@pytest.mark.drawn
@pytest.mark.parametrize(("repeats", "bands"), [(1, 0), (2, 4)])
def test_one_play_tells_nothing_about_the_spread(repeats, bands, tmp_path):
    """The interval of a share of one play is almost the whole picture."""
    run = played(
        tmp_path,
        settings("prisoners-dilemma", "tit-for-tat", "always:defect", repeats=repeats, rounds=4),
    )
    (section,) = [section for section in run.report().sections if section.title == "Round by round"]
    assert [block.image.count(b'id="FillBetween') for block in section.blocks[:2]] == [
        bands // 2
    ] * 2


def test_discounted_payoffs_are_weighted_means_a_round(tmp_path):
    config = settings(
        "prisoners-dilemma", "tit-for-tat", "always:defect", repeats=1, rounds=2, discount=0.5
    )
    run = played(tmp_path, config)
    # (0 + 0.5 x 1) / 1.5 and (5 + 0.5 x 1) / 1.5
    assert read(run).payoffs[0] == pytest.approx([1 / 3, 11 / 3])
    # defecting at once would have given tit-for-tat 1 instead of 0 in the first round, which weighs
    # 2 / 3
    assert figures_of(run, "regret")["row"] == pytest.approx(2 / 3)
    told = write_rules(config.make_game().view(config.make_game().start(), "row"))
    assert "only 50 % of what the same payoff" in told


def test_a_random_end_and_noise_change_how_long_and_what_is_played(tmp_path):
    more = {"repeats": 30, "rounds": 50, "seed": 2}
    ended = played(
        tmp_path / "a", settings("prisoners-dilemma", "always:cooperate", continuation=0.5, **more)
    )
    moves = ended.frame("moves")
    lengths = [max(row["turn"] for row in moves.select(repeat=repeat)) for repeat in range(30)]
    # geometric with mean 2 and deviation 1.4: 30 plays last 2 rounds on average, within 4 standard
    # errors
    assert abs(np.mean(lengths) - 2) < 4 * 2**0.5 / 30**0.5
    # cooperating with cooperators loses 2 a round against defecting, however long a play lasted
    assert {round(loss, 9) for loss in figures_of(ended, "regret").values()} == {2.0}
    fewer = {**more, "rounds": 10}
    noisy = played(
        tmp_path / "b", settings("prisoners-dilemma", "always:cooperate", noise=0.25, **fewer)
    )
    slips = [row["move"] == "defect" for row in noisy.frame("moves")]
    assert abs(np.mean(slips) - 0.25) < 4 * (0.25 * 0.75 / len(slips)) ** 0.5


def test_rows_tell_what_was_meant_beside_the_move_that_was_made(tmp_path):
    model = ScriptedModel(
        lambda request: '{"reasons": "I trust them.", "answer": "cooperate"}', name="m"
    )
    config = settings(
        "prisoners-dilemma", "m", "tit-for-tat", repeats=1, rounds=12, noise=0.5, seed=3
    )
    rows = played(tmp_path, config, {"m": model}).frame("moves").select(seat="row")
    assert rows.list_values("meant") == ["cooperate"]
    assert set(rows.list_values("move")) == {"cooperate", "defect"}
    last = model.asked[-1].messages[-1].content
    for row in rows.rows[:-1]:
        assert (
            f"Round {row['turn']}: you meant cooperate, {row['move']} was made, col made the move"
            in last
        )
    assert "with a probability of 50 %" in last
    sure = played(tmp_path / "sure", settings("chicken", "random", repeats=1))
    assert [row["meant"] == row["move"] for row in sure.frame("moves")] == [True, True]


def test_noise_in_one_round_is_part_of_the_rules(tmp_path):
    config = settings("prisoners-dilemma", "always:cooperate", noise=0.5, repeats=40)
    view = config.make_game().view(config.make_game().start(), "row")
    assert "with a probability of 50 %" in write_rules(view)
    assert "is played" not in write_rules(view)
    assert set(played(tmp_path, config).frame("moves").list_values("move")) == {
        "cooperate",
        "defect",
    }


def test_equilibria_beside_plays_with_noise_are_those_of_what_is_meant(tmp_path):
    # Both defect in equilibrium and get 1; with noise of 0.25 the same moves pay 0.5625 + 0.1875 x
    # 5 + 0.0625 x 3 = 1.6875, and a quarter of the moves are made by mistake.
    plain = played(tmp_path / "a", settings("prisoners-dilemma", "always:defect", repeats=3))
    noisy = played(
        tmp_path / "b", settings("prisoners-dilemma", "always:defect", repeats=3, noise=0.25)
    )
    assert {group["equilibrium_payoff"] for _, group in plain.metrics.groups} == {1.0}
    assert {group["equilibrium_payoff"] for _, group in noisy.metrics.groups} == {1.6875}
    assert len(noisy.frame("equilibria")) == 1
    assert set(noisy.frame("shares").list_values("in_equilibrium")) == {0.25, 0.75}


def test_random_ends_lose_nothing_to_the_best_reply_where_the_best_reply_is_played(tmp_path):
    # Where the expected value of the best reply stood beside what was drawn, luck made this
    # negative.
    run = played(
        tmp_path,
        settings(
            "prisoners-dilemma",
            "always:defect",
            "defector",
            repeats=4,
            rounds=20,
            continuation=0.7,
        ),
    )
    figures = dict(run.metrics.groups)["row", "always:defect"]
    lost = figures["best_reply_regret"]
    assert (lost.estimate, lost.low) == (0.0, 0.0)


def test_models_in_a_repeated_game_see_the_rounds_and_their_own_words(tmp_path):
    model = ScriptedModel(
        lambda request: '{"reasons": "I trust them.", "answer": "cooperate"}', name="m"
    )
    config = settings(
        "prisoners-dilemma", "m", "tit-for-tat", repeats=1, rounds=3, memory="window:1"
    )
    played(tmp_path, config, {"m": model})
    last = model.asked[-1].messages[-1].content
    assert "Round 1: you chose" not in last
    assert (
        "Round 2: you chose cooperate, col chose cooperate; you got 3.\nYour reasons then" in last
    )
    assert '"I trust them."' in last
    assert not any(
        "rational" in message.content for request in model.asked for message in request.messages
    )


@pytest.mark.parametrize(
    ("game", "more", "why"),
    [
        (
            "kuhn-poker",
            {"rounds": 3},
            "rounds: kuhn-poker cannot be repeated, because not all choose once",
        ),
        ("water", {"rounds": 3}, "because it has rounds of its own"),
        ("prisoners-dilemma", {"rounds": 0}, "expected a whole number from 1"),
        ("prisoners-dilemma", {"noise": 1.5}, "noise: expected a probability, got 1.5"),
        ("kuhn-poker", {"noise": 0.1}, "kuhn-poker cannot be repeated, because not all choose"),
        (
            "prisoners-dilemma",
            {"rounds": 3, "continuation": 0.0},
            "continuation: expected a number above 0, at most 1, got 0",
        ),
    ],
)
def test_what_cannot_be_repeated_is_refused(game, more, why):
    with pytest.raises(UsageError, match=why):
        settings(game, "random", **more)


def test_a_move_that_was_made_in_every_round_can_have_another_beside_it(tmp_path):
    # 4 plays of 3 rounds in which both cooperate: half a play was not seen, Beta(4, 1/2) is 0.516
    # or more in 97.5 %.
    run = br.simulate(
        "prisoners-dilemma",
        seat={"row": "cooperator", "col": "cooperator"},
        rounds=3,
        repeats=4,
        output_dir=tmp_path,
    )
    (share,) = run.frame("shares").select(seat="row", move="cooperate").list_values("share")
    assert (share.estimate, share.high, share.n) == (1.0, 1.0, 4)
    assert share.low == pytest.approx(0.516, abs=0.03)
