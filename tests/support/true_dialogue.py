"""The game that the simulated speaker really plays, in exact probabilities: the truth beside a
measured equilibrium.

`true_tree` is the dialogue with every text replaced by what it means (propose, insist, accept,
refuse; a style shown, a rebuttal that succeeds) and its exact probability: the limit of recorded
trees for ever more wordings. `true_payoffs` is what speakers expect who keep to one manner each,
`true_deviations` how far one dialogue strays from that. All are for two speakers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.games.dialogue.deals import Option, Trade, Verdict
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.players.dialogue.simulated import NEUTRAL, SLIP, edge, firmness, manner_in
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree

__all__ = ["true_deviations", "true_payoffs", "true_tree"]


@dataclass(frozen=True, slots=True)
class _Talk:
    """What was said so far in meaning: `standing` is the kind of the last message and what it is
    about."""

    case: int
    spoken: int = 0
    standing: tuple[str, Any] = ("silence", None)
    heard: tuple[str, ...] = ()
    own: tuple[tuple[str, ...], ...] = ((), ())


Outcomes = list[tuple[str, float, _Talk]]


def true_tree(game: DialogueGame) -> Tree:
    """The dialogue in meanings, with exact chances."""
    _check(game)
    count = len(game.cases)
    root = (_Talk(0), "") if count == 1 else None

    def expand(position: Any) -> Leaf | Chance | Turn:
        if position is None:
            return Chance({str(k): (1 / count, (_Talk(k), "")) for k in range(count)})
        talk, manner = position
        if talk.spoken == game.messages:
            return Leaf(_payoffs(game, talk))
        seat = talk.spoken % 2
        if manner:
            return Chance(
                {label: (p, (after, "")) for label, p, after in _say(game, talk, seat, manner)}
            )
        known = repr((game.cases[talk.case].private[seat], talk.heard, talk.own[seat]))
        return Turn(
            game.roles[seat], known, {option: (talk, option) for option in game.options(seat)}
        )

    return build_tree(game.roles, root, expand, name=f"true {game.name}")


def true_payoffs(game: DialogueGame, manners: Sequence[str]) -> tuple[float, ...]:
    """Return what each speaker expects when every one keeps to its manner."""
    chances, payoffs = _outcomes(game, manners)
    return tuple((chances @ payoffs).tolist())


def true_deviations(game: DialogueGame, manners: Sequence[str]) -> tuple[float, ...]:
    """Return the standard deviation of each speaker's payoff in one dialogue of these manners."""
    chances, payoffs = _outcomes(game, manners)
    return tuple(np.sqrt(chances @ (payoffs - chances @ payoffs) ** 2).tolist())


def _outcomes(game: DialogueGame, manners: Sequence[str]) -> tuple[Array, Array]:
    """Return the probability of every talk and, a row each, what the speakers earn in it."""
    _check(game)
    talks: list[tuple[float, _Talk]] = [
        (1 / len(game.cases), _Talk(case)) for case in range(len(game.cases))
    ]
    for number in range(game.messages):
        seat = number % 2
        talks = [
            (p * q, after)
            for p, talk in talks
            for _, q, after in _say(game, talk, seat, manners[seat])
        ]
    return np.array([p for p, _ in talks]), np.array([_payoffs(game, talk) for _, talk in talks])


def _check(game: DialogueGame) -> None:
    if game.domain.players != 2 or game.early_end:
        raise UsageError(
            "the truth is worked out for two speakers and talks that are not ended early"
        )
    if not isinstance(game.domain.deal, Option | Trade | Verdict):
        raise UsageError(
            f"the truth is worked out for options, trades and verdicts, not for a {game.name}"
        )


