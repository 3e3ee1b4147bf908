"""The project's own stories with their true games: what autoformalization is measured on.

Five games, each told with numbers and without, in the usual costume and in disguise; games beyond
two moves at once: rock-paper-scissors, the dilemma in turn, ultimatum, public goods for three,
first-price auctions, entry deterrence, traffic; and games with chance, secrets, signals, auctions,
bargaining, repetition, many players, some of them in other languages. All were written for this
project. Where a story gives no numbers, the true payoffs are ranks and only the order counts, or
where `orders` say so only what the story tells of it.

A tree is written in plain lines, one for each way the game can go: `~1/2 heads > Nora[dare] hold :
3,-3` draws heads with probability 1/2, then Nora, who knows only what is in the brackets and
what she did herself, holds; then come everybody's payoffs. Without any brackets everything is seen.
`{a|b}` stands for one line with a and one with b; all braces of a line are taken together.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.files import parse_toml, read_text_file, read_toml
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping
from bestresponse.core.registry import did_you_mean
from bestresponse.formal.evaluate.validation import (
    Finding,
    LevelFindings,
    Named,
    check_names,
    find_broken_order,
    judge_levels,
    named_games,
)
from bestresponse.games.logic.tables import format_game, table_from_cells
from bestresponse.games.lookup import find_game
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.table import GameTable, Row
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

_BRACES = re.compile(r"\{([^{}]*)\}")
_DRAW = re.compile(r"~(\S+)\s+(.+)")


class _Step(NamedTuple):
    """Who moves, which move, its probability if it is drawn, and what the mover knows.

    What the mover knows is given only if it is said.
    """

    mover: str
    move: str
    chance: Fraction | None = None
    knows: str | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """A story, what kind of game it is, and its true table.

    `orders` say which ends a player prefers, as in `Ann: 2 > 1 = 3`, where the story tells no more.
    """

    id: str
    game: str
    numeric: bool
    canonical: bool
    text: str
    table: GameTable
    language: str = "en"
    orders: tuple[str, ...] = ()

    @property
    def named(self) -> Named | None:
        """The constraints of its name, where there are any."""
        return named_games().get(self.game)


@cache
def stories() -> tuple[Story, ...]:
    """All stories that come along, in the order of their files and of the stories in them."""
    folder = files(f"{__package__}.stories")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    found: list[Story] = []
    for name in names:
        text = (folder / name).read_text("utf-8")
        found += _parse(parse_toml(text), name)
    return tuple(found)


def read_stories(path: Path) -> tuple[Story, ...]:
    """Read further stories from a TOML file of the same form or from a folder.

    A folder has a game `NAME.efg`, `.nfg` or `.pl` beside every text `NAME.txt`.
    """
    if not path.is_dir():
        return tuple(_parse(read_toml(path), str(path)))
    texts = sorted(path.glob("*.txt"))
    if not texts:
        raise UsageError(
            f"{path} holds no stories; expected texts NAME.txt with games NAME.efg, NAME.nfg or"
            " NAME.pl"
        )
    found = []
    for text in texts:
        program = format_game(read_reference(text), ".pl")
        found.append(make_story(text.stem, read_text_file(text), program))
    return tuple(found)


def read_reference(text: Path) -> NormalForm | Tree:
    """Return the true game of a story in a folder.

    Raises UsageError where there is none beside it, or several.
    """
    games = [
        path for ending in (".efg", ".nfg", ".pl") if (path := text.with_suffix(ending)).exists()
    ]
    if len(games) != 1:
        names = f"{text.stem}.efg, {text.stem}.nfg or {text.stem}.pl"
        raise UsageError(
            f"{text} has {len(games) or 'no'} game{'s' * bool(games)} beside it; expected {names}"
        )
    return find_game(games[0]).solvable()


def make_story(
    name: str,
    text: str,
    program: str,
    game: str = "",
    numeric: bool = True,
    canonical: bool = False,
    language: str = "en",
    orders: Sequence[str] = (),
) -> Story:
    """Return a story of one's own with its true game as a program.

    A game without a name is called as the story.
    """
    table = validate(program, open_engine()).table
    if table is None:
        raise InvalidGame(f"the game of the story {name} is none")
    return Story(
        name,
        game or name,
        numeric=numeric,
        canonical=canonical,
        text=text.strip(),
        table=table,
        language=language,
        orders=tuple(orders),
    )


def judge_program(report: Report, story: Story) -> tuple[LevelFindings, Finding]:
    """Judge a validated program on every level, and say whether it means what the story says.

    It does where its game is the true one: payoff for payoff where the story gives numbers, else by
    the constraints of the game's name or the story's orders, or, where there are none, by the order
    of everybody's payoffs.
    """
    levels = judge_levels(report, story.table, story.named, story.orders)
    if story.numeric:
        return levels, levels.exact
    if story.named is not None and levels.constraints and report.table is not None:
        return levels, check_names(report.table, story.table, story.named)
    return levels, levels.constraints if story.named is not None or story.orders else levels.order


def choose(
    known: Iterable[Story],
    games: Iterable[str] = (),
    ids: Iterable[str] = (),
) -> tuple[Story, ...]:
    """The stories of certain games or ids, all if neither is named.

    Raises UsageError for a name nobody knows.
    """
    pool = tuple(known)
    kinds = set(games)
    names = set(ids)
    known_kinds = {story.game for story in pool}
    known_names = {story.id for story in pool}
    for what, wanted, have in (("game", kinds, known_kinds), ("story", names, known_names)):
        for name in sorted(wanted - have):
            raise UsageError(
                f"there is no {what} {name!r} in these stories.{did_you_mean(name, sorted(have))}"
            )
    if kinds:
        pool = tuple(story for story in pool if story.game in kinds)
    if names:
        pool = tuple(story for story in pool if story.id in names)
    return pool


def _parse(data: Mapping[str, object], where: str) -> Iterable[Story]:
    entries = data.get("story", [])
    if not isinstance(entries, list):
        raise InvalidGame(f"{where}: expected stories as [[story]]")
    for number, entry in enumerate(entries):
        try:
            story = Story(
                entry["id"],
                entry.get("game", data.get("game")),
                numeric=entry.get("numeric", True),
                canonical=entry.get("canonical", False),
                text=entry["text"].strip(),
                table=_read_table(entry),
                language=entry.get("language", "en"),
                orders=tuple(entry.get("orders", ())),
            )
            broken = find_broken_order(story.table, story.table, story.orders)
            if broken:
                raise ValueError(broken)
            yield story
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            name = f"number {number + 1}"
            if isinstance(entry, dict):
                name = entry.get("id", name)
            raise InvalidGame(f"{where}: story {name} is incomplete or wrong: {error}") from None


def _read_table(entry: JsonMapping) -> GameTable:
    players = tuple(entry["players"])
    if "program" in entry:
        table = validate(entry["program"], EmbeddedEngine()).table
        if table is None:
            raise ValueError("its program is not a game")
        return table
    if "ends" in entry:
        return read_game_lines(players, entry["ends"])
    # One list of moves for all or one for each player; payoffs as in `3,3 0,5 5,0 1,1`.
    moves = entry["moves"]
    if not isinstance(moves[0], list):
        moves = [moves] * len(players)
    payoffs = map(_numbers, entry["payoffs"].split())
    return table_from_cells(players, tuple(map(tuple, moves)), tuple(payoffs))


def _numbers(text: str) -> tuple[Fraction, ...]:
    parts = text.split(",")
    return tuple(Fraction(part.strip()) for part in parts)


def read_game_lines(players: Sequence[str], text: str) -> GameTable:
    """Return the table of a game; ValueError says which line is wrong.

    >>> read_game_lines(["a"], "~{1/3|2/3} {x|y} > a stay : {1|0}").rows[1].chances
    (Fraction(2, 3), None)
    """
    lines: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        lines += _unfold(line.strip())
    plays = [_read_play(players, line) for line in lines]
    steps = [step for play in plays for step in play.steps]
    private = any(step.knows is not None for step in steps)
    chancy = any(step.chance is not None for step in steps)
    rows = tuple(_build_row(play, chancy, private) for play in plays)

    moves: dict[str, dict[str, None]] = {player: {} for player in players}
    for step in steps:
        if step.mover in moves:
            moves[step.mover][step.move] = None
    different = tuple(map(tuple, moves.values()))
    return GameTable(tuple(players), different, rows, private=private)


class _Play(NamedTuple):
    """A line of a game: its steps, and what everybody gets at its end."""

    steps: list[_Step]
    payoffs: tuple[Fraction, ...]


def _read_play(players: Sequence[str], line: str) -> _Play:
    before, _, after = line.rpartition(":")
    steps = [_read_step(players, part.strip()) for part in before.split(">")]
    payoffs = _numbers(after)
    if len(payoffs) != len(players):
        raise ValueError(f"{len(payoffs)} payoffs for {len(players)} players: {line}")
    return _Play(steps, payoffs)


def _unfold(line: str) -> Iterator[str]:
    groups = [braced.split("|") for braced in _BRACES.findall(line)]
    counts = {len(group) for group in groups}
    if len(counts) > 1:
        raise ValueError(f"all braces of a line need equally many parts: {line}")
    for k in range(counts.pop() if counts else 1):
        parts = iter([group[k] for group in groups])
        yield _BRACES.sub(lambda match, parts=parts: next(parts), line)  # type: ignore[misc]


def _read_step(players: Sequence[str], part: str) -> _Step:
    drawn = _DRAW.fullmatch(part)
    if drawn is not None:
        return _Step(NATURE, drawn[2], chance=Fraction(drawn[1]))
    for player in sorted(players, key=len, reverse=True):
        if part.startswith((f"{player} ", f"{player}[")):
            rest = part[len(player) :]
            if not rest.startswith("["):
                return _Step(player, rest.strip())
            known, _, move = rest[1:].partition("]")
            return _Step(player, move.strip(), knows=known.strip())
    raise ValueError(f"nobody of {', '.join(players)} moves in {part!r}")


def _build_row(play: _Play, chancy: bool, private: bool) -> Row:
    moves = [(step.mover, step.move) for step in play.steps]
    chances: list[Fraction | None] = []
    if chancy:
        chances = [step.chance for step in play.steps]
    percepts: list[tuple[tuple[str, str], ...]] = []
    if private:  # what is seen of a move is what the next mover knows
        for step in play.steps[1:]:
            percepts.append(((step.mover, step.knows),) if step.knows else ())
        percepts.append(())
    return Row(
        tuple(moves),
        play.payoffs,
        (1,) * len(moves),
        tuple(chances),
        tuple(percepts),
    )
