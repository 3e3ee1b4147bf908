"""Any game as a study: who can sit where, what is counted, what theory says beside it, resumption, the report."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
import running

import bestresponse.formal.formalize.library
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.games.named_game import NamedGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.persona import Persona
from bestresponse.report import codec, page
from bestresponse.runs.invocation import make_manifest
from bestresponse.runs.replay import Replay
from bestresponse.runs.run import Run, load_run
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.simulate.config import SimulateConfig, usual_policy
from bestresponse.studies.simulate.measure import measure
from bestresponse.studies.simulate.plan import most_calls, specs
from bestresponse.studies.simulate.regrets import judge, regret_by_round
from bestresponse.studies.simulate.study import SimulateStudy
from bestresponse.studies.simulate.summary import Summary

PROGRAMS = Path(bestresponse.formal.formalize.library.__file__).parent


def settings(game, *who, **more):
    """The game with these players; one for all seats where only one is named."""
    source = NamedGame.find(str(game))
    roles = source.game().roles
    players = who if len(who) > 1 else who * len(roles)
    more.setdefault("policy", usual_policy(source.game()))
    return SimulateConfig(source, tuple(zip(roles, players, strict=True)), **more)


def played(folder, config, models=None):
    ran = running.run(SimulateStudy(), config, folder, models)
    return ran, ran.outcome


def summary_of(folder, config, models=None):
    run, _ = played(folder, config, models)
    return Summary(run.results.measured)


def line(repeat, payoffs, **moves):
    """One line of a run's records, everybody moving once."""
    given = [{"role": role, "action": move, "status": "valid"} for role, move in moves.items()]
    record = {"game": "g", "version": 1, "players": {}, "submissions": given, "payoffs": payoffs, "void": None}
    return {"spec": str(repeat), "data": {"repeat": repeat}, "record": record}


def test_two_fixed_strategies_in_a_formalized_dilemma(tmp_path):
    config = settings(PROGRAMS / "prisoners_dilemma.pl", "always:Silent", "always:Betray", repeats=6)
    found = summary_of(tmp_path / "r", config)
    assert {seat: one.estimate for seat, one in found.payoffs.items()} == {"ada": 0.0, "ben": 5.0}
    assert [(one.seat, one.move, one.count) for one in found.shares] == [
        ("ada", "Silent", 6), ("ada", "Betray", 0), ("ben", "Silent", 0), ("ben", "Betray", 6),
    ]  # fmt: skip
    assert {seat: one.estimate for seat, one in found.judged.regrets.items()} == {"ada": 1.0, "ben": 0.0}
    assert found.judged.gap.estimate == 1.0
    assert dict(found.nearest.payoffs) == {"ada": 1.0, "ben": 1.0}
    assert (found.welfare.estimate, found.measured.theory.optimum, found.price_of_anarchy) == (5.0, 6.0, 1.2)


def test_regret_and_gap_by_hand():
    """Row matches to win: heads-heads twice, heads-tails, tails-tails. Row wins three of four."""
    config = settings("matching-pennies", "random", repeats=4)
    cells = [("heads", "heads"), ("heads", "heads"), ("heads", "tails"), ("tails", "tails")]
    lines = [
        line(number, {"row": won, "col": -won}, row=row, col=col)
        for number, (row, col) in enumerate(cells)
        for won in [1.0 if row == col else -1.0]
    ]
    found = Summary(measure(config, lines))
    assert found.payoffs["row"].estimate == 0.5
    # against heads, heads, tails, tails no single move of row earns more than 0, less than the 0.5 it had; col would
    # have won three of four with tails
    assert {seat: one.estimate for seat, one in found.judged.regrets.items()} == {"row": -0.5, "col": 1.0}
    # the frequencies (3/4, 1/4) and (1/2, 1/2) give both 0; only col could gain, 1/2 by tails
    assert found.judged.gap.estimate == pytest.approx(0.5)
    assert found.judged.gap.low <= 0.5 <= found.judged.gap.high
    assert [one.share.estimate for one in found.shares] == [0.75, 0.25, 0.5, 0.5]
    assert found.price_of_anarchy is None


def test_random_players_of_matching_pennies_take_both_sides(tmp_path):
    found = summary_of(tmp_path / "r", settings("matching-pennies", "random", repeats=60, seed=2))
    assert all(one.share.low < 0.5 < one.share.high for one in found.shares)
    np.testing.assert_array_equal(found.measured.payoffs.sum(axis=1), np.zeros(60))
    assert set(np.abs(found.measured.payoffs).ravel()) == {1.0}


