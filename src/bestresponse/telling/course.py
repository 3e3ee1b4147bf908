"""A course in words, as an outline or as sentences.

The game can be read back from the nested outline. Otherwise there is one sentence per kind of
choice.

    Chance draws:
    - strong (probability 9/10): Ann chooses:
      - raise: Bob chooses [a]:
        - call: Ann gets 3, Bob gets 0
        - drop: Ann gets 0, Bob gets 1
      - fold: Ann gets 1, Bob gets 1
    - weak (probability 1/10): Ann chooses:
      ...

In the outline positions of one information set carry the same letter, and below it stands what the
player knows there. The sentences name no sets: they say what is known and what is not. Sets that
differ only in what is known share one sentence: "Then Bob chooses call or drop, knowing what Ann
chose."
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import chain
from typing import Protocol, runtime_checkable

from bestresponse.core.errors import InvalidGame
from bestresponse.core.told import (
    CARD_NAMES,
    Decides,
    Draw,
    GameEvent,
    GameRule,
    PlayEnd,
    TextPlace,
)
from bestresponse.telling.knowledge import CHANCE, Known, Map, Moves, Step, join_ways
from bestresponse.telling.language import Language, find_home

_MOST_OPTIONS = 4
"""In an outline, which names all options, only the length of a longer list of what may have
happened is told."""
_MOST_WAYS = 12
"""Of a longer list of ways only its length is told."""


@runtime_checkable
class ToldInOwnWay(Protocol):
    """A rule or an event of a game that is told by more than filling its message."""

    def tell(self, words: Narrator) -> str:
        """Tell it, for `words.reader`."""


@dataclass(frozen=True)
class Narrator:
    """Words for what players and chance do.

    They are in the second person for the reader, if any player reads.
    """

    language: Language
    reader: str | None = None

    def say(self, key: str, who: str, **places: object) -> str:
        """Fill the message on somebody: the one for the reader or for chance where it is meant."""
        if who == CHANCE:
            return self.language.say(f"{key}.chance", **places)
        if who == self.reader:
            return self.language.say(f"{key}.you", **places)
        return self.language.say(key, who=self.language.write_name(who), **places)

    def tell(self, told: GameRule | GameEvent) -> str:
        """Tell a rule or an event of one game.

        One that is told otherwise than by filling its message brings its own `tell`.
        """
        if isinstance(told, ToldInOwnWay):
            return told.tell(self)
        return self.fill(told)

    def fill(self, told: GameRule | GameEvent, variant: str = "", **places: object) -> str:
        """Fill the message of a rule or an event, or a variant of it, from its fields.

        `places` come on top of the fields. Where there is a message for the reader (`.you`), that
        one is told to whoever the event is about; a rule is told so to whoever plays.
        """
        home = find_home(told)
        words = replace(self, language=self.language.within(home))
        key = f"{home}:{told.message}{variant}"
        written = {**words._write_fields(told), **places}
        if key not in words.language.messages:
            raise InvalidGame(
                f"{type(told).__name__} is told in the message {told.message + variant!r},"
                f" which {home or 'a module without a folder'} does not have in words.en.po"
            )
        who = getattr(told, "who", None)
        if who is not None:
            return words.say(key, who, **written)
        own = f"{key}.you"
        is_told_to_player = self.reader is not None and own in words.language.messages
        return words.language.say(own if is_told_to_player else key, **written)

    def _write_fields(self, told: GameRule | GameEvent) -> dict[str, object]:
        """Write the fields of a rule or an event, but for who it is about."""
        written: dict[str, object] = {}
        for field in fields(told):  # type: ignore[arg-type]
            if field.name != "who":
                written[field.name] = self._write_field(getattr(told, field.name))
        return written

    def _write_field(self, value: object) -> object:
        match value:
            case Fraction():
                return self.language.write_number(value)
            case str():
                return self.language.write_name(value)
            case TextPlace():
                return self.language.write_place(value)
            case tuple():
                return ", ".join(map(str, map(self._write_field, value)))
            case _:
                return value

    def name_card(self, letter: str) -> str:
        """Name a card by its letter: `king` for K."""
        return self.language.translate(CARD_NAMES.get(letter, letter))

    def list_payoffs(self, players: Sequence[str], payoffs: Sequence[Fraction]) -> str:
        """Say what everybody gets."""
        parts = []
        for who, payoff in zip(players, payoffs, strict=True):
            amount = self.language.write_number(payoff)
            parts.append(self.say("gets", who, amount=amount))
        return ", ".join(parts)

    def say_when(self, steps: Sequence[Step], together: Collection[int]) -> str:
        """Say who chooses what: `If Ann chooses x and Bob chooses l`.

        `together` are steps not made after the last.
        """
        told = ""
        for number, (who, move) in enumerate(steps):
            step = self.say("step", who, option=self.language.write_name(move))
            if number:
                step = self.language.say(
                    "step.and" if number in together else "step.then",
                    before=told,
                    after=step,
                )
            told = step
        return self.language.say("end.when", steps=told or self.language.say("step.none"))

    def list_past(self, steps: Sequence[tuple[str, Moves]]) -> list[str]:
        """Say who chose what; of several moves it is one of them."""
        return [
            self.say("chose", who, options=self.language.join_options(moves))
            for who, moves in steps
        ]


def list_outline(chart: Map, players: Sequence[str], language: Language) -> Iterator[str]:
    """Yield the lines of the outline, then those on knowledge."""
    words = Narrator(language)
    waiting = [(0, "", "", "")]
    while waiting:
        place, margin, bullet, branch = waiting.pop()
        here = _describe_position(chart, place, players, words)
        yield f"{margin}{bullet}{branch}{here}"
        below = margin + "  " if bullet else margin
        for name, child in reversed(_list_branches(chart, place, language)):
            waiting.append((child, below, "- ", f"{name}: "))
    if chart.infosets:
        yield ""
        yield from _list_knowledge(chart, words)


def _list_branches(chart: Map, place: int, language: Language) -> list[tuple[str, int]]:
    """List what may happen at a position, in words, and where it leads.

    All choices that are made at the same time are taken together.
    """
    position = chart.get(place)
    if isinstance(position, Draw):
        return list(zip(_list_odds(position, language), chart.children[place], strict=True))
    branches = [("", place)]
    for _ in chart.blocks.get(place, (place,)):
        after = []
        for told, before in branches:
            here = chart.get(before)
            if isinstance(here, Decides):
                names = language.write_options(here.options)
                moves = zip(names, chart.children[before], strict=True)
                after += [(f"{told}, {name}" if told else name, child) for name, child in moves]
        branches = after
    return branches


def _list_odds(draw: Draw, language: Language) -> list[str]:
    """Say what may be drawn, each with its probability.

    This is always a fraction, which shows what is certain to sum to 1.
    """
    odds = []
    for outcome in draw.outcomes:
        name = language.write_name(outcome.name)
        odds.append(language.say("outline.outcome", name=name, chance=outcome.chance))
    return odds


def _describe_position(
    chart: Map,
    place: int,
    players: Sequence[str],
    words: Narrator,
) -> str:
    position = chart.get(place)
    if isinstance(position, PlayEnd):
        return words.list_payoffs(players, position.payoffs)
    if isinstance(position, Draw):
        return words.language.say("outline.draws" if place else "outline.draws.first")
    members = chart.blocks.get(place, (place,))
    letters = [chart.find_letter(member) for member in members]
    names = [words.language.write_name(chart.find_mover(member)) for member in members]
    if len(members) > 1:
        marked = []
        for name, letter in zip(names, letters, strict=True):
            marked.append(f"{name} [{letter}]" if letter else name)
        return words.language.say("outline.together", names=words.language.join(marked, "standard"))
    if letters[0]:
        return words.language.say("outline.chooses.marked", who=names[0], letter=letters[0])
    return words.language.say("outline.chooses", who=names[0])


def _list_knowledge(chart: Map, words: Narrator) -> Iterator[str]:
    """Say what the letters mean."""
    language = words.language
    has_blocks = bool(chart.blocks)
    if not chart.letters:
        yield language.say("outline.known.together" if has_blocks else "outline.known")
        return
    yield language.say("outline.letters")
    if has_blocks:
        yield language.say("outline.letters.together")
    for (who, mark, _), places in chart.infosets.items():
        if mark in chart.letters:
            yield (
                f"- [{chart.letters[mark]}]"
                f" {_describe_knowledge(who, chart.know(places[0]), words)}"
            )


def _describe_knowledge(who: str, known: Known, words: Narrator) -> str:
    """Say what the player of an information set knows there."""
    if known.steps is None:
        return words.say("outline.lost", who)
    told = []
    for number, (mover, moves) in enumerate(known.steps):
        if number not in known.mates:
            key = "chose.forgotten" if number in known.forgotten else "chose"
            told.append(words.say(key, mover, options=shorten_options(moves, words.language)))
    if all(len(moves) == 1 for _, moves in known.steps):  # branches of equal names lead to them
        return words.say("outline.alike", who)
    return words.say("outline.knows", who, steps="; ".join(told))


def shorten_options(moves: Moves, language: Language) -> str:
    """Say that one of these moves was chosen or drawn, if the rules name them all.

    Of many moves, only their number is said.
    """
    if len(moves) > _MOST_OPTIONS:
        return language.say("options.count", count=len(moves))
    return language.join_options(moves)


def list_turns(chart: Map, words: Narrator) -> Iterator[str]:
    """Yield a sentence for every draw and kind of choice, in the order they come up."""
    places = range(len(chart.children))
    in_order = sorted(places, key=lambda place: len(chart.ways[place]))
    draws = _group_draws(chart)
    choices = _group_choices(chart)
    for place in in_order:
        position = chart.get(place)
        if isinstance(position, Draw) and place in draws:
            yield _describe_draw(chart, draws[place], position, words)
        elif isinstance(position, Decides) and place in choices:
            yield _describe_choice(chart, choices[place], position, words)


def _group_draws(chart: Map) -> dict[int, list[int]]:
    """Group draws of the same outcomes after the same movers.

    They are grouped if the steps to them lead to no other position.
    """
    families: dict[object, list[int]] = {}
    for place, position in enumerate(chart.course.positions):
        if isinstance(position, Draw):
            movers = tuple(who for who, _ in chart.ways[place])
            families.setdefault((position, movers), []).append(place)
    groups = {}
    for places in families.values():
        steps = join_ways([chart.ways[place] for place in places])
        if chart.fits_only(steps, set(places)):
            groups[places[0]] = places
        else:
            groups |= {place: [place] for place in places}
    return groups


def _group_choices(chart: Map) -> dict[int, list[Known]]:
    """Group information sets that differ only in what is known.

    The key is the first position of the first of them.
    """
    families: dict[object, list[Known]] = {}
    for places in chart.infosets.values():
        position = chart.get(places[0])
        known = chart.know(places[0])
        if not isinstance(position, Decides):
            continue
        if known.steps is None or not known.plain:
            families[places[0]] = [known]
            continue
        movers = tuple(who for who, _ in known.steps)
        alike = position.who, position.options, movers, known.mates, known.forgotten
        families.setdefault(alike, []).append(known)
    groups = {}
    for family in families.values():
        if len(family) == 1 or _is_product(chart, family):
            groups[family[0].places[0]] = family
        else:
            groups |= {known.places[0]: [known] for known in family}
    return groups


def _is_product(chart: Map, family: Sequence[Known]) -> bool:
    """Return whether the sets differ step by step and are complete.

    They are if every position to which these steps lead is in one of them.
    """
    joined = []
    for number, (who, _) in enumerate(family[0].steps or ()):
        cells = _list_cells(family, number)
        moves = list(chain.from_iterable(cells))
        if len(set(moves)) < len(moves):
            return False
        joined.append((who, tuple(moves)))
    return chart.fits_only(joined, {place for known in family for place in known.places})


def _list_cells(family: Sequence[Known], number: int) -> list[Moves]:
    """List the different sets of moves that are possible at a step."""
    cells: dict[Moves, None] = {}
    for known in family:
        if known.steps is not None:
            _, moves = known.steps[number]
            cells[moves] = None
    return list(cells)


def _describe_draw(
    chart: Map,
    places: Sequence[int],
    draw: Draw,
    words: Narrator,
) -> str:
    language = words.language
    outcomes = language.join(_list_odds(draw, language), "or")
    steps = join_ways([chart.ways[place] for place in places])
    if not steps:
        return language.say("draws.first", outcomes=outcomes)
    past = language.join(words.list_past(steps), "standard")
    return language.say("draws.after", steps=past, outcomes=outcomes)


def _describe_choice(
    chart: Map,
    family: Sequence[Known],
    decision: Decides,
    words: Narrator,
) -> str:
    """Say who chooses what when, and what the player knows and does not know then."""
    language = words.language
    first = family[0]
    clauses: list[str] = []
    done: list[tuple[str, Moves]] = []
    is_first = first.steps is not None and len(first.mates) == len(first.steps)
    if first.steps is not None and first.mates:
        mates = [first.steps[number][0] for number in sorted(first.mates)]
        names = [words.say("name", who) for who in mates]
        clauses.append(language.say("clause.together", names=language.join(names, "standard")))
    if first.steps is None or not first.plain:
        ways = [chart.ways[place] for place in first.places]
        clauses.append(_describe_ways(ways, words))
    else:
        for number, step in enumerate(first.steps):
            if number not in first.mates and len(_join(family, number)) == 1:
                done.append(step)
        clauses += _describe_known(family, words)
    options = language.join_options(decision.options)
    if done:
        after = language.join(words.list_past(done), "standard")
        sentence = words.say(
            "chooses.after",
            decision.who,
            steps=after,
            options=options,
        )
    else:
        if first.steps is None:
            key = "chooses"
        elif is_first:
            key = "chooses.first"
        else:
            key = "chooses.then"
        sentence = words.say(key, decision.who, options=options)
    return f"{', '.join((sentence, *clauses))}."


def _join(family: Sequence[Known], number: int) -> list[str]:
    cells = _list_cells(family, number)
    return list(chain.from_iterable(cells))


def _describe_known(family: Sequence[Known], words: Narrator) -> Iterator[str]:
    """Yield clauses on the steps that are not the same wherever this choice comes up."""
    language = words.language
    first = family[0]
    assert first.steps is not None
    known: list[str] = []
    partly: list[str] = []
    hidden: list[str] = []
    forgotten: list[str] = []
    for number, (who, _) in enumerate(first.steps):
        cells = _list_cells(family, number)
        moves = _join(family, number)
        if number in first.mates or len(moves) == 1:
            continue
        if len(cells) == 1:
            what = words.say("what.options", who, options=language.join_options(moves))
            (forgotten if number in first.forgotten else hidden).append(what)
        elif all(len(cell) == 1 for cell in cells):
            known.append(words.say("what", who))
        else:
            groups = language.join([f"({language.join_options(cell)})" for cell in cells], "or")
            key = "whether.forgotten" if number in first.forgotten else "whether"
            partly.append(words.say(key, who, groups=groups))
    for key, steps in (
        ("clause.known", known + partly),
        ("clause.hidden", hidden),
        ("clause.forgotten", forgotten),
    ):
        if steps:
            yield language.say(key, what=language.join(steps, "standard"))


def _describe_ways(ways: Sequence[Sequence[Step]], words: Narrator) -> str:
    language = words.language
    if len(ways) > _MOST_WAYS:
        return language.say("clause.ways.count", count=len(ways))
    told = []
    for way in ways:
        past = words.list_past([(who, (move,)) for who, move in way])
        told.append(language.join(past, "standard") if past else language.say("nothing"))
    return language.say("clause.ways", ways="; ".join(f"({way})" for way in told))


def list_ends(chart: Map, players: Sequence[str], words: Narrator) -> Iterator[str]:
    """Yield a line for every end: how the play comes to it and what it pays."""
    for place, position in enumerate(chart.course.positions):
        if isinstance(position, PlayEnd):
            yield words.language.say(
                "end",
                when=say_way(chart, place, words),
                payoffs=words.list_payoffs(players, position.payoffs),
            )


def say_way(chart: Map, place: int, words: Narrator) -> str:
    """Say how the play comes to a position."""
    ancestors = chart.list_ancestors(place)[:-1]
    together = [number for number, before in enumerate(ancestors) if chart.mates.get(before)]
    return words.say_when(chart.list_way(place), together)
