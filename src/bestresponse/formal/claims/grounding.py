"""Put a claim to a game: names become numbers of players and actions, or the reason why it
cannot be decided.

Both checkers start from there, so neither can be led astray by a name: a player or an action that
does not exist, an outcome that leaves somebody out, probabilities that do not sum to 1 make a claim
undecidable, not false.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from typing import Any, NamedTuple

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.formal.claims.claim import (
    FORMS,
    NO_CLAIM,
    OF_TABLES,
    OF_TREES,
    Claim,
)
from bestresponse.formal.claims.form import (
    Belief,
    Chain,
    Mix,
    Move,
    Sort,
    Ungrounded,
    find_rounding,
)
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.logic.engine import Proof, Verdict
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

_NATURE = "nature"


@dataclass(frozen=True, slots=True)
class Grounded:
    """A claim in the game's own names (`claim`) and numbers (`arguments`, by parameter)."""

    claim: Claim
    arguments: JsonMapping

    @property
    def rounded(self) -> bool:
        """Whether probabilities of the claim may have been rounded."""
        for argument in self.arguments.values():
            if isinstance(argument, Belief) and argument.rows != argument.highest:
                return True
        share = self.arguments.get("share", Fraction(0))
        return find_rounding(share, 2) != 0

    def settle(self, proof: Proof) -> Proof:
        """Turn the verdict on the claim's form and arguments into that on the claim.

        A denial swaps the verdicts.
        """
        if not self.claim.negated or proof.verdict is Verdict.UNKNOWN:
            return proof
        if proof.verdict is Verdict.REFUTED:
            return Proof(Verdict.PROVED, proof.why)
        if self.rounded:
            return Proof(Verdict.UNKNOWN, "it depends on how its probabilities are rounded")
        return Proof(Verdict.REFUTED, proof.why)


def ground(claim: Claim, subject: Subject) -> Grounded:
    """The claim in the game's terms, or `Ungrounded` with the reason.

    Players and actions become numbers; an outcome is one action number per player; what the others
    do is the same without the player it is about; mixes are one row of probabilities per player. A
    chain of a tree is a node; an outcome that leaves out what nature draws is all nodes that it may
    be, each with its probability.
    """
    if not FORMS[claim.form].names and claim.form not in OF_TABLES:
        raise Ungrounded(
            "it claims nothing"
            if claim.form == NO_CLAIM
            else "it is not clear who or what is meant"
        )
    if subject.tree is not None and claim.form not in OF_TREES:
        raise Ungrounded(
            f"{claim.form} is about a table of payoffs; this game is played move by move"
        )
    if subject.tree is None and claim.form not in OF_TABLES:
        raise Ungrounded(
            f"{claim.form} is about moves one after the other; in this game all choose at once"
        )
    return _Grounding(claim, subject).ground()


class _MixFound(NamedTuple):
    """How a player mixes, in names and as the probability of every action.

    Each probability comes with the most that it may have been before rounding.
    """

    mix: Mix
    row: tuple[Fraction, ...]
    highest: tuple[Fraction, ...]


