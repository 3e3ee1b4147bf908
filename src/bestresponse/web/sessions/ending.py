"""What is told when a game is over, after the payoffs: what the equilibrium would have been, and how the play compares.

Tables and trees are solved; of the other registered rules is told what theory knows (`games.known_equilibria`); where
nothing is known, that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree
from bestresponse.core.episode import Episode, Record
from bestresponse.core.game import Game, Role
from bestresponse.games.economic.known_equilibria import Known, equilibrium_moves, known_equilibrium
from bestresponse.games.economic.sealed_bid import SealedBid, State
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.games.water.game import Water
from bestresponse.report.document import Block, Cell, Column, Note, Paragraph, Table
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.trees.response import policy_value
from bestresponse.web.sessions.games import game_of
from bestresponse.web.sessions.setup import GameChoice
from bestresponse.web.watching.regrets import against_others, decisions, infoset_of, policies_of, solution_of

__all__ = ["equilibria"]

_MOST = 12
_SURE = 1e-9
_NASH = "In an equilibrium nobody gains by changing only their own choice."
_PERFECT = (
    "In a subgame-perfect equilibrium whoever moves does what is best for them at every point of the game, also at "
    "those that are never reached, knowing that everybody who moves later does the same."
)


@lru_cache(maxsize=64)
def _solution(choice: GameChoice) -> SolvedTable | SolvedTree | None:
    return solution_of(game_of(choice))


def equilibria(choice: GameChoice, record: Record) -> tuple[Block, ...]:
    """What theory says of the game and of this play of it, as blocks of a document."""
    game = game_of(choice)
    known = known_equilibrium(game)
    if known is not None:
        return _known(game, known, record)
    match _solution(choice):
        case SolvedTree() as tree:
            return _tree(game, tree, record)
        case SolvedTable() as table:
            return _table(game, table, record)
        case _:
            return (Note(_unknown(game)),)


def _unknown(game: Game[object]) -> str:
    if isinstance(game, Water):
        return (
            "No equilibrium of this game is known: it lasts for days, and what a bid is worth depends on all that may "
            "follow. One thing is certain: on the last day money is worth nothing any more, so that nothing "
            "is better than to bid all you have."
        )
    return "No equilibrium of this game is known here: it has no payoff table and no tree that is small enough."


def _known(game: Game[object], known: Known, record: Record) -> tuple[Block, ...]:
    found: list[Block] = [Paragraph(f"{known.concept[:1].upper()}{known.concept[1:]}: {known.words}")]
    if known.better:
        found.append(Paragraph(known.better))
    if isinstance(game, SealedBid):
        return (*found, _auction(game, record))
    rows = {"earned here": record.payoffs, "in equilibrium": known.payoffs}
    if known.better_payoffs:
        rows["together at best"] = known.better_payoffs
    return (*found, _payoffs(game.roles, rows))


def _payoffs(roles: Sequence[Role], rows: Mapping[str, Mapping[Role, float]]) -> Table:
    columns = (Column(""), *(Column(role, "right", format=".4g") for role in roles))
    cells = tuple((name, *(earned.get(role) for role in roles)) for name, earned in rows.items() if earned)
    return Table(columns, cells, "Payoffs")


def _auction(game: SealedBid, record: Record) -> Table:
    """Value and bid of everybody beside the equilibrium bid."""
    episode: Episode[State] = Episode(game)
    for submission in record.submissions:
        if len(episode.state.values) == len(game.roles):
            break
        episode.submit(submission.role, submission.decision)
    bids = equilibrium_moves(game, episode.state) or {}
    given = {s.role: s.decision.action for s in record.submissions}
    columns = (Column("bidder"), *(Column(name, "right", format=".4g") for name in ("value", "bid", "equilibrium bid")))
    rows = zip(game.roles, episode.state.values, strict=False)
    return Table(columns, tuple((role, value, given.get(role), bids.get(role)) for role, value in rows))


def _table(game: Game[object], solved: SolvedTable, record: Record) -> tuple[Block, ...]:
    shown = solved.nash.equilibria[:_MOST]
    found: list[Block] = [Paragraph(f"{_NASH} {_how_many(solved)}")]
    roles = solved.game.players
    columns = (Column(""), *(Column(role) for role in roles), *(Column(f"{role} gets", "right") for role in roles))
    rows: list[tuple[Cell, ...]] = [
        (f"equilibrium {number}" if len(shown) > 1 else "equilibrium", *_mixes(solved, one), *map(_number, one.payoffs))
        for number, one in enumerate(shown, 1)
    ]
    if not isinstance(game, RepeatedGame) and record.payoffs:
        given = {s.role: s.decision.action for s in record.submissions}
        played = (_said(given.get(role)) for role in roles)
        rows.insert(0, ("what was played", *played, *(_number(record.payoffs[role]) for role in roles)))
    found.append(Table(columns, tuple(rows), "Of one round" if isinstance(game, RepeatedGame) else ""))
    found.append(Paragraph(_verdict(game, record)))
    if isinstance(game, RepeatedGame):
        found.append(Paragraph(_repeated(game, solved)))
    return tuple(found)


def _how_many(solved: SolvedTable) -> str:
    count = len(solved.nash.equilibria)
    if not solved.nash.complete:
        return "Here is one; there may be more." if count == 1 else f"Here are {min(count, _MOST)}; there may be more."
    if any(one.index is None for one in solved.nash.equilibria) and count > 1:
        return f"This game has infinitely many; {'some' if count > _MOST else 'these'} of their corners are shown."
    return "This game has exactly one." if count == 1 else f"This game has {count}."


def _mixes(solved: SolvedTable, one: Equilibrium) -> list[str]:
    return [
        _mix(dict(zip(actions, map(float, mix), strict=True)))
        for actions, mix in zip(solved.game.actions, one.strategies, strict=True)
    ]


def _mix(chances: Mapping[str, float]) -> str:
    """A move, or each with its share.

    >>> _mix({"swerve": 0.9, "straight": 0.1})
    'swerve 90 %, straight 10 %'
    """
    used = {move: p for move, p in chances.items() if p > _SURE}
    if len(used) == 1:
        return next(iter(used))
    return ", ".join(f"{move} {100 * p:.3g} %" for move, p in used.items())


def _number(amount: float) -> str:
    return f"{round(float(amount), 9) + 0.0:.4g}"


def _said(action: object) -> str:
    if isinstance(action, tuple | list):
        return ", ".join(f"{100 * p:.3g} %" for p in action)
    return "–" if action is None else str(action)


def _verdict(game: Game[object], record: Record) -> str:
    """Whether anybody could have gained, given what the others did."""
    lost = against_others(record, game)
    if not lost:
        return ""
    who = {number: s.role for number, s in enumerate(record.submissions, 1)}
    if isinstance(game, RepeatedGame):
        missed = {role: sum(lost[n] > _SURE for n in lost if who[n] == role) for role in game.roles}
        rounds = len(lost) // len(game.roles)
        told = ", ".join(f"{role} in {count} of {rounds}" for role, count in missed.items())
        return f"Rounds in which another choice would have earned more in that round: {told}."
    gains = [f"{who[n]} could have gained {_number(lost[n])}" for n in sorted(lost) if lost[n] > _SURE]
    if not gains:
        return "What was played is an equilibrium: given what the others did, nobody could have gained."
    return f"What was played is no equilibrium: given what the others did, {' and '.join(gains)}."


def _repeated(game: RepeatedGame, solved: SolvedTable) -> str:
    only = solved.nash.complete and len(solved.nash.equilibria) == 1
    if only and game.continuation == 1.0:
        return (
            "As the number of rounds is known, playing this in every round is the only subgame-perfect equilibrium of "
            "the whole game."
        )
    return "Playing one of these in every round is an equilibrium of the whole game; it can have many others."


def _tree(game: Game[object], solved: SolvedTree, record: Record) -> tuple[Block, ...]:
    perfect = solved.subgame_perfect
    found: list[Block] = [Paragraph(_PERFECT if perfect else _NASH)]
    policies = policies_of(solved)
    policy = policies[0]
    if perfect and perfect.count > 1:
        found.append(Paragraph(f"This game has {perfect.count:,}, as some moves are equally good; here is one."))
    if len(policies) > 1 and not perfect:
        found.append(Paragraph(f"This game has {len(policies)} or more; here is one."))
    if solved.cfr is not None:
        found.append(Note(f"The numbers are approximate: {solved.remarks[0]}."))
    rows: list[tuple[Cell, ...]] = []
    for _, state, role, action in decisions(record, game):
        index = infoset_of(solved.tree, game, state, role)
        if index is not None:
            label = solved.tree.infosets[index].label
            rows.append((role, label, _said(action), _mix(policy.at(role, label))))
    columns = (Column("who"), Column("knowing"), Column("did"), Column("in equilibrium"))
    payoffs = {"earned here": record.payoffs, "in equilibrium, on average": policy_value(solved.tree, policy)}
    return (*found, Table(columns, tuple(rows), "Move by move"), _payoffs(game.roles, payoffs))
