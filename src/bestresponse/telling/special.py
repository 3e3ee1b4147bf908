"""The sentences of special games: auctions, a common project, poker, a drought, talks.

A statement or an event whose message has a place for each of its fields needs one line in a table
here; the others have a function.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from fractions import Fraction

from bestresponse.core.special import (
    CARD_NAMES,
    BattlefieldRule,
    BidMade,
    DroughtOver,
    DroughtRule,
    EarnedSoFar,
    FirstPriceRule,
    HealthRule,
    Invested,
    KuhnRule,
    LeducRule,
    MessageTurn,
    NeedsRule,
    NobodyWrote,
    NoteTurn,
    NoWaterBid,
    NumberChosen,
    NumberEach,
    OfferAnswered,
    OfferMade,
    OwnReasons,
    OwnValue,
    Points,
    PointsGiven,
    PointsRule,
    PointsTurn,
    PoolRule,
    ProjectRule,
    PutIn,
    ResidentNeed,
    ResidentOut,
    ResidentState,
    ReturnedBack,
    RoundsForgotten,
    RoundsInShort,
    SalariesPaid,
    SecondPriceRule,
    SentOver,
    SupplyRule,
    TakesPart,
    TalkEnds,
    TalkRule,
    TalkSummed,
    TargetWas,
    TrustCoinsRule,
    TrustRule,
    UltimatumCoinsRule,
    UltimatumRule,
    UntoldPayoffs,
    WaterAuctionRule,
    WaterBid,
    WaterFound,
    WriteSo,
    Wrote,
)
from bestresponse.core.texts import quote_lines
from bestresponse.core.told import Event, SpecialRule, Told
from bestresponse.telling.course import Narrator

_RULES: dict[type, str] = {
    NumberEach: "number-each",
    PoolRule: "pool",
    PointsRule: "points-rule",
    BattlefieldRule: "battlefields",
    FirstPriceRule: "first-price",
    SecondPriceRule: "second-price",
    TrustRule: "trust",
    TrustCoinsRule: "trust.coins",
    UltimatumRule: "ultimatum",
    UltimatumCoinsRule: "ultimatum.coins",
    UntoldPayoffs: "untold-payoffs",
    WaterAuctionRule: "water.auction",
}
_STEPS: dict[type, str] = {
    NumberChosen: "number-chosen",
    TargetWas: "target",
    Invested: "invested",
    PutIn: "put-in",
    BidMade: "bid",
    SentOver: "sent",
    ReturnedBack: "returned",
    OfferMade: "offered",
}
"""Events that are told as one step among others: `Ann bid 3, Bob bid 4`."""
_REMARKS: dict[type, str] = {
    PointsTurn: "points-turn",
    EarnedSoFar: "earned",
    OwnValue: "own-value",
    RoundsForgotten: "rounds-forgotten",
}
"""Events that are told in a sentence of their own."""


def describe_special_rule(rule: SpecialRule, players: Sequence[str], words: Narrator) -> str:
    """Say a rule of a special game; where it is told otherwise to those who play, as to them."""
    match rule:
        case ProjectRule(_, factor):
            each = words.language.write_number(factor / len(players))
            return _say_rule("project", rule, words, each=each)
        case KuhnRule(cards):
            names = _join_cards(cards, words)
            first = words.language.write_name(players[0])
            return words.language.say(
                "kuhn",
                count=len(cards),
                cards=names,
                first=first,
            )
        case LeducRule():
            places = _write_places(rule, words) | {"cards": _join_cards(rule.cards, words)}
            first = words.language.write_name(players[0])
            return words.language.say(
                "leduc",
                count=2 * len(rule.cards),
                first=first,
                **places,
            )
        case DroughtRule(days):
            return _say_rule(_count("drought", days), rule, words)
        case HealthRule():
            twice = words.language.write_number(2 * rule.thirst)
            return _say_rule("health", rule, words, twice=twice)
        case NeedsRule(residents):
            lines = [_say_rule("needs", UntoldPayoffs(), words)]
            lines += [_describe_need(resident, words) for resident in residents]
            return "\n".join(lines)
        case SupplyRule(low, high):
            key = _count("supply.fixed", low) if low == high else "supply"
            return words.language.say(key, low=low, high=high)
        case TakesPart(name):
            return words.language.say("role", who=name)
        case TalkRule(replies, early_end, sealed):
            sentences = [words.language.say("talk", replies=replies)]
            if sealed:
                sentences.append(words.language.say("talk.notes"))
            elif early_end:
                sentences.append(words.language.say("talk.agreed"))
            return " ".join(sentences)
        case _:
            return _say_rule(_RULES[type(rule)], rule, words)


def _count(key: str, number: Fraction | int) -> str:
    """Return the message for one thing, or the one for any other number."""
    return f"{key}.one" if number == 1 else key


def _describe_need(resident: ResidentNeed, words: Narrator) -> str:
    return words.language.say(
        _count("need", resident.need),
        who=words.language.write_name(resident.who),
        need=words.language.write_number(resident.need),
        salary=_write_money(resident.salary, words),
    )


def _write_money(amount: Fraction, words: Narrator) -> str:
    """Write an amount of whole cents: 7 or 6.80."""
    if (100 * amount).denominator > 1 or amount.denominator == 1:
        return words.language.write_number(amount)
    return f"{float(amount):.2f}".replace(".", words.language.messages["decimal-mark"])


def _say_rule(key: str, rule: Told, words: Narrator, **more: str) -> str:
    own = f"{key}.you"
    is_told_to_player = words.reader is not None and own in words.language.messages
    return words.language.say(
        own if is_told_to_player else key,
        **_write_places(rule, words),
        **more,
    )


def _write_places(told: object, words: Narrator) -> dict[str, object]:
    """Write the fields of a statement or an event, but for who it is about."""
    places: dict[str, object] = {}
    for field in fields(told):  # type: ignore[arg-type]
        value = getattr(told, field.name)
        if field.name != "who":
            places[field.name] = _write_value(value, words)
    return places


def _write_value(value: object, words: Narrator) -> object:
    if isinstance(value, Fraction):
        return words.language.write_number(value)
    if isinstance(value, str):
        return words.language.write_name(value)
    if isinstance(value, tuple):
        return ", ".join(map(words.language.write_name, value))
    return value


def name_card(letter: str, words: Narrator) -> str:
    """Name a card by its letter: `king` for K."""
    return words.language.translate(CARD_NAMES.get(letter, letter))


def _join_cards(cards: Iterable[str], words: Narrator) -> str:
    return words.language.join([name_card(card, words) for card in cards], "standard")


def describe_special_step(event: Event, words: Narrator) -> str:
    """Say a step of a special game; empty for what is no step."""
    key = _STEPS.get(type(event))
    if key is not None:
        return _say_step(key, event, words)
    match event:
        case OfferAnswered(accepted):
            return words.language.say("accepted" if accepted else "rejected")
        case PointsGiven(points):
            if not points:
                return words.language.say("points.none")
            told = ", ".join(_describe_points(one, words) for one in points)
            return words.language.say("points.given", points=told)
        case _:
            return ""


def _say_step(key: str, event: Event, words: Narrator) -> str:
    places = _write_places(event, words)
    who = getattr(event, "who", None)
    return words.language.say(key, **places) if who is None else words.say(key, who, **places)


def _describe_points(points: Points, words: Narrator) -> str:
    if points.other == words.reader:
        who = words.language.write_name(points.who)
        return words.language.say("points.to-you", who=who, count=points.count)
    other = words.language.write_name(points.other)
    return words.say("points", points.who, other=other, count=points.count)


def describe_remark(event: Event, words: Narrator) -> str:
    """Say what is told in a sentence of its own; empty for other events."""
    key = _REMARKS.get(type(event))
    if key is not None:
        return _say_step(key, event, words)
    match event:
        case RoundsInShort(summary):
            return words.language.say("rounds-in-short", summary=summary)
        case OwnReasons(text):
            return words.language.say("own-reasons", text=text)
        case DroughtOver(alive):
            if not alive:
                return words.language.say("drought.over.nobody")
            names = ", ".join(map(words.language.write_name, alive))
            return words.language.say("drought.over", names=names)
        case _:
            return ""


def is_day(events: Sequence[Event]) -> bool:
    """Say whether these are the events of a day of a drought."""
    return any(isinstance(event, ResidentState | ResidentOut) for event in events)


def write_past_day(number: int, events: Sequence[Event], words: Narrator) -> str:
    """Tell a day that is over: its water, everybody's bid, and how everybody is doing then."""
    language = words.language
    lines: list[str] = []
    for event in events:
        match event:
            case WaterFound(units):
                lines.append(language.say(_count("day.past", units), number=number, units=units))
            case WaterBid(who, amount, served):
                key = "day.served" if served else "day.dry"
                lines.append(words.say(key, who, amount=_write_money(amount, words)))
            case NoWaterBid(who):
                lines.append(words.say("day.no-bid", who))
            case ResidentState():
                key = _count("day.state", event.dry_days)
                lines[-1] += " " + language.say(key, **_write_state(event, words))
            case ResidentOut():
                lines[-1] += " " + language.say("day.out")
    return "\n".join(lines)


