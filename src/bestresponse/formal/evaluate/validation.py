"""How much of a story a program has caught, level by level, each verdict with its reason.

The levels are those of Mensfelt, Stathis and Trencsenyi (2024, section 3): *syntactic* (it can be
loaded), *functional* (it plays to an end with a payoff for everybody), *approximate* (the players'
total payoffs are right), *exact* (the payoffs of every end are), and the *constraints* of a named
game; and beyond them *order* (every player ranks the ends as it should) and *equivalent* (the same
game up to positive affine payoffs and names).

Tables are compared as trees by `games.comparison`, the one comparison of this package: reduced
forms that agree are not enough, since they forget who learns what.

What makes a game the one it is called is data: `named_games.toml` lists for each name the letters
of its payoffs and the comparisons that must hold (ibid., sections 2.1 and 3.2.4). Comparisons are
sums and multiples of letters, in the arithmetic of game programs; they are evaluated exactly and
can do nothing else.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import chain, permutations, product
from pathlib import Path
from typing import cast

from bestresponse.core.errors import InvalidGame, LimitReached, TooLarge, UsageError
from bestresponse.core.files import parse_toml, read_toml
from bestresponse.core.json import JsonMapping
from bestresponse.core.registry import did_you_mean
from bestresponse.games.capabilities import HasTree
from bestresponse.games.comparison import Comparison, compare_games
from bestresponse.games.isomorphism import Ends, list_isomorphisms, plain_name
from bestresponse.games.logic.game import LogicGame, as_game
from bestresponse.logic.embedded.arithmetic import COMPARISONS, evaluate_arithmetic
from bestresponse.logic.embedded.unify import Fault
from bestresponse.logic.gate.goals import indicator
from bestresponse.logic.language.diagnostics import Stage
from bestresponse.logic.language.reader import read_term
from bestresponse.logic.language.terms import Struct
from bestresponse.logic.programs.table import GameTable
from bestresponse.logic.programs.validate import Report

Cells = Mapping[tuple[str, str], Sequence[tuple[Fraction, Fraction]]]
_Naming = tuple[tuple[str, ...], tuple[str, ...], bool]
"""The moves of both players in the order of the named game, and whether they change seats."""
"""What both players earn for each pair of moves; several values where a program gives several."""

_LETTER = re.compile(r"[A-Za-z]\w*")


@dataclass(frozen=True, slots=True)
class Named:
    """A game with a name: its moves, the letters of each cell, and what holds.

    The letters are the row player's and the column player's.

    `roles` says what each move is, C or D in games with a cooperative move; else the move itself.
    """

    name: str
    title: str
    moves: tuple[str, ...]
    letters: tuple[tuple[tuple[str, str], ...], ...]
    holds: tuple[str, ...]
    citation: str = ""
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict and why it is not yes. `ok` is None where the question does not arise."""

    ok: bool | None
    why: str = ""

    def __bool__(self) -> bool:
        return self.ok is True


@cache
def named_games() -> Mapping[str, Named]:
    """The games that come along, by name."""
    file = files(__package__) / "named_games.toml"
    data = parse_toml(file.read_text("utf-8"))
    return {name: _named(name, entry, "named_games.toml") for name, entry in data.items()}


def read_named_games(path: Path) -> Mapping[str, Named]:
    """Further named games from a TOML file of the same form."""
    return {name: _named(name, entry, str(path)) for name, entry in read_toml(path).items()}


def named_game(name: str) -> Named:
    """The game of that name, or UsageError with the nearest name."""
    known = named_games()
    if name not in known:
        raise UsageError(f"there are no constraints for {name!r}.{did_you_mean(name, list(known))}")
    return known[name]


def find_constraints(name: str) -> Mapping[str, Named]:
    """Return the constraints of a bundled game by name, or all those in a TOML file.

    A TOML file is given by its path.
    """
    if name.endswith(".toml"):
        found = read_named_games(Path(name))
        if not found:
            raise InvalidGame(
                f"{name} holds no game; expected a table such as [snowdrift] with moves, payoffs"
                " and holds"
            )
        return found
    return {name: named_game(name)}


def find_names(table: GameTable) -> tuple[str, ...]:
    """Every name whose constraints the game satisfies."""
    return tuple(name for name, named in named_games().items() if check_constraints(table, named))


def describe_classes(names: Sequence[str]) -> str:
    """Say which classes of games these names stand for.

    >>> describe_classes(["hawk-dove"])
    'of the class Hawk-Dove (Chicken)'
    """
    return describe_titles([named_games()[name].title for name in names])


def describe_titles(titles: Sequence[str]) -> str:
    """Say of which classes of games, by their titles, a game is."""
    return f"of the class{'es' if len(titles) > 1 else ''} {' and '.join(titles)}"


