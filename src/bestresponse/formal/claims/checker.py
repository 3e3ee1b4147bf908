"""Claims decided twice: by arithmetic on the game's payoffs and by a logic engine on the game's program.

The two must agree. Where one of them cannot tell (the game is too large for it), the other's verdict stands; where they
contradict each other, which no game is known to bring about, the verdict is UNKNOWN and says so.

In the program a table is one fact per player and cell, `cell(Player, Own, Others, Outcome, Payoff)`, a tree its nodes.
The rules stand beside the forms (`tables`, `trees`); they share nothing with the arithmetic there. Players are p0 (the
reasoner), p1, ...; actions are a0, a1, ...: no text of a user is ever part of the program.

Before that `ground` puts a claim to the game: names become numbers of players and actions, or the reason why it cannot
be decided. Both checkers start from there, so neither can be led astray by a name: a player or an action that does not
exist, an outcome that leaves somebody out, probabilities that do not sum to 1 make a claim undecidable, not false.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Final

from bestresponse.core.errors import BestResponseError, InvalidGame, LogicError, TooLarge
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.formal.claims.claim import FORMS, NO_CLAIM, OF_TABLES, OF_TREES, Claim, Malformed
from bestresponse.formal.claims.form import SHARED_RULES, Belief, Chain, Mix, Move, Sort, Ungrounded, find_rounding
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.formal.claims.tables import TABLE_RULES, TableTheory
from bestresponse.formal.claims.trees import TREE_RULES, TreeTheory
from bestresponse.logic.engine import LogicEngine, Program, Proof, Verdict
from bestresponse.logic.language.terms import Atom, Struct, Term, list_of, write
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

MOST_FACTS: Final = 4_000


class TheoryCheck:
    """Decides claims about one game by arithmetic."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        tree = subject.tree
        self.game = TableTheory(subject) if tree is None else TreeTheory(subject, tree)

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim is true."""
        try:
            answer = self.find_truth(grounded)
        except BestResponseError as error:
            return Proof(Verdict.UNKNOWN, str(error))
        if isinstance(answer, Proof):
            return grounded.settle(answer)
        holds = answer == grounded.places["value"] if isinstance(answer, Fraction) else answer
        return grounded.settle(Proof(Verdict.PROVED if holds else Verdict.REFUTED))

    def find_truth(self, grounded: Grounded) -> bool | Fraction | Proof:
        """Return whether a claim's form holds of its arguments, or the number that its `value` has to be."""
        answer: bool | Fraction | Proof = getattr(self.game, grounded.claim.form)(**grounded.places)
        return answer


class LogicCheck:
    """Decides claims about one game by resolution on one program. The engine is the caller's to close."""

    def __init__(self, subject: Subject, engine: LogicEngine) -> None:
        self.subject = subject
        self._engine = engine
        self._rules = SHARED_RULES + (TABLE_RULES if subject.tree is None else TREE_RULES)
        self._heads = {(kind, form): arguments for kind, form, arguments in _HEAD.findall(self._rules)}

    @cached_property
    def program(self) -> Program:
        """The loaded program; `InvalidGame` where the game is too large."""
        return self._engine.load(f"{self._rules}{_write_facts(self.subject)}\n")

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim follows."""
        places = grounded.places
        form = grounded.claim.form
        looks_ahead = ("possible", form) in self._heads
        ends = [places[name] for name in ("outcome", "than") if name in places and self.subject.tree is not None]
        if ("claim", form) not in self._heads or any(len(nodes) > 1 for nodes in ends):
            return Proof(Verdict.UNKNOWN, "claims about chance and knowledge are decided by theory alone")
        if looks_ahead and self.subject.tree is not None and not self.subject.tree_is_open:
            why = "somebody moves without knowing what happened before; looking ahead needs that"
            return Proof(Verdict.UNKNOWN, why)
        try:
            program = self.program
        except (InvalidGame, LogicError) as error:
            return Proof(Verdict.UNKNOWN, str(error))
        arguments = [self._write_argument(name, place, places) for name, place in places.items()]
        if "Error" in self._heads["claim", form]:
            rounding = find_rounding(places["share"], 2) if "share" in places else find_rounding(places["value"])
            arguments.append(_write_number(rounding))
        term = Struct(form, tuple(arguments))
        proof = self._engine.prove(program, Struct("claim", (term,)))
        if looks_ahead and proof.verdict is Verdict.REFUTED:
            proof = self._engine.prove(program, Struct("possible", (term,)))
            if proof.verdict is Verdict.PROVED:
                return Proof(Verdict.UNKNOWN, "a tie: best play may do this or something else")
        return grounded.settle(proof)

    def _write_argument(self, name: str, place: Any, places: Mapping[str, Any]) -> Term:
        tree = self.subject.tree
        if isinstance(place, Fraction):
            return _write_number(place)
        if tree is not None and name == "who":
            return int(self.subject.order[place])
        if tree is not None and name == "action":
            return Atom(f"a{tree.infosets[int(tree.infoset[places['after']])].moves.index(place)}")
        if tree is not None:
            return Atom(f"n{place if name == 'after' else place[0][0]}")
        match name:
            case "who":
                return Atom(f"p{place}")
            case "action" | "other" | "chosen":
                return Atom(f"a{place}")
            case "removed":
                return list_of([Struct("-", (Atom(f"p{who}"), Atom(f"a{k}"))) for who, k in place])
            case "mixed":
                return _write_belief(place)
            case "mixes":
                return list_of(
                    [
                        Struct("part", (Atom(f"p{who}"), own, high, _write_belief(place.leave_out(who))))
                        for who, (own, high) in enumerate(zip(*(map(_write_mix, rows) for rows in place), strict=True))
                    ]
                )
            case "part":
                who, belief = place
                own = _write_mix(belief.rows[0])
                return Struct("part", (Atom(f"p{who}"), own, Atom(f"p{1 - who}"), _write_belief(belief)))
            case _:
                return _write_actions(place)


def _write_number(value: Fraction) -> Term:
    return value.numerator if value.denominator == 1 else value


def _write_actions(places: Iterable[int]) -> Term:
    return list_of([Atom(f"a{k}") for k in places])


def _write_mix(row: tuple[Fraction, ...]) -> Term:
    return list_of([Struct("-", (Atom(f"a{k}"), _write_number(weight))) for k, weight in enumerate(row)])


def _write_belief(belief: Belief) -> Term:
    return Struct("belief", tuple(list_of([_write_mix(row) for row in rows]) for rows in belief))


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim (in the game's own names), or what was offered as one, and the verdict on it."""

    claim: Claim | Malformed
    proof: Proof

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is proved, refuted or open."""
        return self.proof.verdict

    @property
    def text(self) -> str:
        """The printed form of a claim, or the text that is none."""
        return self.claim.text if isinstance(self.claim, Malformed) else str(self.claim)

    @property
    def form(self) -> str:
        """The name of the claim's form."""
        return "malformed" if isinstance(self.claim, Malformed) else self.claim.form


