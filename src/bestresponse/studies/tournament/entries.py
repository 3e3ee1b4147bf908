"""Who takes part in a tournament: groups and names of strategies, files, functions and models.

A strategy is an automaton for each seat of the game where it can be written as one (`as_automata`); players, functions
and models are asked round by round.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

from bestresponse.core.errors import BestResponseError, InvalidGame, SettingError, UsageError
from bestresponse.core.files import read_text_file
from bestresponse.core.json import digest
from bestresponse.core.registry import did_you_mean
from bestresponse.formal.strategies.agents import Agent, formalize_strategy, write_program
from bestresponse.formal.strategies.programs import PUBLISHED, published_strategy
from bestresponse.games.logic.game import read_program_text
from bestresponse.games.lookup import NamedGame
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.logic.engine import open_engine
from bestresponse.models.base import Model
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.players.lookup import find_strategy, list_strategies
from bestresponse.players.strategies.automaton import PROBE, axelrod_strategy, has_axelrod_strategy, make_automaton
from bestresponse.runs.inputs import Converted, NamedModel, as_model, count_parameters
from bestresponse.runs.models import open_models
from bestresponse.runs.settings import RunSettings
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import Automaton, behave_alike, classic_strategies, cooperative_actions

GROUPS = ("all", "published", "classic")
AXELROD = "axelrod:"
PROBES = "probes:"
"""The group of probes that show the fingerprint of the one who is named by `against`."""
_MOST_POINTS = 30
Kind = Literal["rules", "classic", "player", "axelrod", "model", "function", "words"]
HistoryFunction = Callable[[Sequence[str], Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One who takes part.

    `rules` is the program of a strategy written as rules, `words` its text where it was told in words; `source` says
    where it came from: a file, `published`, the name of a classic strategy, of another player or of Axelrod's library,
    or a model. `thing` is the model or the function itself where one was given; no file keeps it.
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
    """The game of one round; `program` is the logic program it came from, empty for a table of payoffs."""

    name: str
    form: NormalForm
    program: str = ""


class EntriesSetting(
    Converted[
        "str | Path | Model | HistoryFunction | Sequence[str | Path | Model | HistoryFunction | Entry]",
        tuple[Entry, ...],
    ]
):
    """Who takes part: groups, strategies, models and files by name, models, and functions of both histories."""

    many = True

    @classmethod
    def convert(cls, value: Any, stored: bool) -> tuple[Entry | str, ...]:
        """Read files and describe models and functions; names are looked up once the game is known."""
        several = isinstance(value, Sequence) and not isinstance(value, str)
        return tuple(_describe_entry(item, stored) for item in (value if several else [value]))

    @classmethod
    def to_json(cls, value: tuple[Entry, ...]) -> list[dict[str, str]]:
        """Return every entry as plain data."""
        return [entry.to_json() for entry in value]


def _describe_entry(item: Any, stored: bool) -> Entry | str:
    if isinstance(item, Entry):
        return item
    if isinstance(item, Mapping):
        return Entry(**item)
    if stored:
        raise UsageError(f"the stored entry {item!r} is not complete")
    if isinstance(item, Model):
        return Entry(item.id, "model", item.id, thing=item)
    if isinstance(item, str | Path):
        path = Path(item)
        return read_strategy(path) if path.suffix.lower() in (".pl", ".json", ".txt", ".md") else str(item)
    if callable(item) and count_parameters(item) == 1:
        model = as_model(item)
        return Entry(model, "model", model, thing=model.model)
    if callable(item) and count_parameters(item) == 2:
        name = getattr(item, "__name__", type(item).__name__)
        return Entry(name, "function", digest(repr(getattr(item, "__code__", item)), 12), thing=item)
    raise UsageError(
        f"expected a strategy, a model, a function from a prompt to a text or one of two histories, got "
        f"{type(item).__name__}"
    )


def read_strategy(path: Path) -> Entry:
    """Read a strategy as rules (`.pl`), that of a saved agent (`.json`), or one in words (`.txt`, `.md`)."""
    if not path.exists():
        raise SettingError("entries", f"{path}: there is no such file")
    match path.suffix.lower():
        case ".json":
            agent = Agent.load(path)
            return Entry(agent.name, "rules", path.name, agent.rules, agent.words)
        case ".pl":
            return Entry(path.stem, "rules", path.name, read_program_text(path))
        case _:
            try:
                return Entry(path.stem, "words", path.name, words=read_text_file(path))
            except UnicodeDecodeError as error:
                raise UsageError(f"{path}: expected text in UTF-8; byte {error.start} is none") from None


def formalize_entry(entry: Entry, stage: StageGame, model: Model) -> Entry:
    """Let a model write the rules of a strategy in words; InvalidGame says what was wrong with the last attempt."""
    engine = open_engine()
    try:
        result = formalize_strategy(entry.words, stage.program or write_program(stage.form), model, engine)
    finally:
        engine.close()
    if not result.ok:
        raise InvalidGame(f"{entry.source}: {result.trouble}")
    return Entry(entry.name, "rules", f"{entry.source}, formalized by {model.id}", result.rules, result.words)


def formalize_entries(
    entries: tuple[Entry, ...], model: NamedModel | None, config: RunSettings, find_stage: Callable[[], StageGame]
) -> tuple[Entry, ...]:
    """Let the model write the rules of those strategies that are in words; without any no model is needed."""
    in_words = [entry for entry in entries if entry.kind == "words"]
    if not in_words:
        return entries
    if model is None:
        raise SettingError("model", f"{in_words[0].source} is a strategy in words; name the model that formalizes it")
    stage = find_stage()
    with open_models((model,), Path(config.output_dir), config.limits) as opened:
        rules = {entry: formalize_entry(entry, stage, opened.models[model]) for entry in in_words}
    return tuple(rules.get(entry, entry) for entry in entries)


@cache
def make_stage(game: NamedGame) -> StageGame:
    """Make a game the stage of a tournament; InvalidGame unless two players move once, at the same time."""
    form = game.found.solvable()
    if not isinstance(form, NormalForm) or form.num_players != 2 or form.shape[0] != form.shape[1]:
        raise InvalidGame(
            f"{game.name}: a tournament needs two players who choose at the same time among equally many moves"
        )
    return StageGame(game.name, form, game.text if game.ending == ".pl" else "")


def gather_entries(
    wanted: Iterable[Entry | str], stage: StageGame, default_move: str | None = None
) -> tuple[tuple[Entry, ...], tuple[tuple[str, str], ...]]:
    """Return those who take part, and why others of a group cannot or need not: who is named must be able to play."""
    moves = stage.form.actions[0]
    if default_move is not None and default_move not in moves:
        raise SettingError("default_move", f"{default_move!r} is none of {', '.join(moves)}")
    entries: list[Entry] = []
    left_out: dict[str, str] = {}
    for item in wanted:
        if isinstance(item, Entry):
            entries.append(item)
        elif item.startswith(PROBES):
            entries += _list_probes(item, stage, default_move)
        elif item not in GROUPS:
            entries.append(_find_entry(item, stage, default_move))
        for name in PUBLISHED if item in ("all", "published") else ():
            entry = _make_entry(name)
            try:
                as_automata(entry, stage, default_move)
                entries += [] if entry in entries else [entry]
            except InvalidGame as error:
                left_out[name] = str(error)
        if item in ("all", "classic"):
            left_out |= _add_classic(entries, stage, default_move)
    return tuple(entries), tuple(left_out.items())


def _make_entry(name: str) -> Entry:
    if name in PUBLISHED:
        return Entry(name, "rules", "published", published_strategy(name))
    return Entry(name, "classic", name)


def _list_probes(item: str, stage: StageGame, default_move: str | None) -> list[Entry]:
    """List the probes of a fingerprint, a square of so many points a side."""
    side = item.removeprefix(PROBES)
    if not side.isdigit() or not 2 <= int(side) <= _MOST_POINTS:
        raise SettingError("entries", f"{item!r}: expected {PROBES}N with N from 2 to {_MOST_POINTS}")
    points = [f"{k / (int(side) - 1):.3g}" for k in range(int(side))]
    return [_find_entry(f"{PROBE}{x}:{y}", stage, default_move) for x, y in product(points, points)]


def _add_classic(entries: list[Entry], stage: StageGame, default_move: str | None) -> dict[str, str]:
    """Add the classic strategies that are not there already under this or another name; return the others."""
    try:
        cooperative_actions(stage.form)
    except InvalidGame as error:
        return {"the classic strategies": str(error)}
    left_out = {}
    for strategy in classic_strategies():
        taken = any(entry.name == strategy.name for entry in entries)
        entry = Entry(f"classic {strategy.name}" if taken else strategy.name, "classic", strategy.name)
        seats = as_automata(entry, stage, default_move) or ()
        others = ((other.name, as_automata(other, stage, default_move)) for other in entries)
        alike = (name for name, theirs in others if theirs and all(map(behave_alike, seats, theirs)))
        same = next(alike, None)
        if same is None:
            entries.append(entry)
        elif same != strategy.name:
            left_out[entry.name] = f"here it does the same as {same}"
    return left_out


def _find_entry(name: str, stage: StageGame, default_move: str | None) -> Entry:
    """Find who is named: a strategy, any player who needs no model (see `players.lookup`), or a model."""
    classic = [strategy.name for strategy in classic_strategies()]
    game = RepeatedGame(stage.form, 2)
    if name in PUBLISHED or name in classic or name.startswith(PROBE):
        entry = _make_entry(name)
        as_automata(entry, stage, default_move)
        return entry
    if all(find_strategy(name, game, role, 0) is not None for role in game.roles):
        return Entry(name, "player", name)
    if name in WEIGHTS or "/" in name or name.startswith("verified:") or name.endswith(".gguf"):
        return Entry(name, "model", name)
    if name.startswith(AXELROD) or has_axelrod_strategy(name):
        axelrod_strategy(name.removeprefix(AXELROD))
        cooperative_actions(stage.form)
        return Entry(name, "axelrod", name.removeprefix(AXELROD))
    known = [*GROUPS, *PUBLISHED, *classic, *list_strategies(game)]
    raise UsageError(
        f"there is no strategy named {name!r}.{did_you_mean(name, known)} Groups: {', '.join(GROUPS)}, {PROBES}N; "
        "where Axelrod's library is installed, its strategies by name; models are PROVIDER/MODEL, files are paths."
    )


@cache
def as_automata(entry: Entry, stage: StageGame, default_move: str | None) -> tuple[Automaton, Automaton] | None:
    """Return a strategy in both seats of the game, None for who has to be asked; InvalidGame where it cannot play."""
    match entry.kind:
        case "classic":
            return make_automaton(entry.source, stage.form, 0), make_automaton(entry.source, stage.form, 1)
        case "rules":
            return _run_rules(entry, stage, default_move)
        case _:
            return None


def _run_rules(entry: Entry, stage: StageGame, default_move: str | None) -> tuple[Automaton, Automaton]:
    """Let rules speak the language of the game's own program; for a table one is written, with the first's moves."""
    own_program = stage.program and set(stage.form.actions[0]) == set(stage.form.actions[1])
    program = stage.program if own_program else write_program(stage.form)
    actions = stage.form.actions if own_program else (stage.form.actions[0], stage.form.actions[0])
    try:
        seats = Agent(entry.name, program, entry.rules, default_move).seats()
        return seats.automaton(0, actions), seats.automaton(1, actions)
    except BestResponseError as error:
        raise InvalidGame(f"{entry.name} cannot play {stage.name}: {error}") from error
