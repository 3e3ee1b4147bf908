"""Recorded play of games with turns: every move is checked by the rules of a game known here.

A mapping says in which fields of a file the moves are, in their order, draws included. A move that
the rules forbid, or that nobody can read, is listed and ends its play, which then pays nothing; the
moves before it count. What goes on after the end, or is moved by the wrong seat, was played by
other rules, and is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isclose
from pathlib import Path

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.codec import record_to_json
from bestresponse.core.episode import Episode, Record, Void
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import AnyGame, Game, S
from bestresponse.core.json import digest
from bestresponse.core.player import Decision
from bestresponse.games.lookup import find_game
from bestresponse.studies.behave.layouts import (
    Cells,
    Replays,
    find_file_kind,
    read_plays_json,
    read_rows,
)
from bestresponse.studies.behave.reader import ProblemRow, RowFault
from bestresponse.theory.games.normal_form import NormalForm

_LONGEST_MOVE = 100
"""Characters of a move in a message."""


@dataclass
class ReplayReader:
    """Reads the plays of a file, or of all files of a folder; what does not fit is told."""

    path: Path
    layout: Replays
    complain: Callable[[ProblemRow], None]
    rows: int = 0
    left_out: int = 0
    tables: Mapping[object, NormalForm] = field(default_factory=dict)

    def list_matches(self) -> Iterator[dict[str, object]]:
        """Yield the plays as lines of a run, in order of appearance."""
        for line, play in self._list_plays():
            try:
                yield self._read(line, play)
            except RowFault as fault:
                self.left_out += 1
                problem, detail = fault.args
                self._complain(line, problem, detail, "the match is left out")

    def _list_plays(self) -> Iterator[tuple[int, object]]:
        """Yield every play with its line, or its number where it is not a line."""
        if find_file_kind(self.path) == "json":
            plays = read_plays_json(self.path)
            yield from enumerate(plays if isinstance(plays, list) else [plays], 1)
            return
        matches: dict[str, tuple[int, list[Cells]]] = {}
        for line, row in read_rows(self.path):
            if not self.layout.match:
                yield line, row
                continue
            name = str(row.get(self.layout.match))
            matches.setdefault(name, (line, []))[1].append(row)
        for line, rows in matches.values():
            yield line, {**rows[0], "rows": rows}

    def _read(self, line: int, play: object) -> dict[str, object]:
        layout = self.layout
        (named,) = find_fields(play, layout.game) or [layout.game]
        name = layout.games.get(str(named), str(named))
        try:
            game = find_recorded_game(name)
        except UsageError as error:
            raise RowFault("no such game", str(error)) from None
        moves = find_fields(play, layout.moves)
        self.rows += len(moves)
        movers = find_fields(play, layout.by) if layout.by else [None] * len(moves)
        if len(movers) != len(moves):
            raise RowFault("unequal lengths", f"{len(moves)} moves by {len(movers)} seats")
        turns = []
        for mover, move in zip(movers, moves, strict=True):
            if str(mover) not in layout.skip:
                turns.append((mover, move))
        players = dict(zip(game.roles, _list_names(play, layout.players), strict=False))
        record = self._replay(line, game, layout.codes.get(name, {}), turns, players)
        if layout.payoffs:
            recorded = find_fields(play, layout.payoffs)
            due = list(record.payoffs.values())
            if due and not _are_equal(due, recorded):
                detail = f"the moves pay {due}, recorded is {recorded}"
                effect = "kept; payoffs are those of the moves"
                self._complain(line, "payoff mismatch", detail, effect)
        data = {
            "study": "import",
            "file": self.path.name,
            "line": line,
            "game": name,
            "subjects": _list_names(play, layout.subjects),
            "treatment": {},
        }
        return {"spec": digest(data), "data": data, "record": record_to_json(record)}

    def _replay(
        self,
        line: int,
        game: Game[S],
        codes: Mapping[str, str],
        turns: Sequence[tuple[object, object]],
        players: Mapping[str, str],
    ) -> Record:
        """Play the moves by the rules, up to one that cannot be played."""
        episode = Episode(game)
        void = None
        for number, (mover, written) in enumerate(turns, 1):
            if episode.over:
                raise RowFault("other rules", f"move {number} comes after the end")
            role = next(iter(episode.pending))
            ask = episode.pending[role]
            known = (role, players.get(role), str(game.roles.index(role)))
            if mover is not None and str(mover) not in known:
                raise RowFault("other rules", f"move {number} is {role}'s, recorded is {mover}'s")
            try:
                action = self._read_move(ask, written, codes)
            except InvalidMove as error:
                void = Void(role, f"move {number}: {error}")
                self._complain(line, "forbidden move", void.why, "kept up to this move")
                break
            episode.submit(role, Decision(action))
        if void is None and not episode.over:
            role = next(iter(episode.pending))
            void = Void(role, f"the play broke off after {len(turns)} moves")
            self._complain(line, "broken off", void.why, "kept up to this move")
        payoffs = {} if void else dict(game.payoffs(episode.state))
        return Record(
            game.name,
            game.version,
            players=players,
            submissions=tuple(episode.submissions),
            payoffs=payoffs,
            void=void,
        )

    def _read_move(self, ask: Ask, written: object, codes: Mapping[str, str]) -> object:
        """Return the legal move that is written; no two legal moves may be written alike."""
        text = str(written)
        first, last = self.layout.between
        if first and first in text:
            text = text.rpartition(first)[2].partition(last)[0]
        text = text.strip()
        text = codes.get(text, text)
        match ask:
            case Choice(options):
                legal: Sequence[str | int] = options
            case Lottery(chances):
                legal = list(dict(chances))
            case _:
                return ask.read(text)
        dropped = str.maketrans("", "", self.layout.drop)
        wanted = text.translate(dropped)
        named: dict[str, str | int] = {}
        for one in legal:
            short = str(one).translate(dropped)
            if short in named:
                raise InvalidMove(f"{text[:_LONGEST_MOVE]!r} may be {named[short]} or {one}")
            named[short] = one
        if wanted not in named:
            raise InvalidMove(f"{text[:_LONGEST_MOVE]!r} is not legal")
        return named[wanted]

    def _complain(self, line: int, problem: str, detail: str, effect: str) -> None:
        row = ProblemRow(
            line=line,
            match=f"from line {line}",
            problem=problem,
            detail=detail,
            effect=effect,
        )
        self.complain(row)


def _are_equal(due: Sequence[float], recorded: Sequence[object]) -> bool:
    """Say whether the same payoffs were recorded, as numbers or, in a table, as text."""
    if len(due) != len(recorded):
        return False
    try:
        told = [float(str(one)) for one in recorded]
    except ValueError:
        return False
    return all(map(isclose, due, told))


def _list_names(play: object, paths: Sequence[str]) -> list[str]:
    names: list[str] = []
    for path in paths:
        names += map(str, find_fields(play, path))
    return names


@cache
def find_recorded_game(name: str) -> AnyGame:
    """Find a game by its name, which is never opened as a file."""
    return find_game(name, allow_files=False).playable()


def find_fields(play: object, path: str) -> list[object]:
    """List what a path leads to, nothing where there is no such field; a list is its elements.

    >>> find_fields({"steps": [{"move": "a"}, {"move": "b"}]}, "steps.*.move")
    ['a', 'b']
    """
    found = [play]
    for step in path.split("."):
        below = []
        for value in found:
            if step == "*" and isinstance(value, list):
                below += value
            elif isinstance(value, Mapping) and step in value:
                below.append(value[step])
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                below.append(value[int(step)])
        found = below
    if len(found) == 1 and isinstance(found[0], list):
        return found[0]
    return found
