"""Claims decided twice: by arithmetic on the game's payoffs and by a logic engine on the game's
program.

The two must agree. Where one of them cannot tell (the game is too large for it), the other's
verdict stands; where they contradict each other, which no game is known to bring about, the verdict
is UNKNOWN and says so.

In the program a table is one fact per player and cell, `cell(Player, Own, Others, Outcome,
Payoff)`, a tree its nodes. The rules are next to the forms (`tables`, `trees`); they share nothing
with the arithmetic there. Players are p0 (the reasoner), p1, ...; actions are a0, a1, ...: no text
of a user is ever part of the program.

Before that `ground` puts a claim to the game: names become numbers of players and actions, or the
reason why it cannot be decided. Both checkers start from there, so neither can be led astray by a
name: a player or an action that does not exist, an outcome that leaves somebody out, probabilities
that do not sum to 1 make a claim undecidable, not false.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Final, Protocol

from bestresponse.core.errors import BestResponseError, InvalidGame, LogicError, TooLarge
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.registry import Registry, check_members
from bestresponse.formal.claims.claim import (
    FORMS,
    NO_CLAIM,
    OF_TABLES,
    OF_TREES,
    Claim,
    Malformed,
    added_forms,
    list_added,
)
from bestresponse.formal.claims.form import (
    SHARED_RULES,
    Belief,
    Chain,
    Mix,
    Move,
    Sort,
    Ungrounded,
    find_rounding,
)
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.formal.claims.tables import TABLE_RULES, TableTheory
from bestresponse.formal.claims.trees import TREE_RULES, TreeTheory
from bestresponse.logic.engine import LogicEngine, Program, Proof, Verdict
from bestresponse.logic.language.terms import Atom, Struct, Term, list_of, write
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

MOST_FACTS: Final = 4_000
# A node is two facts, itself and the branch to it; no engine is given more than 5,000 clauses,
# rules among them.
_MOST_NODES: Final = 2_400


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
        holds = answer == grounded.arguments["value"] if isinstance(answer, Fraction) else answer
        return grounded.settle(Proof(Verdict.PROVED if holds else Verdict.REFUTED))

    def find_truth(self, grounded: Grounded) -> bool | Fraction | Proof:
        """Return whether a claim's form holds of its arguments, or the number that its `value` has
        to be."""
        form = grounded.claim.form
        answer: bool | Fraction | Proof
        if form not in list_added():
            answer = getattr(self.game, form)(**grounded.arguments)
            return answer
        try:
            answer = list_added()[form].decide(self.game, **grounded.arguments)
        except Exception as error:  # noqa: BLE001 - a package may raise anything
            return Proof(
                Verdict.UNKNOWN,
                f"{added_forms.describe(form)} fails: {type(error).__name__}: {error}",
            )
        if isinstance(answer, bool | Fraction | Proof):
            return answer
        return Proof(
            Verdict.UNKNOWN,
            f"{added_forms.describe(form)} returns {answer!r:.60}, which is not a verdict",
        )


class LogicCheck:
    """Decides claims about one game by resolution on one program. The engine is the caller's to
    close."""

    def __init__(self, subject: Subject, engine: LogicEngine) -> None:
        self.subject = subject
        self._engine = engine
        about = "tables" if subject.tree is None else "trees"
        added = [form.rule for form in list_added().values() if form.about == about]
        self._rules = "\n".join(
            [SHARED_RULES, TABLE_RULES if about == "tables" else TREE_RULES, *added, ""]
        )
        self._heads = {
            (kind, form): arguments for kind, form, arguments in _HEAD.findall(self._rules)
        }

    @cached_property
    def program(self) -> Program:
        """The loaded program; `InvalidGame` where the game is too large."""
        return self._engine.load(f"{self._rules}{_write_facts(self.subject)}\n")

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim follows."""
        arguments = grounded.arguments
        form = grounded.claim.form
        looks_ahead = ("possible", form) in self._heads
        ends = [
            arguments[name]
            for name in ("outcome", "than")
            if name in arguments and self.subject.tree is not None
        ]
        if ("claim", form) not in self._heads or any(len(nodes) > 1 for nodes in ends):
            return Proof(
                Verdict.UNKNOWN, "claims about chance and knowledge are decided by theory alone"
            )
        if looks_ahead and self.subject.tree is not None and not self.subject.tree_is_open:
            why = "somebody moves without knowing what happened before; looking ahead needs that"
            return Proof(Verdict.UNKNOWN, why)
        try:
            program = self.program
        except (InvalidGame, LogicError) as error:
            return Proof(Verdict.UNKNOWN, str(error))
        terms = [
            self._write_argument(name, argument, arguments) for name, argument in arguments.items()
        ]
        if "Error" in self._heads["claim", form]:
            margin = (
                find_rounding(arguments["share"], 2)
                if "share" in arguments
                else find_rounding(arguments["value"])
            )
            terms.append(_write_number(margin))
        term = Struct(form, tuple(terms))
        proof = self._engine.prove(program, Struct("claim", (term,)))
        if looks_ahead and proof.verdict is Verdict.REFUTED:
            proof = self._engine.prove(program, Struct("possible", (term,)))
            if proof.verdict is Verdict.PROVED:
                return Proof(Verdict.UNKNOWN, "a tie: best play may do this or something else")
        return grounded.settle(proof)

    def _write_argument(self, name: str, argument: Any, arguments: Mapping[str, Any]) -> Term:
        tree = self.subject.tree
        if isinstance(argument, Fraction):
            return _write_number(argument)
        if tree is not None and name == "who":
            return int(self.subject.order[argument])
        if tree is not None and name == "action":
            return Atom(
                f"a{tree.infosets[int(tree.infoset[arguments['after']])].moves.index(argument)}"
            )
        if tree is not None:
            return Atom(f"n{argument if name == 'after' else argument[0][0]}")
        match name:
            case "who":
                return Atom(f"p{argument}")
            case "action" | "other" | "chosen":
                return Atom(f"a{argument}")
            case "removed":
                return list_of(
                    [Struct("-", (Atom(f"p{player}"), Atom(f"a{k}"))) for player, k in argument]
                )
            case "mixed":
                return _write_belief(argument)
            case "mixes":
                return list_of(
                    [
                        Struct(
                            "part", (Atom(f"p{i}"), own, high, _write_belief(argument.leave_out(i)))
                        )
                        for i, (own, high) in enumerate(
                            zip(*(map(_write_mix, rows) for rows in argument), strict=True)
                        )
                    ]
                )
            case "part":
                player, belief = argument
                own = _write_mix(belief.rows[0])
                return Struct(
                    "part", (Atom(f"p{player}"), own, Atom(f"p{1 - player}"), _write_belief(belief))
                )
            case _:
                return _write_actions(argument)


