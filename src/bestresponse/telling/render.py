"""Statements in words, for a player in the second person or for anybody in the third."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Protocol, runtime_checkable

from bestresponse.core.capabilities import PeopleRules
from bestresponse.core.errors import TooLarge
from bestresponse.core.game import Game, Layout, S, View
from bestresponse.core.told import (
    Aim,
    AtOnce,
    Board,
    Cell,
    Cells,
    Chose,
    Course,
    Dealt,
    Drew,
    EarnedSoFar,
    Event,
    GameEvent,
    GameRule,
    Holds,
    LaidOpen,
    LowerClaim,
    LowestEffort,
    Made,
    Meant,
    Mixed,
    NearestWins,
    OneOf,
    Options,
    Over,
    OwnReasons,
    Paid,
    PayoffRule,
    PlayedRound,
    PlayEnd,
    Players,
    PrivateProse,
    Prose,
    Reached,
    Repetition,
    Rest,
    Round,
    RoundsForgotten,
    RoundsInShort,
    Saw,
    Statement,
    Summary,
    Title,
    Unaware,
    UntoldPayoffs,
    Worded,
    YourTurn,
    split_rounds,
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
from bestresponse.telling.language import ENGLISH, Language, Spoken, find_home, load_language
from bestresponse.telling.tables import is_zero_sum, write_payoffs

MOST_TOKENS = 17_000
"""The longest rules that are told, unless a setting says otherwise. They fill half of the 32,768
tokens that small open models can take, and leave the other half for reasons and an answer."""
CHARACTERS_PER_TOKEN = 3
"""About what a token takes of rules, which are short names and numbers."""
MOST_CHARACTERS = MOST_TOKENS * CHARACTERS_PER_TOKEN
LARGEST_CHARACTERS = 1_000_000 * CHARACTERS_PER_TOKEN
"""What the models with the longest memory can read: no setting goes beyond."""
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
    >>> choice = AtOnce((Options("Ann", ("go", "stay")),))
    >>> for line in list_sentences((Players(("Ann",)), choice, table), "Ann"):
    ...     print(line)
    You are Ann.
    There is one player: Ann.
    You choose go or stay.
    What each of them earns:
    - If you choose go, you get 3.
    - If you choose stay, you get 1.
    """
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
                lines.append(words.language.translate(text))
            case Worded(text, places):
                lines.append(words.language.write_text(text, places))
            case PrivateProse(text) if reader is not None:
                lines.append(text)
            case Board(rows):
                lines += _list_rows(rows)
            case Aim(rational) if reader is not None:
                lines.append(_describe_aim((), rational, words))
            case NearestWins() | LowerClaim() | LowestEffort():
                lines.append(_describe_payoff_rule(statement, words.language))
            case Rest():
                lines.append(words.language.say("rest"))
            case Repetition():
                lines.append(_describe_repetition(statement, words.language))
            case Title() | Aim() | PrivateProse():
                # Whoever reads about the game knows its name, and has neither aim nor secret in it.
                pass
            case UntoldPayoffs():
                lines.append(words.language.say("untold-payoffs"))
            case GameRule():
                lines.append(words.tell(statement))
    return tuple(lines)


def write_rules(view: View, language: Spoken = ENGLISH, *, most: int = MOST_CHARACTERS) -> str:
    """Put the rules that a view states into words.

    Of a course whose outline has more characters than `most` only the size.
    """
    return _write_rules(view.rules, view.role, language, view.layout, most)


def write_history(view: View, language: Spoken = ENGLISH) -> str:
    """Put into words what has happened so far, as far as the role of a view knows it.

    Where this comes down to a position, that is told, and at the end that the game is over.
    """
    if not view.position:
        return _write_history(view.history, view.role, language)
    told = _write_rules(view.position, view.role, language, view.layout, MOST_CHARACTERS)
    is_over = any(isinstance(event, Over) for event in view.history)
    return f"{told}\n\n{load_language(language).say('over')}" if is_over else told


def write_events(history: Iterable[Event], reader: str | None = None) -> str:
    """Put events into a list without a sentence around them: `you saw a jack, Bob chose bet`."""
    words = Narrator(load_language(ENGLISH), reader)
    events = list(history)
    steps = _list_steps(events, words)
    if steps:
        return ", ".join(steps)
    key = "unaware" if Unaware() in events else "no-events"
    return words.language.say(key)


