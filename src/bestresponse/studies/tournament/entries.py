"""From what a user names to those who take part: groups and names of strategies, files, models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.formal.strategies.agents import Agent
from bestresponse.formal.strategies.programs import PUBLISHED, published_strategy
from bestresponse.games.logic.game import read_program_text
from bestresponse.games.lookup import Found, find_game
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.games.named_game import NamedGame
from bestresponse.players.lookup import find_strategy, list_strategies
from bestresponse.players.strategies.automaton import axelrod_strategy
from bestresponse.studies.tournament.config import Entry, Stage
from bestresponse.studies.tournament.entrants import as_automata
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.dilemma import cooperative_actions
from bestresponse.theory.repeated.library import classic_strategies
from bestresponse.theory.repeated.reduce import behave_alike

__all__ = ["GROUPS", "Gathered", "gather", "is_in_words", "make_stage", "read_stage", "read_strategy"]

GROUPS = ("all", "published", "classic")
AXELROD = "axelrod:"


@dataclass(frozen=True, slots=True)
class Gathered:
    """Those who can play the game, and why the others of a group cannot or need not."""

    entries: tuple[Entry, ...]
    left_out: tuple[tuple[str, str], ...]


def read_stage(source: str) -> Stage:
    """Read the game of that name or file, to be played many times."""
    return make_stage(find_game(source), NamedGame.find(source))


def make_stage(found: Found, source: NamedGame) -> Stage:
    """Make a game the stage of a tournament; InvalidGame unless two players move once, at the same time."""
    game = found.solvable()
    if not isinstance(game, NormalForm) or game.num_players != 2 or game.shape[0] != game.shape[1]:
        raise InvalidGame(
            f"{found.name}: a tournament needs two players who choose at the same time among equally many moves"
        )
    return Stage.from_form(found.name, game, program=source.text if source.ending == ".pl" else "")


def gather(names: Iterable[str], stage: Stage, default_move: str | None = None) -> Gathered:
    """The strategies of these names and groups. One that is named must be able to play; one of a group need not."""
    moves = stage.actions[0]
    if default_move is not None and default_move not in moves:
        raise UsageError(f"the default move {default_move!r} is none of {', '.join(moves)}")
    entries: dict[str, Entry] = {}
    left_out: list[tuple[str, str]] = []
    for name in names:
        if name not in GROUPS:
            entry = _find_entry(name, stage)
            _check(entry, stage, default_move)
            entries[entry.name] = entry
        if name in ("all", "published"):
            left_out += _add_published(entries, stage, default_move)
        if name in ("all", "classic"):
            left_out += _add_classic(entries, stage, default_move)
    return Gathered(tuple(entries.values()), tuple(left_out))


def _check(entry: Entry, stage: Stage, default_move: str | None) -> None:
    """UsageError or InvalidGame where the strategy is not there or cannot play the game."""
    if entry.kind == "axelrod":
        axelrod_strategy(entry.source)
        cooperative_actions(stage.form)
    as_automata(entry, stage, default_move)


def _add_published(entries: dict[str, Entry], stage: Stage, default_move: str | None) -> list[tuple[str, str]]:
    left_out = []
    for name in PUBLISHED:
        entry = _find_entry(name, stage)
        try:
            as_automata(entry, stage, default_move)
            entries[name] = entry
        except InvalidGame as error:
            left_out.append((name, str(error)))
    return left_out


def _add_classic(entries: dict[str, Entry], stage: Stage, default_move: str | None) -> list[tuple[str, str]]:
    """Those that are not there already under this or another name."""
    try:
        cooperative_actions(stage.form)
    except InvalidGame as error:
        return [("the classic strategies", str(error))]
    left_out = []
    for strategy in classic_strategies():
        taken = strategy.name in entries
        entry = Entry(f"classic {strategy.name}" if taken else strategy.name, "classic", strategy.name)
        same = _same(entry, entries.values(), stage, default_move)
        if same is None:
            entries[entry.name] = entry
        elif same != strategy.name:
            left_out.append((entry.name, f"here it does the same as {same}"))
    return left_out


def _same(entry: Entry, entries: Iterable[Entry], stage: Stage, default_move: str | None) -> str | None:
    """The name of one who takes part already and behaves alike in both seats."""
    ours = as_automata(entry, stage, default_move)
    for other in entries:
        theirs = as_automata(other, stage, default_move)
        if ours and theirs and all(behave_alike(a, b) for a, b in zip(ours, theirs, strict=True)):
            return other.name
    return None


def _find_entry(name: str, stage: Stage) -> Entry:
    """Find a strategy by name: one of the groups, or any player who needs no model (see `players.lookup`)."""
    if name.startswith(AXELROD):
        return Entry(name, "axelrod", name.removeprefix(AXELROD))
    if name in PUBLISHED:
        return Entry(name, "rules", "published", published_strategy(name))
    classic = [one.name for one in classic_strategies()]
    if name in classic:
        return Entry(name, "classic", name)
    game = RepeatedGame(stage.form, 2)
    if all(find_strategy(name, game, role, 0) is not None for role in game.roles):
        return Entry(name, "player", name)
    known = [*GROUPS, *PUBLISHED, *classic, *list_strategies(game)]
    raise UsageError(
        f"there is no strategy named {name!r}.{did_you_mean(name, known)} Groups: {', '.join(GROUPS)}; "
        "`axelrod:NAME` takes one of Axelrod's library; a file is given with --strategy."
    )


def is_in_words(path: Path) -> bool:
    """Whether the strategy in this file has to be formalized first."""
    return path.suffix.lower() not in (".pl", ".json")


def read_strategy(path: Path) -> Entry:
    """A strategy as rules (`.pl`), or the one of a saved agent (`.json`)."""
    if path.suffix.lower() == ".json":
        agent = Agent.load(path)
        return Entry(agent.name, "rules", path.name, agent.rules, agent.words)
    return Entry(path.stem, "rules", path.name, read_program_text(path))
