"""What a model is told under forty settings: which sentence states which rule, and what nobody may
tell it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import running
from courses import name_course

from bestresponse.games.lookup import NamedGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.agent import Persona
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.study import simulate
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import Contestant
from bestresponse.studies.tournament.study import tournament

DILEMMA = "prisoners-dilemma"
ALEX = Persona("Alex", "a baker", "patient", "from the north")


@dataclass(frozen=True)
class Told:
    """A setting, the rule that it makes, and the sentence that states this rule in some prompt; or
    what no prompt may say."""

    rule: str
    sentence: str = ""
    never: str = ""
    game: str = DILEMMA
    settings: tuple[tuple[str, object], ...] = field(default=())
    study: str = "simulate"

    @property
    def prompts(self) -> tuple[str, ...]:
        return list_prompts(self.study, self.game, self.settings)


def told(rule: str, sentence: str = "", *, never: str = "", game: str = DILEMMA, **settings):
    return Told(rule, sentence, never, game, tuple(settings.items()))


def in_tournament(rule: str, sentence: str, *, never: str = "", **settings):
    return Told(rule, sentence, never, DILEMMA, tuple(settings.items()), "tournament")


def answer(request) -> str:
    """Give the first move that is offered, or 1, with a reason."""
    asked = next(one.content for one in request.messages if one.role == "user")
    if move := re.search(r'"answer": <one of ("[^"]+")', asked):
        chosen = move[1]
    elif names := re.findall(r'("player \d"): <', asked):
        chosen = "{" + ", ".join(f"{name}: 1" for name in names) + "}"
    else:
        chosen = "1"
    return f'{{"reasons": "I like it.", "answer": {chosen}}}'


PLAYED: dict[str, tuple[str, ...]] = {}


def list_prompts(study: str, game: str, settings: tuple[tuple[str, object], ...]):
    """List what the model in the first seat is sent in one play; the same play is made once."""
    key = repr((study, game, settings))
    if key not in PLAYED:
        PLAYED[key] = play(study, game, settings)
    return PLAYED[key]


def play(study: str, game: str, settings: tuple[tuple[str, object], ...]) -> tuple[str, ...]:
    model = ScriptedModel(answer, name="m")
    with TemporaryDirectory() as folder:
        if study == "tournament":
            chosen = dict(settings)
            config = TournamentConfig(
                name_course(game, chosen),
                ("tit-for-tat", Contestant("m", "model", "m")),
                repetitions=1,
                **chosen,
            )
            running.run(tournament, config, Path(folder), {"m": model})
        else:
            roles = NamedGame.find(game).game().roles
            seats = dict.fromkeys(roles, "random") | {roles[0]: "m"}
            chosen = dict(settings)
            config = SimulateConfig(name_course(game, chosen), seat=seats, repeats=1, **chosen)
            running.run(simulate, config, Path(folder), {"m": model})
    return tuple(
        "\n".join(message.content for message in request.messages) for request in model.asked
    )


NOISY = {"rounds": 4, "noise": 0.25}
TABLE = (
    told("simultaneous moves", "You and col choose at the same time; neither sees the other's"),
    told("options", "Your possible actions: cooperate, defect."),
    told("options of the other", "The possible actions of col: cooperate, defect."),
    told("payoffs", "| cooperate |      3, 3 |   0, 5 |"),
    told("aim", "Your aim is to make your own expected payoff as large as possible."),
    told("rounds", "The game is played 3 times with the same players.", rounds=3),
    told("perfect monitoring", "After each round everybody sees which moves were made.", rounds=3),
    told("sum of payoffs", "What counts is the sum of your payoffs.", rounds=3),
    told("which round it is", "Round 3.", rounds=3),
    told("the past", "Round 1: you chose cooperate, col chose", rounds=3),
    told("what a round paid", "; you got ", rounds=3),
    told(
        "random end",
        "after each round there is another one with a probability of 90 %, up to 3 rounds.",
        rounds=3,
        continuation=0.9,
    ),
    told("fixed end is not told as random", never="there is another one with", rounds=3),
    told("discount", "A payoff counts only 50 % of what the same payoff", rounds=3, discount=0.5),
    told("noise", "with a probability of 25 % a move is made that the player did not", **NOISY),
    told("no noise is not told", never="go wrong", rounds=3),
    told("own intentions", "you meant cooperate", **NOISY),
    told("the other's move as made", "col made the move", **NOISY),
    told("the other's intentions are hidden", never="col meant", **NOISY),
    told("window", "(The first 2 rounds are not shown.)", rounds=4, memory="window:1"),
    told(
        "summary",
        "What happened in the earlier rounds, in short: ",
        rounds=4,
        memory="summary:1",
    ),
    told("own words", 'Your reasons then, in your own words: "I like it', rounds=3),
    told("no own words", never="in your own words", rounds=3, own_words=False),
    told("step by step", "Think step by step before you answer", reasoning="step-by-step"),
    told("prediction", "what the others will do, and expect this:", reasoning="predict"),
    told("reflection", "Looking back, you noted:", rounds=3, reasoning="reflect"),
    told("refinement", "On second thoughts you find:", reasoning="refine"),
    told("levels", "You have put yourself in the place of the others", reasoning="k-level"),
    told("persona", "a baker", personas={"row": ALEX}),
    told("a participant", "Col is another participant.", about_others="participant"),
    told("the truth about the others", "Col is ", about_others="truth"),
    told("nothing about the others", never="perfectly rational"),
    told(
        "the nearest number wins",
        "nearest to 0.8 times the average of all chosen numbers gets 1",
        game="guessing",
    ),
    told("range of numbers", "a number from 0 to 100, in secret", game="guessing"),
    told("the project", "multiplied by 1.6 and shared equally", game="public-goods-punishment"),
    told("a point", "takes 3 coins from the other; coins can fall", game="public-goods-punishment"),
    told("the price", "and pays the own bid.", game="first-price-auction"),
    told("the second price", "pays the second highest bid.", game="second-price-auction"),
    told("ties", "among equal bids the bidder who comes first", game="first-price-auction"),
    told("trust", "What is sent is multiplied by 3 on the way.", game="trust"),
    told("the ultimatum", "If the responder rejects, both get nothing.", game="ultimatum"),
    told("battlefields", "distributes 6 troops over 3 battlefields", game="colonel-blotto"),
    told("poker", "Each player puts 1 coin into the pot", game="kuhn-poker"),
    told("thirst", "1 on the first dry day in a row, 2 on the second", game="survival-auction"),
    told("order of ties", "in this order: player 1, player 2", game="survival-auction"),
    told("the lowest effort", "times the lowest of all chosen numbers", game="minimum-effort"),
    told("the lower claim", "both get the lower of the two chosen", game="travelers-dilemma"),
    in_tournament("rounds of a tournament", "The game is played 3 times", rounds=3),
    in_tournament("noise of a tournament", "with a probability of 10 %", rounds=3, noise=0.1),
    in_tournament(
        "end of a tournament", "another one with a probability of 50 %", rounds=3, continuation=0.5
    ),
    in_tournament("rivals of a tournament are hidden", "", never="tit-for-tat", rounds=3),
)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.study}: {row.rule}")
def test_the_sentence_that_states_a_rule_is_told_under_its_setting(row: Told) -> None:
    assert row.prompts
    if row.sentence:
        assert any(row.sentence in prompt for prompt in row.prompts), row.prompts[-1]
    if row.never:
        assert not any(row.never in prompt for prompt in row.prompts)


def test_the_table_has_forty_rows_of_different_rules() -> None:
    assert len({row.rule for row in TABLE}) == len(TABLE) >= 40


RIVAL = "Put yourself in the place of"


@pytest.mark.parametrize(
    ("game", "secret", "settings"),
    [
        (DILEMMA, "you meant cooperate", NOISY),
        (DILEMMA, "you meant cooperate", {**NOISY, "memory": "window:1"}),
        (DILEMMA, "you meant cooperate", {**NOISY, "memory": "summary:1"}),
        (DILEMMA, "in short: ", {**NOISY, "memory": "summary:1"}),
        (DILEMMA, "in your own words", NOISY),
        (DILEMMA, "a baker", {**NOISY, "personas": {"row": ALEX}}),
        ("kuhn-poker", "You hold", {}),
        ("first-price-auction", "Your value is", {}),
    ],
)
def test_a_rival_is_thought_of_without_what_the_player_alone_knows(game, secret, settings) -> None:
    prompts = list_prompts("simulate", game, (*settings.items(), ("reasoning", "k-level")))
    about_rivals = [prompt for prompt in prompts if RIVAL in prompt]
    assert about_rivals
    assert not any(secret in prompt for prompt in about_rivals)
    assert any(secret in prompt for prompt in prompts if prompt not in about_rivals)