class Checker:
    """Decides claims about one game. Without an engine, theory decides alone."""

    def __init__(self, subject: Subject, engine: LogicEngine | None = None) -> None:
        self.subject = subject
        self.theory = TheoryCheck(subject)
        self.logic = LogicCheck(subject, engine) if engine is not None else None

    def check(self, claim: Claim | Malformed) -> Checked:
        """The verdict on one claim; never raises because of the claim."""
        if isinstance(claim, Malformed):
            return Checked(claim, Proof(Verdict.UNKNOWN, claim.why))
        try:
            grounded = ground(claim, self.subject)
            by_theory = self.theory.decide(grounded)
        except Ungrounded as error:
            return Checked(claim, Proof(Verdict.UNKNOWN, str(error)))
        by_logic = Proof(Verdict.UNKNOWN) if self.logic is None else self.logic.decide(grounded)
        if by_theory.verdict is by_logic.verdict or by_logic.verdict is Verdict.UNKNOWN:
            return Checked(grounded.claim, by_theory)
        if by_theory.verdict is Verdict.UNKNOWN:
            return Checked(grounded.claim, by_logic)
        why = f"theory says {by_theory.verdict} and logic says {by_logic.verdict}; please report this game"
        return Checked(grounded.claim, Proof(Verdict.UNKNOWN, why))

    def check_all(self, claims: Iterable[Claim | Malformed]) -> tuple[Checked, ...]:
        """Every claim once, in order, without those that say there is none."""
        made = (claim for claim in claims if isinstance(claim, Malformed) or claim.form != NO_CLAIM)
        return tuple(dict.fromkeys(map(self.check, made)))


_HEAD: Final = re.compile(r"^(claim|possible)\((\w+)(.*)\) :-", re.MULTILINE)
"""Of the rules by which claims are decided: the form, and its arguments."""


def _write_facts(subject: Subject) -> str:
    """The game as facts of the program; `TooLarge` where it would not fit an engine."""
    if subject.tree is not None:
        if subject.tree.num_nodes > MOST_FACTS:
            raise TooLarge(f"the tree has {subject.tree.num_nodes:,} nodes; the logic engine takes {MOST_FACTS:,}")
        return "\n".join(_nodes(subject.tree))
    count = subject.cells.size
    if count > MOST_FACTS:
        raise TooLarge(f"the table has {count:,} payoffs; the logic engine takes {MOST_FACTS:,}")
    return "\n".join(_table(subject))


def _table(subject: Subject) -> Iterator[str]:
    shape = subject.cells.shape[1:]
    yield f"seats([{', '.join(f'p{i}' for i in range(len(shape)))}])."
    yield from (f"player(p{i})." for i in range(len(shape)))
    yield from (f"action(p{i}, a{k})." for i, n in enumerate(shape) for k in range(n))
    for who in range(len(shape)):
        for places in product(*map(range, shape)):
            others = _write_actions(places[:who] + places[who + 1 :])
            value = write(_write_number(Fraction(int(subject.cells[(who, *places)]), subject.scale)))
            yield f"cell(p{who}, a{places[who]}, {write(others)}, {write(_write_actions(places))}, {value})."


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.num_nodes):
        owner = int(tree.owner[node])
        children = tree.children[node]
        if owner == LEAF:
            yield f"ends(n{node}, [{', '.join(write(_write_number(exact(u))) for u in tree.payoffs[node].tolist())}])."
        elif owner == CHANCE:
            yield f"draw(n{node})."
            yield from (f"drawn(n{node}, {write(_write_number(exact(tree.probability[c])))}, n{c})." for c in children)
        else:
            yield f"turn(n{node}, {owner})."
            yield from (f"branch(n{node}, a{k}, n{c})." for k, c in enumerate(children))
    if not (tree.owner == CHANCE).any():
        yield "draw(none)."
        yield "drawn(none, 1, none)."
    if not (tree.owner >= 0).any():
        yield "turn(none, 0)."
        yield "branch(none, none, none)."


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
    if subject.tree is not None and claim.form not in OF_TREES:
        raise Ungrounded(f"{claim.form} is about a table of payoffs; this game is played move by move")
    if subject.tree is None and claim.form not in OF_TABLES:
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

    def _mixes(self, mixes: tuple[Mix, ...], name: str) -> tuple[tuple[Mix, ...], object]:
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
