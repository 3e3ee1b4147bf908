"""A claim put to a game: names become numbers of players and actions, or the reason why it cannot be decided.

Both checkers start from here, so neither can be led astray by a name: a player or an action that does not exist, an
outcome that leaves somebody out, probabilities that do not sum to 1 make a claim undecidable, not false.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.formal.claims.claim import FORMS, NO_CLAIM, OF_TABLES, OF_TREES, Claim
from bestresponse.formal.claims.form import Belief, Chain, Mix, Move, Sort, Ungrounded, find_rounding
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.logic.engine import Proof, Verdict
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

_NATURE: Final = "nature"


@dataclass(frozen=True, slots=True)
class Grounded:
    """A claim in the game's own names (`claim`) and numbers (`places`, by parameter)."""

    claim: Claim
    places: JsonMapping

    @property
    def rounded(self) -> bool:
        """Whether probabilities of the claim may have been rounded."""
        beliefs = [place for place in self.places.values() if isinstance(place, Belief)]
        share = self.places.get("share", Fraction(0))
        return any(belief.rows != belief.highest for belief in beliefs) or find_rounding(share, 2) != 0

    def settle(self, proof: Proof) -> Proof:
        """Turn the verdict on the claim's form and arguments into the verdict on the claim: a denial swaps them."""
        opposite = {Verdict.PROVED: Verdict.REFUTED, Verdict.REFUTED: Verdict.PROVED}.get(proof.verdict)
        if not self.claim.negated or opposite is None:
            return proof
        if opposite is Verdict.REFUTED and self.rounded:
            return Proof(Verdict.UNKNOWN, "it depends on how its probabilities are rounded")
        return Proof(opposite, proof.why)


def ground(claim: Claim, subject: Subject) -> Grounded:
    """The claim in the game's terms, or `Ungrounded` with the reason.

    In `places`, players and actions are numbers; an outcome is one action number per player; what the others do is the
    same without the player it is about; mixes are one row of probabilities per player. A chain of a tree is a node; an
    outcome that leaves out what nature draws is all nodes that it may be, each with its probability.
    """
    if not FORMS[claim.form].names and claim.form not in OF_TABLES:
        raise Ungrounded("it claims nothing" if claim.form == NO_CLAIM else "it is not clear who or what is meant")
    if subject.table is None and claim.form not in OF_TREES:
        raise Ungrounded(f"{claim.form} is about a table of payoffs; this game is played move by move")
    if subject.table is not None and claim.form not in OF_TABLES:
        raise Ungrounded(f"{claim.form} is about moves one after the other; in this game all choose at once")
    return _Grounding(claim, subject).ground()


class _Grounding:
    """One claim on its way to one game."""

    def __init__(self, claim: Claim, subject: Subject) -> None:
        self.claim = claim
        self.subject = subject
        self.parameters = FORMS[claim.form].parameters
        self.who = self._player(claim["who"]) if ("who", Sort.WHO) in self.parameters else 0

    def ground(self) -> Grounded:
        args: list[Any] = []
        places: JsonObject = {}
        for (name, sort), argument in zip(self.parameters, self.claim.args, strict=True):
            said, places[name] = self._place(name, sort, argument)
            args.append(said)
        return Grounded(Claim(self.claim.form, tuple(args), self.claim.negated), places)

    def _place(self, name: str, sort: Sort, argument: Any) -> tuple[Any, Any]:
        match sort:
            case Sort.NUMBER:
                if name == "share" and not 0 <= argument <= 1:
                    raise Ungrounded("a probability is between 0 and 1")
                return argument, argument
            case Sort.WHO:
                return self.subject.players[self.who], self.who
            case Sort.ACTION:
                place = self._action(self.who, argument)
                label = self.subject.actions[self.who][place]
                return label, label if self.subject.tree is not None else place
            case Sort.JOINT:
                return self._joint(argument)
            case Sort.MIXES:
                return self._mixes(argument, name)
            case Sort.CHAIN:
                if self.subject.tree is not None:
                    return self._known(argument) if name == "known" else self._find_nodes(self.subject.tree, argument)
                if name in ("removed", "chosen"):
                    return self._single_out(argument, name)
                return self._profile(argument, name == "against")

    def _single_out(self, chain: Chain, name: str) -> tuple[Chain, Any]:
        """Find moves that are eliminated, or the one that the only other player chooses with some probability."""
        pairs = [(self._player(move.who), move.action) for move in chain]
        places = tuple((who, self._action(who, action)) for who, action in pairs)
        said = tuple(Move(self.subject.players[who], self.subject.actions[who][place]) for who, place in places)
        if name == "chosen":
            if len(self.subject.players) != 2 or [who for who, _ in places] != [1 - self.who]:
                raise Ungrounded("a probability from which on something holds is one choice's of the only other player")
            return said, places[0][1]
        compared = [(self.who, self._action(self.who, self.claim[which])) for which in ("action", "other")]
        if not places or set(places) & set(compared):
            raise Ungrounded("nothing is eliminated, or what is compared")
        counts = Counter(who for who, _ in set(places))
        if any(counts[who] == len(actions) for who, actions in enumerate(self.subject.actions)):
            raise Ungrounded("somebody is left without a choice")
        return said, places

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

    def _mixes(self, mixes: tuple[Mix, ...], name: str) -> tuple[tuple[Mix, ...], Any]:
        """Find probabilities; they may sum to 1 but for their rounding."""
        rows: dict[int, tuple[Fraction, ...]] = {}
        highest: dict[int, tuple[Fraction, ...]] = {}
        for mix in mixes:
            who = self._player(mix.who)
            row = [Fraction(0)] * len(self.subject.actions[who])
            # Who rounds one probability of a mix rounds all of them: 0.27, 0.1 and 0.63 may be 0.2702, 0.1031, 0.6267.
            errors = [find_rounding(weight, 2) for _, weight in mix.weights]
            error = [min(filter(None, errors), default=Fraction(0))] * len(row)
            for action, weight in mix.weights:
                row[self._action(who, action)] += weight
            total = sum(row, Fraction(0))
            if min(row) < 0 or abs(total - 1) > sum(error, Fraction(0)):
                raise Ungrounded(f"the probabilities of {self.subject.players[who]} are not a mix: they must sum to 1")
            rows[who] = tuple(weight / total for weight in row)
            highest[who] = tuple(weight + most for weight, most in zip(rows[who], error, strict=True))
        wanted = [i for i in range(len(self.subject.players)) if name == "mixes" or i != self.who]
        if name == "part":
            wanted = list(rows)
        if name == "part" and (len(wanted) != 1 or len(self.subject.players) != 2):
            raise Ungrounded("it is not one of two players who mixes")
        if missing := [self.subject.players[i] for i in wanted if i not in rows]:
            raise Ungrounded(f"it does not say how {', '.join(missing)} mixes")
        said = []
        for i in wanted:
            weights = zip(self.subject.actions[i], rows[i], strict=True)
            said.append(Mix(self.subject.players[i], tuple((action, weight) for action, weight in weights if weight)))
        belief = Belief(tuple(rows[i] for i in wanted), tuple(highest[i] for i in wanted))
        return tuple(said), (wanted[0], belief) if name == "part" else belief

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
        if "outcome" in FORMS[self.claim.form].names:
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
        if "outcome" in FORMS[self.claim.form].names and owner != LEAF:
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