def check_constraints(table: GameTable, named: Named) -> Finding:
    """Whether a table meets a name's constraints under some naming of moves and players."""
    if len(table.players) != 2:
        return Finding(False, f"{named.title} has two players, this game has {len(table.players)}")
    if not _is_simultaneous(table):
        return Finding(
            False,
            f"in {named.title} both choose once without knowing of each other, which is not so"
            " here",
        )
    size = len(named.moves)
    counts = [len(moves) for moves in table.moves]
    if counts != [size, size]:
        here = " and ".join(map(str, counts))
        return Finding(False, f"in {named.title} both have {size} moves, here {here}")
    return broken(_list_cells(table), named, shared=_share_moves(table))


def _share_moves(table: GameTable) -> bool:
    """Tell whether both players have moves of the same names."""
    first, second = table.moves
    return set(first) == set(second)


def _is_simultaneous(table: GameTable) -> bool:
    """Say whether everybody chooses once and knows nothing of the others.

    The order in which the moves are written does not matter.
    """
    everybody = sorted(table.players)
    chosen = set()
    for row in table.rows:
        movers = [mover for mover, _ in row.moves]
        if sorted(movers) != everybody:
            return False
        for depth, mover in enumerate(movers):
            chosen.add((mover, table.knowledge(row, depth, mover)))
    return len(chosen) == len(everybody)


def _list_cells(table: GameTable) -> Cells:
    first, second = table.moves
    return {
        pair: [cast("tuple[Fraction, Fraction]", table.payoffs(pair))]
        for pair in product(first, second)
    }


def broken(cells: Cells, named: Named, *, shared: bool) -> Finding:
    """The verdict on bare cells; with `shared` both players' moves of one name mean the same."""
    wrong = [_wrong(cells, named, *naming) for naming in _namings(cells, len(named.moves), shared)]
    if not wrong:
        return Finding(
            False,
            f"the moves of {named.title} cannot be told: there are not {len(named.moves)} for each",
        )
    least = min(wrong, key=len)
    if not least:
        return Finding(True)
    listed = "; ".join(least[:3])
    return Finding(False, f"it is no {named.title}: {listed}")


@dataclass(frozen=True, slots=True)
class RolesFound:
    """Who and what in a program plays which part in a named game."""

    players: Mapping[str, str]
    """By player, row or column."""
    moves: tuple[Mapping[str, str], ...]
    """By the moves of each player, what they are: C, D, or the move of the named game."""

    def to_json(self) -> dict[str, object]:
        """Return the roles as plain data."""
        return {"players": dict(self.players), "moves": [dict(moves) for moves in self.moves]}


def find_roles(table: GameTable, named: Named) -> RolesFound | None:
    """Return which move is which under the first naming that satisfies the constraints.

    Returns None where none does.
    """
    if not check_constraints(table, named):
        return None
    roles = named.roles or named.moves
    for rows, cols, swapped in _list_fitting(table, named):
        seats = ("column", "row") if swapped else ("row", "column")
        players = dict(zip(table.players, seats, strict=True))
        of_rows = dict(zip(rows, roles, strict=True))
        of_columns = dict(zip(cols, roles, strict=True))
        return RolesFound(players, (of_rows, of_columns))
    return None


def check_names(table: GameTable, true: GameTable, named: Named) -> Finding:
    """Whether moves and players with names of the true game have their roles there.

    Both satisfy the constraints.
    """
    for roles, meant in product(_list_roles(table, named), _list_roles(true, named)):
        if all(roles.get(name, role) == role for name, role in meant.items()):
            return Finding(True, "")
    return Finding(
        False, f"it is a {named.title}, but names of the story mean something else in it"
    )


def _list_roles(table: GameTable, named: Named) -> Iterator[dict[str, int]]:
    """Yield the place of every player and move in the named game.

    One result is given for each naming under which its constraints hold.
    """
    for rows, cols, swapped in _list_fitting(table, named):
        groups = (table.players[::-1] if swapped else table.players, rows, cols)
        places: dict[str, int] = {}
        for group in groups:
            for place, name in enumerate(group):
                places[plain_name(name)] = place
        yield places


def _list_fitting(table: GameTable, named: Named) -> Iterator[_Naming]:
    """Yield the namings under which a game satisfies its constraints."""
    cells = _list_cells(table)
    for naming in _namings(cells, len(named.moves), _share_moves(table)):
        if not _wrong(cells, named, *naming):
            yield naming


def _namings(
    cells: Cells,
    size: int,
    shared: bool,
) -> Iterator[_Naming]:
    first = tuple(dict.fromkeys(row for row, _ in cells))
    second = tuple(dict.fromkeys(column for _, column in cells))
    for rows in permutations(first, size):
        for cols in (rows,) if shared else permutations(second, size):
            for swapped in (False, True):
                yield rows, cols, swapped