def _write_number(value: Fraction) -> Term:
    return value.numerator if value.denominator == 1 else value


def _write_actions(actions: Iterable[int]) -> Term:
    return list_of([Atom(f"a{k}") for k in actions])


def _write_mix(row: tuple[Fraction, ...]) -> Term:
    return list_of(
        [Struct("-", (Atom(f"a{k}"), _write_number(weight))) for k, weight in enumerate(row)]
    )


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


class ClaimSolver(Protocol):
    """Decides claims about one game."""

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a claim, in the game's own names and numbers, is true."""


claim_solvers = Registry(
    "bestresponse.solvers", "solver", {"theory": "bestresponse.formal.claims.checker:TheoryCheck"}
)
"""Functions or classes that return a `ClaimSolver` when called with a `Subject`."""
BOTH_SOLVERS: Final = "both"
"""Logic and theory, which have to agree."""


def list_solvers() -> tuple[str, ...]:
    """Return the names of all solvers."""
    return (BOTH_SOLVERS, *claim_solvers.names())


class Checker:
    """Decides claims about one game. Without an engine, theory decides alone; a named solver
    replaces both."""

    def __init__(
        self, subject: Subject, engine: LogicEngine | None = None, solver: str = BOTH_SOLVERS
    ) -> None:
        self.subject = subject
        self.theory = TheoryCheck(subject)
        self.solver: ClaimSolver | None = None
        if solver != BOTH_SOLVERS:
            self.solver = claim_solvers.make(solver, subject)
            check_members(self.solver, ("decide",), claim_solvers.describe(solver))
        self.logic = LogicCheck(subject, engine) if engine is not None else None

    def check(self, claim: Claim | Malformed) -> Checked:
        """The verdict on one claim; never raises because of the claim."""
        if isinstance(claim, Malformed):
            return Checked(claim, Proof(Verdict.UNKNOWN, claim.why))
        try:
            grounded = ground(claim, self.subject)
            if self.solver is not None:
                return Checked(grounded.claim, _ask(self.solver, grounded))
            by_theory = self.theory.decide(grounded)
        except Ungrounded as error:
            return Checked(claim, Proof(Verdict.UNKNOWN, str(error)))
        by_logic = Proof(Verdict.UNKNOWN) if self.logic is None else self.logic.decide(grounded)
        if by_theory.verdict is by_logic.verdict or by_logic.verdict is Verdict.UNKNOWN:
            return Checked(grounded.claim, by_theory)
        if by_theory.verdict is Verdict.UNKNOWN:
            return Checked(grounded.claim, by_logic)
        why = (
            f"theory says {by_theory.verdict} and logic says {by_logic.verdict}; please report this"
            " game"
        )
        return Checked(grounded.claim, Proof(Verdict.UNKNOWN, why))

    def check_all(self, claims: Iterable[Claim | Malformed]) -> tuple[Checked, ...]:
        """Every claim once, in order, without those that say there is none."""
        made = (claim for claim in claims if isinstance(claim, Malformed) or claim.form != NO_CLAIM)
        return tuple(dict.fromkeys(map(self.check, made)))


