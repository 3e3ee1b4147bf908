"""Statements in words, for a player in the second person or for anybody in the third."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from bestresponse.core.capabilities import PeopleRules
from bestresponse.core.errors import TooLarge
from bestresponse.core.game import Game, Layout, S, View
from bestresponse.core.told import (
    Aim,
    AtOnce,
    Cell,
    Cells,
    Chose,
    Course,
    Dealt,
    Drew,
    Event,
    Holds,
    LaidOpen,
    LowerClaim,
    Made,
    Meant,
    Mixed,
    NearestWins,
    OneOf,
    Options,
    Over,
    Paid,
    PayoffRule,
    PlayEnd,
    Players,
    PrivateProse,
    Prose,
    Reached,
    Repetition,
    Rest,
    Round,
    Saw,
    ShownSigns,
    Statement,
    Summary,
    Title,
    Unaware,
    YourTurn,
)
from bestresponse.telling.course import (
    Narrator,
    list_ends,
    list_outline,
    list_turns,
    say_way,
    shorten_options,
)
from bestresponse.telling.knowledge import Map, read_course
from bestresponse.telling.language import ENGLISH, Language, Spoken, load_language
from bestresponse.telling.tables import is_zero_sum, write_payoffs

MOST_CHARACTERS = 50_000
"""The longest outline that is told. At about 3 characters per token (short names and numbers) it
fills half of the 32,768 tokens that small open models can take, and leaves the other half for
reasons and an answer."""
_FIRST_ENDS = 20
"""Ends that are told of a course that is too large to be told."""
_MOST_POSITIONS = 6_000
"""Of a larger course only the size is told in sentences: nobody reads so many, and they take long
to be found."""


def list_sentences(
    statements: Iterable[Statement],
    reader: str | None = None,
    *,
    language: Spoken = ENGLISH,
    most: int | None = None,
) -> tuple[str, ...]:
    """Tell a game in sentences; at most `most` on choices and draws, and as many ends.

    >>> table = Cells((Cell(("go",), (3,)), Cell(("stay",), (1,))))
    >>> for line in list_sentences((Players(("Ann",)), AtOnce((Options("Ann", ("go", "stay")),)), table), "Ann"):
    ...     print(line)
    You are Ann.
    There is one player: Ann.
    You choose go or stay.
    What each of them earns:
    - If you choose go, you get 3.
    - If you choose stay, you get 1.
    """  # noqa: E501
    words = Narrator(load_language(language), reader)
    lines: list[str] = []
    if reader is not None:
        lines.append(words.language.say("role", who=words.language.write_name(reader)))
    players: tuple[str, ...] = ()
    for statement in statements:
        match statement:
            case Players(players):
                lines.append(_introduce(players, words))
            case AtOnce(choices):
                lines += _list_choices(choices, words)
            case Cells(cells):
                lines += _list_cells(players, cells, words, most)
            case Course() as course:
                lines += _list_course(players, course, words, most)
            case Summary():
                lines += _list_summary(statement, words)
            case Prose(text):
                lines.append(text)
            case Aim(rational) if reader is not None:
                lines.append(_describe_aim((), rational, words))
            case NearestWins() | LowerClaim():
                lines.append(_describe_payoff_rule(statement, words.language))
            case Rest():
                lines.append(words.language.say("rest"))
            case Repetition():
                lines.append(_describe_repetition(statement, words.language))
            case Title() | Aim():
                pass  # whoever reads about the game knows its name, and has no aim in it
    return tuple(lines)


def write_rules(view: View, language: Spoken = ENGLISH) -> str:
    """Put the rules that a view states into words."""
    return _write_rules(view.rules, view.role, language, view.layout)


def write_history(view: View, language: Spoken = ENGLISH) -> str:
    """Put into words what has happened so far, as far as the role of a view knows it."""
    return _write_history(view.history, view.role, language)


def write_events(
    history: Iterable[Event], reader: str | None = None, language: Spoken = ENGLISH
) -> str:
    """Put events into a list without a sentence around them: `you saw a jack, Bob chose bet`."""
    words = Narrator(load_language(language), reader)
    events = list(history)
    steps = [step for event in events if (step := _describe_step(event, words))]
    if steps:
        return ", ".join(steps)
    return words.language.say("unaware" if Unaware() in events else "no-events")


def word_rules(game: Game[S], view: View, language: Spoken = ENGLISH) -> str:
    """Return the rules for the person who has `view`: without an aim, which is what an experiment
    finds out."""
    if isinstance(game, PeopleRules) and load_language(language).name == ENGLISH:
        return game.word_rules(view.role)
    stated = [statement for statement in view.rules if not isinstance(statement, Title | Aim)]
    return write_rules(replace(view, rules=tuple(stated)), language)


@lru_cache(maxsize=256)
def _write_rules(
    rules: tuple[Statement, ...], reader: str, language: Spoken, layout: Layout
) -> str:
    words = Narrator(load_language(language), reader)
    titles = [statement.name for statement in rules if isinstance(statement, Title)]
    at_once = next((statement.choices for statement in rules if isinstance(statement, AtOnce)), ())
    zero_sum = any(
        isinstance(statement, Cells) and is_zero_sum(statement.cells) for statement in rules
    )
    players: tuple[str, ...] = ()
    paragraphs: list[str] = []
    for statement in rules:
        match statement:
            case Title():
                pass  # told together with the players
            case Players(players) if at_once:
                paragraphs.append(_introduce_table(players, words))
            case Players(players):
                paragraphs.append(_introduce_reader(players, titles, words))
            case Prose(text):
                paragraphs.append(words.language.translate(text))
            case AtOnce(choices):
                paragraphs.append(_list_actions(choices, words))
            case Cells(cells):
                paragraphs.append(write_payoffs(at_once, cells, words, layout))
            case NearestWins() | LowerClaim():
                paragraphs.append(_describe_payoff_rule(statement, words.language))
            case Rest():
                paragraphs.append(words.language.say("rest"))
            case Course() if layout == "lines":
                paragraphs.append("\n".join(_list_course(players, statement, words, None)))
            case Course():
                paragraphs += _write_outline(players, statement, words.language)
            case Repetition():
                paragraphs.append(_describe_repetition(statement, words.language))
            case Summary():
                paragraphs.append("\n".join(_list_summary(statement, words)))
            case Aim(rational):
                paragraphs.append(_describe_aim(players if zero_sum else (), rational, words))
    return "\n\n".join(filter(None, paragraphs))


def _introduce_table(players: Sequence[str], words: Narrator) -> str:
    language = words.language
    who = language.write_name(words.reader or "")
    names = list(map(language.write_name, players))
    if len(players) == 1:
        return language.say("intro.alone", who=who)
    if len(players) > 2:
        return language.say("intro.many", who=who, count=len(players), names=", ".join(names))
    # The reader comes first, as in every sentence on what it gets.
    (other,) = [name for name in names if name != who] or names[1:]
    both = language.join((who, other), "standard")
    return language.say("intro.two", who=who, names=both, other=other)


def _list_actions(choices: Sequence[Options], words: Narrator) -> str:
    """List the reader's actions first, then those of the others."""
    mine = [choice for choice in choices if choice.who == words.reader]
    others = [choice for choice in choices if choice.who != words.reader]
    lines = []
    for choice in (*mine, *others):
        options = ", ".join(map(words.language.write_name, choice.options))
        lines.append(words.say("actions", choice.who, options=options))
    return "\n".join(lines)