def _wrong(
    cells: Cells,
    named: Named,
    rows: tuple[str, ...],
    cols: tuple[str, ...],
    swapped: bool,
) -> list[str]:
    """What is not as it should be under one naming.

    The first choice among several values that fits wins.
    """
    pairs = list(product(rows, cols))
    choices = [cells.get(pair, ()) for pair in pairs]
    missing = [pair for pair, values in zip(pairs, choices, strict=True) if not values]
    if missing:
        return [f"no payoffs for {row}, {column}" for row, column in missing]

    table = named.letters
    if swapped:
        table = tuple(zip(*table, strict=True))
    names_of_cells = list(chain.from_iterable(table))
    attempts = []
    for values in product(*choices):
        letters: dict[str, Fraction] = {}
        wrong: list[str] = []
        for names, pair in zip(names_of_cells, values, strict=True):
            for name, value in zip(names, pair[::-1] if swapped else pair, strict=True):
                if letters.setdefault(name, value) != value:
                    wrong.append(f"{name} is both {letters[name]} and {value}")
        if not wrong:
            wrong = [failure for rule in named.holds if (failure := _fails(rule, letters))]
        attempts.append(wrong)
    return min(attempts, key=len)


def _fails(rule: str, letters: Mapping[str, Fraction]) -> str:
    """Empty if the comparison holds, else the comparison with its numbers.

    Raises InvalidGame where it is none.
    """
    try:
        with_numbers = _LETTER.sub(lambda letter: f"({letters[letter[0]]})", rule)
        comparison = read_term(with_numbers).term
        holds = COMPARISONS[indicator(comparison)]
        assert isinstance(comparison, Struct)
        left, right = (evaluate_arithmetic(side, lambda steps: None) for side in comparison.args)
    except (KeyError, ValueError, Fault, LimitReached):
        expected = "expected letters of the payoffs, whole numbers, +, - and *"
        raise InvalidGame(f"{rule!r} is not a comparison such as 'T > R': {expected}") from None
    return "" if holds(left, right) else f"{rule} does not hold ({left} {comparison.name} {right})"


def _split_letters(cell: object) -> tuple[str, str]:
    if not isinstance(cell, str):
        raise TypeError(f"{cell!r} is no text")
    first, second = cell.split(",")
    return first.strip(), second.strip()


def _named(name: str, entry: JsonMapping, where: str) -> Named:
    try:
        letters = tuple(tuple(map(_split_letters, row)) for row in entry["payoffs"])
        moves = tuple(entry["moves"])
        holds = tuple(entry["holds"])
        cells = chain.from_iterable(letters)
        ones = dict.fromkeys(chain.from_iterable(cells), Fraction(1))
        for rule in holds:
            _fails(rule, ones)
        roles = tuple(entry.get("roles", ()))
    except (KeyError, TypeError, ValueError, InvalidGame) as error:
        raise InvalidGame(
            f"{where}: {name} needs moves, payoffs such as 'R,S' and holds ({error})"
        ) from None
    size = len(moves)
    widths = [len(row) for row in letters]
    if widths != [size] * size:
        raise InvalidGame(f"{where}: {name} has {size} moves and needs {size} x {size} cells")
    if roles and len(roles) != size:
        raise InvalidGame(
            f"{where}: {name} has {size} moves and {len(roles)} roles; expected one role for each"
            " move"
        )
    return Named(
        name,
        entry.get("title", name),
        moves=moves,
        letters=letters,
        holds=holds,
        citation=entry.get("citation", ""),
        roles=roles,
    )


NOT_ASKED = Finding(None)


@dataclass(frozen=True, slots=True)
class LevelFindings:
    """One finding per level, the weakest demand first."""

    syntactic: Finding
    functional: Finding
    approximate: Finding = NOT_ASKED
    exact: Finding = NOT_ASKED
    order: Finding = NOT_ASKED
    constraints: Finding = NOT_ASKED
    equivalent: Finding = NOT_ASKED
    verdict: str = "no game"
    """How the game is related to the true one, as `compare` says it; `not compared` where no true
    one is known."""

    def items(self) -> Iterator[tuple[str, Finding]]:
        """Names and findings, in order."""
        for name in (
            "syntactic",
            "functional",
            "approximate",
            "exact",
            "order",
            "constraints",
            "equivalent",
        ):
            yield name, getattr(self, name)


