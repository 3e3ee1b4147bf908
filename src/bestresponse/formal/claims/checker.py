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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Final, NamedTuple, Protocol

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
            why = f"{added_forms.describe(form)} fails: {type(error).__name__}: {error}"
            return Proof(Verdict.UNKNOWN, why)
        if isinstance(answer, bool | Fraction | Proof):
            return answer
        why = f"{added_forms.describe(form)} returns {answer!r:.60}, which is not a verdict"
        return Proof(Verdict.UNKNOWN, why)


class LogicCheck:
    """Decides claims about one game by resolution on one program. The engine is the caller's to
    close."""

    def __init__(self, subject: Subject, engine: LogicEngine) -> None:
        self.subject = subject
        self._engine = engine
        if subject.tree is None:
            about = "tables"
            rules = TABLE_RULES
        else:
            about = "trees"
            rules = TREE_RULES
        added = [form.rule for form in list_added().values() if form.about == about]
        self._rules = "\n".join([SHARED_RULES, rules, *added, ""])
        self._heads: dict[tuple[str, str], str] = {}
        for kind, form, arguments in _HEAD.findall(self._rules):
            self._heads[kind, form] = arguments

    @cached_property
    def program(self) -> Program:
        """The loaded program; `InvalidGame` where the game is too large."""
        return self._engine.load(f"{self._rules}{_write_facts(self.subject)}\n")

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim follows."""
        form = grounded.claim.form
        looks_ahead = ("possible", form) in self._heads
        if ("claim", form) not in self._heads or self._has_draws(grounded.arguments):
            why = "claims about chance and knowledge are decided by theory alone"
            return Proof(Verdict.UNKNOWN, why)
        if looks_ahead and self.subject.tree is not None and not self.subject.tree_is_open:
            why = "somebody moves without knowing what happened before; looking ahead needs that"
            return Proof(Verdict.UNKNOWN, why)
        try:
            program = self.program
        except (InvalidGame, LogicError) as error:
            return Proof(Verdict.UNKNOWN, str(error))
        term = self._write_claim(form, grounded.arguments)
        proof = self._engine.prove(program, Struct("claim", (term,)))
        if looks_ahead and proof.verdict is Verdict.REFUTED:
            proof = self._engine.prove(program, Struct("possible", (term,)))
            if proof.verdict is Verdict.PROVED:
                return Proof(Verdict.UNKNOWN, "a tie: best play may do this or something else")
        return grounded.settle(proof)

    def _has_draws(self, arguments: JsonMapping) -> bool:
        """Say whether nature's draws leave open in which of several nodes an outcome ends."""
        if self.subject.tree is None:
            return False
        outcomes = [arguments[name] for name in ("outcome", "than") if name in arguments]
        return any(len(nodes) > 1 for nodes in outcomes)

    def _write_claim(self, form: str, arguments: JsonMapping) -> Term:
        """Write a claim as a term, with the rounding that its rule allows for."""
        terms = []
        for name, argument in arguments.items():
            if isinstance(argument, Fraction):
                terms.append(_write_number(argument))
            elif self.subject.tree is not None:
                terms.append(self._write_for_tree(self.subject.tree, name, arguments))
            else:
                terms.append(_write_for_table(name, argument))
        if "Error" in self._heads["claim", form]:
            if "share" in arguments:
                margin = find_rounding(arguments["share"], 2)
            else:
                margin = find_rounding(arguments["value"])
            terms.append(_write_number(margin))
        return Struct(form, tuple(terms))

    def _write_for_tree(self, tree: Tree, name: str, arguments: JsonMapping) -> Term:
        argument = arguments[name]
        match name:
            case "who":
                return int(self.subject.order[argument])
            case "action":
                infoset = int(tree.infoset[arguments["after"]])
                position = tree.infosets[infoset].moves.index(argument)
                return Atom(f"a{position}")
            case "after":
                return Atom(f"n{argument}")
            case _:
                node, _weight = argument[0]
                return Atom(f"n{node}")