def _ask(solver: ClaimSolver, grounded: Grounded) -> Proof:
    """Return what a solver says; a package that fails decides nothing."""
    try:
        proof = solver.decide(grounded)
    except Exception as error:  # noqa: BLE001 - a package may raise anything
        return Proof(Verdict.UNKNOWN, f"the solver fails: {type(error).__name__}: {error}")
    if isinstance(proof, Proof):
        return proof
    return Proof(Verdict.UNKNOWN, f"the solver returns {proof!r:.60}, which is not a verdict")


_HEAD: Final = re.compile(r"^(claim|possible)\((\w+)(.*)\) :-", re.MULTILINE)
"""Of the rules by which claims are decided: the form, and its arguments."""


def _write_facts(subject: Subject) -> str:
    """The game as facts of the program; `TooLarge` where it would not fit an engine."""
    if subject.tree is not None:
        if subject.tree.num_nodes > _MOST_NODES:
            raise TooLarge(
                f"the tree has {subject.tree.num_nodes:,} nodes; the logic engine takes"
                f" {_MOST_NODES:,}"
            )
        return "\n".join(_nodes(subject.tree))
    if subject.cells.size > MOST_FACTS:
        raise TooLarge(
            f"the table has {subject.cells.size:,} payoffs; the logic engine takes {MOST_FACTS:,}"
        )
    return "\n".join(_table(subject))