def test_a_formalized_game_of_three_players(tmp_path):
    """One of three pays: 6 coins doubled, 4 for each."""
    config = settings(PROGRAMS / "public_goods.pl", "always:pay", "equilibrium", "always:keep", repeats=2)
    found = summary_of(tmp_path / "r", config)
    assert {seat: one.estimate for seat, one in found.payoffs.items()} == {"iris": 4.0, "jan": 10.0, "kim": 10.0}
    assert found.judged.regrets["iris"].estimate == 2.0
    assert found.judged.regrets["jan"].estimate == 0.0
    assert found.welfare.estimate == 24.0
    assert (found.measured.theory.optimum, found.nearest.welfare) == (36.0, 18.0)


def test_a_formalized_game_of_turns_knows_its_places(tmp_path):
    found = summary_of(tmp_path / "r", settings(PROGRAMS / "trust.pl", "equilibrium", repeats=3))
    assert found.judged.gap.estimate == 0.0
    assert found.judged.unseen == 1
    assert {one.place for one in found.shares} == {"Nobody has moved yet."}


def test_a_tree_with_chance_deals_the_same_cards_to_other_players(tmp_path):
    passive = summary_of(tmp_path / "a", settings("kuhn-poker", "always:pass", repeats=12, seed=4))
    bold = summary_of(tmp_path / "b", settings("kuhn-poker", "always:bet", repeats=12, seed=4))
    np.testing.assert_array_equal(bold.measured.payoffs, 2 * passive.measured.payoffs)
    assert len({tuple(row) for row in passive.measured.payoffs.tolist()}) == 2
    assert {one.place for one in bold.shares if one.seat == "player 1"} <= {"J", "Q", "K"}
    assert 0 < bold.judged.unseen < bold.judged.places == 12


def test_where_no_play_came_the_nearest_equilibrium_is_taken_to_be_played(tmp_path):
    """Taking at once is the equilibrium of the centipede: what would follow is not seen, and costs nothing."""
    config = settings("centipede", "always:take", repeats=2)
    run, _ = played(tmp_path / "r", config)
    measured = run.results.measured
    found = Summary(measured).judged
    assert (found.places, found.unseen) == (4, 3)
    assert {seat: one.estimate for seat, one in found.regrets.items()} == {"player 1": 0.0, "player 2": 0.0}
    # were all moves equally likely there, player 1 would pass each time and get (0.2 + (0.8 + 6.4) / 2) / 2
    assert judge(measured).regrets["player 1"].estimate == pytest.approx(1.9 - 0.4)


def test_all_seats_play_the_same_equilibrium(tmp_path):
    found = summary_of(tmp_path / "r", settings("battle-of-the-sexes", "equilibrium", repeats=3))
    assert found.judged.gap.estimate == 0.0
    assert found.measured.payoffs.min() > 0


@pytest.mark.parametrize(
    ("game", "payoffs"),
    [
        ("common-pool", {1410.0}),
        ("trust-amounts", {10.0, 0.0}),
        ("ultimatum-amounts", {10.0, 0.0}),
        ("guessing", {2.0}),
    ],
)
def test_equilibria_that_are_known_in_words_are_played(game, payoffs, tmp_path):
    found = summary_of(tmp_path / "r", settings(game, "equilibrium", repeats=1))
    assert set(np.round(found.measured.payoffs[0], 9)) == payoffs


def test_amounts_are_told_round_by_round(tmp_path):
    found = summary_of(tmp_path / "r", settings("common-pool", "always:8", repeats=2))
    assert found.measured.rounds == 10
    assert {(one.count, one.mean.estimate, one.median) for one in found.amounts} == {(20, 8.0, 8.0)}
    assert len(found.amounts_by_round) == 80
    assert found.shares == ()


def test_answers_are_priced_where_an_equilibrium_is_known_in_words(tmp_path):
    """The receiver returns nothing in equilibrium, so that what is sent is lost."""
    found = summary_of(tmp_path / "r", settings("trust-amounts", "always:4", "equilibrium", repeats=2))
    assert {seat: one.estimate for seat, one in found.losses.items()} == {"sender": 4.0, "receiver": 0.0}
    assert [row["cost"] for row in found.measured.rows] == [4.0, 0.0, 4.0, 0.0]


def test_one_answer_does_not_do_where_two_kinds_are_asked_for(tmp_path):
    with pytest.raises(UsageError, match="always:10 cannot play player 1: '10' is not a JSON object"):
        played(tmp_path / "r", settings("public-goods-punishment", "always:10", repeats=1))


