"""A claim put to a game: names become numbers of players and actions, or the reason why it cannot be decided.

Both checkers start from here, so neither can be led astray by a name: a player or an action that does not exist, an
outcome that leaves somebody out, probabilities that do not sum to 1 make a claim undecidable, not false.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.formal.claims.claim import FORMS, SEQUENTIAL, Chain, Claim, Mix, Move, Sort
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.logic.engine import Proof, Verdict
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["Grounded", "Ungrounded", "ground"]

_PLAIN: Final = frozenset({"higher", "lower", "equal"})
_ENDS: Final = frozenset(
    {"highest_payoff", "lowest_payoff", "highest_possible_individual_payoff", "lowest_possible_individual_payoff"}
)
_IN_TREES: Final = _PLAIN | _ENDS | {*SEQUENTIAL, "payoff"}
_NATURE: Final = "nature"


@dataclass(frozen=True, slots=True)
class Grounded:
    """A claim in the game's own names (`claim`) and numbers (`places`, by parameter)."""

    claim: Claim
    places: JsonMapping

    def settle(self, proof: Proof) -> Proof:
        """Turn the verdict on the claim's form and arguments into the verdict on the claim: a denial swaps them."""
        opposite = {Verdict.PROVED: Verdict.REFUTED, Verdict.REFUTED: Verdict.PROVED}.get(proof.verdict)
        return Proof(opposite, proof.why) if self.claim.negated and opposite is not None else proof


class Ungrounded(Exception):
    """Why a claim cannot be put to this game."""


def ground(claim: Claim, subject: Subject) -> Grounded:
    """The claim in the game's terms, or `Ungrounded` with the reason.

    In `places`, players and actions are numbers; an outcome is one action number per player; what the others do is the
    same without the player it is about; mixes are one row of probabilities per player. A chain of a tree is a node; an
    outcome that leaves out what nature draws is all nodes that it may be, each with its probability.
    """
    if claim.form == "no_claim":
        raise Ungrounded("it claims nothing")
    if subject.table is None and claim.form not in _IN_TREES:
        raise Ungrounded(f"{claim.form} is about a table of payoffs; this game is played move by move")
    if subject.table is not None and claim.form in SEQUENTIAL:
        raise Ungrounded(f"{claim.form} is about moves one after the other; in this game all choose at once")
    return _Grounding(claim, subject).grounded()


