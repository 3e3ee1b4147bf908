"""A play step by step: who answered together, from which words, and what each answer cost."""

import pytest

from bestresponse.analysis.costs import price_against_strategies
from bestresponse.analysis.theory import describe_theory
from bestresponse.analysis.truth import find_truth, judge_decisions
from bestresponse.core.episode import Episode
from bestresponse.core.player import Decision
from bestresponse.formal.formalize.plan import library
from bestresponse.runs.reporting.steps import list_stages, list_steps
from bestresponse.web.sessions.setup import GameChoice, make_game


def measure_against_others(record, game):
    prices = price_against_strategies(record, game, {})
    return {number: priced.least for number, priced in prices.items()}


def measure_against_equilibrium(record, game):
    prices = judge_decisions(record, game, find_truth(game))
    return {number: priced.least for number, priced in prices.items()}


def play(choice, *answers):
    """The game and its record after (role, action) or (role, action, words) in turn."""
    game = make_game(choice)
    episode = Episode(game)
    for role, action, *words in answers:
        episode.submit(role, Decision(action, *words))
    return game, episode.record({})


def test_regret_against_the_others_and_against_the_equilibrium_are_two_things():
    game, record = play(GameChoice("chicken"), ("row", "swerve"), ("col", "swerve"))
    assert measure_against_others(record, game) == {
        1: 1.0,
        2: 1.0,
    }  # straight would have won against what the other did
    assert measure_against_equilibrium(record, game) == pytest.approx(
        {1: 0.0, 2: 0.0}
    )  # swerving belongs to an equilibrium


def test_in_a_dilemma_cooperation_costs_against_both():
    game, record = play(GameChoice("prisoners-dilemma"), ("row", "cooperate"), ("col", "cooperate"))
    assert measure_against_others(record, game) == {1: 2.0, 2: 2.0}
    assert measure_against_equilibrium(record, game) == {1: 1.0, 2: 1.0}


def test_a_mixture_costs_its_share():
    game, record = play(
        GameChoice("prisoners-dilemma", mixed=True), ("row", (0.25, 0.75)), ("col", (0.0, 1.0))
    )
    assert measure_against_equilibrium(record, game) == {1: 0.25, 2: 0.0}


def test_in_a_tree_a_move_is_weighed_by_what_follows():
    game, record = play(
        GameChoice("centipede"), ("player 1", "pass"), ("player 2", "pass"), ("player 1", "take")
    )
    assert measure_against_equilibrium(record, game) == pytest.approx(
        {1: 0.4 - 0.2, 2: 0.8 - 0.4, 3: 0.0}
    )
    assert measure_against_others(record, game) == {}


def test_in_poker_a_move_is_weighed_over_the_cards_that_may_be_out():
    game, record = play(
        GameChoice("kuhn-poker"), ("nature", "QJ"), ("player 1", "bet"), ("player 2", "pass")
    )
    assert measure_against_equilibrium(record, game)[2] == pytest.approx(
        1 / 6
    )  # -1/3 by passing, -1/2 by betting
    moves = (("player 1", "pass"), ("player 2", "bet"), ("player 1", "pass"))
    game, record = play(GameChoice("kuhn-poker"), ("nature", "KQ"), *moves)
    assert measure_against_equilibrium(record, game)[4] == pytest.approx(
        3.0
    )  # folding the king loses 1, calling wins 2


def test_where_the_equilibrium_never_comes_all_others_tremble():
    """The equilibrium that is found never bets first. After a bet by mistake, jack and king are
    equally likely, so that the queen gets 0 by calling and -1 by folding."""
    fold = (("nature", "JQ"), ("player 1", "bet"), ("player 2", "pass"))
    game, record = play(GameChoice("kuhn-poker"), *fold)
    (equilibrium,) = describe_theory(game).solution.equilibria
    bets = [equilibrium.policy.at("player 1", card)["bet"] for card in "JK"]
    assert bets == pytest.approx([0.0, 0.0], abs=1e-9)
    assert measure_against_equilibrium(record, game)[3] == pytest.approx(1.0, abs=1e-5)


def test_a_formalized_game_in_turns_is_weighed_like_a_tree():
    program = next(one.program for one in library() if one.name == "trust")
    choice = GameChoice("loan", program)
    game = make_game(choice)
    first, second = game.roles
    opening = game.asks(game.start())[first].options
    costs = {}
    for move in opening:
        episode = Episode(game)
        episode.submit(first, Decision(move))
        while pending := episode.pending:
            episode.submit(second, Decision(pending[second].options[0]))
        costs[move] = measure_against_equilibrium(episode.record({}), game)[1]
    assert min(costs.values()) == 0.0
    assert max(costs.values()) > 0.0


def test_registered_rules_are_weighed_by_the_known_equilibrium_and_water_not_at_all():
    game, record = play(GameChoice("trust"), ("sender", 4.0), ("receiver", 5.0))
    assert measure_against_equilibrium(record, game) == {1: 4.0, 2: 5.0}
    town = ("Alex", "Bob", "Cindy", "David", "Eric")
    game, record = play(
        GameChoice("water", rounds=1), ("nature", 20), *((role, "pass") for role in town)
    )
    assert measure_against_equilibrium(record, game) == {}


def test_answers_given_at_the_same_time_stand_together_with_what_was_earned_before():
    choice = GameChoice("prisoners-dilemma", rounds=2)
    game, record = play(choice, *((role, "defect") for _ in range(2) for role in ("row", "col")))
    first, second = list_stages(record, game)
    assert [[step.role for step in stage.steps] for stage in (first, second)] == [
        ["row", "col"],
        ["row", "col"],
    ]
    assert (first.earned, second.earned) == ({"row": 0.0, "col": 0.0}, {"row": 1.0, "col": 1.0})


def call(role, said):
    return {
        "role": role,
        "model": "m",
        "request": {"messages": [["user", f"to {role}"]]},
        "reply": {"text": said},
    }


def test_every_call_stands_with_the_answer_that_was_read_from_it():
    choice = GameChoice("prisoners-dilemma", rounds=2)
    first = (("row", "defect", "I defect"), ("col", "defect"))
    game, record = play(choice, *first, ("row", "cooperate", "now together"), ("col", "defect"))
    calls = [call("row", "hm"), call("row", "I defect"), call("row", "now together")]
    steps = list_steps(record, game, calls)
    assert [len(step.prompts) for step in steps] == [4, 0, 2, 0]
    assert steps[2].prompts == ("user:\nto row", "m:\nnow together")


def test_answers_of_several_fields_are_told_by_name():
    points = {f"player {k}": 0 for k in range(2, 5)}
    game = make_game(GameChoice("public-goods-punishment"))
    episode = Episode(game)
    for role in game.roles:
        episode.submit(role, Decision(10))
    for role in game.roles:
        episode.submit(
            role,
            Decision({other: int(other == "player 2") for other in game.roles if other != role}),
        )
    assert points.keys() == episode.submissions[4].decision.action.keys()
    while pending := episode.pending:
        for role, ask in pending.items():
            zero = {name: 0 for name, _ in ask.fields} if hasattr(ask, "fields") else 0
            episode.submit(role, Decision(zero))
    step = list_steps(episode.record({}), game, ())[4]
    assert (step.role, step.action) == ("player 1", "player 2: 1, player 3: 0, player 4: 0")