def write_private(view: View, known: Iterable[Worded], language: Spoken) -> str:
    """Put into words what one seat of a talk alone knows.

    On its turn this includes which message it writes.
    """
    spoken = load_language(language)
    about, *notes = [spoken.write_text(text.text, text.places) for text in known] or [""]
    turn = " ".join(filter(None, (write_turn(view.history, spoken), *notes)))
    return "\n\n".join(filter(None, (about, turn)))


def write_turn(history: Sequence[Event], language: Spoken) -> str:
    """Put into words what the reader has to do now, without what has happened before."""
    words = Narrator(load_language(language))
    turn = [event for event in history if isinstance(event, GameEvent) and event.is_turn]
    return " ".join(map(words.tell, turn))


def word_rules(game: Game[S], view: View, language: Spoken = ENGLISH) -> str:
    """Return the rules for the person who has `view`.

    These are the rules that the game states for people. Otherwise they are its rules without the
    name that files know it by and without an aim, since what people aim at is what an experiment
    finds out.
    """
    if isinstance(game, PeopleRules):
        stated = game.list_rules(view.role)
    else:
        stated = tuple(rule for rule in view.rules if not isinstance(rule, Title | Aim))
    spoken = load_language(language).within(find_home(game))
    return _write_rules(stated, view.role, spoken, view.layout, MOST_CHARACTERS, is_for_people=True)


@lru_cache(maxsize=256)
def _write_rules(
    rules: tuple[Statement, ...],
    reader: str,
    language: Spoken,
    layout: Layout,
    most: int,
    *,
    is_for_people: bool = False,
) -> str:
    told = _ToldRules(Narrator(load_language(language), reader), layout, most, is_for_people)
    for statement in rules:
        if isinstance(statement, Title):
            told.titles.append(statement.name)  # told together with the players
        elif isinstance(statement, AtOnce):
            told.at_once = told.at_once or statement.choices
        elif isinstance(statement, Cells):
            told.zero_sum = told.zero_sum or is_zero_sum(statement.cells)
    paragraphs: list[str] = []
    for statement in rules:
        paragraphs += told.write(statement)
    return "\n\n".join(filter(None, paragraphs))


@dataclass(slots=True)
class _ToldRules:
    """What the sentences on one statement need to know of the others."""

    words: Narrator
    layout: Layout
    most: int
    is_for_people: bool
    titles: list[str] = field(default_factory=list)
    at_once: tuple[Options, ...] = ()
    zero_sum: bool = False
    players: tuple[str, ...] = ()
    """Those of the statement on players, once it was told."""

    def write(self, statement: Statement) -> list[str]:
        """Return the paragraphs on a statement."""
        words = self.words
        language = words.language
        match statement:
            case Title():
                return []
            case Players(players):
                self.players = players
                if self.is_for_people and len(players) > 1:
                    return [_introduce_person(players, words, is_at_once=bool(self.at_once))]
                if self.at_once:
                    return [_introduce_table(players, words)]
                return [_introduce_reader(players, self.titles, words)]
            case Prose(text) | PrivateProse(text):
                return [language.translate(text)]
            case Worded(text, places):
                return [language.write_text(text, places)]
            case Board(rows):
                return ["\n".join(_list_rows(rows))]
            case AtOnce(choices):
                return [_list_actions(choices, words)]
            case Cells(cells):
                return [write_payoffs(self.at_once, cells, words, self.layout)]
            case NearestWins() | LowerClaim() | LowestEffort():
                return [_describe_payoff_rule(statement, language)]
            case Rest():
                return [language.say("rest")]
            case Course() if self.layout == "lines":
                lines = _list_course(self.players, statement, words, None)
                return ["\n".join(lines)]
            case Course():
                return _write_outline(self.players, statement, language, self.most)
            case Repetition():
                return [_describe_repetition(statement, language)]
            case Summary():
                return ["\n".join(_list_summary(statement, words))]
            case Aim(rational):
                opponents = self.players if self.zero_sum else ()
                return [_describe_aim(opponents, rational, words)]
            case UntoldPayoffs():
                return [language.say("untold-payoffs")]
            case GameRule():
                return [words.tell(statement)]


