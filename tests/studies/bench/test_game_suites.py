"""The games of other benchmarks by one name."""

from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.ask import Choice
from bestresponse.core.conformance import any_legal_action
from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import find_game
from bestresponse.games.nim.rules import Nim
from bestresponse.games.twins.twin import TWINS
from bestresponse.studies.bench.suites import COOPEVAL, ORDINAL, SUITES, split_suite
from bestresponse.telling.render import CHARACTERS_PER_TOKEN, write_history, write_rules
from bestresponse.theory.games.isomorphs import name_ordinal


def test_every_game_of_a_suite_can_be_found() -> None:
    names = {game for games in SUITES.values() for game in games if game != ORDINAL}
    assert len(names) > 15
    for name in names:
        assert find_game(name).name


PAGES = Path(__file__).parents[3] / "docs" / "measure" / "suites"


@pytest.mark.parametrize("suite", SUITES)
def test_the_page_of_a_suite_names_every_game_and_its_size(suite: str) -> None:
    page = (PAGES / f"{suite}.md").read_text("utf-8")
    assert f"`{suite}`](suites/{suite}.md)" in (PAGES.parent / "suites.md").read_text("utf-8")
    assert suite in page
    for game in () if suite == COOPEVAL else SUITES[suite]:
        name, _, settings = game.partition("(")
        assert name in page
        if not settings.startswith("roles"):
            assert settings.rstrip(")") in page


ASKED = sorted({game for name, games in SUITES.items() if name != COOPEVAL for game in games})


@pytest.mark.parametrize("name", [game for game in ASKED if game != ORDINAL])
def test_prompts_of_suites_are_shorter_than_600_tokens(name: str) -> None:
    game = find_game(name).playable()
    rng = Random(0)
    state = game.start()
    while asks := game.asks(state):
        for role, ask in asks.items():
            view = game.view(state, role)
            moves = ", ".join(ask.options) if isinstance(ask, Choice) else ""
            told = f"{write_rules(view)} {write_history(view)} {moves}"
            assert len(told) / CHARACTERS_PER_TOKEN < 600
        chosen = {role: any_legal_action(ask, rng) for role, ask in asks.items()}
        state = game.apply(state, chosen)


def test_ordinal144_are_all_different() -> None:
    config = br.bench.config(model="random", game=ORDINAL)
    assert config.games == 144
    names = {name_ordinal(form).name for form in config.game.forms}
    assert len(names) == 144


@pytest.mark.parametrize("typed", [["--suite", "cards"], ["--suite=cards"]])
def test_a_suite_is_taken_out_of_what_was_typed(typed: list[str]) -> None:
    assert split_suite(["-m", "random", *typed, "--seed", "3"]) == (
        SUITES["cards"],
        ["-m", "random", "--seed", "3"],
    )
    assert split_suite(["--suite", "invariance"]) == ((), ["--suite", "invariance"])


def test_invariance_names_the_twins_of_a_game_with_its_settings() -> None:
    games, rest = split_suite(["nim(piles=1-2)", "--suite", "invariance", "-m", "random"])
    settings = "(piles=1-2,last_wins=true)"
    assert games == ("nim(piles=1-2)", *(f"{twin}{settings}" for twin in TWINS["nim"]))
    assert rest == ["-m", "random", "--recognise"]
    for name in games[1:]:
        assert find_game(name).game.base == Nim("1-2")
    assert split_suite(["stag-hunt", "--suite", "invariance"])[0] == ()


def test_every_game_has_a_run_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games = ("nim(piles=1-2)", "fifteen")
    monkeypatch.setitem(SUITES, "plybench", games)
    typed = ["bench", "--suite", "plybench", "-m", "random", "--num-games", "3"]
    result = CliRunner().invoke(app, [*typed, "--output-dir", str(tmp_path)])
    assert result.exit_code == 0, result.output
    runs = [br.load_run(path) for path in sorted(tmp_path.iterdir()) if path.is_dir()]
    assert {run.config.game.name for run in runs} == set(games)


def test_a_mistyped_suite_of_games_is_named():
    with pytest.raises(UsageError, match=r"there is no suite 'gtbnch'\. Did you mean gtbench\?"):
        split_suite(["--suite", "gtbnch", "--model", "random"])
