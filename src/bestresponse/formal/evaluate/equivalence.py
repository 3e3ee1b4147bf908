"""When are two game tables the same game? Exactly, in order of preference, or up to positive affine payoffs.

Two tables are the same game if some renaming of players and moves carries every end of one to an end of the other with
the same moves made at the same times and the same payoffs. Players who share their moves (everybody can cooperate or
defect) share the renaming too: "cooperate" cannot mean one thing for one of them and another for the other.

Games with chance or hidden moves are the same if their reduced normal forms are, with expected payoffs
(`games.comparison`): who draws first, or learns what changes nothing, makes no difference.

*Strategic equivalence* compares after each player's payoffs are scaled to run from 0 to 1: positive affine maps change
no preference over lotteries (von Neumann and Morgenstern 1944), so best responses and equilibria are carried along.
*Ordinal* equality compares the ranks of each player's payoffs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

from bestresponse.core.errors import TooLarge
from bestresponse.games.comparison import Relation, compare_games
from bestresponse.games.logic.game import LogicGame
from bestresponse.logic.programs.table import GameTable, Row

__all__ = [
    "Match",
    "Renaming",
    "ordinal",
    "same_game",
    "same_order",
    "same_preferences",
    "strategically_equivalent",
    "unit_scale",
]

_MOST_RENAMINGS = 200_000


@dataclass(frozen=True, slots=True)
class Renaming:
    """How the names of one table become those of another: players, and each player's moves."""

    players: Mapping[str, str]
    moves: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Match:
    """Whether two tables are the same game; the renaming if they are, the reason in words if they are not."""

    same: bool
    why: str = ""
    renaming: Renaming | None = None

    def __bool__(self) -> bool:
        return self.same


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Two tables and what may be renamed."""

    found: GameTable
    true: GameTable
    own_names: bool
    swap_players: bool


def same_game(found: GameTable, true: GameTable, *, own_names: bool = True, swap_players: bool = True) -> Match:
    """Whether `found` is `true` under other names, payoff for payoff.

    Where the moves of `found` bear the very names of `true` (`own_names`), they must also mean the same; with
    `swap_players=False` the first player stays the first.
    """
    if _needs_plans(found, true):
        return _compare_plans(found, true, ("equal", "renamed"))
    shape = _different_shape(found, true)
    if shape:
        return Match(False, shape)
    comparison = _Comparison(found, true, own_names, swap_players)
    best: tuple[int, str] | None = None
    for count, renaming in enumerate(_renamings(comparison)):
        wrong = _differences(found, true, renaming)
        if not wrong:
            return Match(True, renaming=renaming)
        if best is None or len(wrong) < best[0]:
            best = (len(wrong), wrong[0])
        if count >= _MOST_RENAMINGS:
            return Match(False, f"no renaming of players and moves was found among the first {_MOST_RENAMINGS:,}")
    if best is None:
        return Match(False, "no renaming of moves pairs each with one that leads to the same payoffs")
    more = f"; {best[0]} ends differ under the best renaming" if best[0] > 1 else ""
    return Match(False, f"{best[1]}{more}")


def strategically_equivalent(found: GameTable, true: GameTable, *, own_names: bool = False) -> Match:
    """Whether both are the same game up to names and positive affine maps of each player's payoffs."""
    if _needs_plans(found, true):
        return _compare_plans(found, true, ("equal", "renamed", "equivalent"))
    return same_game(unit_scale(found), unit_scale(true), own_names=own_names)


def same_order(found: GameTable, true: GameTable, *, own_names: bool = True) -> Match:
    """Whether every player ranks the ends alike in both games, up to names."""
    return same_game(ordinal(found), ordinal(true), own_names=own_names)


def same_preferences(found: GameTable, true: GameTable, orders: Sequence[str]) -> Match:
    """Whether `found` is built like `true` and satisfies orders such as `Ann: 2 > 1 = 3`, over the ends of `true`.

    The ends are numbered from 1; what the orders do not compare is free. Only for games without chance and secrets.
    """
    shape = _different_shape(found, true)
    if shape:
        return Match(False, shape)
    wrong = ""
    for count, renaming in enumerate(_renamings(_Comparison(found, true, own_names=True, swap_players=True))):
        earned = _carry_payoffs(found, true, renaming)
        broken = next(_find_broken(earned, orders), "") if earned else "the moves do not lead to the same ends"
        if not broken:
            return Match(True, renaming=renaming)
        wrong = wrong or broken
        if count >= _MOST_RENAMINGS:
            break
    return Match(False, wrong)