def _list_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a board as a table, row by row, the cells of a column below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _introduce_person(players: Sequence[str], words: Narrator, *, is_at_once: bool) -> str:
    language = words.language
    others = [language.write_role(name) for name in players if name != words.reader]
    told = language.say(
        "people",
        who=language.write_role(words.reader or ""),
        others=language.join(others, "standard"),
        count=len(others),
    )
    if not is_at_once:
        return told
    return f"{told} {language.say('people.at-once', count=len(others))}"


def _introduce_table(players: Sequence[str], words: Narrator) -> str:
    language = words.language
    who = language.write_name(words.reader or "")
    names = list(map(language.write_name, players))
    if len(players) == 1:
        return language.say("intro.alone", who=who)
    if len(players) > 2:
        return language.say(
            "intro.many",
            who=who,
            count=len(players),
            names=", ".join(names),
        )
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
        options = ", ".join(words.language.write_options(choice.options))
        lines.append(words.say("actions", choice.who, options=options))
    return "\n".join(lines)


def _describe_aim(opponents: Sequence[str], rational: bool, words: Narrator) -> str:
    """Say what the reader aims at.

    `opponents` are the two players of a zero-sum game, else nobody.
    """
    say = words.language.say
    others = [words.language.write_name(who) for who in opponents if who != words.reader]
    sentences = [say("zero-sum", other=others[0])] if others else []
    sentences.append(say("aim"))
    if rational and others:
        rival = others[0]
        sentences.append(say("aim.rival", other=rival[:1].upper() + rival[1:]))
    elif rational:
        sentences.append(say("aim.others"))
    return " ".join(sentences)


def _describe_payoff_rule(rule: PayoffRule, language: Language) -> str:
    write = language.write_number
    match rule:
        case NearestWins(factor, prize):
            return language.say("nearest", factor=write(factor), prize=write(prize))
        case LowerClaim(bonus):
            return language.say("lower-claim", bonus=write(bonus))
        case LowestEffort(gain, cost, base):
            return language.say(
                "lowest-effort",
                gain=write(gain),
                cost=write(cost),
                base=write(base),
            )


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
        percent = language.write_number(100 * repetition.discount)
        sentences.append(language.say("rounds.discount", percent=percent))
    if repetition.noise:
        percent = language.write_number(100 * repetition.noise)
        sentences.append(language.say("rounds.noise", percent=percent))
    return " ".join(sentences)


def check_length(rules: Sequence[Statement], name: str, most_tokens: int = MOST_TOKENS) -> None:
    """Raise TooLarge if rules hold a course that is too long to be told.

    A size in place of a course counts too.
    """
    most = most_tokens * CHARACTERS_PER_TOKEN
    players: tuple[str, ...] = ()
    for statement in rules:
        if isinstance(statement, Players):
            players = statement.names
        ends = None
        if isinstance(statement, Summary):
            ends = statement.ends
        elif isinstance(statement, Course):
            outline = _find_outline(players, statement, load_language(ENGLISH), most)
            if outline is None:
                ends = read_course(statement).num_ends
        if ends is not None:
            raise TooLarge(
                f"{name or 'the tree'} has {ends:,} ends; telling it takes more than"
                f" {most_tokens:,} tokens ({most:,} characters), the most that a player can be"
                " asked to read. Use a smaller version of the game"
            )


def _write_outline(
    players: Sequence[str],
    course: Course,
    language: Language,
    most: int,
) -> list[str]:
    outline = _find_outline(tuple(players), course, language, most)
    if outline is None:
        # Whoever has to read it is refused by `check_length`.
        return [language.say("summary", ends=language.write_count(read_course(course).num_ends))]
    return [language.say("outline.how"), outline]


@lru_cache(maxsize=16)
def _find_outline(
    players: tuple[str, ...],
    course: Course,
    language: Language,
    most: int,
) -> str | None:
    """Return the outline of a course, None where it is too long to be read."""
    lines: list[str] = []
    length = -1  # no line break stands before the first line
    for line in list_outline(read_course(course), players, language):
        length += len(line) + 1
        # A course may have thousands of positions: no more of it is written than is needed to
        # refuse it.
        if length > most:
            return None
        lines.append(line)
    return "\n".join(lines)


def _introduce_reader(players: Sequence[str], titles: Sequence[str], words: Narrator) -> str:
    language = words.language
    who = language.write_name(words.reader or "")
    names = ", ".join(map(language.write_name, players))
    if titles:
        return language.say(
            "intro.title",
            who=who,
            title=language.write_name(titles[0]),
            names=names,
        )
    return language.say("intro", who=who, names=names)


