"""What is told when a game is over, after the payoffs: what the equilibrium would have been, and how the play compares.

What theory says comes from `analysis.theory`; where nothing is known, that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bestresponse.analysis.regrets import iterate_decisions, measure_against_others
from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree
from bestresponse.analysis.theory import Theory, describe_theory
from bestresponse.core.capabilities import EquilibriumSummary, TheoryRemark, find_equilibrium_moves
from bestresponse.core.episode import Record
from bestresponse.core.game import Action, AnyGame, Role
from bestresponse.games.capabilities import HasStage
from bestresponse.report.document import Block, Cell, Column, Note, Paragraph, Table
from bestresponse.theory.trees.sequence_form import policy_value
from bestresponse.web.sessions.session import format_action, round_amount
from bestresponse.web.sessions.setup import GameChoice, make_game

_MOST = 12
_SURE = 1e-9
_NASH = "In an equilibrium nobody gains by changing only their own choice."
_PERFECT = (
    "In a subgame-perfect equilibrium whoever moves does what is best for them at every point of the game, also at "
    "those that are never reached, knowing that everybody who moves later does the same."
)
_ONLY = (
    "As the number of rounds is known, playing this in every round is the only subgame-perfect equilibrium of "
    "the whole game."
)
_REPEATED = "Playing one of these in every round is an equilibrium of the whole game; it can have many others."
_NOTHING = "No equilibrium of this game is known here: it has no payoff table and no tree that is small enough."


def describe_equilibria(choice: GameChoice, record: Record) -> tuple[Block, ...]:
    """Describe what theory says of the game and of this play of it, as blocks of a document."""
    game = make_game(choice)
    theory = describe_theory(game)
    if theory.known is not None:
        return _describe_known(game, theory.known, record)
    match theory.solution:
        case SolvedTree() as tree:
            return _describe_tree(game, theory, tree, record)
        case SolvedTable() as table:
            return _describe_table(game, table, record)
        case _:
            return (Note(game.theory_remark if isinstance(game, TheoryRemark) else _NOTHING),)


def _describe_known(game: AnyGame, known: EquilibriumSummary, record: Record) -> tuple[Block, ...]:
    said = (f"{known.concept[:1].upper()}{known.concept[1:]}: {known.words}", known.better)
    words = tuple(Paragraph(text) for text in said if text)
    if not known.payoffs:
        moves = [
            (
                role,
                game.view(state, role).situation,
                action,
                format_action(find_equilibrium_moves(game, state).get(role)),
            )
            for _, state, role, action in iterate_decisions(record, game)
        ]
        return (*words, _tabulate_moves(moves))
    rows = {"earned here": record.payoffs, "in equilibrium": known.payoffs, "together at best": known.better_payoffs}
    return (*words, _tabulate_payoffs(game.roles, rows))


def _tabulate_moves(moves: Sequence[tuple[Role, str, Action, str]]) -> Table:
    """Put every answer beside that of the equilibrium, with what was known when it was given."""
    columns = (Column("who"), Column("knowing"), Column("did"), Column("in equilibrium"))
    rows = tuple((role, known, format_action(action), usual) for role, known, action, usual in moves)
    return Table(columns, rows, "Move by move")


def _tabulate_payoffs(roles: Sequence[Role], rows: Mapping[str, Mapping[Role, float] | None]) -> Table:
    columns = (Column(""), *(Column(role, "right", format=".4g") for role in roles))
    cells = tuple((name, *(earned.get(role) for role in roles)) for name, earned in rows.items() if earned)
    return Table(columns, cells, "Payoffs")


def _describe_table(game: AnyGame, solved: SolvedTable, record: Record) -> tuple[Block, ...]:
    shown = solved.nash.equilibria[:_MOST]
    found: list[Block] = [Paragraph(f"{_NASH} {_say_how_many(solved)}")]
    roles = solved.game.players
    columns = (Column(""), *(Column(role) for role in roles), *(Column(f"{role} gets", "right") for role in roles))
    rows: list[tuple[Cell, ...]] = []
    for number, equilibrium in enumerate(shown, 1):
        mixes = zip(solved.game.actions, equilibrium.strategies, strict=True)
        played = [_format_mix(dict(zip(actions, map(float, mix), strict=True))) for actions, mix in mixes]
        name = f"equilibrium {number}" if len(shown) > 1 else "equilibrium"
        rows.append((name, *played, *map(_format_number, equilibrium.payoffs)))
    repeated = isinstance(game, HasStage)
    if not repeated and record.payoffs:
        given = {s.role: s.decision.action for s in record.submissions}
        answers = (format_action(given.get(role)) for role in roles)
        rows.insert(0, ("what was played", *answers, *(_format_number(record.payoffs[role]) for role in roles)))
    found.append(Table(columns, tuple(rows), "Of one round" if repeated else ""))
    found.append(Paragraph(_judge_play(game, record)))
    if isinstance(game, HasStage):
        only = solved.nash.complete and len(solved.nash.equilibria) == 1 and game.continuation == 1.0
        found.append(Paragraph(_ONLY if only else _REPEATED))
    return tuple(found)


def _say_how_many(solved: SolvedTable) -> str:
    count = len(solved.nash.equilibria)
    if not solved.nash.complete:
        return "Here is one; there may be more." if count == 1 else f"Here are {min(count, _MOST)}; there may be more."
    if any(one.index is None for one in solved.nash.equilibria) and count > 1:
        return f"This game has infinitely many; {'some' if count > _MOST else 'these'} of their corners are shown."
    return "This game has exactly one." if count == 1 else f"This game has {count}."


def _format_mix(chances: Mapping[str, float]) -> str:
    """Format a move, or each with its share.

    >>> _format_mix({"swerve": 0.9, "straight": 0.1})
    'swerve 90 %, straight 10 %'
    """
    used = {move: p for move, p in chances.items() if p > _SURE}
    if len(used) == 1:
        return next(iter(used))
    return ", ".join(f"{move} {100 * p:.3g} %" for move, p in used.items())


def _format_number(amount: float) -> str:
    return f"{round_amount(amount):.4g}"


def _judge_play(game: AnyGame, record: Record) -> str:
    """Say whether anybody could have gained, given what the others did."""
    lost = measure_against_others(record, game)
    if not lost:
        return ""
    who = {number: s.role for number, s in enumerate(record.submissions, 1)}
    if isinstance(game, HasStage):
        missed = {role: sum(lost[n] > _SURE for n in lost if who[n] == role) for role in game.roles}
        rounds = len(lost) // len(game.roles)
        counts = ", ".join(f"{role} in {count} of {rounds}" for role, count in missed.items())
        return f"Rounds in which another choice would have earned more in that round: {counts}."
    gains = [f"{who[n]} could have gained {_format_number(lost[n])}" for n in sorted(lost) if lost[n] > _SURE]
    if not gains:
        return "What was played is an equilibrium: given what the others did, nobody could have gained."
    return f"What was played is no equilibrium: given what the others did, {' and '.join(gains)}."


def _describe_tree(game: AnyGame, theory: Theory, solved: SolvedTree, record: Record) -> tuple[Block, ...]:
    perfect = solved.subgame_perfect
    found: list[Block] = [Paragraph(_PERFECT if perfect else _NASH)]
    policy, *others = theory.policies
    if perfect and perfect.count > 1:
        found.append(Paragraph(f"This game has {perfect.count:,}, as some moves are equally good; here is one."))
    if others and not perfect:
        found.append(Paragraph(f"This game has {len(theory.policies)} or more; here is one."))
    if solved.cfr is not None:
        found.append(Note(f"The numbers are approximate: {solved.remarks[0]}."))
    moves = []
    for _, state, role, action in iterate_decisions(record, game):
        label = theory.name_infoset(game.view(state, role))
        moves.append((role, label, action, _format_mix(policy.at(role, label))))
    payoffs = {"earned here": record.payoffs, "in equilibrium, on average": policy_value(solved.tree, policy)}
    return (*found, _tabulate_moves(moves), _tabulate_payoffs(game.roles, payoffs))
