"""Who takes part in a tournament, and in which game.

Participants are groups and names of strategies, files, functions and models. A strategy is an
automaton for each seat of the game where it can be written as one (`as_automata`); players,
functions and models are asked round by round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bestresponse.core.errors import BestResponseError, InvalidGame, SettingError, UsageError
from bestresponse.core.files import read_text
from bestresponse.core.json import digest
from bestresponse.core.registry import did_you_mean
from bestresponse.formal.strategies.agents import (
    Agent,
    find_default_moves,
    write_match_program,
    write_strategy_rules,
)
from bestresponse.formal.strategies.programs import AS_RUN, PUBLISHED, published_strategy
from bestresponse.games.logic.game import read_program_text
from bestresponse.games.lookup import NamedGame, ProgramGame
from bestresponse.games.matrix.game import RepeatedGame, as_repeated, find_table_rule
from bestresponse.games.mechanisms.reputation import ReputationGame
from bestresponse.logic.engine import open_engine
from bestresponse.models.base import Model
from bestresponse.models.providers.function import hash_function
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.players import strategies
from bestresponse.players.lookup import find_strategy, list_strategies
from bestresponse.runs import inputs
from bestresponse.runs.models import open_models
from bestresponse.runs.settings import RunSettings
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import (
    Automaton,
    behave_alike,
    classic_strategies,
    cooperative_actions,
)

GROUPS = ("all", "published", "classic")
AXELROD = "axelrod:"
_COPIES = re.compile(r"(.+):(\d+)")
"""An entry with a number of copies, such as `tit-for-tat:3`."""
_MOST_COPIES = 100
Kind = Literal["rules", "classic", "player", "axelrod", "model", "function", "words"]


@dataclass(frozen=True, slots=True)
class Contestant:
    """One who takes part.

    `rules` is the program of a strategy written as rules, `words` its text where it was told in
    words; `source` says where it came from: a file, `published`, the name of a classic strategy, of
    another player or of Axelrod's library, or a model. `thing` is the model or the function itself
    where one was given; no file keeps it.
    """

    name: str
    kind: Kind
    source: str = ""
    rules: str = ""
    words: str = ""
    thing: Any = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, str]:
        """Return the entry as plain data, without the model or function."""
        return {name: getattr(self, name) for name in ("name", "kind", "source", "rules", "words")}


@dataclass(frozen=True, slots=True)
class StageGame:
    """The game of one round.

    `program` is the logic program it came from, empty for a table of payoffs.
    """

    name: str
    form: NormalForm
    program: str = ""


Participant: TypeAlias = "str | Path | Model | strategies.HistoryFunction | Contestant"
_WORDS = (".txt", ".md")
_STRATEGY_FILES = (".pl", ".json", *_WORDS)
_GAMES = (str, Path, NamedGame, NormalForm, ProgramGame, Mapping)
"""What a list of several games may hold; any other list is a table of payoffs."""


class StageGamesSetting(
    inputs.Converted["inputs.GameLike | Sequence[inputs.GameLike]", tuple[NamedGame, ...]]
):
    """One game or several; a text file tells a game in words."""

    many = True

    @classmethod
    def convert(
        cls,
        value: inputs.GameLike | Sequence[inputs.GameLike],
        stored: bool,
    ) -> tuple[NamedGame, ...]:
        """Find every game.

        A list is one table of payoffs unless everything in it names or is a game.
        """
        if isinstance(value, list | tuple) and value:
            holds_games = all(isinstance(item, _GAMES) for item in value)
            if holds_games:
                return tuple(_find_game(game, stored) for game in value)
        return (_find_game(value, stored),)

    to_json = inputs.NamedGamesSetting.to_json


def _find_game(game: inputs.GameLike, stored: bool) -> NamedGame:
    if stored or not isinstance(game, str | Path):
        return inputs.GameSetting.convert(game, stored)

    path = Path(game)
    if path.suffix.lower() not in _WORDS:
        return inputs.GameSetting.convert(game, stored)
    if not path.exists():
        raise SettingError("games", f"{path}: there is no such file")
    return NamedGame(path.stem, _WORDS[0], read_text(path))


def is_in_words(game: NamedGame) -> bool:
    """Say whether a game is still told in words, so that a model has to formalize it."""
    return game.ending in _WORDS


class EntriesSetting(
    inputs.Converted["Participant | Sequence[Participant]", tuple[Contestant, ...]]
):
    """Who takes part: groups, strategies, models, files, and functions.

    Groups, strategies, models and files are given by name. Models themselves and functions of both
    histories may be given too.
    """

    many = True

    @classmethod
    def convert(
        cls,
        value: Participant | Sequence[Participant],
        stored: bool,
    ) -> tuple[Contestant | str, ...]:
        """Read files and describe models and functions.

        Names are looked up once the game is known.
        """
        if isinstance(value, Sequence) and not isinstance(value, str):
            return tuple(_describe_entry(item, stored) for item in value)
        return (_describe_entry(value, stored),)

    @classmethod
    def to_json(cls, value: tuple[Contestant, ...]) -> list[dict[str, str]]:
        """Return every entry as plain data."""
        return [entry.to_json() for entry in value]


def _describe_entry(item: object, stored: bool) -> Contestant | str:
    if isinstance(item, Contestant):
        return item
    if isinstance(item, Mapping):
        try:
            return Contestant(**item)
        except TypeError:
            raise UsageError("expected the name of a strategy, a model or a file") from None
    if stored:
        raise UsageError(f"the stored entry {item!r} is not complete")
    if isinstance(item, Model):
        return Contestant(item.id, "model", item.id, thing=item)
    if isinstance(item, str | Path):
        path = Path(item)
        return read_strategy(path) if _is_strategy_file(path) else str(item)
    if callable(item) and inputs.count_parameters(item) == 1:
        model = inputs.as_model(item)
        return Contestant(model, "model", model, thing=model.model)
    if callable(item) and inputs.count_parameters(item) == 2:
        name = getattr(item, "__name__", type(item).__name__)
        source = hash_function(item) or digest(repr(item), 12)
        return Contestant(name, "function", source, thing=item)
    raise UsageError(
        "expected a strategy, a model, a function from a prompt to a text or one of two histories,"
        f" got {type(item).__name__}"
    )


def _is_strategy_file(path: Path) -> bool:
    return path.suffix.lower() in _STRATEGY_FILES


def read_strategy(path: Path) -> Contestant:
    """Read a strategy from a file: rules, a saved agent, or words.

    Rules are `.pl`, a saved agent's strategy is `.json`, and words are `.txt` or `.md`.
    """
    if not path.exists():
        raise SettingError("entries", f"{path}: there is no such file")
    match path.suffix.lower():
        case ".json":
            agent = Agent.load(path)
            return Contestant(agent.name, "rules", path.name, agent.rules, agent.words)
        case ".pl":
            return Contestant(path.stem, "rules", path.name, read_program_text(path))
        case _:
            return Contestant(path.stem, "words", path.name, words=read_text(path))


def formalize_entry(entry: Contestant, stage: StageGame, model: Model) -> Contestant:
    """Let a model write the rules of a strategy in words.

    InvalidGame says what was wrong with the last attempt.
    """
    program = stage.program or write_match_program(stage.form)
    engine = open_engine()
    try:
        result = write_strategy_rules(entry.words, program, model, engine)
    finally:
        engine.close()
    if not result.ok:
        raise InvalidGame(f"{entry.source}: {result.trouble}")
    return Contestant(
        name=entry.name,
        kind="rules",
        source=f"{entry.source}, formalized by {model.id}",
        rules=result.rules,
        words=result.words,
    )


def formalize_entries(
    entries: tuple[Contestant, ...],
    model: inputs.NamedModel | None,
    config: RunSettings,
    find_stage: Callable[[], StageGame],
) -> tuple[Contestant, ...]:
    """Let the model write the rules of those strategies that are in words.

    Without any no model is needed.
    """
    in_words = [entry for entry in entries if entry.kind == "words"]
    if not in_words:
        return entries
    if model is None:
        raise SettingError(
            "model",
            f"{in_words[0].source} is a strategy in words; name the model that formalizes it",
        )
    stage = find_stage()
    written: dict[Contestant, Contestant] = {}
    with open_models((model,), Path(config.output_dir), config.limits) as opened:
        for entry in in_words:
            written[entry] = formalize_entry(entry, stage, opened.models[model])
    return tuple(written.get(entry, entry) for entry in entries)


@cache
def make_stage(game: NamedGame) -> StageGame:
    """Make a game the stage of a tournament.

    Raises UsageError unless two players move once, at the same time.
    """
    repeated = find_repeated(game)
    form = game.loaded.solvable() if repeated is None else repeated.form
    if not isinstance(form, NormalForm) or form.num_players != 2 or form.shape[0] != form.shape[1]:
        raise UsageError(
            f"{game.name}: a tournament needs two players who choose at the same time among equally"
            " many moves, as in prisoners-dilemma; `bestresponse games` lists the names"
        )
    return StageGame(game.name, form, game.text if game.ending == ".pl" else "")


@cache
def find_repeated(game: NamedGame) -> RepeatedGame | None:
    """Return a game that is repeated already; UsageError where that makes no match."""
    found = None if is_in_words(game) else as_repeated(game.game())
    if isinstance(found, ReputationGame):
        raise UsageError(
            f"{game.name}: in a tournament everybody sees all moves; use repeated(...) instead"
        )
    return found


@cache
def make_match(game: NamedGame, rounds: int) -> RepeatedGame:
    """Make the repeated game of a match, of so many rounds where the game does not say it."""
    if repeated := find_repeated(game):
        return repeated
    form = make_stage(game).form
    return RepeatedGame(form, rounds, rule=find_table_rule(game.game()))


def gather_entries(
    wanted: Iterable[Contestant | str],
    stage: StageGame,
    default_move: str | None = None,
) -> tuple[tuple[Contestant, ...], tuple[tuple[str, str], ...]]:
    """Return those who take part, and why others of a group cannot or need not.

    Whoever is named must be able to play.
    """
    moves = stage.form.actions[0]
    if default_move is not None and default_move not in moves:
        raise SettingError(
            "default_move", f"there is no move {default_move!r}; expected {' or '.join(moves)}"
        )
    entries: list[Contestant] = []
    left_out: dict[str, str] = {}
    for item in wanted:
        if isinstance(item, Contestant):
            entries.append(item)
        elif item not in GROUPS:
            entries += _find_entries(item, stage, default_move)

        if item in ("all", "published"):
            for name in PUBLISHED:
                entry = _make_entry(name)
                try:
                    as_automata(entry, stage, default_move)
                except InvalidGame as error:
                    left_out[name] = str(error)
                    continue
                if entry not in entries:
                    entries.append(entry)
        if item in ("all", "classic"):
            left_out |= _add_classic(entries, stage, default_move)
    return tuple(entries), tuple(left_out.items())


def gather_for_all(
    wanted: Sequence[Contestant | str],
    stages: Sequence[StageGame],
    default_move: str | None = None,
) -> tuple[tuple[Contestant, ...], tuple[tuple[str, str], ...]]:
    """Return those who take part in every game, and why others of a group do not."""
    gathered = [gather_entries(wanted, stage, default_move) for stage in stages]
    if len(gathered) == 1:
        return gathered[0]

    entries, _ = gathered[0]
    for others, _ in gathered[1:]:
        entries = tuple(entry for entry in entries if entry in others)

    left_out: dict[str, str] = {}
    for stage, (taking_part, not_taking_part) in zip(stages, gathered, strict=True):
        for name, why in not_taking_part:
            left_out.setdefault(name, f"{stage.name}: {why}")
        for entry in taking_part:
            if entry not in entries:
                left_out.setdefault(entry.name, "it does not take part in every game")
    return entries, tuple(left_out.items())


def _find_entries(item: str, stage: StageGame, default_move: str | None) -> list[Contestant]:
    """Find who is named, as often as NAME:N says; the second copy is called `NAME 2`."""
    counted = _COPIES.fullmatch(item)
    if counted is None:
        return [_find_entry(item, stage, default_move)]

    name, number = counted.groups()
    is_file = _is_strategy_file(Path(name))
    if not is_file and name not in _list_strategy_names():
        return [_find_entry(item, stage, default_move)]

    copies = int(number)
    if not 1 <= copies <= _MOST_COPIES:
        raise SettingError("entries", f"{item!r}: expected 1 to {_MOST_COPIES} copies")
    entry = read_strategy(Path(name)) if is_file else _find_entry(name, stage, default_move)
    entries = [entry]
    for copy in range(2, copies + 1):
        entries.append(replace(entry, name=f"{entry.name} {copy}"))
    return entries


def _list_strategy_names() -> list[str]:
    """List the strategies that can be written as automata: published ones, then classic ones."""
    classic = [strategy.name for strategy in classic_strategies()]
    return [*PUBLISHED, AS_RUN, *classic]


def _make_entry(name: str) -> Contestant:
    if name in (*PUBLISHED, AS_RUN):
        return Contestant(name, "rules", "published", published_strategy(name))
    return Contestant(name, "classic", name)


def _add_classic(
    entries: list[Contestant],
    stage: StageGame,
    default_move: str | None,
) -> dict[str, str]:
    """Add the classic strategies that are not there already under this or another name.

    Return the others.
    """
    try:
        cooperative_actions(stage.form)
    except InvalidGame as error:
        return {"the classic strategies": str(error)}
    left_out = {}
    for strategy in classic_strategies():
        taken = any(entry.name == strategy.name for entry in entries)
        name = f"classic {strategy.name}" if taken else strategy.name
        entry = Contestant(name, "classic", strategy.name)
        same = _find_alike(entry, entries, stage, default_move)
        if same is None:
            entries.append(entry)
        elif same != strategy.name:
            left_out[entry.name] = f"here it does the same as {same}"
    return left_out


def _find_alike(
    entry: Contestant,
    others: Iterable[Contestant],
    stage: StageGame,
    default_move: str | None,
) -> str | None:
    """Name the first of the others that does the same in both seats, None if there is none."""
    seats = as_automata(entry, stage, default_move) or ()
    for other in others:
        theirs = as_automata(other, stage, default_move)
        if theirs and all(map(behave_alike, seats, theirs)):
            return other.name
    return None


def _find_entry(name: str, stage: StageGame, default_move: str | None) -> Contestant:
    """Find who is named: a strategy, a player without a model, or a model.

    For players who need no model see `players.lookup`.
    """
    written = _list_strategy_names()
    if name in written:
        entry = _make_entry(name)
        as_automata(entry, stage, default_move)
        return entry

    game = RepeatedGame(stage.form, 2)
    players = [find_strategy(name, game, role, 0) for role in game.roles]
    if None not in players:
        return Contestant(name, "player", name)
    if name in WEIGHTS or "/" in name or name.startswith("verified:") or name.endswith(".gguf"):
        return Contestant(name, "model", name)
    if name.startswith(AXELROD) or strategies.has_axelrod_strategy(name):
        strategies.axelrod_strategy(name.removeprefix(AXELROD))
        cooperative_actions(stage.form)
        return Contestant(name, "axelrod", name.removeprefix(AXELROD))

    known = [*GROUPS, *written, *list_strategies(game)]
    raise UsageError(
        f"there is no strategy named {name!r}.{did_you_mean(name, known)} Groups:"
        f" {', '.join(GROUPS)}; where Axelrod's library is installed, its strategies by"
        " name; models are PROVIDER/MODEL, files are paths."
    )


@cache
def as_automata(
    entry: Contestant,
    stage: StageGame,
    default_move: str | None,
    first_only: bool = False,
) -> tuple[Automaton, Automaton] | None:
    """Return a strategy in both seats of the game, None for who has to be asked.

    Raises InvalidGame where it cannot play.

    With `first_only` it never sits second, so that its rules need no moves there.
    """
    match entry.kind:
        case "classic":
            make_seat = partial(strategies.make_automaton, entry.source, stage.form)
            return make_seat(0), make_seat(1)
        case "rules":
            return _run_rules(entry, stage, default_move, first_only)
        case _:
            return None


def _run_rules(
    entry: Contestant,
    stage: StageGame,
    default_move: str | None,
    first_only: bool,
) -> tuple[Automaton, Automaton]:
    """Let rules speak the language of the game's own program.

    For a table one is written, with the first's moves.
    """
    first_moves, second_moves = stage.form.actions
    if stage.program and set(first_moves) == set(second_moves):
        program = stage.program
        actions = stage.form.actions
    else:
        program = write_match_program(stage.form)
        actions = (first_moves, first_moves)

    defaults = find_default_moves(stage.form)
    usual = [names[number] for names, number in zip(actions, defaults, strict=True)]
    try:
        seats = Agent(entry.name, program, entry.rules, default_move).seats(usual)
        first = seats.automaton(0, actions)
        return first, first if first_only else seats.automaton(1, actions)
    except BestResponseError as error:
        raise InvalidGame(f"{entry.name} cannot play {stage.name}: {error}") from error