def write_morning(events: Sequence[Event], words: Narrator) -> str:
    """Tell how everybody is doing before the bids of a day, the reader last."""
    language = words.language
    head: list[str] = []
    lines: list[str] = []
    own: list[str] = []
    for event in events:
        match event:
            case SalariesPaid(day, days):
                head.append(language.say("day.now", day=day, days=days))
            case WaterFound(units):
                head.append(language.say(_count("day.water", units), units=units))
            case ResidentState(who, _, _, dry_days):
                line = words.say(_count("day.stands", dry_days), who, **_write_state(event, words))
                (own if who == words.reader else lines).append(line)
            case ResidentOut(who):
                line = words.say("day.stands.out", who, name=language.write_name(who))
                (own if who == words.reader else lines).append(line)
    return "\n".join((" ".join(head), *lines, *own))


def _write_state(state: ResidentState, words: Narrator) -> dict[str, object]:
    name = words.language.write_name(state.who)
    money = _write_money(state.money, words)
    return _write_places(state, words) | {"name": name, "money": money}


def write_talk(history: Sequence[Event], words: Narrator) -> str:
    """Tell the messages of a talk, and what the reader is to write now."""
    messages = [event for event in history if isinstance(event, Wrote)]
    summaries = [event.summary for event in history if isinstance(event, TalkSummed)]
    if summaries:
        paragraphs = [words.language.say("talk.summed"), *map(quote_lines, summaries)]
    else:
        paragraphs = [_write_transcript(messages, words)]
    turn = write_own_turn(history, words)
    if turn:
        paragraphs.append(turn)
    for event in history:
        if isinstance(event, WriteSo):
            how = words.language.say("talk.how", manner=event.manner, task=event.task)
            paragraphs.append(how)
    return "\n\n".join(paragraphs)