def test_the_fields_of_a_form_are_told_apart(tmp_path):
    found = summary_of(tmp_path / "r", settings("public-goods-punishment", "equilibrium", repeats=1))
    assert {one.part for one in found.amounts} == {"", "player 1", "player 2", "player 3", "player 4"}
    assert {one.mean.estimate for one in found.amounts} == {0.0}


def test_stopped_in_the_middle_every_repeat_is_played_once(tmp_path):
    config = settings("kuhn-poker", "random", repeats=6, seed=1)
    file = played(tmp_path / "r", config)[0].path / "records.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:3]) + lines[3][:30])
    _, outcome = played(tmp_path / "r", config)
    assert (outcome.found, outcome.played) == (3, 3)
    assert sorted(file.read_text().splitlines(keepends=True)) == sorted(lines)
    assert len({spec.data["seed"] for spec in specs(config)}) == 6


def test_an_answer_that_cannot_be_read_voids_the_play_and_is_counted_apart(tmp_path):
    config = settings("prisoners-dilemma", "m", "always:defect", repeats=3, attempts=1, style="line")
    models = {"m": ScriptedModel(["ANSWER: defect", "let me think", "ANSWER: cooperate"], name="m")}
    run, outcome = played(tmp_path / "r", config, models)
    measured = run.results.measured
    assert outcome.complete
    assert (measured.plays, [void.repeat for void in measured.voids]) == (2, [1])
    assert measured.answers["m"].statuses == {"valid": 2, "unparseable": 1}
    assert Summary(measured).payoffs["row"].estimate == 0.5
    # row got 1 and 0; the void play could have given it 0 or 5
    bounds = Summary(measured).bounds["row"]
    assert (bounds.low, bounds.high) == (pytest.approx(1 / 3), 2.0)
    rows = list(measured.rows)
    assert [row["move"] for row in rows] == ["defect", "defect", "cooperate", "defect", None]
    assert "1 play is void" in page.render(run.report())
    assert run.replay().same == 3


def test_where_the_game_lets_a_seat_pass_it_abstains(tmp_path):
    config = settings("survival-auction", "m", "need", "need", "need", "need", repeats=1, attempts=1)
    assert config.policy == "abstain"
    models = {"m": ScriptedModel(lambda request: "no bid from me?", name="m")}
    measured = played(tmp_path / "r", config, models)[0].results.measured
    assert measured.plays == 1
    assert measured.answers["m"].abstained == measured.answers["m"].statuses["unparseable"] > 0
    assert {one.value for one in measured.made if one.seat == "player 1"} == {"pass"}


def test_only_void_plays_make_a_report_without_figures(tmp_path):
    config = settings("prisoners-dilemma", "m", repeats=1, attempts=1)
    models = {"m": ScriptedModel(lambda request: "?", name="m")}
    run, _ = played(tmp_path / "r", config, models)
    titles = [section.title for section in run.report().sections]
    assert titles == ["Plays without a result", "How the answers were read", "Costs", "How it was done"]


def test_seats_that_move_together_are_asked_at_the_same_time(tmp_path):
    together = threading.Barrier(3)

    def answer(request):
        together.wait(timeout=300)
        return "ANSWER: pay"

    config = settings(PROGRAMS / "public_goods.pl", "m", repeats=2, style="line")
    run, outcome = played(tmp_path / "r", config, {"m": ScriptedModel(answer, name="m")})
    assert outcome.played == 2
    assert Summary(run.results.measured).welfare.estimate == 36.0


def test_a_model_whose_reasoning_is_refuted_is_asked_again(tmp_path):
    """If row defects and col cooperates row gets 5, not 1."""
    config = settings("prisoners-dilemma", "verified:m", "always:cooperate", repeats=1)
    wrong = "If I choose defect and col chooses cooperate, I get 1.\nANSWER: cooperate"
    right = "If I choose defect and col chooses cooperate, I get 5.\nANSWER: defect"
    models = {"verified:m": ScriptedModel([wrong, right], name="m")}
    run, _ = played(tmp_path / "r", config, models)
    measured = run.results.measured
    assert Summary(measured).payoffs["row"].estimate == 5.0
    assert measured.answers["verified:m"].statuses == {"valid": 1}
    assert run.replay() == Replay(1, ())
    assert run.money == 0.0


def test_a_persona_speaks_from_its_seat_only(tmp_path):
    who = Persona("ada", "clockmaker", "patient", "Ada grew up by the sea.")
    config = settings(PROGRAMS / "prisoners_dilemma.pl", "m", repeats=1, personas={"ada": who}, style="line")
    model = ScriptedModel(lambda request: "ANSWER: Silent", name="m")
    played(tmp_path / "r", config, {"m": model})
    assert sorted("clockmaker" in asked.messages[0].content for asked in model.asked) == [False, True]


