"""Where the reasoner sits: the game it is told, the others at an equilibrium, and what its choices are worth.

table    all choose at once; a choice is worth what it earns on average against one equilibrium of the game
tree     one after the other, nothing hidden; a move of the first decision is worth what it leads to when everybody
         follows one subgame perfect equilibrium from there on. At every decision only the rest of the game is told, so
         that "if I pass" always means now; the claims are checked against the same rest.
hidden   moves or draws are hidden; the whole game is told, and what the reasoner knows where it has to choose. Claims
         are about the whole game. The other player follows one sequential equilibrium; a move is worth what it earns
         on average wherever the reasoner may be, if everybody follows that equilibrium from there on.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bestresponse.core.episode import Submission
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.game import NATURE, Role, View
from bestresponse.core.player import Nature, Player
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.trees.game import TreeGame
from bestresponse.games.trees.outline import write_name, write_payoff
from bestresponse.players.llm.verified import SubjectOf, moves_of, subject_of, whole_of
from bestresponse.players.strategies import FixedMix, Mixing
from bestresponse.studies.verify.texts import TEXTS
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.files.game_text import write_number
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.perfection.sequential import find_sequential
from bestresponse.theory.trees.perfection.subgame_perfect import subgame_perfect
from bestresponse.theory.trees.tree import CHANCE, LEAF, Chance, Leaf, Policy, Tree, Turn, build_tree, policy_from_table

_EQUILIBRIUM = "equilibrium"


@dataclass(frozen=True)
class Turns(TreeGame):
    """A tree in sentences for whoever is asked, from the node `first` on.

    Where nothing is hidden, what was chosen so far and every way in which the game can go on; else every way in which
    it can go, who cannot tell what, and what may have happened.
    """

    first: int = 0

    def start(self) -> int:
        """Return the state before anybody has moved."""
        return self.first

    def view(self, state: int, role: Role) -> View:
        """Return what `role` may know in `state`."""
        plain = super().view(state, role)
        return replace(plain, briefing=self._brief(state, role), situation="") if role in self.roles else plain

    def _brief(self, state: int, role: Role) -> str:
        names = list(map(write_name, self.roles))
        everybody = " and ".join(names) if len(names) == 2 else ", ".join(names)
        leaves = self.tree.leaves.tolist()
        if self.tree.is_perfect_information:
            made = self._tell_histories([state], role)
            so_far = f"So far {made}." if made else "Nobody has chosen yet."
            ways = "\n".join(self._tell_way(state, leaf, role) for leaf in leaves if self._is_below(leaf, state))
            return TEXTS.fill("turns", me=write_name(role), everybody=everybody, so_far=so_far, ways=ways)
        return TEXTS.fill(
            "turns_hidden",
            me=write_name(role),
            everybody=everybody,
            ways="\n".join(self._tell_way(0, leaf, role) for leaf in leaves),
            secrets="\n".join(self._list_secrets(role)),
            so_far=self._tell_so_far(state, role),
        )

    def _list_secrets(self, role: Role) -> Iterator[str]:
        for number, infoset in enumerate(self.tree.infosets):
            nodes = np.flatnonzero(self.tree.infoset == number).tolist()
            if len(nodes) > 1:
                mine = self.roles[infoset.player] == role
                clause = "You choose" if mine else f"{write_name(self.roles[infoset.player])} chooses"
                yield f"- {clause} without knowing which of these has happened: {self._tell_histories(nodes, role)}."

    def _tell_so_far(self, state: int, role: Role) -> str:
        index = int(self.tree.infoset[state])
        nodes = np.flatnonzero(self.tree.infoset == index).tolist() if index >= 0 else [state]
        if nodes == [0]:
            return "Nothing has happened yet. Now you choose."
        known = "What has happened, and you know it"
        if len(nodes) > 1:
            known = "One of these has happened, and you do not know which"
        return f"{known}: {self._tell_histories(nodes, role)}. Now you choose."

    def _tell_histories(self, nodes: list[int], role: Role) -> str:
        return "; or ".join(", then ".join(self._tell_moves(0, node, role, past=True)) for node in nodes)

    def _tell_way(self, state: int, leaf: int, role: Role) -> str:
        moves = " and then ".join(self._tell_moves(state, leaf, role))
        gets = ", ".join(
            f"{'you get' if player == role else f'{write_name(player)} gets'} {write_payoff(payoff)}"
            for player, payoff in zip(self.roles, self.tree.list_payoffs(leaf), strict=True)
        )
        return f"- If {moves}, {gets}." if moves else f"- The game is over: {gets}."

    def _tell_moves(self, start: int, end: int, role: Role, *, past: bool = False) -> list[str]:
        """Return every move from one node to another in words, in order."""
        phrases = []
        while end != start:
            parent = int(self.tree.parent[end])
            label = write_name(self.tree.branch_labels[end])
            owner = int(self.tree.owner[parent])
            if owner == CHANCE:
                share = f" (probability {write_number(self.tree.find_probability(end))})"
                bare = past and not self.tree.is_perfect_information
                phrases.append(f"chance {'drew' if past else 'draws'} {label}{'' if bare else share}")
            else:
                mine = self.roles[owner] == role
                verb = "chose" if past else "choose" if mine else "chooses"
                phrases.append(f"{'you' if mine else write_name(self.roles[owner])} {verb} {label}")
            end = parent
        return phrases[::-1]

    def _is_below(self, node: int, above: int) -> bool:
        while node > above:
            node = int(self.tree.parent[node])
        return node == above


@dataclass(frozen=True)
class TableScene:
    """All choose at once; `form` is the game as the reasoner in `seat` is told it."""

    seat: int
    form: NormalForm
    opening = ()
    decisions = 1
    yardstick = "payoffs against one equilibrium of the game"
    subject: SubjectOf = subject_of

    @cached_property
    def game(self) -> MatrixGame:
        """The game in sentences: an action is asked of the reasoner, the others state a mix."""
        wanted = tuple("action" if i == self.seat else "mixture" for i in range(self.form.num_players))
        return MatrixGame(self.form, wanted, "prose", others="rational")  # type: ignore[arg-type]

    @property
    def choices(self) -> tuple[str, ...]:
        """The actions to choose from."""
        return self.form.actions[self.seat]

    @cached_property
    def equilibrium(self) -> tuple[tuple[float, ...], ...]:
        """One equilibrium of the game, for the others' seats and for the gap."""
        return tuple(tuple(map(float, mix)) for mix in nash_one(self.form).strategies)

    def others(self, repeat: int) -> dict[str, Player]:
        """Seat the others with their equilibrium strategies."""
        mixes = zip(self.game.roles, self.equilibrium, strict=True)
        return {role: FixedMix(mix, _EQUILIBRIUM) for i, (role, mix) in enumerate(mixes) if i != self.seat}

    def worth(self, submissions: Iterable[Submission]) -> Mapping[str, float]:
        """Return what each action is worth."""
        values = deviation_payoffs(self.form, self.equilibrium)[self.seat]
        return dict(zip(self.choices, map(float, values), strict=True))


