"""Where the reasoner sits: the game it is told, the others at an equilibrium, and what its choices are worth.

table    all choose at once; a choice is worth what it earns on average against an equilibrium of the game
tree     one after the other, nothing hidden; a move of the first decision is worth what it leads to when everybody
         follows a subgame perfect equilibrium from there on. At every decision only the rest of the game is told, so
         that "if I pass" always means now; the claims are checked against the same rest.
hidden   moves or draws are hidden; the whole game is told, and what the reasoner knows where it has to choose. Claims
         are about the whole game. The other player follows one sequential equilibrium; a move is worth what it earns
         on average wherever the reasoner may be, if everybody follows that equilibrium from there on.

Equilibria are those of the game itself, however it is told. Where there are several, a choice is worth something at
each of them, and nothing says at which the others are.
"""  # noqa: E501

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bestresponse.analysis.truth import ValuedPolicy, find_chances, value_moves
from bestresponse.core import Action
from bestresponse.core.episode import Submission
from bestresponse.core.errors import NotCertified, SettingError, TooLarge, UsageError
from bestresponse.core.game import NATURE, Role, View
from bestresponse.core.player import Nature, Player
from bestresponse.core.told import Aim, Course, Reached, Rest, Statement, prose
from bestresponse.games.matrix.game import MatrixGame, Wanted
from bestresponse.games.statements import tell
from bestresponse.games.trees.game import TreeGame
from bestresponse.players.llm.verified import SubjectOf, moves_of, subject_of, whole_of
from bestresponse.players.strategies import FixedMix, Mixing
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.equilibria.solve import nash, nash_one
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.perfection.sequential import find_sequential
from bestresponse.theory.trees.perfection.subgame_perfect import SubgamePerfect, subgame_perfect
from bestresponse.theory.trees.tree import (
    CHANCE,
    LEAF,
    Chance,
    IntArray,
    Leaf,
    Policy,
    Tree,
    Turn,
    build_tree,
    policy_from_table,
)

_EQUILIBRIUM = "equilibrium"


@dataclass(frozen=True)
class Turns(TreeGame):
    """A tree in sentences for whoever is asked, from the node `first` on.

    Where nothing is hidden, only the rest of the game is told, so that "if I pass" always means
    now; else the whole. What players aim at is only said by `aim`.
    """

    first: int = 0
    aim: str = ""

    def start(self) -> int:
        """Return the state before anybody has moved."""
        return self.first

    def view(self, state: int, role: Role) -> View:
        """Return what `role` may know in `state`."""
        plain = super().view(state, role)
        if role not in self.roles:
            return plain
        players, course = tell(self.tree)
        history = plain.history
        if self.tree.is_perfect_information and isinstance(course, Course):
            rest = Course(course.positions[state : self._find_last(state) + 1])
            rules: tuple[Statement, ...] = (players, Rest(), rest, *prose(self.aim))
            # Everybody sees everything, at any time.
            history = tuple(self.list_moves(state))
        else:
            rules = (players, course, *prose(self.aim))
            # Sentences bear no letters.
            history = tuple(event for event in history if not isinstance(event, Reached))
        return replace(plain, rules=rules, history=history, layout="lines")

    def _find_last(self, node: int) -> int:
        """Return the last node below a node, in preorder."""
        while self.tree.children[node]:
            node = self.tree.children[node][-1]
        return node


@dataclass(frozen=True)
class ToldTable(MatrixGame):
    """A table in sentences, with everybody's payoffs; what players aim at is only said by `aim`."""

    aim: str = ""

    def view(self, state: tuple[Action, ...], role: Role) -> View:
        """Return what `role` may know in `state`."""
        plain = super().view(state, role)
        stated = tuple(rule for rule in plain.rules if not isinstance(rule, Aim))
        return replace(plain, rules=(*stated, *prose(self.aim)), layout="lines")