def judge_levels(
    report: Report,
    true: GameTable | None = None,
    named: Named | None = None,
    orders: Sequence[str] = (),
) -> LevelFindings:
    """Judge a validated program as far as what is known allows.

    What may be known is the true table, the game's name or orders of ends.
    """
    syntactic = _find_first_error(report, Stage.READER, Stage.STATIC)
    functional = Finding(False, "it cannot be loaded")
    if syntactic:
        functional = _find_first_error(report, Stage.CONTRACT, Stage.RUNTIME)
    if functional and report.table is None:
        functional = Finding(False, "no game could be taken out of it")
    if not functional.ok or report.table is None:
        no = Finding(False, "there is no game to compare")
        asked = no if true is not None else NOT_ASKED
        constrained = named is not None or bool(orders)
        return LevelFindings(
            syntactic,
            functional,
            approximate=asked,
            exact=asked,
            order=asked,
            constraints=no if constrained else NOT_ASKED,
            equivalent=asked,
        )
    table = report.table
    constraints = NOT_ASKED
    if named is not None:
        constraints = check_constraints(table, named)
    elif orders and true is not None:
        broken = find_broken_order(table, true, orders)
        constraints = Finding(not broken, broken)
    if true is None:
        return LevelFindings(
            syntactic,
            functional,
            constraints=constraints,
            verdict="not compared",
        )
    comparison = compare_tables(table, true)
    why = "its payoffs are those of the true game only up to scale"
    for difference in comparison.differences[:1]:
        why = re.sub(
            "the first( game)?",
            "the program",
            re.sub("the second( game)?", "the true game", difference),
        )
    order = comparison.same or comparison.relation == "ordinal"
    totals = _total_payoffs(table)
    wanted = _total_payoffs(true)
    sums = [" and ".join(map(str, numbers)) for numbers in (totals, wanted)]
    differing = (
        ""
        if totals == wanted
        else f"over all ends the players earn {sums[0]} in total, not {sums[1]}"
    )
    return LevelFindings(
        syntactic,
        functional,
        approximate=Finding(not differing, differing),
        exact=Finding(comparison.exact, "" if comparison.exact else why),
        order=Finding(order, "" if order else why),
        constraints=constraints,
        equivalent=Finding(comparison.same, "" if comparison.same else why),
        verdict=comparison.verdict,
    )


def _find_first_error(report: Report, *stages: Stage) -> Finding:
    wrong = [error for error in report.errors if error.stage in stages]
    return Finding(not wrong, str(wrong[0]) if wrong else "")


def _total_payoffs(table: GameTable) -> list[Fraction]:
    payoffs = [row.payoffs for row in table.rows]
    totals = [sum(paid, Fraction(0)) for paid in zip(*payoffs, strict=True)]
    return sorted(totals)


def compare_tables(first: GameTable, second: GameTable, *, any_names: bool = False) -> Comparison:
    """Compare two tables as trees; names in common mean the same unless `any_names` is set."""
    games = [as_game(table) for table in (first, second)]
    trees = [game.tree if isinstance(game, HasTree) else game for game in games]
    try:
        return compare_games(*trees, any_names=any_names)
    except TooLarge as error:
        return Comparison(
            "different",
            "trees",
            players={},
            actions={},
            differences=(f"the games are too large to compare: {error}",),
            num_differences=1,
        )


def find_broken_order(table: GameTable, true: GameTable, orders: Sequence[str]) -> str:
    """Say which order of ends a table built like `true` breaks.

    An order such as `Ann: 2 > 1 = 3` is over the ends of `true`. The answer is "" if none is
    broken.

    The ends are numbered from 1; what the orders do not compare is free.
    """
    if not orders:
        return ""
    first, second = (Ends.of(LogicGame(game).tree) for game in (table, true))
    numbers = {frozenset(end): number for number, end in enumerate(second.ends, 1)}
    broken = ""
    for renaming in list_isomorphisms(first, second, "none"):
        earned: dict[tuple[str, int], float] = {}
        for end, payoffs in zip(first.ends, first.payoffs, strict=True):
            number = numbers[frozenset(renaming.moves[move] for move in end)]
            for player, seat in enumerate(renaming.players):
                earned[second.players[seat], number] = float(payoffs[player])
        reason = next(_find_broken(earned, orders), "")
        if not reason:
            return ""
        broken = broken or reason
    return broken or "the moves do not lead to the same ends"


def _find_broken(earned: Mapping[tuple[str, int], float], orders: Sequence[str]) -> Iterator[str]:
    for order in orders:
        player, _, chain = order.rpartition(":")
        parts = chain.replace("=", " = ").replace(">", " > ").split()
        for better, sign, worse in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            payoffs = earned[player, int(better)], earned[player, int(worse)]
            if not (payoffs[0] > payoffs[1] if sign == ">" else payoffs[0] == payoffs[1]):
                numbers = f"{payoffs[0]:g} and {payoffs[1]:g}"
                yield (
                    f"{player} should have {better} {sign} {worse} (numbers of ends), but it is"
                    f" {numbers}"
                )