def _describe_aim(opponents: Sequence[str], rational: bool, words: Narrator) -> str:
    """Say what the reader aims at; `opponents` are the two players of a zero-sum game, else
    nobody."""
    say = words.language.say
    others = [words.language.write_name(who) for who in opponents if who != words.reader]
    sentences = [say("zero-sum", other=others[0])] if others else []
    sentences.append(say("aim"))
    if rational and others:
        sentences.append(say("aim.rival", other=others[0][:1].upper() + others[0][1:]))
    elif rational:
        sentences.append(say("aim.others"))
    return " ".join(sentences)


def _describe_payoff_rule(rule: PayoffRule, language: Language) -> str:
    match rule:
        case NearestWins(factor, prize):
            return language.say(
                "nearest", factor=language.write_number(factor), prize=language.write_number(prize)
            )
        case LowerClaim(bonus):
            return language.say("lower-claim", bonus=language.write_number(bonus))


def _describe_repetition(repetition: Repetition, language: Language) -> str:
    sentences = []
    if repetition.rounds > 1:
        percent = language.write_number(100 * repetition.continuation)
        if repetition.continuation == 1:
            sentences.append(language.say("rounds.fixed", rounds=repetition.rounds))
        else:
            sentences.append(
                language.say("rounds.random", percent=percent, rounds=repetition.rounds)
            )
    if repetition.discount != 1:
        sentences.append(
            language.say(
                "rounds.discount", percent=language.write_number(100 * repetition.discount)
            )
        )
    if repetition.noise:
        sentences.append(
            language.say("rounds.noise", percent=language.write_number(100 * repetition.noise))
        )
    return " ".join(sentences)