def write_own_turn(history: Sequence[Event], words: Narrator) -> str:
    """Tell which message the reader writes now, and what comes after it."""
    turn: list[str] = []
    for event in history:
        match event:
            case MessageTurn():
                turn += _list_turn(event, words)
            case NoteTurn():
                turn.append(words.language.say("talk.note"))
            case TalkEnds(kind):
                turn.append(words.language.say(f"talk.ends.{kind}"))
    return " ".join(turn)


def _list_turn(turn: MessageTurn, words: Narrator) -> list[str]:
    """Say which message it is, how many come after it, and what may end the talk."""
    say = words.language.say
    if turn.own_left:
        which = "talk.turn"
    elif turn.left:
        which = "talk.turn.own-last"
    else:
        which = "talk.turn.last"
    if turn.own_left:
        rest = "talk.left.own"
    elif turn.left > 1:
        rest = "talk.left"
    else:
        rest = "talk.left.one" if turn.left else "talk.left.none"
    sentences = [
        say(which, number=turn.number, messages=turn.messages),
        say(rest, left=turn.left, own=turn.own_left),
    ]
    if turn.sealed:
        sentences.append(say("talk.left.notes"))
    elif turn.early_end:
        sentences.append(say("talk.left.agreed"))
    return sentences


def is_talk(history: Sequence[Event]) -> bool:
    """Say whether these are the events of a talk."""
    return any(isinstance(event, Wrote | NobodyWrote | TalkSummed) for event in history)


def _write_transcript(messages: Sequence[Wrote], words: Narrator) -> str:
    if not messages:
        return words.language.say("talk.nobody")
    told = [words.language.say("talk.transcript")]
    for message in messages:
        head = words.language.say(
            "talk.message",
            number=message.number,
            sender=message.sender,
            receiver=message.receiver,
        )
        told.append(f"{head}\n{quote_lines(message.text)}")
    return "\n\n".join(told)