@dataclass(frozen=True)
class TreeScene:
    """One after the other: everybody else follows one equilibrium, subgame perfect or, where something is hidden,
    sequential. `tree` is the game as it is told, perhaps `inverted`, from the moves `after` of the original on.
    """

    seat: int
    original: Tree
    tree: Tree
    inverted: bool = True
    after: tuple[str, ...] = ()

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The moves to choose from."""
        return moves_by_player(self.tree)[self.seat]

    @cached_property
    def game(self) -> Turns:
        """The game as it is told."""
        return Turns(self.tree, first=self._start)

    @property
    def subject(self) -> SubjectOf:
        """What the claims are about."""
        return moves_of(self.tree) if self.tree.is_perfect_information else whole_of(self.tree)

    @property
    def yardstick(self) -> str:
        """What choices are measured by."""
        if self.tree.is_perfect_information:
            return "the first decision; everybody follows one subgame perfect equilibrium from there on"
        return "the first decision; the other player follows one sequential equilibrium"

    @cached_property
    def _start(self) -> int:
        """Where the moves lead that were made before."""
        source = shown = 0
        for label in self.after:
            below = [self.original.branch_labels[child] for child in self.original.children[source]]
            if label not in below:
                possible = f"possible: {', '.join(below)}" if below else "the game is over"
                raise SettingError("after", f"no move {label!r} at {self.original.path(source)}; {possible}")
            branch = below.index(label)
            mirrored = self.inverted and self.original.owner[source] != CHANCE
            shown = self.tree.children[shown][len(below) - 1 - branch if mirrored else branch]
            source = self.original.children[source][branch]
        return shown

    @cached_property
    def equilibrium(self) -> Policy:
        """The equilibrium that everybody follows."""
        if not self.tree.is_perfect_information:
            return find_sequential(self.tree).policy
        moves = subgame_perfect(self.tree, limit=1).equilibria[0].moves
        sure = {player: {label: {move: 1.0} for label, move in plan.items()} for player, plan in moves.items()}
        return policy_from_table(self.tree, sure)

    @cached_property
    def shares(self) -> Array:
        """By node, the probability of the move that leads there, by nature or in equilibrium."""
        moves = self.tree.first_move[self.tree.infoset[self.tree.parent]] + self.tree.move
        drawn = self.tree.owner[self.tree.parent] == CHANCE
        # what nature draws, and the root, have no place among the moves of players
        played = self.equilibrium.probabilities[np.where(drawn | (self.tree.parent < 0), 0, moves)]
        return np.where(drawn, self.tree.probability, played)

    @cached_property
    def values(self) -> Array:
        """What everybody gets from each node on if all follow the equilibrium."""
        values = self.tree.payoffs.copy()
        for node in range(self.tree.num_nodes - 1, -1, -1):
            if self.tree.children[node]:
                values[node] = sum(self.shares[child] * values[child] for child in self.tree.children[node])
        return values

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
        return next(node for node in self._list_firsts(self.seat) if self.tree.owner[node] == self.seat)

    def others(self, repeat: int) -> dict[str, Player]:
        """Seat the others with their equilibrium strategies, and nature."""
        role = self.tree.players[self.seat]
        seated: dict[str, Player] = {
            player: Mixing(strategy, _EQUILIBRIUM, repeat)
            for player, strategy in self.equilibrium.table().items()
            if player != role
        }
        return seated | {NATURE: Nature(repeat)} if CHANCE in self.tree.owner else seated

    def worth(self, submissions: Iterable[Submission]) -> Mapping[str, float]:
        """Return what each move is worth where the player first decides, on average wherever that may be."""
        node = self.game.start()
        for submission in submissions:
            if submission.role == self.tree.players[self.seat]:
                break
            node = self.game.apply(node, {submission.role: submission.decision.action})
        index = int(self.tree.infoset[node])
        members = np.flatnonzero(self.tree.infoset == index).tolist()
        reach = [self._find_reach(member) if len(members) > 1 else 1.0 for member in members]
        below = np.array([self.values[self.tree.children[member], self.seat] for member in members])
        return dict(
            zip(self.tree.infosets[index].moves, np.average(below, axis=0, weights=reach).tolist(), strict=True)
        )

    def _find_reach(self, node: int) -> float:
        """Find how likely chance and the others let the play come to a node."""
        reach = 1.0
        while node:
            parent = int(self.tree.parent[node])
            if int(self.tree.owner[parent]) != self.seat:
                reach *= float(self.shares[node])
            node = parent
        return reach

    def check(self) -> None:
        """Raise SettingError where the equilibrium can end the game before the reasoner moves."""
        sure = [i for i in range(self.tree.num_players) if LEAF not in self.tree.owner[list(self._list_firsts(i))]]
        if self.seat in sure:
            return
        ways = [f"ask {' or '.join(self.original.players[i] for i in sure)}"] if sure else []
        if self.tree.is_perfect_information:
            ways.append("say by `after` which moves were made before")
        raise SettingError(
            "seat",
            f"with the others at the equilibrium the game can be over before {self.original.players[self.seat]} moves; "
            + ", or ".join(ways or ["no seat can be asked"]),
        )

    def _list_firsts(self, seat: int) -> Iterator[int]:
        """Yield the nodes where a seat is first asked in equilibrium, and leaves where the game ends before that."""
        waiting = [self._start]
        while waiting:
            node = waiting.pop()
            if int(self.tree.owner[node]) in (seat, LEAF):
                yield node
            else:
                waiting += [child for child in reversed(self.tree.children[node]) if self.shares[child] > 0]


Scene = TableScene | TreeScene
"""A game with the reasoner in one seat."""


_LETTERS = tuple("BRGWKPYNVTMCDFHJLQSXZ")
_Position = tuple[int, tuple[str, ...]]


def disguised(game: NormalForm, *, letters: bool = True, inverted: bool = True) -> NormalForm:
    """`game` without its name; actions become letters (the same where all players' actions have the same names), and
    their order is reversed if `inverted`.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(("C", "D"), ("C", "D")))
    >>> shown = disguised(pd)
    >>> shown.actions[0], shown.payoffs[0].tolist()
    (('R', 'B'), [[1.0, 5.0], [0.0, 3.0]])
    """
    payoffs, actions = game.payoffs, game.actions
    players = tuple(f"Player {i + 1}" for i in range(game.num_players))
    if letters:
        actions = _lettered(actions)
    if inverted:
        payoffs = np.flip(payoffs, axis=tuple(range(1, payoffs.ndim)))
        actions = tuple(tuple(reversed(names)) for names in actions)
    return NormalForm(payoffs, players, actions)


def disguised_tree(tree: Tree, *, letters: bool = True, inverted: bool = True) -> Tree:
    """The same of a tree: a move has one letter wherever a player makes it, an information set is named by its path,
    or by a number where it has several.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> shown = disguised_tree(load_tree("entry-deterrence"))
    >>> [(shown.path(leaf), shown.payoffs[leaf].tolist()) for leaf in shown.leaves]
    [('R > W', [0.0, 0.0]), ('R > G', [2.0, 2.0]), ('B', [1.0, 5.0])]
    """
    players = tuple(f"Player {i + 1}" for i in range(tree.num_players))
    moves = moves_by_player(tree)
    names = [dict(zip(*both, strict=True)) for both in zip(moves, _lettered(moves) if letters else moves, strict=True)]

    def expand(position: _Position) -> Leaf | Chance | Turn:
        node, path = position
        owner, below = int(tree.owner[node]), tree.children[node]
        if owner == LEAF:
            return Leaf(tree.payoffs[node].tolist())
        if owner == CHANCE:
            drawn = [f"case {k + 1}" if letters else tree.branch_labels[child] for k, child in enumerate(below)]
            return Chance({
                label: (float(tree.probability[child]), (child, (*path, label)))
                for label, child in zip(drawn, below, strict=True)
            })  # fmt: skip
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
    return tuple(tuple(move for player, move in pairs if player == seat) for seat in range(tree.num_players))


def _lettered(actions: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Name actions by letters: the same for everybody where all have the same names, else different ones."""
    alike = all(names == actions[0] for names in actions)
    starts = [0 if alike else sum(map(len, actions[:player])) for player in range(len(actions))]
    if starts[-1] + len(actions[-1]) > len(_LETTERS):
        raise UsageError(
            f"there are letters for {len(_LETTERS)} actions; tell this game under its own names, not disguised"
        )
    return tuple(_LETTERS[start : start + len(names)] for start, names in zip(starts, actions, strict=True))
