"""Whoever shows a game shows the same text: studies, plays, pages, the terminal, other tools.

PettingZoo and the MCP server hand out numbers and names, and tell no game.
"""

import re
from html import unescape
from pathlib import Path

import pytest
import running

from bestresponse.api.reasoning import play
from bestresponse.core.ask import Choice
from bestresponse.games.lookup import NamedGame, find_game
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.integrations.seats import play_seats
from bestresponse.models.providers.function import from_function
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.people.console import ConsolePlayer
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.study import simulate
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import Contestant
from bestresponse.studies.tournament.study import tournament
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.plays import write_briefing
from bestresponse.telling.render import word_rules, write_rules
from bestresponse.theory.catalogue.tables import load
from bestresponse.web.experiments.reading import parse_experiment

DILEMMA = "prisoners-dilemma"
ROUNDS = 2
REPEATED = RepeatedGame(load(DILEMMA), ROUNDS)
RULES = write_rules(REPEATED.view(REPEATED.start(), "row"))
AIM = "Your aim is to make your own expected payoff as large as possible."
ONCE = write_rules(find_game(DILEMMA).playable().view((), "row"))
"""The game played once, told to whoever is `row`."""


def list_sent(model: ScriptedModel) -> list[str]:
    return ["\n".join(message.content for message in asked.messages) for asked in model.asked]


def answer(request: object) -> str:
    return "ANSWER: cooperate"


def test_a_tournament_tells_the_rules(tmp_path: Path) -> None:
    model = ScriptedModel(answer, name="m")
    players = (Contestant("m", "model", "m"), "tit-for-tat")
    config = TournamentConfig(DILEMMA, players, repetitions=1, rounds=ROUNDS)
    running.run(tournament, config, tmp_path, {"m": model})
    assert any(RULES in sent for sent in list_sent(model))


def test_a_simulation_tells_the_rules(tmp_path: Path) -> None:
    model = ScriptedModel(answer, name="m")
    config = SimulateConfig(DILEMMA, seat={"row": "m", "col": "random"}, repeats=1, rounds=ROUNDS)
    running.run(simulate, config, tmp_path, {"m": model})
    assert all(RULES in sent for sent in list_sent(model))


def test_a_play_of_the_library_tells_the_rules() -> None:
    sent: list[str] = []

    def reply(prompt: str) -> str:
        sent.append(prompt)
        return "ANSWER: cooperate"

    play(REPEATED, {"row": reply, "col": "always:defect"})
    assert [RULES in prompt for prompt in sent] == [True] * ROUNDS


def test_a_play_for_other_tools_tells_the_rules() -> None:
    sent: list[str] = []

    def reply(prompt: str) -> str:
        sent.append(prompt)
        return "ANSWER: cooperate"

    play_seats(DILEMMA, {"row": from_function("m", reply), "col": "always:defect"}, seed=0)
    assert [ONCE in prompt for prompt in sent] == [True]


def test_verify_tells_the_rules_under_the_names_of_its_study() -> None:
    config = VerifyConfig(game=(NamedGame.find(DILEMMA),), model=("m",), disguised=False)
    told = write_briefing(config.scene).splitlines()
    once = MatrixGame(load(DILEMMA), shown_as="prose")
    rules = write_rules(once.view((), "row"))
    renamed = rules.replace("row", "Player 1").replace("col", "Player 2").splitlines()
    # Verify lists the moves in another order and sets its own aim.
    wanted = {line for line in renamed if "possible actions" not in line and line != AIM}
    assert wanted == {line for line in told if "possible actions" not in line}


def test_inspect_tells_the_rules() -> None:
    tasks = pytest.importorskip("bestresponse.integrations.inspect.tasks")
    (sample,) = tasks.verify_reasoning(DILEMMA).dataset
    assert sample.input.startswith(ONCE)


def list_people_paragraphs() -> list[str]:
    _, *rest = [paragraph for paragraph in RULES.split("\n\n") if paragraph != AIM]
    return [
        "You are row. You play with col. You both choose at the same time; neither sees the other's"
        " choice beforehand.",
        *rest,
    ]


def test_people_are_told_the_same_without_an_aim() -> None:
    told = word_rules(REPEATED, REPEATED.view(REPEATED.start(), "row"))
    assert told.split("\n\n") == list_people_paragraphs()


def test_the_terminal_tells_the_rules_for_people() -> None:
    written: list[str] = []
    typed = iter(["rules", "cooperate"])
    player = ConsolePlayer(lambda _: next(typed), written.append, game=REPEATED)
    player.decide(REPEATED.view(REPEATED.start(), "row"), Choice(("cooperate", "defect")))
    assert "\n\n".join(list_people_paragraphs()) in written


def test_a_page_tells_the_rules_for_people() -> None:
    trial = pytest.importorskip("bestresponse.web.trial")
    text = (
        f'title = "t"\n[[games]]\ngame = "{DILEMMA}"\nrounds = {ROUNDS}\n'
        'seats = ["person", "strategy:random"]\n'
    )
    parse_experiment(text)
    pages = trial.try_experiment(text, trial.TrialSettings(1), str).pages
    shown = next(page.html for page in pages if page.kind == "welcome")
    words = re.findall(r"\w+", unescape(re.sub(r"<[^>]+>", " ", shown)))
    wanted = re.findall(r"\w+", "\n\n".join(list_people_paragraphs()))
    assert " ".join(wanted) in " ".join(words)