def _say(game: DialogueGame, talk: _Talk, seat: int, manner: str) -> Outcomes:
    """What a message in `manner` may mean, with exact probabilities."""
    meaning = manner_in(game.manners.texts.get(manner, f"in a {manner} tone"))
    debate = isinstance(game.domain.deal, Verdict)
    meanings = _argue(talk, meaning) if debate else _negotiate(game, talk, seat, manner, meaning)
    merged: dict[str, tuple[float, _Talk]] = {}
    for label, p, standing in meanings:
        own = tuple((*o, manner) if s == seat else o for s, o in enumerate(talk.own))
        after = replace(
            talk, spoken=talk.spoken + 1, standing=standing, heard=(*talk.heard, label), own=own
        )
        merged[label] = (merged.get(label, (0.0, after))[0] + p, after)
    return [(label, p, after) for label, (p, after) in merged.items() if p > 0]


def _negotiate(
    game: DialogueGame, talk: _Talk, seat: int, manner: str, meaning: str
) -> list[tuple[str, float, tuple[str, Any]]]:
    kind, about = talk.standing
    mine = _wish(game, talk, seat, manner)
    f = (
        1.0
        if kind in ("yields", "insists") and _cannot(game, talk, seat, about)
        else firmness(meaning)
    )
    match kind:
        case "silence":
            options = [(f, ("insists", mine)), (1 - f, ("yields", mine))]
        case "settled":
            options = [(1.0, ("settled", about))]
        case "yields":
            options = [(f, ("settled", mine)), (1 - f, ("settled", about))]
        case _:
            options = [(f, ("insists", mine)), (1 - f, ("settled", about))]
    return [(f"{standing[0]} {standing[1]}", p, standing) for p, standing in options]


def _argue(talk: _Talk, meaning: str) -> list[tuple[str, float, tuple[str, Any]]]:
    success = 0.5 if talk.spoken == 0 else 0.5 + edge(meaning, talk.standing[0])
    shown = [(meaning, 1 - SLIP), (NEUTRAL, SLIP)]
    if talk.spoken == 0:
        return [(style, p, (style, False)) for style, p in shown]
    return [
        (
            f"{style}, {'answered' if won else 'not answered'}",
            p * (success if won else 1 - success),
            (style, won),
        )
        for style, p in shown
        for won in (True, False)
    ]


def _wish(game: DialogueGame, talk: _Talk, seat: int, manner: str) -> Any:
    own = game.cases[talk.case].private[seat]
    if isinstance(game.domain.deal, Option):
        told = [item for item in own["values"] if item in game.manners.texts.get(manner, "")]
        return told[0] if told else max(own["values"], key=lambda item: own["values"][item])
    other = game.cases[talk.case].private[1 - seat]
    wanted = [item for item, count in other["endowment"].items() if count or not talk.spoken]
    owned = [item for item, count in own["endowment"].items() if count]
    give = min(owned, key=lambda item: own["values"][item])
    get = max(
        [item for item in wanted if item != give] or wanted, key=lambda item: own["values"][item]
    )
    return (give, get) if seat == 0 else (get, give)


def _cannot(game: DialogueGame, talk: _Talk, seat: int, about: Any) -> bool:
    if not isinstance(game.domain.deal, Trade):
        return False
    return not game.cases[talk.case].private[seat]["endowment"][about[seat]]


def _payoffs(game: DialogueGame, talk: _Talk) -> tuple[float, ...]:
    kind, about = talk.standing
    private = game.cases[talk.case].private
    match game.domain.deal:
        case Verdict():
            last = (talk.spoken - 1) % 2
            return game.domain.deal.utilities({"winner": last if about else 1 - last}, private)
        case Option():
            settled = kind == "settled"
            return game.domain.deal.utilities(
                {"agreed": settled, "choice": about if settled else None}, private
            )
        case Trade():
            gives = [{item: 1} for item in about] if kind == "settled" else [{}, {}]
            return game.domain.deal.utilities(
                {"agreed": kind == "settled", "gives": gives}, private
            )
    raise UsageError(f"there is no truth about {game.name}")