def _carry_payoffs(found: GameTable, true: GameTable, renaming: Renaming) -> dict[tuple[str, int], Fraction]:
    """Return what `found` pays, by player and number of the end of `true`; empty where the ends do not correspond."""
    places = {_key(row, true.players): number for number, row in enumerate(true.rows, 1)}
    earned: dict[tuple[str, int], Fraction] = {}
    for row in found.rows:
        moves = tuple((renaming.players[who], renaming.moves[who][move]) for who, move in row.moves)
        number = places.get(_key(Row(moves, (), row.blocks), true.players))
        if number is None:
            return {}
        earned |= {(renaming.players[who], number): u for who, u in zip(found.players, row.payoffs, strict=True)}
    return earned


def _find_broken(earned: Mapping[tuple[str, int], Fraction], orders: Sequence[str]) -> Iterator[str]:
    for order in orders:
        who, _, chain = order.rpartition(":")
        parts = chain.replace("=", " = ").replace(">", " > ").split()
        for better, sign, worse in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            one, other = earned[who, int(better)], earned[who, int(worse)]
            if not (one > other if sign == ">" else one == other):
                yield f"{who} should have {better} {sign} {worse} (numbers of ends), but it is {one} and {other}"


def unit_scale(table: GameTable) -> GameTable:
    """Each player's payoffs moved and stretched to run from 0 to 1; those who do not care get 0 everywhere."""

    def scale(payoffs: Sequence[Fraction]) -> list[Fraction]:
        low, high = min(payoffs), max(payoffs)
        return [(u - low) / (high - low) if high > low else Fraction(0) for u in payoffs]

    return _with_payoffs(table, scale)


def ordinal(table: GameTable) -> GameTable:
    """Each player's payoffs replaced by their ranks, the worst being 1."""

    def rank(payoffs: Sequence[Fraction]) -> list[Fraction]:
        order = sorted(set(payoffs))
        return [Fraction(order.index(u) + 1) for u in payoffs]

    return _with_payoffs(table, rank)


def _with_payoffs(table: GameTable, change: Callable[[Sequence[Fraction]], list[Fraction]]) -> GameTable:
    columns = [change([row.payoffs[seat] for row in table.rows]) for seat in range(len(table.players))]
    rows = tuple(replace(row, payoffs=tuple(c[k] for c in columns)) for k, row in enumerate(table.rows))
    return replace(table, rows=rows)


def _needs_plans(found: GameTable, true: GameTable) -> bool:
    return any(table.chancy or table.private for table in (found, true))


def _compare_plans(found: GameTable, true: GameTable, allowed: tuple[Relation, ...]) -> Match:
    try:
        verdict = compare_games(*(LogicGame(table).tree for table in (found, true)))
    except TooLarge as error:
        return Match(False, f"the games are too large to compare: {error}")
    if verdict.relation in allowed:
        return Match(True)
    if found.chancy and not true.chancy:
        return Match(False, "it has moves of chance, the true game has none")
    if true.chancy and not found.chancy:
        return Match(False, "it lacks the moves of chance")
    return Match(False, next(iter(verdict.differences), "its payoffs are those of the true game only up to scale"))


def _different_shape(found: GameTable, true: GameTable) -> str:
    if len(found.players) != len(true.players):
        return f"it has {len(found.players)} players, the true game has {len(true.players)}"
    counts, wanted = sorted(map(len, found.moves)), sorted(map(len, true.moves))
    if counts != wanted:
        return f"its players have {_numbers(counts)} moves, those of the true game {_numbers(wanted)}"
    if found.sequential != true.sequential:
        ours, theirs = (
            ("one after another", "at the same time") if found.sequential else ("at the same time", "in turn")
        )
        return f"its players move {ours}, those of the true game {theirs}"
    if len(found.rows) != len(true.rows):
        return f"it can end in {len(found.rows)} ways, the true game in {len(true.rows)}"
    return ""


