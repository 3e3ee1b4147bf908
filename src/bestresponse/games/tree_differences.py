"""Say where two trees differ, position by position: who moves, what is drawn, what is known, and what is paid.

The trees are walked side by side. Branches are paired by their names where both positions have the same names, else by
their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["find_tree_differences"]

_TOLERANCE = 1e-9


def find_tree_differences(first: Tree, second: Tree, players: Sequence[int]) -> Iterator[str]:
    """Yield every difference as a sentence; player k of the first tree is `players[k]` of the second."""
    if len(first.players) != len(second.players):
        yield f"the first game has {len(first.players)} players, the second {len(second.players)}"
        return
    walk = _Walk(first, second, players)
    yield from walk.compare(0, 0)
    yield from walk.compare_information()


class _Walk:
    """Two trees, walked side by side."""

    def __init__(self, first: Tree, second: Tree, players: Sequence[int]) -> None:
        self.first = first
        self.second = second
        self.players = players
        self.pairs: list[tuple[int, int]] = []

    def compare(self, here: int, there: int) -> Iterator[str]:
        """Compare two positions and all below."""
        stack = [(here, there)]
        while stack:
            here, there = stack.pop()
            below = self._pair_branches(here, there)
            wrong = self._compare_owner(here, there) or (self._tell_branches(here, there) if below is None else "")
            if wrong or below is None:
                yield wrong
                continue
            if int(self.first.owner[here]) == LEAF:
                yield from self._compare_payoffs(here, there)
            elif int(self.first.owner[here]) == CHANCE:
                yield from self._compare_chances(below)
            else:
                self.pairs.append((here, there))
            stack.extend(reversed(below))

    def compare_information(self) -> Iterator[str]:
        """Compare what players can tell apart, over the positions that were paired."""
        for ours, theirs, known, other in (
            (self.first, 0, "first", "second"),
            (self.second, 1, "second", "first"),
        ):
            met: dict[int, tuple[int, int]] = {}
            for pair in self.pairs:
                infoset = int(ours.infoset[pair[theirs]])
                before = met.setdefault(infoset, pair)
                tree = self.second if theirs == 0 else self.first
                if int(tree.infoset[before[1 - theirs]]) != int(tree.infoset[pair[1 - theirs]]):
                    who = self.first.players[int(self.first.owner[pair[0]])]
                    yield (
                        f"{who} cannot tell apart {self.first.path(before[0])} and {self.first.path(pair[0])} in the "
                        f"{known} game, but can in the {other}"
                    )

    def _compare_owner(self, here: int, there: int) -> str:
        ours, theirs = int(self.first.owner[here]), int(self.second.owner[there])
        if (ours == theirs and ours < 0) or (ours >= 0 and theirs == self.players[ours]):
            return ""
        told = [_name_owner(self.first, ours), _name_owner(self.second, theirs)]
        return f"{self._place(here)} {told[0]} in the first game and {told[1]} in the second"

    def _pair_branches(self, here: int, there: int) -> list[tuple[int, int]] | None:
        ours, theirs = self.first.children[here], self.second.children[there]
        if len(ours) != len(theirs):
            return None
        names = {self.second.branch_labels[child].casefold(): child for child in theirs}
        wanted = [self.first.branch_labels[child].casefold() for child in ours]
        if len(names) == len(theirs) and set(wanted) == set(names):
            return [(child, names[name]) for child, name in zip(ours, wanted, strict=True)]
        return list(zip(ours, theirs, strict=True))

    def _compare_chances(self, below: list[tuple[int, int]]) -> Iterator[str]:
        for ours, theirs in below:
            p, q = float(self.first.probability[ours]), float(self.second.probability[theirs])
            if abs(p - q) > _TOLERANCE:
                yield f"{self.first.path(ours)} has probability {p:g} in the first game and {q:g} in the second"

    def _compare_payoffs(self, here: int, there: int) -> Iterator[str]:
        ours = self.first.payoffs[here].tolist()
        theirs = [float(self.second.payoffs[there][k]) for k in self.players]
        if any(abs(u - v) > _TOLERANCE * max(1.0, abs(u)) for u, v in zip(ours, theirs, strict=True)):
            told = f"{_join(ours)} in the first game and {_join(theirs)} in the second"
            yield f"{self._place(here)} the payoffs are {told}"

    def _place(self, node: int) -> str:
        return f"after {self.first.path(node)}" if node else "at the start"

    def _tell_branches(self, here: int, there: int) -> str:
        ours, theirs = _list_branches(self.first, here), _list_branches(self.second, there)
        return f"{self._place(here)} the branches are {ours} in the first game and {theirs} in the second"


def _list_branches(tree: Tree, node: int) -> str:
    return ", ".join(tree.branch_labels[child] for child in tree.children[node]) or "none"


def _name_owner(tree: Tree, owner: int) -> str:
    if owner == LEAF:
        return "the game is over"
    return "chance moves" if owner == CHANCE else f"{tree.players[owner]} moves"


def _join(payoffs: Sequence[float]) -> str:
    return ", ".join(f"{u:g}" for u in payoffs)
