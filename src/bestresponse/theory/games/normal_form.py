"""A game in normal form: players, their actions, and one payoff tensor per player.

Definition: n players; player i has a finite set of actions A_i; u_i : A_1 x ... x A_n -> R.
`payoffs[i]` is the tensor of u_i, so `payoffs` has shape (n, |A_1|, ..., |A_n|). A bimatrix game is
n = 2; a zero-sum game is a bimatrix game with payoffs[1] == -payoffs[0].

Payoffs as the rational numbers they were given as: integers of any size, fractions and decimals.

Floats hold whole numbers up to 2**53 and few fractions exactly. What they do not hold is kept
beside them, so that ties are decided, and equilibria computed, from the numbers that were meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from numbers import Rational
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame
from bestresponse.core.notebook import MOST_ROWS, format_html
from bestresponse.theory.arrays import (
    Numbers as Numbers,
    Rationals as Rationals,
    as_fractions,
    find_denominator,
)
from bestresponse.theory.games.ties import are_apart, read_floats, round_floats

if TYPE_CHECKING:
    from bestresponse.theory.trees.tree import Tree

# beyond what floats hold, so 0 or infinite; a fraction of 1e999999999 would fill the memory
_LARGEST_EXPONENT = 400


def as_rationals(numbers: ArrayLike) -> Rationals | None:
    """Turn integers, fractions, decimals and whole floats into exact numbers.

    Returns None if anything else is among them.

    >>> as_rationals([[Fraction(1, 3), 2], [Decimal("0.1"), 4.0]]).tolist()
    [[Fraction(1, 3), 2], [Fraction(1, 10), 4]]
    >>> as_rationals([[0.1, 2]]) is None
    True
    """
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f":
        are_whole = (numbers == np.rint(numbers)).all()
        if not are_whole:
            return None
    try:
        array = np.asarray(numbers, dtype=object)
    except ValueError:
        return None
    rationals = np.empty(array.size, dtype=object)
    for k, number in enumerate(array.ravel()):
        exact = _as_rational(number)
        if exact is None:
            return None
        rationals[k] = exact
    return rationals.reshape(array.shape)


def _as_rational(number: object) -> int | Fraction | None:
    match number:
        case int() | np.integer() | np.bool_():
            return int(number)
        case Rational():
            return Fraction(int(number.numerator), int(number.denominator))
        case float() | np.floating():
            return int(number) if float(number).is_integer() else None
        case Decimal():
            return Fraction(number) if number.is_finite() else None
        case _:
            return None


def as_meant(numbers: Numbers) -> Rationals:
    """Turn all numbers of an array into the fractions meant, floats into the simplest."""

    def read(number: float | Fraction) -> Fraction:
        return read_simplest(number) if isinstance(number, float) else Fraction(number)

    return np.asarray(np.frompyfunc(read, 1, 1)(numbers), dtype=object)


def count_multiples(numbers: Numbers) -> Numbers:
    """Give numbers, less the smallest of them, as whole multiples of their common unit."""
    exact = as_fractions(numbers)
    multiples = (exact - exact.min()) * find_denominator(exact)
    return np.asarray(np.frompyfunc(int, 1, 1)(multiples), dtype=object)


def are_meant(floats: NDArray[np.float64]) -> bool:
    """Say whether all floats are multiples of 1/64, which are taken to be meant as they are."""
    fine = 64.0 * floats
    return bool((fine == np.rint(fine)).all())


@lru_cache(maxsize=100_000)
def read_simplest(number: float) -> Fraction:
    """Give the simplest rational of that float with a small denominator.

    If there is none, gives the float's own value.

    >>> read_simplest(0.1), read_simplest(1 / 3)
    (Fraction(1, 10), Fraction(1, 3))
    """
    near = Fraction(number).limit_denominator(1_000_000)
    return near if float(near) == number else Fraction(number)


def fits_floats(numbers: Rationals) -> bool:
    """Say whether all are whole numbers that floats hold exactly."""
    return all(isinstance(number, int) and abs(number) <= _LARGEST_WHOLE for number in numbers.flat)


def parse_rational(text: str) -> Fraction:
    """Read `3`, `-2.5`, `1e-3` or `2/3`.

    Raise ValueError, ZeroDivisionError or OverflowError where that fails.

    >>> parse_rational("0.1"), parse_rational("2/6")
    (Fraction(1, 10), Fraction(1, 3))
    """
    exponent = text.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > _LARGEST_EXPONENT:
        return Fraction(float(text))
    return Fraction(text)


Array = NDArray[np.float64]

_SINGLE = "; for a zero-sum game give NormalForm.zero_sum(matrix)"
_SMALL_UNITS = 2**31  # products of two stay in 64 bits
_MOST_READ = 2_000  # payoffs: reading a float takes some ten microseconds
_LARGEST = 1e150  # products of two payoffs must stay finite
_LARGEST_WHOLE = 2.0**53  # floats below hold every whole number


def as_payoffs(numbers: ArrayLike, what: str = "payoffs") -> Array:
    """`numbers` as a finite float array, or InvalidGame naming the first bad place.

    >>> as_payoffs([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    _refuse_lossy(numbers, what)
    try:
        array = np.asarray(numbers, dtype=np.float64)
    except OverflowError:
        raise InvalidGame(
            f"{what}: expected numbers that floats can hold, got one beyond 1.8e308"
        ) from None
    except (TypeError, ValueError) as error:
        if "complex" in str(error):
            raise InvalidGame(f"{what}: expected real numbers, got complex ones") from None
        raise InvalidGame(
            f"{what}: expected a rectangular array of numbers, got {_reason(numbers, error)}"
        ) from None
    if array.size == 0:
        raise InvalidGame(
            f"{what}: expected at least one number, got an empty array of shape {array.shape}"
        )
    if not np.isfinite(array).all():
        index = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
        raise InvalidGame(f"{what}: expected finite numbers, got {array[index]} at {list(index)}")
    return array


def read_texts(numbers: object, what: str = "payoffs") -> Any:
    """Replace texts such as "1/3" by the exact numbers they mean, in lists of any depth."""
    if isinstance(numbers, np.ndarray):
        return read_texts(numbers.tolist(), what) if numbers.dtype.kind in "UO" else numbers
    if isinstance(numbers, list | tuple):
        return [read_texts(number, what) for number in numbers]
    if not isinstance(numbers, str):
        return numbers
    try:
        return parse_rational(numbers)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InvalidGame(
            f"{what}: expected a number such as 3, -2.5 or 1/3, got {numbers[:30]!r}"
        ) from None


def _refuse_lossy(numbers: object, what: str) -> None:
    """Refuse arrays that floats would keep only in part.

    These are complex ones, and those with masked entries.
    """
    if type(numbers) is np.ndarray and numbers.dtype.char == "d":  # what most are is seen at once
        return
    if isinstance(numbers, np.ndarray) and hasattr(
        numbers, "mask"
    ):  # asking for numpy.ma would load it
        raise InvalidGame(
            f"{what}: expected a number everywhere, got a masked array; fill it first"
        )
    if isinstance(numbers, np.ndarray | np.generic) and numbers.dtype.kind == "c":
        raise InvalidGame(f"{what}: expected real numbers, got complex ones")


def _read_plain(numbers: object) -> Array | None:
    """Copy numbers that floats surely hold, and are finite.

    Returns None for all that has to be looked at closely.
    """
    try:
        array = np.asarray(numbers)
    except ValueError:
        return None
    if array.dtype.kind not in "biuf" or array.itemsize > 8 or not array.size:
        return None
    floats = array.astype(np.float64)
    return floats if np.maximum.reduce(np.abs(floats), axis=None) < _LARGEST_WHOLE else None


def _reason(numbers: object, error: Exception) -> str:
    if isinstance(numbers, Sequence) and not isinstance(numbers, str):
        lengths = {
            len(row) for row in numbers if isinstance(row, Sequence) and not isinstance(row, str)
        }
        if len(lengths) > 1:
            return f"rows of different lengths ({', '.join(map(str, sorted(lengths)))})"
    return str(error)


class GameNames(TypedDict, total=False):
    """What a game and what is in it are called."""

    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    name: str


@dataclass(frozen=True, eq=False)
class NormalForm:
    """An n-player game as a payoff tensor.

    Its shape is (n, actions of player 0, actions of player 1, ...).

    `payoffs` are floats. Integers, fractions and decimals that floats do not hold exactly are kept
    in `rationals`.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> pd.num_players, pd.shape
    (2, (2, 2))
    """

    payoffs: Array
    players: tuple[str, ...] = ()
    actions: tuple[tuple[str, ...], ...] = ()
    name: str = ""
    rationals: Rationals | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return (
            f"NormalForm({self.name!r}, {self.num_players} players,"
            f" {' x '.join(map(str, self.shape))} actions)"
        )

    def _repr_html_(self) -> str:
        cells = islice(np.ndindex(*self.shape), MOST_ROWS + 1)
        rows = []
        for cell in cells:
            actions = [names[k] for names, k in zip(self.actions, cell, strict=True)]
            rows.append((*actions, *self.payoffs[(slice(None), *cell)]))
        return format_html(
            repr(self),
            (*self.players, *(f"payoff of {name}" for name in self.players)),
            rows,
        )

    def __post_init__(self) -> None:
        _refuse_lossy(self.payoffs, "payoffs")
        payoffs = _read_plain(self.payoffs) if self.rationals is None else None
        if payoffs is None:
            object.__setattr__(self, "payoffs", read_texts(self.payoffs))
            payoffs = as_payoffs(self.payoffs).copy()
            object.__setattr__(self, "rationals", self._keep_rationals(payoffs))
            if float(np.abs(payoffs).max()) > _LARGEST:
                raise InvalidGame(
                    f"payoffs: expected none beyond {_LARGEST:g} in size, got"
                    f" {np.abs(payoffs).max():g}"
                )
        if payoffs.ndim == 0:
            raise InvalidGame(
                f"payoffs: expected a table for every player, got the number {payoffs:g}"
            )
        if payoffs.ndim != len(payoffs) + 1:
            raise InvalidGame(
                f"payoffs: {len(payoffs)} players need {len(payoffs) + 1} axes, the array has"
                f" {payoffs.ndim}{_SINGLE if payoffs.ndim == 2 else ''}"
            )
        payoffs.setflags(write=False)
        object.__setattr__(self, "payoffs", payoffs)
        named = self.players or self.actions
        if not self.players:
            numbered = tuple(f"player {i + 1}" for i in range(self.num_players))
            object.__setattr__(
                self,
                "players",
                ("row", "col") if self.num_players == 2 else numbered,
            )
        if not self.actions:
            object.__setattr__(self, "actions", _default_actions(self.shape))
        if named:
            self._check_names()

    def _keep_rationals(self, floats: Array) -> Rationals | None:
        """Keep exact payoffs that floats do not hold, and only if they are this game's."""
        rationals = self.rationals
        if rationals is None and not (
            isinstance(self.payoffs, np.ndarray) and self.payoffs.dtype == np.float64
        ):
            rationals = as_rationals(self.payoffs)
        if (
            rationals is None
            or fits_floats(rationals)
            or not np.array_equal(rationals.astype(np.float64), floats)
        ):
            return None
        return rationals

    def _check_names(self) -> None:
        if len(self.players) != self.num_players or len(set(self.players)) != len(self.players):
            raise InvalidGame(
                f"players: expected {self.num_players} different names, got"
                f" {_list_some(self.players)}"
            )
        if len(self.actions) != self.num_players:
            raise InvalidGame(
                f"actions: expected names for {self.num_players} players, got {len(self.actions)}"
            )
        for player, names, count in zip(self.players, self.actions, self.shape, strict=True):
            if len(names) != count or len(set(names)) != count:
                raise InvalidGame(
                    f"actions of {player}: expected {count} different names, got"
                    f" {_list_some(names)}"
                )

    @classmethod
    def bimatrix(
        cls,
        row: ArrayLike,
        col: ArrayLike,
        **names: Unpack[GameNames],
    ) -> NormalForm:
        """Two players with payoffs `row[i][j]` and `col[i][j]`.

        These are paid when row plays i and column plays j.
        """
        _refuse_lossy(row, "row payoffs")
        _refuse_lossy(col, "column payoffs")
        both = _read_plain((row, col))
        if both is not None and both.ndim == 3:
            if names:
                return cls(both, **names)
            # Everything has been checked; checking it again takes longer than solving a small game.
            both.setflags(write=False)
            game = object.__new__(cls)
            vars(game).update(
                payoffs=both,
                players=("row", "col"),
                actions=_default_actions(both.shape[1:]),
            )
            return game
        row = read_texts(row, "row payoffs")
        col = read_texts(col, "column payoffs")
        first = as_payoffs(row, "row payoffs")
        second = as_payoffs(col, "column payoffs")
        if first.ndim != 2 or first.shape != second.shape:
            raise InvalidGame(
                f"expected two matrices of one shape, got {first.shape} and {second.shape}"
            )
        exact = as_rationals(row), as_rationals(col)
        known = None if exact[0] is None or exact[1] is None else np.stack([exact[0], exact[1]])
        return cls(np.stack([first, second]), rationals=known, **names)

    @classmethod
    def zero_sum(cls, row: ArrayLike, **names: Unpack[GameNames]) -> NormalForm:
        """Two players; what the row player gets the column player pays."""
        row = read_texts(row, "row payoffs")
        matrix = as_payoffs(row, "row payoffs")
        exact = as_rationals(row)
        return (
            cls.bimatrix(matrix, -matrix, **names)
            if exact is None
            else cls.bimatrix(exact, -exact, **names)
        )

    @property
    def given(self) -> Array | Rationals:
        """The payoffs as they were given: exact numbers where floats do not hold them."""
        return self.payoffs if self.rationals is None else self.rationals

    @cached_property
    def is_exact(self) -> bool:
        """Whether the payoffs are known exactly, and not floats that may stand for a number nearby.

        Whole numbers and multiples of 1/64 are taken to be meant as they are.
        """
        if self.rationals is not None:
            return True
        if not (64.0 * self.payoffs.item(0)).is_integer():
            return False
        return are_meant(self.payoffs)

    @cached_property
    def meant(self) -> Array | Rationals | None:
        """The payoffs as the numbers that are meant (see `games.ties`).

        Returns None where they are floats, and too many to be read one by one.
        """
        if self.is_exact:
            return self.given
        if self.payoffs.size > _MOST_READ:
            return None
        tables = [read_floats(table.ravel().tolist()) for table in self.payoffs]
        return np.array(tables, dtype=object).reshape(self.payoffs.shape)

    @cached_property
    def units(self) -> Numbers | None:
        """The payoffs meant, less the smallest, as whole numbers of a common unit.

        Returns None where they are floats, and too many to be read one by one.
        """
        if self.meant is None:
            return None
        whole = count_multiples(self.meant)
        return whole.astype(np.int64) if whole.max() < _SMALL_UNITS else whole

    @cached_property
    def compared(self) -> tuple[Numbers, ...]:
        """What each player's payoffs are compared as: two are equal where they are meant so."""
        if self.is_exact and self.units is not None:
            return tuple(self.units)
        tables: list[Numbers] = []
        for player, table in enumerate(self.payoffs):
            if are_apart(table):
                tables.append(table)
            else:
                tables.append(round_floats(table) if self.units is None else self.units[player])
        return tuple(tables)

    def restrict(self, kept: tuple[tuple[int, ...], ...]) -> NormalForm:
        """Leave every player only some actions; what ties in the whole game still does."""
        cells = np.ix_(range(self.num_players), *kept)
        labels = []
        for names, left in zip(self.actions, kept, strict=True):
            labels.append(tuple([names[action] for action in left]))
        part = NormalForm(
            payoffs=self.payoffs[cells],
            players=self.players,
            actions=tuple(labels),
            name=self.name,
            rationals=None if self.rationals is None else self.rationals[cells],
        )
        if not part.is_exact:
            # Read in a smaller range, floats could stand for other numbers.
            vars(part).update(
                meant=None if self.meant is None else self.meant[cells],
                compared=tuple(table[np.ix_(*kept)] for table in self.compared),
            )
        return part

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return len(self.payoffs)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many actions each player has."""
        return self.payoffs.shape[1:]


GameLike: TypeAlias = "NormalForm | Tree | Path | ArrayLike"
"""A game as every function takes it: a table or a tree; payoffs, one table for every player, all of
one shape; the name of a game of the catalogue; the path of a file of games."""


def as_normal_form(game: GameLike, col: ArrayLike | None = None) -> NormalForm:
    """Turn whatever gives a game into its normal form; two matrices are payoffs as well.

    >>> as_normal_form([[3, 0], [5, 1]], [[3, 5], [0, 1]]).shape
    (2, 2)
    >>> as_normal_form(([[3, 0], [5, 1]], [[3, 5], [0, 1]])).num_players
    2
    >>> as_normal_form("stag hunt").shape
    (2, 2)
    """
    if isinstance(game, NormalForm):
        if col is not None:
            raise InvalidGame("expected a game or two matrices of payoffs, got a game and a matrix")
        return game
    if isinstance(game, str | Path) or hasattr(game, "infosets"):
        # Trees, files and the catalogue take longer to load than small games to solve.
        from bestresponse.theory.games.reading import find_form

        return find_form(cast("str | Path | Tree", game))
    payoffs = cast(Array, game)
    return NormalForm(payoffs) if col is None else NormalForm.bimatrix(payoffs, col)


def _list_some(names: Sequence[str]) -> str:
    if len(names) <= 10:
        return str(list(names))
    shown = ", ".join(map(repr, names[:10]))
    return f"[{shown}, ...]"


@lru_cache(maxsize=1000)
def _default_actions(shape: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    labels = []
    for count in shape:
        labels.append(tuple(f"a{k}" for k in range(count)))
    return tuple(labels)
