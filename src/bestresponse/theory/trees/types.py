"""Games with types: everybody learns something in private, then all move at once.

Definition (Harsanyi 1967): nature draws a type for every player by a common prior; each sees the
own type alone and chooses an action; payoffs depend on all types and actions. Such a game is a
tree, so that it is told, played and solved like every other. A strategy says what each type does.

An equilibrium can be taken in two ways, which agree where every type has a positive probability:

- ex ante, every player chooses a plan for all types: the reduced normal form (`to_normal_form`);
- interim, every type of every player is a player of its own that maximises what it expects given
  itself (`interim_form`).

J. C. Harsanyi, "Games with incomplete information played by Bayesian players", Management Science
14, 1967-68. Auctions: W. Vickrey, Journal of Finance 16, 1961; all-pay auctions: M. Baye,
D. Kovenock and C. de Vries, Economic Theory 8, 1996.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.theory.arrays import Numbers
from bestresponse.theory.files.game_text import number_repeats
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.sequence_form import read_leaves, read_reach
from bestresponse.theory.trees.tree import (
    Chance,
    Leaf,
    Tree,
    Turn,
    as_tree,
    build_tree,
)

AuctionKind = Literal["first-price", "second-price", "all-pay"]

_MOST_CELLS = 300_000
_SUM = Fraction(1, 10**9)  # of priors: what writing them as decimals leaves


@dataclass(frozen=True, slots=True, eq=False)
class TypeCase:
    """What may be the case: the type of every player, how likely that is, and the payoffs then."""

    types: tuple[str, ...]
    probability: Fraction
    payoffs: NormalForm


def build_cases(cases: Sequence[TypeCase], name: str = "") -> Tree:
    """Build the tree of a game with types; players and actions are those of the payoffs.

    Cases with the same types are what nobody can tell apart. InvalidGame says which case is wrong.

    >>> table = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    >>> likes = TypeCase(("she", "likes"), Fraction(1, 2), table)
    >>> avoids = TypeCase(("she", "avoids"), Fraction(1, 2), NormalForm.zero_sum([[2, 0], [0, 1]]))
    >>> build_cases([likes, avoids]).num_nodes
    15
    """
    if not cases:
        raise InvalidGame("cases: expected at least one")
    players = cases[0].payoffs.players
    actions = cases[0].payoffs.actions
    for number, case in enumerate(cases):
        _check_case(case, f"cases[{number}]", players, actions)
    _check_prior(cases, players)

    def expand(position: tuple[int, ...]) -> Leaf | Chance | Turn:
        if not position:
            return Chance(_list_draws(cases))
        number, *moves = position
        if len(moves) == len(players):
            payoffs: Numbers = cases[number].payoffs.given
            return Leaf([table[tuple(moves)] for table in payoffs])
        seat = len(moves)
        own = cases[number].types[seat]
        after = {action: (*position, k) for k, action in enumerate(actions[seat])}
        return Turn(players[seat], own, after)

    return build_tree(players, (), expand, name=name)


def _list_draws(cases: Sequence[TypeCase]) -> dict[str, tuple[Fraction, tuple[int, ...]]]:
    """Name the branches of chance by the types, with a number where types come again."""
    labels = number_repeats(", ".join(case.types) for case in cases)
    draws: dict[str, tuple[Fraction, tuple[int, ...]]] = {}
    for number, (label, case) in enumerate(zip(labels, cases, strict=True)):
        draws[label] = case.probability, (number,)
    return draws


def _check_case(
    case: TypeCase,
    place: str,
    players: tuple[str, ...],
    actions: tuple[tuple[str, ...], ...],
) -> None:
    if case.payoffs.players != players or case.payoffs.actions != actions:
        raise InvalidGame(f"{place}: expected the players and actions of the first case")
    if len(case.types) != len(players):
        raise InvalidGame(
            f"{place}: expected a type for each of {len(players)} players, got {len(case.types)}"
        )
    if not 0 <= case.probability <= 1:
        raise InvalidGame(
            f"{place}: expected a probability from 0 to 1, got {float(case.probability):g}"
        )


def _check_prior(cases: Sequence[TypeCase], players: Sequence[str]) -> None:
    """Refuse priors that do not sum to 1, and types that are never drawn."""
    total = sum((case.probability for case in cases), Fraction(0))
    if abs(total - 1) > _SUM:
        raise InvalidGame(f"the probabilities of the cases sum to {float(total):g}; expected 1")
    for seat, player in enumerate(players):
        drawn: dict[str, Fraction] = {}
        for case in cases:
            before = drawn.get(case.types[seat], Fraction(0))
            drawn[case.types[seat]] = before + case.probability
        never = [own for own, probability in drawn.items() if not probability]
        if never:
            raise InvalidGame(
                f"the type {never[0]!r} of {player} has probability 0, so that it can expect"
                " nothing; leave out its cases"
            )


def interim_form(tree: Tree | str | Path) -> NormalForm:
    """Return the game whose players are the types, each with its payoff given that it is drawn.

    Its Nash equilibria are the Bayesian equilibria of the game. UsageError where somebody moves
    twice or sees what others do, TooLarge above 300,000 cells.

    >>> from bestresponse.theory.equilibria.solve import nash
    >>> form = interim_form(auction("second-price", [1, 2]))
    >>> form.players
    ('bidder 1: 1', 'bidder 1: 2', 'bidder 2: 1', 'bidder 2: 2')
    """
    tree = as_tree(tree)
    seats = order_types(tree)
    place = {infoset: seat for seat, infoset in enumerate(seats)}
    shape = tuple(len(tree.infosets[infoset].moves) for infoset in seats)
    if prod(shape) > _MOST_CELLS:
        raise TooLarge(
            f"{len(seats)} types with their actions make {prod(shape):,} cells, more than"
            f" {_MOST_CELLS:,}; the method sequence-form finds one equilibrium of two players"
        )
    payoffs: Numbers = np.zeros((len(seats), *shape))
    reached: Numbers = np.zeros((len(seats), *shape))
    columns: Numbers = (tree.payoffs[tree.leaves] * tree.reach[tree.leaves, None]).T
    chance: Numbers = tree.reach[tree.leaves]
    if tree.is_exact:
        payoffs, reached = (part.astype(np.int64).astype(object) for part in (payoffs, reached))
        columns = np.array(read_leaves(tree), dtype=object)
        chance = np.array(read_reach(tree), dtype=object)[tree.leaves]
    for number, leaf in enumerate(tree.leaves.tolist()):
        moves = []
        for node, child in tree.climb(leaf):
            moves.append((int(tree.infoset[node]), int(tree.move[child])))
        cells: list[int | slice] = [slice(None)] * len(seats)
        for infoset, move in moves:
            cells[place[infoset]] = move
        for infoset, _ in moves:
            at = (place[infoset], *cells)
            payoffs[at] += columns[tree.infosets[infoset].player, number]
            reached[at] += chance[number]
    flat = reached.reshape(len(seats), -1)
    drawn = flat[:, 0]
    _check_types(tree, flat, seats)
    given = payoffs / drawn.reshape(-1, *[1] * len(shape))
    names = []
    for infoset in seats:
        owner = tree.infosets[infoset]
        names.append(f"{tree.players[owner.player]}: {owner.label}")
    actions = tuple(tree.infosets[infoset].moves for infoset in seats)
    return NormalForm(given, tuple(names), actions, tree.name)


def order_types(tree: Tree) -> list[int]:
    """List the information sets by player: the players of the interim form."""
    return sorted(range(len(tree.infosets)), key=lambda k: (tree.infosets[k].player, k))


def _check_types(tree: Tree, reached: Numbers, seats: Sequence[int]) -> None:
    """Refuse a tree in which it depends on moves whether an information set is reached."""
    for infoset, row in zip(seats, reached, strict=True):
        if max(row) - min(row) > _SUM or not row[0]:
            owner = tree.infosets[infoset]
            raise UsageError(
                f"{tree.players[owner.player]} comes to {owner.label!r} by what was played before;"
                " types are drawn, and all move once and at the same time; the method normal-form"
                " takes any tree"
            )


def auction(
    kind: AuctionKind,
    values: Sequence[int | Fraction],
    bids: Sequence[int | Fraction] | None = None,
    bidders: int = 2,
) -> Tree:
    """Sell one object to `bidders`, each of whose values is one of `values`, all equally likely.

    The highest of the bids wins, ties are drawn. `bids` are by default 0 and the values. The winner
    of a first-price auction pays the own bid, of a second-price auction the highest of the others';
    in an all-pay auction everybody pays the own bid.

    >>> auction("first-price", [0, 1, 2])
    Tree('first-price auction', players=['bidder 1', 'bidder 2'], 118 nodes, 81 leaves, \
6 information sets)
    """
    if kind not in get_args(AuctionKind):
        raise UsageError(f"kind: expected one of {', '.join(get_args(AuctionKind))}, got {kind!r}")
    if bidders < 2 or not values:
        raise UsageError("an auction needs two bidders or more, and at least one value")
    worth = list(dict.fromkeys(map(Fraction, values)))
    amounts = sorted({*map(Fraction, bids)} if bids is not None else {Fraction(0), *worth})
    players = tuple(f"bidder {number + 1}" for number in range(bidders))
    actions = (tuple(map(str, amounts)),) * bidders
    shape = (len(amounts),) * bidders
    cases = []
    for drawn in product(worth, repeat=bidders):
        payoffs = np.empty((bidders, *shape), dtype=object)
        for cell in np.ndindex(*shape):
            payoffs[(slice(None), *cell)] = _settle(kind, drawn, [amounts[k] for k in cell])
        table = NormalForm(payoffs, players, actions)
        share = Fraction(1, len(worth) ** bidders)
        cases.append(TypeCase(tuple(map(str, drawn)), share, table))
    return build_cases(cases, f"{kind} auction")


def _settle(
    kind: AuctionKind,
    values: Sequence[Fraction],
    bids: Sequence[Fraction],
) -> list[Fraction]:
    """Say what everybody earns, the winner being drawn among the highest bids."""
    highest = max(bids)
    winners = [seat for seat, bid in enumerate(bids) if bid == highest]
    price = highest
    if kind == "second-price":
        price = sorted(bids)[-2]
    earned = []
    for seat, (value, bid) in enumerate(zip(values, bids, strict=True)):
        chance = Fraction(seat in winners, len(winners))
        paid = bid if kind == "all-pay" else chance * price
        earned.append(chance * value - paid)
    return earned


def equilibrium_bid(kind: AuctionKind, value: float, bidders: int = 2) -> float:
    """Give the bid in the symmetric equilibrium for values uniform from 0 to 1.

    (n - 1) / n of the value in a first-price auction, the value itself in a second-price auction,
    (n - 1) / n of the value to the n in an all-pay auction.

    >>> [equilibrium_bid(kind, 0.5, 2) for kind in ("first-price", "second-price", "all-pay")]
    [0.25, 0.5, 0.125]
    """
    if kind == "second-price":
        return value
    power = 1 if kind == "first-price" else bidders
    return float((bidders - 1) / bidders * value**power)