@dataclass(frozen=True)
class TableScene:
    """All choose at once; `form` is the game as the reasoner in `seat` is told it.

    It is the `original` under other names and, if `inverted`, in the reverse order.
    """

    seat: int
    original: NormalForm
    form: NormalForm
    inverted: bool = True
    aim: str = ""
    opening = ()
    decisions = 1
    yardstick = "payoffs against the equilibria of the game"
    subject: SubjectOf = subject_of

    @cached_property
    def game(self) -> ToldTable:
        """The game in sentences: an action is asked of the reasoner, the others state a mix."""
        wanted: list[Wanted] = ["mixture"] * self.form.num_players
        wanted[self.seat] = "action"
        return ToldTable(self.form, tuple(wanted), "prose", aim=self.aim)

    @property
    def choices(self) -> tuple[str, ...]:
        """The actions to choose from."""
        return self.form.actions[self.seat]

    @cached_property
    def equilibria(self) -> tuple[Equilibrium, ...]:
        """All extreme equilibria of the original game; none if they cannot all be listed."""
        try:
            found = nash(self.original)
        except (NotCertified, TooLarge):
            return ()
        return tuple(found.equilibria) if found.complete else ()

    def others(self, repeat: int) -> dict[str, Player]:
        """Seat the others with the strategies of the first equilibrium."""
        first = self.equilibria[0] if self.equilibria else nash_one(self.original)
        seated: dict[str, Player] = {}
        for player, (role, mix) in enumerate(zip(self.game.roles, first.strategies, strict=True)):
            if player != self.seat:
                told = np.flip(mix) if self.inverted else mix
                seated[role] = FixedMix(tuple(map(float, told)), _EQUILIBRIUM)
        return seated

    def worth(self, submissions: Iterable[Submission]) -> list[dict[str, float]]:
        """Return what each action is worth at every equilibrium."""
        names = self.choices[::-1] if self.inverted else self.choices
        worths = []
        for one in self.equilibria:
            values = deviation_payoffs(self.original, one.strategies)[self.seat]
            worths.append(dict(zip(names, map(float, values), strict=True)))
        return worths