class _Grounding:
    """One claim on its way to one game."""

    def __init__(self, claim: Claim, subject: Subject) -> None:
        self.claim = claim
        self.subject = subject
        self.parameters = FORMS[claim.form].parameters
        self.player = self._player(claim["who"]) if ("who", Sort.WHO) in self.parameters else 0

    def ground(self) -> Grounded:
        args: list[Any] = []
        arguments: JsonObject = {}
        for (name, sort), argument in zip(self.parameters, self.claim.args, strict=True):
            canonical, arguments[name] = self._resolve(name, sort, argument)
            args.append(canonical)
        return Grounded(Claim(self.claim.form, tuple(args), self.claim.negated), arguments)

    def _resolve(self, name: str, sort: Sort, argument: Any) -> tuple[Any, Any]:
        match sort:
            case Sort.NUMBER:
                if name == "share" and not 0 <= argument <= 1:
                    raise Ungrounded("a probability is between 0 and 1")
                return argument, argument
            case Sort.WHO:
                return self.subject.players[self.player], self.player
            case Sort.ACTION:
                index = self._action(self.player, argument)
                label = self.subject.actions[self.player][index]
                return label, label if self.subject.tree is not None else index
            case Sort.JOINT:
                return self._joint(argument)
            case Sort.MIXES:
                return self._mixes(argument, name)
            case Sort.CHAIN:
                if self.subject.tree is not None:
                    return (
                        self._known(argument)
                        if name == "known"
                        else self._find_nodes(self.subject.tree, argument)
                    )
                if name in ("removed", "chosen"):
                    return self._single_out(argument, name)
                return self._profile(argument, name == "against")

    def _single_out(self, chain: Chain, name: str) -> tuple[Chain, Any]:
        """Find moves that are eliminated, or one move chosen with some probability.

        Such a move is one of the only other player.
        """
        choices = []
        for who, action in chain:
            player = self._player(who)
            choices.append((player, self._action(player, action)))
        moves = tuple(starmap(self.subject.name_move, choices))
        if name == "chosen":
            choosers = [player for player, _ in choices]
            if len(self.subject.players) != 2 or choosers != [1 - self.player]:
                raise Ungrounded(
                    "a probability from which on something holds is one choice's of the only other"
                    " player"
                )
            return moves, choices[0][1]
        self._check_removed(choices)
        return moves, tuple(choices)

    def _check_removed(self, choices: list[tuple[int, int]]) -> None:
        """Refuse to eliminate nothing, what is compared, or all that somebody can choose."""
        compared = {
            (self.player, self._action(self.player, self.claim["action"])),
            (self.player, self._action(self.player, self.claim["other"])),
        }
        if not choices or compared & set(choices):
            raise Ungrounded("nothing is eliminated, or what is compared")
        counts = Counter(player for player, _ in set(choices))
        for player, actions in enumerate(self.subject.actions):
            if counts[player] == len(actions):
                raise Ungrounded("somebody is left without a choice")

    def _player(self, name: str) -> int:
        player = self.subject.player(name)
        if player is None:
            raise Ungrounded(
                f"there is no player {name!r:.60}; the players are"
                f" {', '.join(self.subject.players)}"
            )
        return player

    def _action(self, player: int, name: str) -> int:
        indices = self.subject.index[player]
        if name in indices:
            return indices[name]
        wanted = name.strip().casefold()
        folded = [index for action, index in indices.items() if action.casefold() == wanted]
        if len(folded) == 1:
            return folded[0]
        raise Ungrounded(
            f"{self.subject.players[player]} cannot choose {name!r:.60}; possible:"
            f" {', '.join(indices)}"
        )

    def _joint(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        if len(names) != len(self.subject.players):
            raise Ungrounded(
                f"an outcome needs {len(self.subject.players)} choices, got {len(names)}"
            )
        indices = tuple(self._action(player, name) for player, name in enumerate(names))
        moves = starmap(self.subject.name_move, enumerate(indices))
        return tuple(move.action for move in moves), indices

    def _profile(self, chain: Chain, others: bool) -> tuple[Chain, tuple[int, ...]]:
        """Put a profile in canonical order.

        The others come from the last player on, with `you` at the end (printed outermost).
        """
        chosen: dict[int, int] = {}
        for name, action in chain:
            player = self._player(name)
            if player in chosen:
                raise Ungrounded(f"{self.subject.players[player]} chooses twice in one outcome")
            chosen[player] = self._action(player, action)
        wanted = list(range(len(self.subject.players)))
        if others:
            wanted.remove(self.player)
        if missing := [self.subject.players[player] for player in wanted if player not in chosen]:
            raise Ungrounded(f"it does not say what {', '.join(missing)} chooses")
        moves = [self.subject.name_move(player, chosen[player]) for player in wanted]
        return tuple(reversed(moves)), tuple(chosen[player] for player in wanted)

    def _mixes(self, mixes: tuple[Mix, ...], name: str) -> tuple[tuple[Mix, ...], object]:
        """Find the probabilities with which the players mix that a claim is about."""
        found: dict[int, _MixFound] = {}
        for mix in mixes:
            player = self._player(mix.who)
            found[player] = self._find_mix(player, mix)
        mixing = self._list_mixing(name, list(found))
        if missing := [self.subject.players[player] for player in mixing if player not in found]:
            raise Ungrounded(f"it does not say how {', '.join(missing)} mixes")
        named = tuple(found[player].mix for player in mixing)
        rows = tuple(found[player].row for player in mixing)
        highest = tuple(found[player].highest for player in mixing)
        belief = Belief(rows, highest)
        return named, (mixing[0], belief) if name == "part" else belief

    def _list_mixing(self, name: str, named: list[int]) -> list[int]:
        """List the players whose mixes an argument needs: all, all but one, or the one named."""
        players = list(range(len(self.subject.players)))
        match name:
            case "mixes":
                return players
            case "part":
                if len(named) != 1 or len(players) != 2:
                    raise Ungrounded("it is not one of two players who mixes")
                return named
            case _:
                players.remove(self.player)
                return players

    def _find_mix(self, player: int, mix: Mix) -> _MixFound:
        """Find the probabilities of one player; they may sum to 1 but for their rounding."""
        who = self.subject.players[player]
        actions = self.subject.actions[player]
        row = [Fraction(0)] * len(actions)
        for action, weight in mix.weights:
            row[self._action(player, action)] += weight
        # Who rounds one probability of a mix rounds all of them: 0.27, 0.1 and 0.63 may be
        # 0.2702, 0.1031, 0.6267.
        errors = [find_rounding(weight, 2) for _, weight in mix.weights]
        error = min(filter(None, errors), default=Fraction(0))
        total = sum(row, Fraction(0))
        if min(row) < 0 or abs(total - 1) > error * len(row):
            raise Ungrounded(f"the probabilities of {who} are not a mix: they must sum to 1")
        shares = tuple(weight / total for weight in row)
        highest = tuple(share + error for share in shares)
        chosen = [pair for pair in zip(actions, shares, strict=True) if pair[1]]
        return _MixFound(Mix(who, tuple(chosen)), shares, highest)

    def _known(self, chain: Chain) -> tuple[Chain, Chain]:
        """Check the moves that somebody is said to know of."""
        moves = []
        for name, action in chain:
            if name.strip().casefold() == _NATURE:
                moves.append(Move(_NATURE, action))
            else:
                player = self._player(name)
                moves.append(self.subject.name_move(player, self._action(player, action)))
        return tuple(moves), tuple(moves)

    def _find_nodes(self, tree: Tree, chain: Chain) -> tuple[Chain, object]:
        """Follow a chain of moves.

        Where it leaves out what nature draws, every draw is followed.
        """
        nodes = [(0, Fraction(1))]
        moves = []
        for move in chain:
            nodes, made = self._follow(tree, nodes, move)
            moves.append(made)
        if self.claim.form != "continuation_payoff":
            nodes = _follow_draws(tree, nodes)
        for node, _ in nodes:
            self._check_end(tree, node)
        if "outcome" in FORMS[self.claim.form].names:
            total = sum((weight for _, weight in nodes), Fraction(0))
            return tuple(moves), tuple((node, weight / total) for node, weight in nodes)
        alike = tree.owner if self.claim.form == "moves_next" else tree.infoset
        kinds = {int(alike[node]) for node, _ in nodes}
        if len(nodes) > 1 and (len(kinds) > 1 or self.claim.form == "continuation_payoff"):
            raise Ungrounded("it depends on what nature draws, which is not said")
        return tuple(moves), nodes[0][0]

    def _follow(
        self,
        tree: Tree,
        nodes: list[tuple[int, Fraction]],
        move: Move,
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
        named = move.who.strip().casefold()
        if owner == CHANCE:
            mover = _NATURE
            is_meant = named == _NATURE
        else:
            player = self.subject.order.index(owner)
            mover = self.subject.players[player]
            is_meant = named == mover or self._player(move.who) == player
        if not is_meant:
            raise Ungrounded(
                f"after {tree.path(node)} it is {mover} who moves, not {move.who!r:.60}"
            )
        branches = {tree.branch_labels[child]: child for child in tree.children[node]}
        if move.action not in branches:
            raise Ungrounded(
                f"{mover} cannot choose {move.action!r:.60} there; possible: {', '.join(branches)}"
            )
        return Move(mover, move.action), branches[move.action]

    def _check_end(self, tree: Tree, node: int) -> None:
        owner = int(tree.owner[node])
        if "outcome" in FORMS[self.claim.form].names and owner != LEAF:
            raise Ungrounded(f"the game is not over after {tree.path(node)}")
        if self.claim.form in ("will_play", "knows"):
            if owner != self.subject.order[self.player]:
                raise Ungrounded(
                    f"it is not {self.subject.players[self.player]} who moves after"
                    f" {tree.path(node)}"
                )
            infoset = tree.find_infoset(node)
            if self.claim.form == "will_play" and self.claim["action"] not in infoset.moves:
                raise Ungrounded(
                    f"{self.claim['action']!r:.60} is not possible after {tree.path(node)}"
                )


def _follow_draws(tree: Tree, nodes: list[tuple[int, Fraction]]) -> list[tuple[int, Fraction]]:
    """Follow everything that nature may draw, until somebody else moves or the game is over."""
    reached = []
    stack = nodes[::-1]
    while stack:
        node, weight = stack.pop()
        if tree.owner[node] == CHANCE:
            for child in reversed(tree.children[node]):
                stack.append((child, weight * exact(tree.probability[child])))
        else:
            reached.append((node, weight))
    return reached
