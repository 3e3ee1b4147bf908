"""Whether what a game states is what it executes: players, options, odds, knowledge and payoffs.

`check_game` calls this. A game that gives texts (`Prose`) states nothing that could be checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import TypeVar, get_args

from bestresponse.core.ask import Amount, Ask, Choice, Lottery, Mixture
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE, Action, Game, Role, S
from bestresponse.core.paying import pay, pay_bids
from bestresponse.core.special import (
    BattlefieldRule,
    BidMade,
    FirstPriceRule,
    HealthRule,
    Invested,
    NeedsRule,
    NoWaterBid,
    NumberChosen,
    NumberEach,
    OfferAnswered,
    OfferMade,
    OwnValue,
    PointsGiven,
    PointsRule,
    PutIn,
    ResidentOut,
    ResidentState,
    ReturnedBack,
    SecondPriceRule,
    SentOver,
    SupplyRule,
    TrustRule,
    UltimatumRule,
    WaterAuctionRule,
    WaterBid,
    WaterFound,
)
from bestresponse.core.told import (
    AtOnce,
    Cells,
    Chose,
    Course,
    Decides,
    Draw,
    Event,
    NumberRule,
    PayoffRule,
    PlayEnd,
    Players,
    Repetition,
    Statement,
    list_children,
    split_rounds,
)

_MOST_CELLS = 2_000
_MOST_POSITIONS = 5_000
"""Of larger tables and trees only the first cells and positions are compared."""
_CLOSE = 1e-9
_AMOUNTS = (NumberChosen, Invested, PutIn)


_Kind = TypeVar("_Kind")
"""A kind of statement."""


class Disagreement(AssertionError):
    """A game states something else than it executes."""


def check_statements(game: Game[S]) -> None:
    """Compare the rules that every role is told with what the game asks, draws and pays."""
    for role in game.roles:
        rules = game.view(game.start(), role).rules
        _check_players(game, rules)
        at_once = _find(rules, AtOnce)
        if at_once is not None:
            _check_options(game, at_once)
            _check_cells(game, at_once, rules)
        course = _find(rules, Course)
        if course is not None:
            _check_course(game, course)
        numbers = _find(rules, NumberEach)
        if numbers is not None:
            _check_range(game, numbers)


def check_end(game: Game[S], state: S) -> None:
    """Compare the payoffs of a finished play with those of the stated rule.

    The rule is applied to what the histories say.
    """
    payoffs = game.payoffs(state)
    for role in game.roles:
        view = game.view(state, role)
        owed = _find_owed(game, state, view.rules, view.history)
        if owed is not None:
            _compare(owed[role], payoffs[role], f"the payoff of {role} after this play")


def _find(rules: Iterable[Statement], kind: type[_Kind]) -> _Kind | None:
    return next((rule for rule in rules if isinstance(rule, kind)), None)


def _check_players(game: Game[S], rules: Iterable[Statement]) -> None:
    players = _find(rules, Players)
    if players is not None and players.names != tuple(game.roles):
        raise Disagreement(
            f"the rules name the players {', '.join(players.names)};"
            f" the roles are {', '.join(game.roles)}"
        )


def _check_options(game: Game[S], at_once: AtOnce) -> None:
    asks = game.asks(game.start())
    for choice in at_once.choices:
        ask = asks.get(choice.who)
        if isinstance(ask, Choice | Mixture) and ask.options != choice.options:
            raise Disagreement(
                f"the rules say that {choice.who} chooses {' or '.join(choice.options)};"
                f" the game asks for {' or '.join(ask.options)}"
            )


def _check_range(game: Game[S], numbers: NumberEach) -> None:
    for role, ask in game.asks(game.start()).items():
        if isinstance(ask, Amount):
            _compare(numbers.low, ask.low, f"the lowest number that {role} can choose")
            _compare(numbers.high, ask.high, f"the highest number that {role} can choose")


def _check_cells(game: Game[S], at_once: AtOnce, rules: Sequence[Statement]) -> None:
    """Play the combinations of moves that the rules list, and compare what they pay."""
    cells = _find(rules, Cells)
    rule = next((one for one in rules if isinstance(one, get_args(PayoffRule))), None)
    repetition = _find(rules, Repetition)
    start = game.start()
    asks = game.asks(start)
    if set(asks) != set(game.roles):
        return
    combinations = product(*(choice.options for choice in at_once.choices))
    stated = {cell.moves: cell.payoffs for cell in cells.cells} if cells is not None else {}
    for moves in islice(combinations, _MOST_CELLS):
        if rule is not None:
            paid = pay(rule, [Fraction(move) for move in moves])
        elif moves in stated:
            paid = stated[moves]
        else:
            return
        named = dict(zip((choice.who for choice in at_once.choices), moves, strict=True))
        answers = {role: _answer(asks[role], move) for role, move in named.items()}
        after = game.apply(start, answers)
        if repetition is not None:
            after = _settle(game, after, named, repetition)
        payoffs = game.payoffs(after)
        for role, amount in zip(named, paid, strict=True):
            _compare(amount, payoffs[role], f"the payoff of {role} for {', '.join(moves)}")


def _settle(
    game: Game[S],
    state: S,
    meant: Mapping[Role, str],
    stated: Repetition,
) -> S:
    """Let the moves be made that were meant, and compare the odds of errors and of the end."""
    for move in meant.values() if stated.noise else ():
        ask = game.asks(state).get(NATURE)
        if not isinstance(ask, Lottery):
            raise Disagreement("the rules say that moves can go wrong; the game draws no errors")
        chance = dict(ask.chances).get(move, 0.0)
        if len(ask.chances) > 1:
            _compare(1 - stated.noise, chance, f"the probability that {move} is made as meant")
        state = game.apply(state, {NATURE: move})
    ask = game.asks(state).get(NATURE)
    if isinstance(ask, Lottery):
        chances = [chance for _, chance in ask.chances]
        misses = [abs(chance - stated.continuation) for chance in chances]
        if min(misses) > _CLOSE:
            raise Disagreement(
                f"the rules say that there is another round with probability"
                f" {stated.continuation}; the game draws with {chances}"
            )
    elif stated.continuation != 1 and stated.rounds > 1:
        raise Disagreement("the rules say that the end is drawn; the game draws no end")
    return state


def _answer(ask: Ask, move: str) -> object:
    """Answer a move for certain."""
    if isinstance(ask, Mixture):
        return tuple(float(option == move) for option in ask.options)
    return move


def _check_course(game: Game[S], course: Course) -> None:
    """Walk through the tree that is stated and the game side by side."""
    try:
        children = list_children(course)
    except InvalidGame as error:
        raise Disagreement(f"the rules state no tree: {error}") from None
    seen: dict[tuple[Role, str], str] = {}
    waiting: list[tuple[int, S, dict[Role, Action]]] = [(0, game.start(), {})]
    for _ in range(_MOST_POSITIONS):
        if not waiting:
            return
        place, state, chosen = waiting.pop()
        where = f"position {place + 1} of the course"
        asks = game.asks(state)
        position = course.positions[place]
        match position:
            case PlayEnd(payoffs):
                if asks:
                    raise Disagreement(f"{where} is an end; the game asks {', '.join(asks)}")
                earned = game.payoffs(state)
                for role, amount in zip(game.roles, payoffs, strict=True):
                    _compare(amount, earned[role], f"the payoff of {role} at {where}")
            case Draw():
                _check_draw(position, asks.get(NATURE), where)
                for outcome, child in zip(position.outcomes, children[place], strict=True):
                    waiting.append((child, game.apply(state, {NATURE: outcome.name}), {}))
            case Decides(who, options, mark):
                ask = asks.get(who)
                if not isinstance(ask, Choice) or ask.options != options:
                    asked = " or ".join(ask.options) if isinstance(ask, Choice) else "nothing"
                    raise Disagreement(
                        f"at {where} the rules say that {who} chooses {' or '.join(options)};"
                        f" the game asks for {asked}"
                    )
                _check_knowledge(game.view(state, who).key, seen, (who, mark or f"#{place}"), where)
                for option, child in zip(options, children[place], strict=True):
                    moves = {**chosen, who: option}
                    is_complete = set(moves) == set(asks)
                    after = game.apply(state, moves) if is_complete else state
                    waiting.append((child, after, {} if is_complete else moves))


def _check_draw(stated: Draw, ask: Ask | None, where: str) -> None:
    if not isinstance(ask, Lottery):
        raise Disagreement(f"at {where} the rules say that chance draws; the game draws nothing")
    drawn = {str(outcome): chance for outcome, chance in ask.chances}
    for outcome in stated.outcomes:
        _compare(
            outcome.chance,
            drawn.get(outcome.name, 0.0),
            f"the probability of {outcome.name} at {where}",
        )


def _check_knowledge(
    key: str,
    seen: dict[tuple[Role, str], str],
    known_as: tuple[Role, str],
    where: str,
) -> None:
    """Compare what a player sees with what positions are stated to look alike."""
    who, _ = known_as
    if seen.setdefault(known_as, key) != key:
        raise Disagreement(
            f"{where} looks to {who} like another one by the rules; the game shows something else"
        )
    own = [position for position in seen if position[0] == who and position != known_as]
    if any(seen[position] == key for position in own):
        raise Disagreement(
            f"{who} can tell {where} from all others by the rules; the game shows the same twice"
        )


def _find_owed(
    game: Game[S],
    state: S,
    rules: Sequence[Statement],
    history: Sequence[Event],
) -> dict[Role, Fraction] | None:
    """Return what the stated rule pays for what a history says.

    Returns None where no such rule is stated.
    """
    for rule in rules:
        if isinstance(rule, get_args(NumberRule)) and _find(rules, AtOnce) is None:
            return _pay_rounds(game.roles, rule, rules, history)
        if isinstance(rule, FirstPriceRule | SecondPriceRule):
            return _pay_auction(game, state, rule, history)
        if isinstance(rule, TrustRule):
            return _pay_trust(game.roles, rule, history)
        if isinstance(rule, UltimatumRule):
            return _pay_ultimatum(game.roles, rule, history)
        if isinstance(rule, BattlefieldRule):
            return _pay_battlefields(rule, history)
        if isinstance(rule, HealthRule):
            return _pay_drought(game.roles, rule, rules, history)
    return None


def _pay_rounds(
    roles: Sequence[Role],
    rule: NumberRule,
    rules: Sequence[Statement],
    history: Sequence[Event],
) -> dict[Role, Fraction] | None:
    points_rule = _find(rules, PointsRule)
    impact = Fraction(0) if points_rule is None else points_rule.impact
    owed = dict.fromkeys(roles, Fraction(0))
    for played in split_rounds(history)[1]:
        chosen = {one.who: one.amount for one in played.events if isinstance(one, _AMOUNTS)}
        if set(chosen) != set(roles):
            return None
        in_order = [chosen[role] for role in roles]
        for role, paid in zip(roles, pay(rule, in_order), strict=True):
            owed[role] += paid
        for event in played.events:
            for given in event.points if isinstance(event, PointsGiven) else ():
                owed[given.who] -= given.count
                owed[given.other] -= impact * given.count
    return owed


def _pay_auction(
    game: Game[S],
    state: S,
    rule: FirstPriceRule | SecondPriceRule,
    history: Sequence[Event],
) -> dict[Role, Fraction] | None:
    bids = {event.who: event.amount for event in history if isinstance(event, BidMade)}
    values = [
        event.amount
        for role in game.roles
        for event in game.view(state, role).history
        if isinstance(event, OwnValue)
    ]
    if set(bids) != set(game.roles) or len(values) != len(bids):
        return None
    paid = pay_bids(rule, values, [bids[role] for role in game.roles])
    return dict(zip(game.roles, paid, strict=True))


def _pay_trust(
    roles: Sequence[Role],
    rule: TrustRule,
    history: Sequence[Event],
) -> dict[Role, Fraction]:
    sent = sum(event.amount for event in history if isinstance(event, SentOver))
    returned = sum(event.amount for event in history if isinstance(event, ReturnedBack))
    paid = rule.endowment - sent + returned, rule.factor * sent - returned
    return dict(zip(roles, map(Fraction, paid), strict=True))


def _pay_ultimatum(
    roles: Sequence[Role],
    rule: UltimatumRule,
    history: Sequence[Event],
) -> dict[Role, Fraction]:
    accepted = OfferAnswered(accepted=True) in history
    offer = sum(event.amount for event in history if isinstance(event, OfferMade))
    paid = (rule.pie - offer, offer) if accepted else (0, 0)
    return dict(zip(roles, map(Fraction, paid), strict=True))


def _pay_battlefields(
    rule: BattlefieldRule, history: Sequence[Event]
) -> dict[Role, Fraction] | None:
    plans: dict[Role, list[int]] = {}
    for event in history:
        if isinstance(event, Chose) and len(event.options) == 1:
            plans[event.who] = [int(troops) for troops in event.options[0].split("-")]
    if len(plans) != 2:
        return None
    for who, plan in plans.items():
        _compare(Fraction(rule.troops), sum(plan), f"the number of troops of {who}")
        _compare(Fraction(rule.fields), len(plan), f"the number of fields of {who}")
    (first, mine), (second, theirs) = plans.items()
    won = sum((a > b) - (a < b) for a, b in zip(mine, theirs, strict=True))
    return {first: Fraction(won), second: Fraction(-won)}


def _pay_drought(
    roles: Sequence[Role],
    rule: HealthRule,
    rules: Sequence[Statement],
    history: Sequence[Event],
) -> dict[Role, Fraction]:
    """Return 1 for everybody whom the stated rules keep alive, given the bids that were made."""
    health = dict.fromkeys(roles, rule.start)
    dry_days = dict.fromkeys(roles, 0)
    for day in split_rounds(history)[1]:
        served = _find_served(rules, day.events)
        for event in day.events:
            if isinstance(event, WaterBid) and event.who in served:
                health[event.who] = min(health[event.who] + rule.gain, rule.most)
                dry_days[event.who] = 0
            elif isinstance(event, WaterBid | NoWaterBid):
                dry_days[event.who] += 1
                health[event.who] -= dry_days[event.who] * rule.thirst
            elif isinstance(event, ResidentState):
                where = f"of {event.who} on day {day.number}"
                _compare(health[event.who], float(event.health), f"the health {where}")
                _compare(Fraction(dry_days[event.who]), event.dry_days, f"the dry days {where}")
            elif isinstance(event, ResidentOut) and health[event.who] > 0:
                raise Disagreement(f"{event.who} is out on day {day.number}, but not by the rules")
    return {role: Fraction(health[role] > 0) for role in roles}


def _find_served(rules: Sequence[Statement], events: Sequence[Event]) -> set[Role]:
    """Return who gets water on a day by the stated auction: the highest bid first."""
    needs_rule = _find(rules, NeedsRule)
    auction = _find(rules, WaterAuctionRule)
    supply_rule = _find(rules, SupplyRule)
    left = Fraction(sum(event.units for event in events if isinstance(event, WaterFound)))
    bids = [event for event in events if isinstance(event, WaterBid)]
    if needs_rule is None or auction is None:
        return {bid.who for bid in bids if bid.served}
    if bids and supply_rule is not None and not supply_rule.low <= left <= supply_rule.high:
        raise Disagreement(
            f"the rules say that there are {supply_rule.low} to {supply_rule.high} units of water"
            f" per day; there were {left}"
        )
    needs = {resident.who: resident.need for resident in needs_rule.residents}
    bids.sort(key=lambda bid: (-bid.amount, needs[bid.who], auction.order.index(bid.who)))
    served: set[Role] = set()
    for bid in bids:
        if needs[bid.who] <= left:
            left -= needs[bid.who]
            served.add(bid.who)
        if bid.served != (bid.who in served):
            raise Disagreement(
                f"{bid.who} {'gets' if bid.served else 'gets no'} water for a bid of {bid.amount},"
                " against the rules of the auction that are told"
            )
    return served


def _compare(stated: Fraction, executed: float, what: str) -> None:
    if not math.isclose(stated, executed, rel_tol=_CLOSE, abs_tol=_CLOSE):
        raise Disagreement(f"{what} is {stated} by the rules that are told; it is {executed:g}")