@lru_cache(maxsize=1024)
def _write_history(history: tuple[Event, ...], reader: str, language: Spoken) -> str:
    words = Narrator(load_language(language), reader)
    narrator = None if _has_rounds(history) else _find_narrator(history)
    if narrator is not None:
        return narrator.tell_now(history, words)
    if _has_rounds(history):
        told = _tell_rounds(history, words)
        texts = (*told.before, *told.past, told.now)
        has_long = any("\n" in text for text in texts)
        return ("\n\n" if has_long else "\n").join(filter(None, texts))
    before: list[str] = []
    remarks: list[str] = []
    after: list[str] = []
    for event in history:
        if isinstance(event, YourTurn):
            before.append(words.language.say("asked"))
        elif isinstance(event, Holds):
            remarks.append(words.language.say("holds", card=words.name_card(event.card)))
        elif (known := _describe_knowledge(event, words)) is not None:
            after.append(known)
        elif remark := _describe_remark(event, words):
            remarks.append(remark)
    steps = _describe_steps(history, words)
    if steps:
        remarks.append(steps)
    elif history and not remarks and not after:
        remarks.append(words.language.say("nothing-yet"))
    return " ".join(before + remarks + after)


def _has_rounds(history: Iterable[Event]) -> bool:
    return any(isinstance(event, Round) for event in history)


@runtime_checkable
class Narrated(Protocol):
    """An event of a game whose history, or whose rounds, are told in a way of their own."""

    @classmethod
    def tell_past(cls, number: int, events: Sequence[Event], words: Narrator) -> str:
        """Tell a round that is over."""

    @classmethod
    def tell_now(cls, events: Sequence[Event], words: Narrator) -> str:
        """Tell the present round, or a history without rounds."""


def _find_narrator(events: Iterable[Event]) -> Narrated | None:
    for event in events:
        if isinstance(event, GameEvent) and isinstance(event, Narrated):
            return event
    return None


def _describe_remark(event: Event, words: Narrator) -> str:
    """Say what is told in a sentence of its own; empty for other events."""
    match event:
        case EarnedSoFar(amount):
            return words.language.say("earned", amount=words.language.write_number(amount))
        case RoundsForgotten(count):
            return words.language.say("rounds-forgotten", count=count)
        case RoundsInShort(summary):
            return words.language.say("rounds-in-short", summary=summary)
        case OwnReasons(text):
            return words.language.say("own-reasons", text=text)
        case GameEvent() if not event.is_step:
            return words.tell(event)
        case _:
            return ""


def _describe_knowledge(event: Event, words: Narrator) -> str | None:
    """Say what the reader knows of where it is; None for any other event."""
    say = words.language.say
    match event:
        case OneOf(ways):
            told = [f"({_join_steps(way, words)})" for way in ways]
            return say("one-of", ways="; ".join(told))
        case Unaware():
            return say("unaware")
        case Reached(letter):
            return say("reached", letter=letter)
        case Prose(text) | PrivateProse(text):
            return words.language.translate(text)
        case _:
            return None


def _describe_steps(history: Sequence[Event], words: Narrator) -> str:
    """Say what was done so far, and at the end what everybody got; nothing where nothing was."""
    say = words.language.say
    steps = _list_steps(history, words)
    is_over = any(isinstance(event, Over) for event in history)
    if not steps:
        return say("over") if is_over else ""
    if not is_over:
        return say("so-far", steps=", ".join(steps))
    paid = [event for event in history if isinstance(event, Paid)]
    return say("over.steps", steps=_add_payoffs(", ".join(steps), paid, words))


def _list_steps(events: Iterable[Event], words: Narrator) -> list[str]:
    return [step for event in events if (step := _describe_step(event, words))]


@dataclass(frozen=True, slots=True)
class _ToldRounds:
    """What is said before the rounds, of each round gone by, and of the present one."""

    before: list[str]
    past: list[str]
    now: str


def list_rounds(view: View, language: Spoken = ENGLISH) -> tuple[list[str], str] | None:
    """Tell the rounds gone by, a text for each, and the present one.

    Returns None where a game is not told by rounds, but by its position or as one story.
    """
    if view.position or not _has_rounds(view.history):
        return None
    told = _tell_rounds(view.history, Narrator(load_language(language), view.role))
    return told.past, told.now


