"""What follows from a course: ways, knowledge, and simultaneous choices.

These are the ways to its positions, who knows what there, and which choices are simultaneous.

An information set is told by what is common to its positions. Of every step on the way it has the
moves that may have been made; it is plain where these moves fit its own positions and no others, as
they nearly always do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from string import ascii_lowercase

from bestresponse.core.told import Course, Decides, Position, list_branches, list_children

CHANCE = ""
"""Who moves where chance draws."""
Step = tuple[str, str]
"""Who moved, and how."""
Moves = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What a player knows at an information set, step by step.

    Each step has who moved, and the moves that may have been made.

    `steps` is None where not even that is known, because the ways to its positions differ in length
    or in who moved. `plain` says that `steps` fit no position that the player could tell from
    these. `mates` are the steps of those who choose at the same time, `forgotten` steps of which
    the player knew more at an earlier choice.
    """

    places: tuple[int, ...]
    steps: tuple[tuple[str, Moves], ...] | None
    plain: bool
    mates: frozenset[int] = frozenset()
    forgotten: frozenset[int] = frozenset()


class Map:
    """A course with everything that follows from it. Positions are numbered as in the course."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.children = list_children(course)

    @cached_property
    def parents(self) -> list[int]:
        """The position before each position, -1 before the first."""
        parents = [-1] * len(self.children)
        for number, below in enumerate(self.children):
            for child in below:
                parents[child] = number
        return parents

    @property
    def num_ends(self) -> int:
        """In how many ways the game can end."""
        return sum(not below for below in self.children)

    def get(self, place: int) -> Position:
        """Return what is at a position."""
        return self.course.positions[place]

    def find_mover(self, place: int) -> str:
        """Return who moves at a position, CHANCE where chance draws."""
        position = self.get(place)
        return position.who if isinstance(position, Decides) else CHANCE

    def list_ancestors(self, place: int) -> list[int]:
        """List the positions on the way to a position, itself last."""
        way = [place]
        while self.parents[way[-1]] >= 0:
            way.append(self.parents[way[-1]])
        return way[::-1]

    def list_way(self, place: int) -> tuple[Step, ...]:
        """List who moved how on the way to a position."""
        way = self.list_ancestors(place)
        steps = []
        for before, after in pairwise(way):
            move = list_branches(self.get(before))[self.children[before].index(after)]
            steps.append((self.find_mover(before), move))
        return tuple(steps)

    @cached_property
    def ways(self) -> list[tuple[Step, ...]]:
        """The way to every position."""
        ways: list[tuple[Step, ...]] = [()] * len(self.children)
        for place, below in enumerate(self.children):
            mover = self.find_mover(place)
            for move, child in zip(list_branches(self.get(place)), below, strict=True):
                ways[child] = (*ways[place], (mover, move))
        return ways

    @cached_property
    def infosets(self) -> dict[tuple[str, str, int], list[int]]:
        """The positions of every information set, by its player and its mark.

        A set without a mark goes by its position.
        """
        infosets: dict[tuple[str, str, int], list[int]] = {}
        for place, position in enumerate(self.course.positions):
            if isinstance(position, Decides):
                infosets.setdefault(self.find_infoset(place), []).append(place)
        return infosets

    def find_infoset(self, place: int) -> tuple[str, str, int]:
        """Return under which key the information set of a decision is listed."""
        position = self.get(place)
        assert isinstance(position, Decides)
        return position.who, position.mark, -1 if position.mark else place

    @cached_property
    def blocks(self) -> dict[int, tuple[int, ...]]:
        """The first positions of simultaneous choices.

        Each has one position for everybody who chooses then.
        """
        blocks: dict[int, tuple[int, ...]] = {}
        inside: set[int] = set()
        for place, position in enumerate(self.course.positions):
            if place in inside or not isinstance(position, Decides):
                continue
            layers = list(self._find_layers(place))
            if len(layers) > 1:
                blocks[place] = tuple(layer[0] for layer in layers)
                inside.update(*layers)
        return blocks

    def _find_layers(self, place: int) -> Iterator[list[int]]:
        """Yield the positions of everybody who chooses at the same time as this one.

        The position itself comes first.
        """
        layer = [place]
        players = [self.find_mover(place)]
        yield layer
        while True:
            below = [self.children[before] for before in layer]
            layer = list(chain.from_iterable(below))
            first = self.get(layer[0])
            if not isinstance(first, Decides) or first.who in players or not first.mark:
                return
            if not all(isinstance(self.get(child), Decides) for child in layer):
                return
            infosets = {self.find_infoset(child) for child in layer}
            if len(infosets) > 1:
                return
            players.append(first.who)
            yield layer

    @cached_property
    def mates(self) -> dict[int, int]:
        """How many steps before each position were made at the same time as the choice there.

        Only where there are.
        """
        mates: dict[int, int] = {}
        for place in self.blocks:
            for number, layer in enumerate(self._find_layers(place)):
                mates.update(dict.fromkeys(layer, number))
        return mates

    @cached_property
    def closed(self) -> frozenset[int]:
        """The positions where something happens that somebody who chooses later does not know."""
        closed: set[int] = set()
        for places in self.infosets.values():
            ways = [self.list_ancestors(place) for place in places]
            told = [self.ways[place] for place in places]
            shortest = min(map(len, told))
            for number in range(shortest):
                different = {way[number] for way in told}
                if len(different) > 1:
                    closed.update(way[number] for way in ways)
            for way in ways:
                closed.update(way[shortest:-1])
        return frozenset(closed)

    @cached_property
    def letters(self) -> dict[str, str]:
        """A letter for each mark of a set not within one group of simultaneous choices."""
        letters: dict[str, str] = {}
        for (_, mark, _), places in self.infosets.items():
            roots = {self._find_root(place) for place in places}
            if len(roots) > 1 and mark not in letters:
                letters[mark] = make_letter(len(letters))
        return letters

    def find_letter(self, place: int) -> str:
        """Return the letter of a decision.

        Returns an empty result where its player knows all but what is chosen at the same time.
        """
        position = self.get(place)
        return self.letters.get(position.mark, "") if isinstance(position, Decides) else ""

    def _find_root(self, place: int) -> int:
        """Return the first position of the simultaneous choices to which a position belongs."""
        for _ in range(self.mates.get(place, 0)):
            place = self.parents[place]
        return place

    def know(self, place: int) -> Known:
        """Return what the player of a decision knows there."""
        places = tuple(self.infosets[self.find_infoset(place)])
        ways = [self.ways[other] for other in places]
        movers = {_list_movers(way) for way in ways}
        if len(movers) > 1:
            return Known(places, None, plain=False)
        steps = join_ways(ways)
        plain = self.fits_only(steps, set(places))
        counts = {self.mates.get(other, 0) for other in places}
        count = counts.pop() if len(counts) == 1 else 0
        first_mate = len(steps) - count
        mates = frozenset(range(first_mate, len(steps)))
        forgotten = frozenset(self._find_forgotten(places, steps)) - mates
        return Known(places, steps, plain, mates, forgotten)

    def fits_only(self, steps: Sequence[tuple[str, Moves]], places: set[int]) -> bool:
        """Say whether these positions are all to which the steps may lead."""
        reached = [0]
        for who, moves in steps:
            after = []
            for place in reached:
                if self.find_mover(place) == who:
                    below = zip(list_branches(self.get(place)), self.children[place], strict=True)
                    after += [child for move, child in below if move in moves]
            reached = after
        return set(reached) == places

    def _find_forgotten(
        self,
        places: Sequence[int],
        steps: Sequence[tuple[str, Moves]],
    ) -> Iterator[int]:
        """Yield the steps of which the player knew more when it chose before."""
        me = self.find_mover(places[0])
        for number, (who, moves) in enumerate(steps):
            if len(moves) == 1:
                continue
            if who == me or any(self._knew_more(place, number, me, moves) for place in places):
                yield number

    def _knew_more(self, place: int, number: int, me: str, moves: Moves) -> bool:
        for before in self.list_ancestors(place)[number + 1 : -1]:
            if self.find_mover(before) == me:
                others = self.infosets[self.find_infoset(before)]
                ways = [self.ways[other] for other in others]
                seen = {way[number] for way in ways if len(way) > number}
                if len(seen) < len(moves):
                    return True
        return False


@lru_cache(maxsize=16)
def read_course(course: Course) -> Map:
    """Return what follows from a course; kept, since every player of a game reads the same."""
    return Map(course)


def make_letter(place: int) -> str:
    """Return the letter with that number: a to z, then aa, ab and so on."""
    letter = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letter = ascii_lowercase[rest] + letter
    return letter


def join_ways(ways: Sequence[Sequence[Step]]) -> tuple[tuple[str, Moves], ...]:
    """Join ways with the same movers.

    Each step has who moved, and the moves that may have been made.
    """
    steps = []
    for step in zip(*ways, strict=True):
        moves = dict.fromkeys(move for _, move in step)
        steps.append((step[0][0], tuple(moves)))
    return tuple(steps)


def _list_movers(way: Sequence[Step]) -> Moves:
    return tuple(who for who, _ in way)