@pytest.mark.parametrize(
    ("game", "who", "more", "calls", "sure"),
    [
        ("prisoners-dilemma", ("m", "m"), {}, 2 * 10 * 3, True),
        ("prisoners-dilemma", ("m", "random"), {"reasoning": "refine", "attempts": 1}, 10 * 3, True),
        ("kuhn-poker", ("m", "random"), {"attempts": 1}, 10 * 2, True),
        ("guessing", ("m",), {"attempts": 1, "reasoning": "k-level:2"}, 10 * 50 * (1 + 4 + 16), False),
        ("survival-auction", ("m",), {"attempts": 1, "memory": "summary:3"}, 10 * 50 * 2, True),
        ("stag-hunt", ("verified:m", "random"), {}, 10 * 3 * 5, True),
        ("stag-hunt", ("random",), {}, 0, True),
    ],
)
def test_the_most_calls_are_known_beforehand(game, who, more, calls, sure):
    most = most_calls(settings(game, *who, **more))
    assert (most.calls, most.sure) == (calls, sure)


@pytest.mark.parametrize(
    ("game", "who", "more", "sentence"),
    [
        ("prisoners-dilemma", ("me", "random"), {}, "people play with `bestresponse play`"),
        ("prisoners-dilemma", ("always:both", "random"), {}, "'both' is not one of cooperate, defect"),
        ("water", ("equilibrium",), {}, "no equilibrium of water is known here"),
        ("prisoners-dilemma", ("m",), {"policy": "abstain"}, "lets nobody pass"),
        ("prisoners-dilemma", ("m",), {"repeats": 0}, "--repeats 0: expected a whole number from 1"),
        ("prisoners-dilemma", ("m",), {"reasoning": "loudly"}, "there is no reasoning 'loudly'"),
        ("prisoners-dilemma", ("m",), {"personas": {"rov": None}}, "there is a persona for 'rov', which is no seat"),
        ("prisoners-dilemma", ("random",), {"personas": {"row": None}}, "but no model sits there"),
    ],
)
def test_settings_that_make_no_sense_are_refused(game, who, more, sentence):
    with pytest.raises(UsageError, match=sentence):
        settings(game, *who, **more)


def test_a_stored_run_needs_no_file(tmp_path):
    file = tmp_path / "game.json"
    file.write_text(json.dumps({"payoffs": [[[2, 0], [0, 1]], [[2, 0], [0, 1]]], "name": "meet"}))
    run, _ = played(tmp_path / "r", settings(file, "equilibrium", repeats=2))
    file.unlink()
    assert run.replay().same == 2
    assert run.total == 2
    assert run.game({}).roles == ("row", "col")
    assert "Playing meet" in page.render(load_run(run.path).report())


def test_hostile_names_are_only_text_in_the_report(tmp_path):
    file = tmp_path / "game.json"
    evil = "<script>alert(1)</script>"
    game = {"payoffs": [[[2, 0], [0, 1]], [[2, 0], [0, 1]]], "name": evil, "players": [evil, "$x_1$ & co"],
            "actions": [["<img src=x onerror=alert(2)>", "=1+1"], ["a", "b"]]}  # fmt: skip
    file.write_text(json.dumps(game))
    run, _ = played(tmp_path / "r", settings(file, "random", repeats=4))
    document = run.report()
    html = page.render(document)
    assert evil not in html
    assert "<img src=x" not in html
    assert codec.from_json(codec.to_json(document)) == document


def test_a_run_without_plays_has_no_report_and_other_studies_are_told_apart(tmp_path):
    config = settings("stag-hunt", "random")
    with RunFolder.open(tmp_path / "r", make_manifest(SimulateStudy(), config, {}, running.NOW)) as folder:
        pass
    with pytest.raises(StoreError, match="no finished play yet"):
        Run(folder, SimulateStudy()).report()
    assert SimulateConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_a_repeated_dilemma_of_strategies_by_hand(tmp_path):
    config = settings("prisoners-dilemma", "tit-for-tat", "always:defect", repeats=2, rounds=4)
    run, _ = played(tmp_path, config)
    measured = run.results.measured
    # tit-for-tat is betrayed once (0 and 5), then both earn 1: a round 3 / 4 and 8 / 4
    assert measured.payoffs.tolist() == [[0.75, 2.0], [0.75, 2.0]]
    assert Summary(measured).judged.regrets["row"].estimate == 0.25
    # the first round costs tit-for-tat 1 against always defecting; that is spread over ever more rounds
    assert [one.estimate for one in regret_by_round(measured)["row"]] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert [one.estimate for one in regret_by_round(measured)["col"]] == [0, 0, 0, 0]
    assert "regret by round" in page.render(run.report())