@dataclass(frozen=True)
class TreeScene:
    """Players move one after the other, and everybody else follows an equilibrium.

    It is subgame perfect or, if something is hidden, sequential. `tree` is the game as it is told,
    perhaps `inverted`, from the moves `after` of the original on.
    """

    seat: int
    original: Tree
    tree: Tree
    inverted: bool = True
    after: tuple[str, ...] = ()
    aim: str = ""

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The moves to choose from."""
        return moves_by_player(self.tree)[self.seat]

    @cached_property
    def game(self) -> Turns:
        """The game as it is told."""
        return Turns(self.tree, first=self._start, aim=self.aim)

    @property
    def subject(self) -> SubjectOf:
        """What the claims are about."""
        return moves_of(self.tree) if self.tree.is_perfect_information else whole_of(self.tree)

    @property
    def yardstick(self) -> str:
        """What choices are measured by."""
        if self.tree.is_perfect_information:
            return (
                "the first decision; everybody follows a subgame perfect equilibrium from there on"
            )
        return "the first decision; the other player follows one sequential equilibrium"

    @cached_property
    def _start(self) -> int:
        """Where the moves lead that were made before."""
        source = shown = 0
        for label in self.after:
            below = [self.original.branch_labels[child] for child in self.original.children[source]]
            if label not in below:
                possible = f"possible: {', '.join(below)}" if below else "the game is over"
                raise SettingError(
                    "after", f"no move {label!r} at {self.original.path(source)}; {possible}"
                )
            branch = below.index(label)
            mirrored = self.inverted and self.original.owner[source] != CHANCE
            shown = self.tree.children[shown][len(below) - 1 - branch if mirrored else branch]
            source = self.original.children[source][branch]
        return shown

    @cached_property
    def equilibria(self) -> tuple[Policy, ...]:
        """The equilibria that everybody may follow, of the original game, as policies of `tree`.

        Every pure one if nothing is hidden, else one. Of too many, the first.
        """
        if not self.tree.is_perfect_information:
            return (self._translate(find_sequential(self.original).policy),)
        found = []
        for one in self._solved.equilibria:
            sure: dict[str, dict[str, dict[str, float]]] = {}
            for player, plan in one.moves.items():
                sure[player] = {label: {move: 1.0} for label, move in plan.items()}
            found.append(self._translate(policy_from_table(self.original, sure)))
        return tuple(found)

    @cached_property
    def _solved(self) -> SubgamePerfect:
        return subgame_perfect(self.original)

    def _translate(self, policy: Policy) -> Policy:
        """Return the same policy of the game as it is told."""
        twins = np.zeros(self.tree.num_nodes, dtype=int)
        for node, below in enumerate(self.tree.children):
            source = int(twins[node])
            mirrored = self.inverted and self.original.owner[source] != CHANCE
            step = -1 if mirrored else 1
            twins[list(below)] = self.original.children[source][::step]
        moved = np.flatnonzero(self.tree.parent >= 0)
        moved = moved[self.tree.owner[self.tree.parent[moved]] != CHANCE]
        probabilities = np.zeros(int(self.tree.first_move[-1]))
        taken = policy.probabilities[_find_moves(self.original, twins[moved])]
        probabilities[_find_moves(self.tree, moved)] = taken
        return Policy(self.tree, probabilities)

    @cached_property
    def worths(self) -> tuple[ValuedPolicy, ...]:
        """What moves are worth at each equilibrium."""
        return tuple(value_moves(self.tree, policy) for policy in self.equilibria)

    @cached_property
    def decisions(self) -> int:
        """The most decisions of the player in one play."""
        asked = {self._start: int(self.tree.owner[self._start] == self.seat)}
        for node in range(self._start + 1, self.tree.num_nodes):
            above = int(self.tree.parent[node])
            if above in asked:
                asked[node] = asked[above] + int(self.tree.owner[node] == self.seat)
        return max(asked.values())

    @cached_property
    def opening(self) -> int:
        """A node where the player first decides."""
        return next(
            node for node in self._list_firsts(self.seat) if self.tree.owner[node] == self.seat
        )

    def others(self, repeat: int) -> dict[str, Player]:
        """Seat the others with their equilibrium strategies, and nature."""
        role = self.tree.players[self.seat]
        seated: dict[str, Player] = {}
        for player, strategy in self.equilibria[0].table().items():
            if player != role:
                seated[player] = Mixing(strategy, _EQUILIBRIUM, repeat)
        return seated | {NATURE: Nature(repeat)} if CHANCE in self.tree.owner else seated

    def worth(self, submissions: Iterable[Submission]) -> list[dict[str, float]]:
        """Return what each move is worth at the player's first decision, at every equilibrium.

        It is the average over all places of that decision.
        """
        if self.tree.is_perfect_information and not self._solved.complete:
            return []
        node = self.game.start()
        for submission in submissions:
            if submission.role == self.tree.players[self.seat]:
                break
            node = self.game.apply(node, {submission.role: submission.decision.action})
        index = int(self.tree.infoset[node])
        moves = self.tree.infosets[index].moves
        return [dict(zip(moves, one.worths[index].tolist(), strict=True)) for one in self.worths]

    def check(self) -> None:
        """Raise SettingError where the equilibrium can end the game before the reasoner moves."""
        sure = [
            i
            for i in range(self.tree.num_players)
            if LEAF not in self.tree.owner[list(self._list_firsts(i))]
        ]
        if self.seat in sure:
            return
        ways = [f"ask {' or '.join(self.original.players[i] for i in sure)}"] if sure else []
        if self.tree.is_perfect_information:
            ways.append("say by `after` which moves were made before")
        raise SettingError(
            "seat",
            "with the others at the equilibrium the game can be over before"
            f" {self.original.players[self.seat]} moves; "
            + ", or ".join(ways or ["no seat can be asked"]),
        )

    def _list_firsts(self, seat: int) -> Iterator[int]:
        """Yield the nodes where a seat is first asked in equilibrium.

        Also yields the leaves at which the game ends before that.
        """
        chances = find_chances(self.tree, self.equilibria[0].probabilities)
        waiting = [self._start]
        while waiting:
            node = waiting.pop()
            if int(self.tree.owner[node]) in (seat, LEAF):
                yield node
            else:
                waiting += [
                    child for child in reversed(self.tree.children[node]) if chances[child] > 0
                ]


def _find_moves(tree: Tree, nodes: IntArray) -> IntArray:
    """Return the place in a policy of the move that leads to each node."""
    places: IntArray = tree.first_move[tree.infoset[tree.parent[nodes]]] + tree.move[nodes]
    return places


Scene = TableScene | TreeScene
"""A game with the reasoner in one seat."""


_LETTERS = tuple("BRGWKPYNVTMCDFHJLQSXZ")
_Position = tuple[int, tuple[str, ...]]


def disguised(game: NormalForm, *, letters: bool = True, inverted: bool = True) -> NormalForm:
    """`game` without its name.

    Actions become letters (the same where all players' actions have the same names), and their
    order is reversed if `inverted`.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(("C", "D"), ("C", "D")))
    >>> shown = disguised(pd)
    >>> shown.actions[0], shown.payoffs[0].tolist()
    (('R', 'B'), [[1.0, 5.0], [0.0, 3.0]])
    """  # noqa: E501
    payoffs = game.payoffs
    actions = game.actions
    players = tuple(f"Player {i + 1}" for i in range(game.num_players))
    if letters:
        actions = _lettered(actions)
    if inverted:
        payoffs = np.flip(payoffs, axis=tuple(range(1, payoffs.ndim)))
        actions = tuple(tuple(reversed(names)) for names in actions)
    return NormalForm(payoffs, players, actions)


def disguised_tree(tree: Tree, *, letters: bool = True, inverted: bool = True) -> Tree:
    """The same of a tree.

    A move has one letter wherever a player makes it. An information set is named by its path, or by
    a number if it has several.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> shown = disguised_tree(load_tree("entry-deterrence"))
    >>> [(shown.path(leaf), shown.payoffs[leaf].tolist()) for leaf in shown.leaves]
    [('R > W', [0.0, 0.0]), ('R > G', [2.0, 2.0]), ('B', [1.0, 5.0])]
    """
    players = tuple(f"Player {i + 1}" for i in range(tree.num_players))
    moves = moves_by_player(tree)
    names = []
    for both in zip(moves, _lettered(moves) if letters else moves, strict=True):
        names.append(dict(zip(*both, strict=True)))

    def expand(position: _Position) -> Leaf | Chance | Turn:
        node, path = position
        owner = int(tree.owner[node])
        below = tree.children[node]
        if owner == LEAF:
            return Leaf(tree.payoffs[node].tolist())
        if owner == CHANCE:
            drawn = [
                f"case {k + 1}" if letters else tree.branch_labels[child]
                for k, child in enumerate(below)
            ]
            return Chance(
                {
                    label: (float(tree.probability[child]), (child, (*path, label)))
                    for label, child in zip(drawn, below, strict=True)
                }
            )
        branches = [(names[owner][tree.branch_labels[child]], child) for child in below]
        shown = reversed(branches) if inverted else branches
        alone = tree.is_perfect_information
        label = (" > ".join(path) or "start") if alone else f"set {int(tree.infoset[node]) + 1}"
        return Turn(players[owner], label, {m: (child, (*path, m)) for m, child in shown})

    return build_tree(players, (0, ()), expand)


def moves_by_player(tree: Tree) -> tuple[tuple[str, ...], ...]:
    """Everybody's moves, each name once, in the order of the game."""
    owned = ((infoset.player, move) for infoset in tree.infosets for move in infoset.moves)
    pairs = list(dict.fromkeys(owned))
    return tuple(
        tuple(move for player, move in pairs if player == seat) for seat in range(tree.num_players)
    )


def name_moves(form: NormalForm | Tree, *, letters: bool) -> tuple[dict[str, str], ...]:
    """Return for each player its moves as they are told, each with the name it has in the game.

    >>> from bestresponse.theory.catalogue import load
    >>> name_moves(load("prisoners-dilemma"), letters=True)[0]
    {'B': 'cooperate', 'R': 'defect'}
    """
    own = form.actions if isinstance(form, NormalForm) else moves_by_player(form)
    told = _lettered(own) if letters else own
    return tuple(dict(zip(*both, strict=True)) for both in zip(told, own, strict=True))


def _lettered(actions: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Name actions by letters.

    The letters are the same for everybody if all have the same names, else different.
    """
    alike = all(names == actions[0] for names in actions)
    starts = [0 if alike else sum(map(len, actions[:player])) for player in range(len(actions))]
    if starts[-1] + len(actions[-1]) > len(_LETTERS):
        raise UsageError(
            f"there are letters for {len(_LETTERS)} actions; tell this game under its own names,"
            " not disguised"
        )
    return tuple(
        _LETTERS[start : start + len(names)] for start, names in zip(starts, actions, strict=True)
    )