def check_length(rules: Sequence[Statement], name: str) -> None:
    """Raise TooLarge where rules hold a course, or a size in place of one, that is too long to be
    told."""
    players: tuple[str, ...] = ()
    for statement in rules:
        if isinstance(statement, Players):
            players = statement.names
        ends = None
        if isinstance(statement, Summary):
            ends = statement.ends
        elif (
            isinstance(statement, Course)
            and _find_outline(players, statement, load_language(ENGLISH)) is None
        ):
            ends = read_course(statement).num_ends
        if ends is not None:
            raise TooLarge(
                f"{name or 'the tree'} has {ends:,} ends; telling it takes more than"
                f" {MOST_CHARACTERS:,} characters, the most that a player can be asked to read. Use"
                " a smaller version of the game"
            )


def _write_outline(players: Sequence[str], course: Course, language: Language) -> list[str]:
    outline = _find_outline(tuple(players), course, language)
    if outline is None:
        # Whoever has to read it is refused by `check_length`.
        return [language.say("summary", ends=language.write_count(read_course(course).num_ends))]
    return [language.say("outline.how"), outline]


@lru_cache(maxsize=16)
def _find_outline(players: tuple[str, ...], course: Course, language: Language) -> str | None:
    """Return the outline of a course, None where it is too long to be read."""
    lines: list[str] = []
    length = -1  # no line break stands before the first line
    for line in list_outline(read_course(course), players, language):
        length += len(line) + 1
        # A course may have thousands of positions: no more of it is written than is needed to
        # refuse it.
        if length > MOST_CHARACTERS:
            return None
        lines.append(line)
    return "\n".join(lines)


def _introduce_reader(players: Sequence[str], titles: Sequence[str], words: Narrator) -> str:
    language = words.language
    who = language.write_name(words.reader or "")
    names = ", ".join(map(language.write_name, players))
    if titles:
        return language.say(
            "intro.title", who=who, title=language.write_name(titles[0]), names=names
        )
    return language.say("intro", who=who, names=names)


@lru_cache(maxsize=1024)
def _write_history(history: tuple[Event, ...], reader: str, language: Spoken) -> str:
    if any(isinstance(event, Round) for event in history):
        past, now = _list_rounds(history, reader, language)
        return "\n".join((now, *past))
    words = Narrator(load_language(language), reader)
    say = words.language.say
    steps = [step for event in history if (step := _describe_step(event, words))]
    is_over = any(isinstance(event, Over) for event in history)
    before: list[str] = []
    after: list[str] = []
    for event in history:
        match event:
            case YourTurn():
                before.append(say("asked"))
            case Holds(card):
                before.append(say("holds", card=words.language.translate(card)))
            case ShownSigns(signs):
                after.append(say("shown", signs=signs))
            case OneOf(ways):
                after.append(
                    say("one-of", ways="; ".join(f"({_join_steps(way, words)})" for way in ways))
                )
            case Unaware():
                after.append(say("unaware"))
            case Reached(letter):
                after.append(say("reached", letter=letter))
            case Prose(text) | PrivateProse(text):
                after.append(text)
    if is_over:
        before.append(say("over.steps", steps=", ".join(steps)) if steps else say("over"))
    elif steps:
        before.append(say("so-far", steps=", ".join(steps)))
    elif not after and history:
        before.append(say("nothing-yet"))
    return " ".join(before + after)


def list_rounds(view: View, language: Spoken = ENGLISH) -> tuple[list[str], str] | None:
    """Tell the rounds gone by, a text for each, and the present one; None where a game is not told
    by rounds."""
    if any(isinstance(event, Round) for event in view.history):
        return _list_rounds(view.history, view.role, language)
    past, now = view.facts.get("past"), view.facts.get("now")
    return (past, now) if isinstance(past, list) and isinstance(now, str) else None


def _list_rounds(
    history: tuple[Event, ...], reader: str, language: Spoken
) -> tuple[list[str], str]:
    words = Narrator(load_language(language), reader)
    say = words.language.say
    rounds: list[tuple[int, list[Event]]] = []
    for event in history:
        if isinstance(event, Round):
            rounds.append((event.number, []))
        elif rounds:
            rounds[-1][1].append(event)
    past: list[str] = []
    now = ""
    for number, events in rounds:
        steps = ", ".join(step for event in events if (step := _describe_step(event, words)))
        if steps:
            past.append(say("round.past", number=number, steps=_add_payoffs(steps, events, words)))
        else:
            now = say("round.now", number=number)
    if any(isinstance(event, Over) for event in history):
        now = say("over")
    return past, now


def _add_payoffs(steps: str, events: Iterable[Event], words: Narrator) -> str:
    paid = []
    for event in events:
        if isinstance(event, Paid):
            paid.append(
                words.say("got", event.who, amount=words.language.write_number(event.amount))
            )
    return words.language.say("round.paid", steps=steps, payoffs=", ".join(paid)) if paid else steps


def _join_steps(events: Iterable[Event], words: Narrator) -> str:
    steps = [_describe_step(event, words) for event in events]
    return ", ".join(steps) or words.language.say("nothing")