def test_discounted_payoffs_are_weighted_means_a_round(tmp_path):
    config = settings("prisoners-dilemma", "tit-for-tat", "always:defect", repeats=1, rounds=2, discount=0.5)
    measured = played(tmp_path, config)[0].results.measured
    # (0 + 0.5 x 1) / 1.5 and (5 + 0.5 x 1) / 1.5
    assert measured.payoffs[0] == pytest.approx([1 / 3, 11 / 3])
    told = config.make_game().view(config.make_game().start(), "row").briefing
    assert "only 50 % of what the same payoff" in told


def test_a_random_end_and_noise_change_how_long_and_what_is_played(tmp_path):
    more = {"repeats": 30, "rounds": 50, "seed": 2}
    ended = played(tmp_path / "a", settings("prisoners-dilemma", "always:cooperate", continuation=0.5, **more))[0]
    lengths = [max(one.turn for one in ended.results.measured.made if one.play == play) for play in range(30)]
    # geometric with mean 2 and deviation 1.4: 30 plays last 2 rounds on average, within 4 standard errors
    assert abs(np.mean(lengths) - 2) < 4 * 2**0.5 / 30**0.5
    noisy = played(tmp_path / "b", settings("prisoners-dilemma", "always:cooperate", noise=0.25, **more))[0]
    moves = [one.value == "defect" for one in noisy.results.measured.made]
    assert abs(np.mean(moves) - 0.25) < 4 * (0.25 * 0.75 / len(moves)) ** 0.5


def test_rows_tell_what_was_meant_beside_the_move_that_was_made(tmp_path):
    model = ScriptedModel(lambda request: '{"reasons": "I trust them.", "answer": "cooperate"}', name="m")
    config = settings("prisoners-dilemma", "m", "tit-for-tat", repeats=1, rounds=12, noise=0.5, seed=3)
    run, _ = played(tmp_path, config, {"m": model})
    rows = [row for row in run.results.measured.rows if row["seat"] == "row"]
    assert {row["meant"] for row in rows} == {"cooperate"}
    assert {row["move"] for row in rows} == {"cooperate", "defect"}
    last = model.asked[-1].messages[-1].content
    for row in rows[:-1]:
        assert f"Round {row['turn']}: you meant cooperate, {row['move']} was made, col made the move" in last
    assert "with a probability of 50 %" in last
    assert [
        row["meant"] == row["move"]
        for row in played(tmp_path / "sure", settings("chicken", "random", repeats=1))[0].results.measured.rows
    ] == [True, True]


def test_noise_in_one_round_is_part_of_the_rules(tmp_path):
    config = settings("prisoners-dilemma", "always:cooperate", noise=0.5, repeats=40)
    view = config.make_game().view(config.make_game().start(), "row")
    assert "with a probability of 50 %" in view.briefing
    assert "is played" not in view.briefing
    made = played(tmp_path, config)[0].results.measured.made
    assert {one.value for one in made} == {"cooperate", "defect"}


def test_models_in_a_repeated_game_see_the_rounds_and_their_own_words(tmp_path):
    model = ScriptedModel(lambda request: '{"reasons": "I trust them.", "answer": "cooperate"}', name="m")
    config = settings("prisoners-dilemma", "m", "tit-for-tat", repeats=1, rounds=3, memory="window:1")
    assert most_calls(config).calls == 3 * config.attempts
    played(tmp_path, config, {"m": model})
    last = model.asked[-1].messages[-1].content
    assert "Round 1: you chose" not in last
    assert "Round 2: you chose cooperate, col chose cooperate; you got 3.\nYour reasons then" in last
    assert '"I trust them."' in last
    assert not any("rational" in message.content for request in model.asked for message in request.messages)


@pytest.mark.parametrize(
    ("game", "more", "why"),
    [
        ("kuhn-poker", {"rounds": 3}, "it has no payoff table"),
        ("prisoners-dilemma", {"rounds": 0}, "expected a whole number from 1"),
        ("prisoners-dilemma", {"discount": 0.9}, "about several rounds"),
        ("prisoners-dilemma", {"noise": 1.0}, "expected a probability below 1"),
        ("kuhn-poker", {"noise": 0.1}, "--noise belongs to games with a payoff table"),
        ("prisoners-dilemma", {"rounds": 3, "continuation": 0.0}, "continuation is 0"),
    ],
)
def test_what_cannot_be_repeated_is_refused(game, more, why):
    with pytest.raises(UsageError, match=why):
        settings(game, "random", **more)
