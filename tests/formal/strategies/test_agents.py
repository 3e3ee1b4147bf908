from fractions import Fraction
from pathlib import Path

import pytest

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.strategies.agents import Agent, write_match_program
from bestresponse.formal.strategies.programs import PUBLISHED, published_strategy
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.theory.catalogue.tables import load

DILEMMA = load("prisoners-dilemma")


def table_of(strategy, game=DILEMMA, seat=0, default=None):
    return Agent.of("Ada", game, strategy).with_default_move(default).seats().table(seat)


def replies(table):
    return {pair: dict(mixture) for pair, mixture in table.after}


@pytest.mark.parametrize(
    ("strategy", "first", "after_cooperation", "after_defection"),
    [
        ("default-move", "cooperate", "cooperate", "cooperate"),
        ("anti-default-move", "defect", "defect", "defect"),
        ("tit-for-tat", "cooperate", "cooperate", "defect"),
        ("anti-tit-for-tat", "cooperate", "defect", "cooperate"),
        ("best-response", "cooperate", "defect", "defect"),
    ],
)
def test_a_published_strategy_does_what_its_description_says(
    strategy, first, after_cooperation, after_defection
):
    for seat in (0, 1):
        table = table_of(strategy, seat=seat)
        assert table.first == ((first, 1),)
        for (_, other), mixture in replies(table).items():
            assert mixture == {after_cooperation if other == "cooperate" else after_defection: 1}


def test_the_random_strategy_is_uniform_exactly():
    assert dict(table_of("random").first) == {"cooperate": Fraction(1, 2), "defect": Fraction(1, 2)}
    third = Fraction(1, 3)
    assert dict(table_of("random", load("rock-paper-scissors")).first) == {
        "rock": third,
        "paper": third,
        "scissors": third,
    }


def test_a_best_response_depends_on_the_seat():
    """In matching pennies the first player wants to match, the second to differ."""
    pennies = load("matching-pennies")
    heads, tails = pennies.actions[0]
    matcher, other = (table_of("best-response", pennies, seat) for seat in (0, 1))
    assert dict(matcher.reply(heads, tails)) == {tails: 1}
    assert dict(other.reply(heads, tails)) == {heads: 1}


def test_a_best_response_in_rock_paper_scissors_beats_the_last_move():
    table = table_of("best-response", load("rock-paper-scissors"))
    assert [dict(table.reply("rock", seen)) for seen in ("rock", "paper", "scissors")] == [
        {"paper": 1},
        {"scissors": 1},
        {"rock": 1},
    ]


def test_a_strategy_without_an_opposite_move_says_so():
    with pytest.raises(InvalidGame, match="no move in the first round"):
        table_of("anti-default-move", load("rock-paper-scissors"))


def test_the_default_move_can_be_overridden_and_given_back():
    agent = Agent.of("Ada", DILEMMA, "tit-for-tat").with_default_move("defect")
    assert agent.seats().table(0).first == (("defect", 1),)
    assert agent.with_default_move(None).seats().table(0).first == (("cooperate", 1),)
    with pytest.raises(UsageError, match="expected cooperate or defect"):
        agent.with_default_move("sulk").seats()


def test_a_game_without_default_and_opposite_moves_gets_them():
    program = "\n".join(
        line
        for line in write_match_program(DILEMMA).splitlines()
        if "default_move" not in line and "opposite" not in line
    )
    table = Agent.of("Ada", program, "anti-tit-for-tat").seats().table(0)
    assert table.first == (("cooperate", 1),)
    assert dict(table.reply("cooperate", "cooperate")) == {"defect": 1}


def test_agents_are_saved_loaded_cloned_and_given_other_strategies(tmp_path):
    agent = Agent.of("Ada", DILEMMA, "tit-for-tat").with_default_move("defect")
    agent.save(tmp_path / "ada.json")
    assert Agent.load(tmp_path / "ada.json") == agent
    twin = agent.clone("Eve").with_strategy("random")
    assert (twin.name, twin.rules, twin.game, twin.default_move) == (
        "Eve",
        published_strategy("random"),
        agent.game,
        "defect",
    )
    assert agent.rules == published_strategy("tit-for-tat")


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"name": "x"}', '{"name": "x", "game": 1, "rules": ""}']
)
def test_a_file_that_is_no_agent_is_refused_in_a_sentence(tmp_path, text):
    path = tmp_path / "agent.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        Agent.load(path)


def test_strategies_come_from_strings_and_files(tmp_path):
    rules = "select(_P, _O, _S, defect).\n"
    path = Path(tmp_path / "mean.pl")
    path.write_text(rules)
    assert Agent.of("a", DILEMMA, rules).seats().table(1).first == (("defect", 1),)
    assert Agent.of("a", DILEMMA, path) == Agent.of("a", DILEMMA, rules)


def test_a_strategy_that_plays_a_foreign_move_is_refused():
    with pytest.raises(InvalidGame, match="plays sulk"):
        Agent.of("a", DILEMMA, "select(_P, _O, _S, sulk).").seats().automaton(0)


def test_a_strategy_that_sometimes_has_no_move_is_refused_with_the_probability():
    rules = "select(_P, _O, _S, cooperate) :- random_member(X, [1, 2, 3, 4]), X > 1."
    with pytest.raises(InvalidGame, match="no move in the first round with probability 1/4"):
        Agent.of("a", DILEMMA, rules).seats().table(0)


def test_a_hostile_strategy_never_runs():
    with pytest.raises(Exception, match="shell/1"):
        Agent.of(
            "a", DILEMMA, "select(_P, _O, _S, cooperate) :- shell('touch /tmp/owned')."
        ).seats()


@pytest.mark.parametrize(
    "name", ["prisoners-dilemma", "battle-of-the-sexes", "rock-paper-scissors", "chicken"]
)
def test_the_program_written_for_a_table_has_that_table(name):
    form = load(name)
    report = validate(write_match_program(form), EmbeddedEngine())
    assert report.ok
    assert report.table.moves == (form.actions[0], form.actions[0])
    for i, first in enumerate(form.actions[0]):
        for k, second in enumerate(form.actions[0]):
            assert [float(u) for u in report.table.payoffs((first, second))] == [
                u[i, k] for u in form.payoffs
            ]


def test_there_are_six_published_strategies():
    assert len(PUBLISHED) == 6
    with pytest.raises(UsageError, match="tit-for-tat"):
        published_strategy("tit-for-tot")