def _write_for_table(name: str, argument: Any) -> Term:
    match name:
        case "who":
            return Atom(f"p{argument}")
        case "action" | "other" | "chosen":
            return Atom(f"a{argument}")
        case "removed":
            pairs = [(Atom(f"p{player}"), Atom(f"a{action}")) for player, action in argument]
            return list_of([Struct("-", pair) for pair in pairs])
        case "mixed":
            return _write_belief(argument)
        case "mixes":
            return _write_mixes(argument)
        case "part":
            player, belief = argument
            mixed = _write_mix(belief.rows[0])
            parts = (Atom(f"p{player}"), mixed, Atom(f"p{1 - player}"), _write_belief(belief))
            return Struct("part", parts)
        case _:
            return _write_actions(argument)


def _write_number(value: Fraction) -> Term:
    return value.numerator if value.denominator == 1 else value


def _write_actions(actions: Iterable[int]) -> Term:
    return list_of([Atom(f"a{k}") for k in actions])


def _write_mix(row: tuple[Fraction, ...]) -> Term:
    weights = []
    for action, weight in enumerate(row):
        weights.append(Struct("-", (Atom(f"a{action}"), _write_number(weight))))
    return list_of(weights)


def _write_belief(belief: Belief) -> Term:
    rows = list_of([_write_mix(row) for row in belief.rows])
    highest = list_of([_write_mix(row) for row in belief.highest])
    return Struct("belief", (rows, highest))


def _write_mixes(mixes: Belief) -> Term:
    """Write for each player its own mix, the most that it may be, and what the others do."""
    parts = []
    for player, (row, highest) in enumerate(zip(mixes.rows, mixes.highest, strict=True)):
        others = _write_belief(mixes.leave_out(player))
        part = (Atom(f"p{player}"), _write_mix(row), _write_mix(highest), others)
        parts.append(Struct("part", part))
    return list_of(parts)


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
    players = [f"p{number}" for number in range(len(shape))]
    yield f"seats([{', '.join(players)}])."
    for name in players:
        yield f"player({name})."
    for name, count in zip(players, shape, strict=True):
        for action in range(count):
            yield f"action({name}, a{action})."
    for player, name in enumerate(players):
        for profile in product(*map(range, shape)):
            outcome = write(_write_actions(profile))
            others = write(_write_actions(profile[:player] + profile[player + 1 :]))
            payoff = Fraction(int(subject.cells[(player, *profile)]), subject.scale)
            value = write(_write_number(payoff))
            yield f"cell({name}, a{profile[player]}, {others}, {outcome}, {value})."


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.num_nodes):
        owner = int(tree.owner[node])
        children = tree.children[node]
        if owner == LEAF:
            payoffs = map(_write_exact, tree.payoffs[node].tolist())
            yield f"ends(n{node}, [{', '.join(payoffs)}])."
        elif owner == CHANCE:
            yield f"draw(n{node})."
            for child in children:
                probability = _write_exact(tree.probability[child])
                yield f"drawn(n{node}, {probability}, n{child})."
        else:
            yield f"turn(n{node}, {owner})."
            for action, child in enumerate(children):
                yield f"branch(n{node}, a{action}, n{child})."
    if not (tree.owner == CHANCE).any():
        yield "draw(none)."
        yield "drawn(none, 1, none)."
    if not (tree.owner >= 0).any():
        yield "turn(none, 0)."
        yield "branch(none, none, none)."


def _write_exact(value: float) -> str:
    """Write the number that a float of a tree stands for."""
    return write(_write_number(exact(value)))


_NATURE: Final = "nature"


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
        """Turn the verdict on the claim's form and arguments into the verdict on the claim: a
        denial swaps them."""
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
    """How a player mixes: in names, and the probability of every action with the most that it may
    have been before rounding."""

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
        """Find moves that are eliminated, or the one that the only other player chooses with some
        probability."""
        choices = []
        for who, action in chain:
            player = self._player(who)
            choices.append((player, self._action(player, action)))
        moves = tuple(self._name_move(player, action) for player, action in choices)
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

    def _name_move(self, player: int, action: int) -> Move:
        return Move(self.subject.players[player], self.subject.actions[player][action])

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
        moves = [self._name_move(player, index) for player, index in enumerate(indices)]
        return tuple(move.action for move in moves), indices

    def _profile(self, chain: Chain, others: bool) -> tuple[Chain, tuple[int, ...]]:
        """In canonical order: the others from the last player on, `you` at the end (printed
        outermost)."""
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
        moves = [self._name_move(player, chosen[player]) for player in wanted]
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
                moves.append(self._name_move(player, self._action(player, action)))
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
            infoset = tree.infosets[int(tree.infoset[node])]
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