def _describe_step(event: Event, words: Narrator) -> str:
    """Say what is known of a move or a draw; empty for other events."""
    language = words.language
    match event:
        case Chose(who, options):
            key = "chose" if len(options) == 1 else "unsure"
            return words.say(key, who, options=shorten_options(options, language))
        case Drew(outcomes):
            return language.say("chose.chance", options=shorten_options(outcomes, language))
        case Meant(who, meant, made):
            return words.say(
                "meant", who, meant=language.write_name(meant), made=language.write_name(made)
            )
        case Made(who, move):
            return words.say("made", who, move=language.write_name(move))
        case Mixed(who, weights):
            return words.say("mixed", who, weights=language.list_numbers(weights))
        case Saw(what):
            return language.say("saw", what=what)
        case Dealt(who, card):
            return words.say("dealt", who, card=language.translate(card))
        case LaidOpen(card):
            return language.say("laid-open", card=language.translate(card))
        case _:
            return ""


def list_choices(statements: Iterable[Statement], language: Spoken = ENGLISH) -> tuple[str, ...]:
    """Tell only who chooses what when and what is drawn."""
    words = Narrator(load_language(language))
    lines: list[str] = []
    for statement in statements:
        if isinstance(statement, AtOnce):
            lines += _list_choices(statement.choices, words)
        elif isinstance(statement, Course):
            lines += list_turns(read_course(statement), words)
    return tuple(lines)


def list_earned(
    statements: Iterable[Statement], language: Spoken = ENGLISH
) -> dict[str, tuple[Fraction, ...]]:
    """Return the payoffs of every end by how the play comes to it, in words: `If Ann chooses x and
    Bob chooses l`."""
    words = Narrator(load_language(language))
    players: tuple[str, ...] = ()
    earned: dict[str, tuple[Fraction, ...]] = {}
    for statement in statements:
        match statement:
            case Players(players):
                pass
            case Cells(cells):
                for cell in cells:
                    earned[_say_cell(players, cell, words)] = cell.payoffs
            case Course():
                chart = read_course(statement)
                for place, position in enumerate(statement.positions):
                    if isinstance(position, PlayEnd):
                        earned[say_way(chart, place, words)] = position.payoffs
    return earned


def _introduce(players: Sequence[str], words: Narrator) -> str:
    names = words.language.join_names(players)
    if len(players) == 1:
        return words.language.say("players.one", names=names)
    return words.language.say("players.many", count=len(players), names=names)


def _list_choices(choices: Sequence[Options], words: Narrator) -> list[str]:
    lines = []
    for choice in choices:
        lines.append(
            words.say("at-once", choice.who, options=words.language.join_options(choice.options))
        )
    if len(choices) > 1:
        lines.append(words.language.say("at-once.together"))
    return lines


def _list_cells(
    players: Sequence[str], cells: Sequence[Cell], words: Narrator, most: int | None
) -> list[str]:
    lines = [_head("cells", len(cells), words, most)]
    for cell in cells[:most]:
        when = _say_cell(players, cell, words)
        lines.append(
            words.language.say("end", when=when, payoffs=words.list_payoffs(players, cell.payoffs))
        )
    return lines


def _say_cell(players: Sequence[str], cell: Cell, words: Narrator) -> str:
    return words.say_when(list(zip(players, cell.moves, strict=True)), range(len(players)))


def _list_course(
    players: Sequence[str], course: Course, words: Narrator, most: int | None
) -> list[str]:
    chart = read_course(course)
    if len(course.positions) > _MOST_POSITIONS:
        return [
            words.language.say("summary", ends=words.language.write_count(chart.num_ends)),
            *_list_ends(chart, players, words, most or 20),
        ]
    turns = list(list_turns(chart, words))
    if most is not None and len(turns) > most:
        turns = [
            *turns[:most],
            words.language.say("more", count=words.language.write_count(len(turns) - most)),
        ]
    return [*turns, *_list_ends(chart, players, words, most)]


def _list_ends(chart: Map, players: Sequence[str], words: Narrator, most: int | None) -> list[str]:
    key = "ends" if any(len(chart.children[child]) for child in chart.children[0]) else "cells"
    return [
        _head(key, chart.num_ends, words, most),
        *islice(list_ends(chart, players, words), most),
    ]


def _list_summary(summary: Summary, words: Narrator) -> list[str]:
    count = words.language.write_count
    turns = [words.say("turns", turn.who, count=count(turn.count)) for turn in summary.turns]
    return [words.language.say("summary", ends=count(summary.ends)), *turns]


def _head(key: str, total: int, words: Narrator, most: int | None) -> str:
    if most is None or total <= most:
        return words.language.say(key)
    count = words.language.write_count
    return words.language.say(f"{key}.first", shown=count(most), total=count(total))