def _numbers(counts: list[int]) -> str:
    return ", ".join(map(str, counts))


def _renamings(c: _Comparison) -> Iterator[Renaming]:
    seats = range(len(c.found.players))
    for order in permutations(seats) if c.swap_players else [tuple(seats)]:
        if any(len(c.found.moves[i]) != len(c.true.moves[k]) for i, k in enumerate(order)):
            continue
        players = {c.found.players[i]: c.true.players[k] for i, k in enumerate(order)}
        for moves in _move_maps(c, order, 0, {}):
            yield Renaming(players, dict(moves))


def _move_maps(
    c: _Comparison, order: tuple[int, ...], seat: int, chosen: dict[str, Mapping[str, str]]
) -> Iterator[dict[str, Mapping[str, str]]]:
    """Every way to pair the moves of player `seat` and those after it, given the pairs chosen before."""
    if seat == len(order):
        yield chosen
        return
    for pairs in _pairings(c, order, seat, chosen):
        yield from _move_maps(c, order, seat + 1, {**chosen, c.found.players[seat]: pairs})


def _pairings(
    c: _Comparison, order: tuple[int, ...], seat: int, chosen: Mapping[str, Mapping[str, str]]
) -> Iterator[Mapping[str, str]]:
    own, wanted = c.found.moves[seat], c.true.moves[order[seat]]
    shared = _shared(c, order, seat)
    if shared is not None:
        yield chosen[c.found.players[shared]]
        return
    if c.own_names and {_plain(m) for m in own} == {_plain(m) for m in wanted}:
        names = {_plain(m): m for m in wanted}
        yield {m: names[_plain(m)] for m in own}
        return
    here = {m: _signature(c.found, seat, m) for m in own}
    there = {m: _signature(c.true, order[seat], m) for m in wanted}
    alike = Counter(here.values()) == Counter(there.values())
    for choice in permutations(wanted):
        if alike and any(here[m] != there[w] for m, w in zip(own, choice, strict=True)):
            continue
        yield dict(zip(own, choice, strict=True))


def _shared(c: _Comparison, order: tuple[int, ...], seat: int) -> int | None:
    """An earlier player with the same moves in both games, whose renaming this one therefore shares."""
    for earlier in range(seat):
        here = set(c.found.moves[earlier]) == set(c.found.moves[seat])
        if here and set(c.true.moves[order[earlier]]) == set(c.true.moves[order[seat]]):
            return earlier
    return None


def _signature(table: GameTable, seat: int, move: str) -> tuple[tuple[Fraction, ...], ...]:
    """What the player can earn with a move, whatever the others are called."""
    player = table.players[seat]
    return tuple(sorted((row.payoffs[seat],) for row in table.rows if (player, move) in row.moves))


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


_Key = tuple[tuple[tuple[str, str], ...], ...]


def _key(row: Row, players: Sequence[str]) -> _Key:
    """The moves of an end, those made together in the order of the players."""
    blocks, start = [], 0
    for size in row.blocks:
        blocks.append(tuple(sorted(row.moves[start : start + size], key=lambda made: players.index(made[0]))))
        start += size
    return tuple(blocks)


def _differences(found: GameTable, true: GameTable, renaming: Renaming) -> list[str]:
    """The ends whose payoffs differ, told in the names of `found`."""
    wanted = {_key(row, true.players): dict(zip(true.players, row.payoffs, strict=True)) for row in true.rows}
    wrong: list[str] = []
    for row in found.rows:
        moves = tuple((renaming.players[who], renaming.moves[who][move]) for who, move in row.moves)
        target = wanted.get(_key(Row(moves, (), row.blocks), true.players))
        told = ", ".join(f"{who}: {move}" for who, move in row.moves)
        if target is None:
            wrong.append(f"the true game has no end after {told}")
            continue
        expected = tuple(target[renaming.players[who]] for who in found.players)
        if expected != row.payoffs:
            wrong.append(f"after {told} the payoffs are {_told(row.payoffs)}, not {_told(expected)}")
    return wrong


def _told(payoffs: Sequence[Fraction]) -> str:
    return ", ".join(map(str, payoffs))
