"""Colonel Blotto: distribute troops over battlefields without knowing the other's plan.

A zero-sum game in which no pure plan is safe (E. Borel 1921); with few troops the table of all
plans is small enough to be solved exactly, see `Blotto.normal_form`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np

from bestresponse.core import Action, Ask, Choice, Role, View
from bestresponse.core.agreement import ToldPlay, hold_equal
from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.core.told import Aim, Chose, Event, GameRule, Over, Players
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.generators import divisions

_MOST_PLANS = 5000


@dataclass(frozen=True, slots=True)
class BattlefieldRule(GameRule):
    """Two distribute troops over fields at the same time; `example` is one way to do it."""

    message = "battlefields"
    troops: int
    fields: int
    example: str

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction] | None:
        """Count the fields that each wins and loses by the plans that are told."""
        plans: dict[Role, list[int]] = {}
        for event in play.history:
            if isinstance(event, Chose) and len(event.options) == 1:
                plans[event.who] = [int(troops) for troops in event.options[0].split("-")]
        if len(plans) != 2:
            return None
        for who, plan in plans.items():
            hold_equal(Fraction(self.troops), sum(plan), f"the number of troops of {who}")
            hold_equal(Fraction(self.fields), len(plan), f"the number of fields of {who}")
        (first, mine), (second, theirs) = plans.items()
        won = sum((a > b) - (a < b) for a, b in zip(mine, theirs, strict=True))
        return {first: Fraction(won), second: Fraction(-won)}


@dataclass(frozen=True)
class Blotto:
    """Distribute troops over battlefields against an unseen opponent.

    >>> list(Blotto(2, 2).plans)
    ['0-2', '1-1', '2-0']
    """

    troops: int = 6
    fields: int = 3
    name: str = "colonel-blotto"
    version: int = 1
    title = "Colonel Blotto"
    roles = ("Blotto", "Enemy")
    unit = "battlefields"

    def __post_init__(self) -> None:
        if self.troops < 1 or self.fields < 1:
            raise UsageError(f"Blotto needs troops and fields, got {self.troops} and {self.fields}")
        num_plans = comb(self.troops + self.fields - 1, self.troops)
        if num_plans > _MOST_PLANS:
            raise TooLarge(
                f"there are more than {_MOST_PLANS} ways to distribute {self.troops} troops"
            )

    @cached_property
    def plans(self) -> dict[str, tuple[int, ...]]:
        """Every plan by its label."""
        plans = divisions(self.troops, self.fields).tolist()
        return {"-".join(map(str, plan)): tuple(plan) for plan in plans}

    @cached_property
    def normal_form(self) -> NormalForm:
        """The table of the game, for the solvers."""
        plans = np.asarray(list(self.plans.values()))
        leads = plans[:, None, :] - plans[None, :, :]
        wins = np.sign(leads).sum(axis=2).astype(np.float64)
        labels = tuple(self.plans)
        return NormalForm(
            np.stack([wins, -wins]),
            self.roles,
            (labels, labels),
            self.name,
        )

    def start(self) -> tuple[str, ...]:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: tuple[str, ...]) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state:
            return {}
        plans = Choice(tuple(self.plans))
        return dict.fromkeys(self.roles, plans)

    def view(self, state: tuple[str, ...], role: Role) -> View:
        """Return what `role` may know in `state`."""
        example = list(self.plans)[len(self.plans) // 2]
        rules = (
            Players(self.roles),
            BattlefieldRule(self.troops, self.fields, example),
            Aim(),
        )
        history: tuple[Event, ...] = ()
        if state:
            chosen = [Chose(who, (plan,)) for who, plan in zip(self.roles, state, strict=True)]
            history = (*chosen, Over())
        return View(
            role,
            rules,
            history,
            {"rivals": [r for r in self.roles if r != role]},
        )

    def apply(self, state: tuple[str, ...], moves: Mapping[Role, Action]) -> tuple[str, ...]:
        """Return the state after these moves."""
        return tuple(moves[role] for role in self.roles)

    def payoffs(self, state: tuple[str, ...]) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        if not state:
            return dict.fromkeys(self.roles, 0.0)
        mine, theirs = (self.plans[label] for label in state)
        won = 0.0
        for ours, against in zip(mine, theirs, strict=True):
            won += (ours > against) - (ours < against)
        return dict(zip(self.roles, (won, -won), strict=True))

    def word_question(self, ask: Ask) -> str:
        """Ask for a plan."""
        return "How do you distribute your troops?"