def _table(subject: Subject) -> Iterator[str]:
    shape = subject.cells.shape[1:]
    yield f"seats([{', '.join(f'p{i}' for i in range(len(shape)))}])."
    yield from (f"player(p{i})." for i in range(len(shape)))
    yield from (f"action(p{i}, a{k})." for i, n in enumerate(shape) for k in range(n))
    for player in range(len(shape)):
        for profile in product(*map(range, shape)):
            others = _write_actions(profile[:player] + profile[player + 1 :])
            value = write(
                _write_number(Fraction(int(subject.cells[(player, *profile)]), subject.scale))
            )
            yield (
                f"cell(p{player}, a{profile[player]}, {write(others)},"
                f" {write(_write_actions(profile))}, {value})."
            )


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.num_nodes):
        owner = int(tree.owner[node])
        children = tree.children[node]
        if owner == LEAF:
            payoffs = [write(_write_number(exact(u))) for u in tree.payoffs[node].tolist()]
            yield f"ends(n{node}, [{', '.join(payoffs)}])."
        elif owner == CHANCE:
            yield f"draw(n{node})."
            yield from (
                f"drawn(n{node}, {write(_write_number(exact(tree.probability[c])))}, n{c})."
                for c in children
            )
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
    """A claim in the game's own names (`claim`) and numbers (`arguments`, by parameter)."""

    claim: Claim
    arguments: JsonMapping

    @property
    def rounded(self) -> bool:
        """Whether probabilities of the claim may have been rounded."""
        beliefs = [argument for argument in self.arguments.values() if isinstance(argument, Belief)]
        share = self.arguments.get("share", Fraction(0))
        return (
            any(belief.rows != belief.highest for belief in beliefs) or find_rounding(share, 2) != 0
        )

    def settle(self, proof: Proof) -> Proof:
        """Turn the verdict on the claim's form and arguments into the verdict on the claim: a
        denial swaps them."""
        opposite = {Verdict.PROVED: Verdict.REFUTED, Verdict.REFUTED: Verdict.PROVED}.get(
            proof.verdict
        )
        if not self.claim.negated or opposite is None:
            return proof
        if opposite is Verdict.REFUTED and self.rounded:
            return Proof(Verdict.UNKNOWN, "it depends on how its probabilities are rounded")
        return Proof(opposite, proof.why)


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
        """Find moves that are eliminated, or the one that the only other player chooses with some
        probability."""
        pairs = [(self._player(move.who), move.action) for move in chain]
        choices = tuple((player, self._action(player, action)) for player, action in pairs)
        moves = tuple(Move(self.subject.players[i], self.subject.actions[i][k]) for i, k in choices)
        if name == "chosen":
            if len(self.subject.players) != 2 or [player for player, _ in choices] != [
                1 - self.player
            ]:
                raise Ungrounded(
                    "a probability from which on something holds is one choice's of the only other"
                    " player"
                )
            return moves, choices[0][1]
        compared = [
            (self.player, self._action(self.player, self.claim[which]))
            for which in ("action", "other")
        ]
        if not choices or set(choices) & set(compared):
            raise Ungrounded("nothing is eliminated, or what is compared")
        counts = Counter(player for player, _ in set(choices))
        if any(
            counts[player] == len(actions) for player, actions in enumerate(self.subject.actions)
        ):
            raise Ungrounded("somebody is left without a choice")
        return moves, choices

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
        folded = [
            k for action, k in indices.items() if action.casefold() == name.strip().casefold()
        ]
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
        return tuple(self.subject.actions[player][k] for player, k in enumerate(indices)), indices

    def _profile(self, chain: Chain, others: bool) -> tuple[Chain, tuple[int, ...]]:
        """In canonical order: the others from the last player on, `you` at the end (printed
        outermost)."""
        chosen: dict[int, int] = {}
        for name, action in chain:
            player = self._player(name)
            if player in chosen:
                raise Ungrounded(f"{self.subject.players[player]} chooses twice in one outcome")
            chosen[player] = self._action(player, action)
        wanted = [i for i in range(len(self.subject.players)) if not (others and i == self.player)]
        if others:
            chosen.pop(self.player, None)
        if missing := [self.subject.players[i] for i in wanted if i not in chosen]:
            raise Ungrounded(f"it does not say what {', '.join(missing)} chooses")
        indices = tuple(chosen[i] for i in wanted)
        moves = [Move(self.subject.players[i], self.subject.actions[i][chosen[i]]) for i in wanted]
        return tuple(reversed(moves)), indices

    def _mixes(self, mixes: tuple[Mix, ...], name: str) -> tuple[tuple[Mix, ...], object]:
        """Find probabilities; they may sum to 1 but for their rounding."""
        rows: dict[int, tuple[Fraction, ...]] = {}
        highest: dict[int, tuple[Fraction, ...]] = {}
        for mix in mixes:
            i = self._player(mix.who)
            row = [Fraction(0)] * len(self.subject.actions[i])
            # Who rounds one probability of a mix rounds all of them: 0.27, 0.1 and 0.63 may be
            # 0.2702, 0.1031, 0.6267.
            errors = [find_rounding(weight, 2) for _, weight in mix.weights]
            error = [min(filter(None, errors), default=Fraction(0))] * len(row)
            for action, weight in mix.weights:
                row[self._action(i, action)] += weight
            total = sum(row, Fraction(0))
            if min(row) < 0 or abs(total - 1) > sum(error, Fraction(0)):
                raise Ungrounded(
                    f"the probabilities of {self.subject.players[i]} are not a mix: they must sum"
                    " to 1"
                )
            rows[i] = tuple(weight / total for weight in row)
            highest[i] = tuple(weight + most for weight, most in zip(rows[i], error, strict=True))
        wanted = [
            i for i in range(len(self.subject.players)) if name == "mixes" or i != self.player
        ]
        if name == "part":
            wanted = list(rows)
        if name == "part" and (len(wanted) != 1 or len(self.subject.players) != 2):
            raise Ungrounded("it is not one of two players who mixes")
        if missing := [self.subject.players[i] for i in wanted if i not in rows]:
            raise Ungrounded(f"it does not say how {', '.join(missing)} mixes")
        named = []
        for i in wanted:
            weights = zip(self.subject.actions[i], rows[i], strict=True)
            named.append(
                Mix(
                    self.subject.players[i],
                    tuple((action, weight) for action, weight in weights if weight),
                )
            )
        belief = Belief(tuple(rows[i] for i in wanted), tuple(highest[i] for i in wanted))
        return tuple(named), (wanted[0], belief) if name == "part" else belief

    def _known(self, chain: Chain) -> tuple[Chain, Chain]:
        """Check the moves that somebody is said to know of."""
        moves = []
        for name, action in chain:
            nature = name.strip().casefold() == _NATURE
            player = None if nature else self._player(name)
            label = (
                action
                if player is None
                else self.subject.actions[player][self._action(player, action)]
            )
            moves.append(Move(_NATURE if player is None else self.subject.players[player], label))
        return tuple(moves), tuple(moves)

    def _find_nodes(self, tree: Tree, chain: Chain) -> tuple[Chain, object]:
        """Follow a chain of moves; where it leaves out what nature draws, every draw is
        followed."""
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
        mover = (
            _NATURE if owner == CHANCE else self.subject.players[self.subject.order.index(owner)]
        )
        if move.who.strip().casefold() != mover and (
            owner == CHANCE or self._player(move.who) != self.subject.order.index(owner)
        ):
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
            if (
                self.claim.form == "will_play"
                and self.claim["action"] not in tree.infosets[int(tree.infoset[node])].moves
            ):
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
            stack += [
                (child, weight * exact(tree.probability[child]))
                for child in reversed(tree.children[node])
            ]
        else:
            reached.append((node, weight))
    return reached