class _Grounding:
    """One claim on its way to one game."""

    def __init__(self, claim: Claim, subject: Subject) -> None:
        self.claim = claim
        self.subject = subject
        self.parameters = FORMS[claim.form].parameters
        self.who = self._player(claim["who"]) if ("who", Sort.WHO) in self.parameters else 0

    def grounded(self) -> Grounded:
        args: list[Any] = []
        places: JsonObject = {}
        for (name, sort), given in zip(self.parameters, self.claim.args, strict=True):
            said, place = self._place(name, sort, given)
            args.append(said)
            places[name] = place
        return Grounded(Claim(self.claim.form, tuple(args), self.claim.negated), places)

    def _place(self, name: str, sort: Sort, given: Any) -> tuple[Any, Any]:
        match sort:
            case Sort.NUMBER:
                return given, given
            case Sort.WHO:
                return self.subject.players[self.who], self.who
            case Sort.ACTION:
                place = self._action(self.who, given)
                return self.subject.actions[self.who][place], place
            case Sort.JOINT:
                return self._joint(given)
            case Sort.MIXES:
                return self._mixes(given, name == "mixes")
            case Sort.CHAIN:
                if self.subject.tree is not None:
                    return self._known(given) if name == "known" else self._find_nodes(self.subject.tree, given)
                return self._profile(given, name == "against")

    def _player(self, name: str) -> int:
        found = self.subject.player(name)
        if found is None:
            raise Ungrounded(f"there is no player {name!r:.60}; the players are {', '.join(self.subject.players)}")
        return found

    def _action(self, who: int, name: str) -> int:
        own = self.subject.index[who]
        if name in own:
            return own[name]
        folded = [k for action, k in own.items() if action.casefold() == name.strip().casefold()]
        if len(folded) == 1:
            return folded[0]
        raise Ungrounded(f"{self.subject.players[who]} cannot choose {name!r:.60}; possible: {', '.join(own)}")

    def _joint(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        if len(names) != len(self.subject.players):
            raise Ungrounded(f"an outcome needs {len(self.subject.players)} choices, got {len(names)}")
        places = tuple(self._action(who, name) for who, name in enumerate(names))
        return tuple(self.subject.actions[who][k] for who, k in enumerate(places)), places

    def _profile(self, chain: Chain, others: bool) -> tuple[Chain, tuple[int, ...]]:
        """In canonical order: the others from the last player on, `you` at the end (printed outermost)."""
        chosen: dict[int, int] = {}
        for name, action in chain:
            who = self._player(name)
            if who in chosen:
                raise Ungrounded(f"{self.subject.players[who]} chooses twice in one outcome")
            chosen[who] = self._action(who, action)
        wanted = [i for i in range(len(self.subject.players)) if not (others and i == self.who)]
        if others:
            chosen.pop(self.who, None)
        if missing := [self.subject.players[i] for i in wanted if i not in chosen]:
            raise Ungrounded(f"it does not say what {', '.join(missing)} chooses")
        places = tuple(chosen[i] for i in wanted)
        said = [Move(self.subject.players[i], self.subject.actions[i][chosen[i]]) for i in wanted]
        return tuple(reversed(said)), places

    def _mixes(
        self, mixes: tuple[Mix, ...], everybody: bool
    ) -> tuple[tuple[Mix, ...], tuple[tuple[Fraction, ...], ...]]:
        found: dict[int, tuple[Fraction, ...]] = {}
        for mix in mixes:
            who = self._player(mix.who)
            row = [Fraction(0)] * len(self.subject.actions[who])
            for action, weight in mix.weights:
                row[self._action(who, action)] += weight
            if min(row) < 0 or sum(row) != 1:
                raise Ungrounded(f"the probabilities of {self.subject.players[who]} are not a mix: they must sum to 1")
            found[who] = tuple(row)
        wanted = [i for i in range(len(self.subject.players)) if everybody or i != self.who]
        if missing := [self.subject.players[i] for i in wanted if i not in found]:
            raise Ungrounded(f"it does not say how {', '.join(missing)} mixes")
        said = tuple(
            Mix(
                self.subject.players[i],
                tuple((a, p) for a, p in zip(self.subject.actions[i], found[i], strict=True) if p),
            )
            for i in wanted
        )
        return said, tuple(found[i] for i in wanted)

    def _known(self, chain: Chain) -> tuple[Chain, Chain]:
        """Check the moves that somebody is said to know of."""
        said = []
        for name, action in chain:
            nature = name.strip().casefold() == _NATURE
            who = None if nature else self._player(name)
            label = action if who is None else self.subject.actions[who][self._action(who, action)]
            said.append(Move(_NATURE if who is None else self.subject.players[who], label))
        return tuple(said), tuple(said)

    def _find_nodes(self, tree: Tree, chain: Chain) -> tuple[Chain, object]:
        """Follow a chain of moves; where it leaves out what nature draws, every draw is followed."""
        nodes, said = [(0, Fraction(1))], []
        for move in chain:
            nodes, made = self._follow(tree, nodes, move)
            said.append(made)
        if self.claim.form != "continuation_payoff":
            nodes = _follow_draws(tree, nodes)
        for node, _ in nodes:
            self._check_end(tree, node)
        if self.claim.form in ("payoff", "average_payoff"):
            total = sum((weight for _, weight in nodes), Fraction(0))
            return tuple(said), tuple((node, weight / total) for node, weight in nodes)
        alike = tree.owner if self.claim.form == "moves_next" else tree.infoset
        kinds = {int(alike[node]) for node, _ in nodes}
        if len(nodes) > 1 and (len(kinds) > 1 or self.claim.form == "continuation_payoff"):
            raise Ungrounded("it depends on what nature draws, which is not said")
        return tuple(said), nodes[0][0]

    def _follow(
        self, tree: Tree, nodes: list[tuple[int, Fraction]], move: Move
    ) -> tuple[list[tuple[int, Fraction]], Move]:
        if move.who.strip().casefold() != _NATURE:
            nodes = _follow_draws(tree, nodes)
        reached: list[tuple[int, Fraction]] = []
        made = move
        trouble = Ungrounded("nobody moves there")
        for node, weight in nodes:
            try:
                made, child = self._step(tree, node, move)
                reached.append((child, weight))
            except Ungrounded as error:
                trouble = error
        if not reached:
            raise trouble
        return reached, made

    def _step(self, tree: Tree, node: int, move: Move) -> tuple[Move, int]:
        owner = int(tree.owner[node])
        if owner == LEAF:
            raise Ungrounded("the game is over before all these moves are made")
        mover = _NATURE if owner == CHANCE else self.subject.players[self.subject.order.index(owner)]
        if move.who.strip().casefold() != mover and (
            owner == CHANCE or self._player(move.who) != self.subject.order.index(owner)
        ):
            raise Ungrounded(f"after {tree.path(node)} it is {mover} who moves, not {move.who!r:.60}")
        branches = {tree.branch_labels[child]: child for child in tree.children[node]}
        if move.action not in branches:
            raise Ungrounded(f"{mover} cannot choose {move.action!r:.60} there; possible: {', '.join(branches)}")
        return Move(mover, move.action), branches[move.action]

    def _check_end(self, tree: Tree, node: int) -> None:
        owner = int(tree.owner[node])
        if self.claim.form in ("payoff", "average_payoff") and owner != LEAF:
            raise Ungrounded(f"the game is not over after {tree.path(node)}")
        if self.claim.form in ("will_play", "knows"):
            if owner != self.subject.order[self.who]:
                raise Ungrounded(f"it is not {self.subject.players[self.who]} who moves after {tree.path(node)}")
            if (
                self.claim.form == "will_play"
                and self.claim["action"] not in tree.infosets[int(tree.infoset[node])].moves
            ):
                raise Ungrounded(f"{self.claim['action']!r:.60} is not possible after {tree.path(node)}")


def _follow_draws(tree: Tree, nodes: list[tuple[int, Fraction]]) -> list[tuple[int, Fraction]]:
    """Follow everything that nature may draw, until somebody else moves or the game is over."""
    found = []
    stack = nodes[::-1]
    while stack:
        node, weight = stack.pop()
        if tree.owner[node] == CHANCE:
            stack += [(child, weight * exact(tree.probability[child])) for child in reversed(tree.children[node])]
        else:
            found.append((node, weight))
    return found