def _tell_rounds(history: Sequence[Event], words: Narrator) -> _ToldRounds:
    before, rounds = split_rounds(history)
    over = any(isinstance(event, Over) for event in history)
    gone_by = rounds if over else rounds[:-1]
    past = [_write_past_round(one, words) for one in gone_by]
    now = []
    if not over:
        now.append(_write_present_round(rounds[-1], words))
    else:
        # What is said of the whole game comes after its end.
        endings = [_describe_remark(event, words) for event in history if _is_ending(event)]
        if not any(isinstance(event, GameEvent) and event.is_ending for event in history):
            now.append(words.language.say("over"))
        now += endings
    remarks = [_describe_remark(event, words) for event in before]
    opening = list(filter(None, remarks))
    return _ToldRounds(opening, past, " ".join(now))


def _is_ending(event: Event) -> bool:
    return isinstance(event, EarnedSoFar) or (isinstance(event, GameEvent) and event.is_ending)


def _write_past_round(played: PlayedRound, words: Narrator) -> str:
    narrator = _find_narrator(played.events)
    if narrator is not None:
        text = narrator.tell_past(played.number, played.events, words)
    else:
        steps = _add_payoffs(", ".join(_list_round_steps(played, words)), played.events, words)
        text = words.language.say("round.past", number=played.number, steps=steps)
    reasons = [
        _describe_remark(event, words) for event in played.events if isinstance(event, OwnReasons)
    ]
    return "\n".join((text, *reasons))


def _write_present_round(present: PlayedRound, words: Narrator) -> str:
    narrator = _find_narrator(present.events)
    if narrator is not None:
        return narrator.tell_now(present.events, words)
    steps = _list_round_steps(present, words)
    if steps:
        told = [words.language.say("round.past", number=present.number, steps=", ".join(steps))]
    else:
        told = [words.language.say("round.now", number=present.number)]
    told += [remark for event in present.events if (remark := _describe_remark(event, words))]
    return " ".join(told)


def _list_round_steps(played: PlayedRound, words: Narrator) -> list[str]:
    """List the steps of a round; a text that a game gives in place of events is one."""
    steps = []
    for event in played.events:
        if isinstance(event, Prose | PrivateProse):
            steps.append(event.text.rstrip("."))
        elif step := _describe_step(event, words):
            steps.append(step)
    return steps


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
                "meant",
                who,
                meant=language.write_name(meant),
                made=language.write_name(made),
            )
        case Made(who, move):
            return words.say("made", who, move=language.write_name(move))
        case Mixed(who, weights):
            return words.say("mixed", who, weights=language.list_numbers(weights))
        case Saw(what):
            return language.say("saw", what=what)
        case Dealt(who, card):
            return words.say("dealt", who, card=words.name_card(card))
        case LaidOpen(card):
            return language.say("laid-open", card=words.name_card(card))
        case GameEvent() if event.is_step:
            return words.tell(event)
        case _:
            return ""


def list_choices(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Tell only who chooses what when and what is drawn."""
    words = Narrator(load_language(ENGLISH))
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
    """Return the payoffs of every end by how the play comes to it, in words.

    The words are like `If Ann chooses x and Bob chooses l`.
    """
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
    players: Sequence[str],
    cells: Sequence[Cell],
    words: Narrator,
    most: int | None,
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
    players: Sequence[str],
    course: Course,
    words: Narrator,
    most: int | None,
) -> list[str]:
    chart = read_course(course)
    if len(course.positions) > _MOST_POSITIONS:
        num_ends = words.language.write_count(chart.num_ends)
        summary = words.language.say("summary", ends=num_ends)
        return [summary, *_list_ends(chart, players, words, most or 20)]
    turns = list(list_turns(chart, words))
    if most is not None and len(turns) > most:
        num_more = words.language.write_count(len(turns) - most)
        turns[most:] = [words.language.say("more", count=num_more)]
    return [*turns, *_list_ends(chart, players, words, most)]


def _list_ends(
    chart: Map,
    players: Sequence[str],
    words: Narrator,
    most: int | None,
) -> list[str]:
    goes_on = any(chart.children[child] for child in chart.children[0])
    key = "ends" if goes_on else "cells"
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
