"""The figures of a steering run as plain data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import numpy as np

from bestresponse.core.json import JsonObject
from bestresponse.core.player import Status
from bestresponse.games.dialogue.recorded import PERSON, Entry
from bestresponse.report.stats.interval import Interval
from bestresponse.studies.steer.fresh import FreshPlays
from bestresponse.studies.steer.playing import GameResult
from bestresponse.studies.steer.psro.judging import in_table, table_nash_conv
from bestresponse.studies.steer.psro.search import PsroResult
from bestresponse.studies.steer.reading.imitation import Earned, Played
from bestresponse.studies.steer.reading.opinions import pooled
from bestresponse.studies.steer.session import SteerResults

__all__ = [
    "DialogueRow",
    "Worth",
    "as_json",
    "attainable_share",
    "follow_interval",
    "fresh_worth",
    "held_out_worth",
    "imitation_worth",
    "make_game_row",
    "new_prompt_mass",
    "recorded_worth",
    "shown",
    "summarise",
    "table_worth",
    "unguided_mixes",
    "unread",
]


@dataclass(frozen=True, slots=True)
class Worth:
    """What guidance earns: above staying unguided, above the others, and as a share of what the unguided earn.

    `won` is the share of dialogues in which the guided speaker earns most, a tie for half.
    """

    gain: Interval | None
    margin: Interval | None
    relative: float | None = None
    won: Interval | None = None

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        figures = {"gain": as_json(self.gain), "margin": as_json(self.margin), "relative_gain": self.relative}
        return figures if self.won is None else figures | {"won": as_json(self.won)}


def summarise(steered: SteerResults) -> JsonObject:
    """Return the figures of a run as plain data."""
    config = steered.config
    head = {
        "domain": steered.domain.name,
        "model": config.model,
        "judge": config.judge or config.model,
        "solver": config.solver,
        "games": config.games,
        "held_out_games": config.held_out,
        "replies": config.replies,
        "wordings": config.wordings,
        "seed": config.seed,
        "stopped": steered.stopped or None,
        "scenarios": _scenario_figures(steered),
    }
    return head | (_psro_figures(steered, steered.psro) if steered.psro is not None else _cfr_figures(steered))


def _scenario_figures(steered: SteerResults) -> JsonObject | None:
    """Who wrote the games, and what of it could not be played; None where the seed drew them."""
    if steered.written is None:
        return None
    rejected = Counter(steered.written.rejected)
    return {"by": steered.config.scenarios_by, "written": len(steered.written.scenarios), "rejected": dict(rejected)}


def _cfr_figures(steered: SteerResults) -> JsonObject:
    games = steered.games
    recorded = recorded_worth(steered)
    return {
        "iterations": steered.config.iterations,
        "answers": len(steered.entries),
        "solved_games": len(steered.solved),
        "void_games": [{"game": one.number, "why": one.why_void} for one in games if one.solved is None],
        "nash_conv": as_json(steered.interval("nash_conv")),
        "unguided_nash_conv": as_json(steered.interval("unguided_nash_conv")),
        "cfr_gain": as_json(recorded.gain),
        "attainable_share": attainable_share(steered),
        "best_response_gain": as_json(steered.interval("best_response_gain")),
        "margin": as_json(recorded.margin),
        "won": as_json(recorded.won),
        "relative_gain": recorded.relative,
        "fresh": _fresh_figures(steered, games),
        "readings": dict(Counter(entry.reading.status.value for entry in steered.entries)),
        "by_people": sum(entry.by == PERSON for entry in steered.entries),
        "follow_rate": _follow_figures(steered),
        "second_referee": _second_figures(steered),
        "imitation": _imitation_figures(steered),
        "per_game": [make_game_row(one) for one in (*games, *steered.held_out)],
    }


def recorded_worth(steered: SteerResults) -> Worth:
    """On the recorded texts, which the solver has seen."""
    solved = [one.solved for one in steered.solved if one.solved is not None]
    guided = [value for one in solved for value in one.guided_payoffs]
    unguided = [value for one in solved for value in one.unguided_payoffs]
    relative = _relative(guided, unguided)
    return Worth(steered.interval("gain"), steered.interval("margin"), relative, steered.interval("won"))


def attainable_share(steered: SteerResults) -> float | None:
    """Return the gain as a share of the most attainable without a higher NashConv; None where that is unknown."""
    solved = [one.solved for one in steered.solved if one.solved is not None]
    attainable = [one.attainable_gain for one in solved]
    known = [value for value in attainable if value is not None]
    if len(known) < len(attainable) or sum(known) <= 0:
        return None
    return sum(one.gain for one in solved) / sum(known)


def fresh_worth(steered: SteerResults, games: Sequence[GameResult]) -> Worth:
    """On fresh draws of the texts of these games, which no solver has seen."""
    return _worth(steered, [(one.number, one.fresh) for one in games if one.fresh is not None], "fresh")


def held_out_worth(steered: SteerResults, plays: FreshPlays) -> Worth:
    """Of a solution in prompt space on the games held out: play n is on game n % games."""
    return _worth(steered, _by_game(plays, steered.config.held_out), "held out")


def table_worth(steered: SteerResults, found: PsroResult) -> Worth:
    """Of a solution in prompt space on the plays that it was found by."""
    plays = in_table(found, steered.domain.manners(steered.config.actions).neutral)
    count = steered.config.games if steered.config.games > 1 else len(plays.unguided)
    return _worth(steered, _by_game(plays, count), "table")


def _by_game(plays: FreshPlays, games: int) -> list[tuple[int, FreshPlays]]:
    parts = ((game, slice(game, None, games)) for game in range(min(games, len(plays.unguided))))
    return [(game, FreshPlays(plays.unguided[part], plays.guided[:, part])) for game, part in parts]


def _worth(steered: SteerResults, parts: Sequence[tuple[int, FreshPlays]], what: str) -> Worth:
    if not parts:
        return Worth(None, None)
    clusters = np.concatenate([np.full(len(plays.unguided), game) for game, plays in parts])
    found = []
    for figure in ("gains", "margins", "wins"):
        values = np.concatenate([getattr(plays, figure) for _, plays in parts])
        known = np.isfinite(values)
        found.append(steered.mean(values[known].tolist(), f"{what} {figure}", clusters[known].tolist()))
    guided = [value for _, plays in parts for seat, own in enumerate(plays.guided) for value in own[:, seat]]
    unguided = [value for _, plays in parts for value in plays.unguided.ravel()]
    return Worth(found[0], found[1], _relative(guided, unguided), found[2])


def _relative(guided: Sequence[float], unguided: Sequence[float]) -> float | None:
    """By which share the guided earn more than the unguided; None where those earn nothing."""
    known = [[value for value in values if math.isfinite(value)] for values in (guided, unguided)]
    if not all(known) or sum(known[1]) <= 0:
        return None
    return float(np.mean(known[0]) / np.mean(known[1])) - 1


def _fresh_figures(steered: SteerResults, games: Sequence[GameResult]) -> JsonObject | None:
    plays = [one.fresh for one in games if one.fresh is not None]
    if not plays:
        return None
    met = sum((one.met for one in plays), Counter[str]())
    sizes = {"draws": steered.config.fresh, "plays": sum(one.plays for one in plays)}
    voids = {"void_plays": sum(one.void for one in plays), "situations": dict(met)}
    return sizes | voids | fresh_worth(steered, games).to_json()


def follow_interval(steered: SteerResults) -> Interval | None:
    """The follow rate with its interval over games; None where nothing was judged."""
    values, clusters = [], []
    for one in steered.games:
        values += [1.0] * one.followed.followed + [0.0] * (one.followed.judged - one.followed.followed)
        clusters += [one.number] * one.followed.judged
    return steered.mean(values, "follow", clusters)


def _follow_figures(steered: SteerResults) -> JsonObject | None:
    rate = as_json(follow_interval(steered))
    if rate is None:
        return None
    config, named = steered.config, sum((Counter(one.followed.named) for one in steered.games), Counter[Any]())
    classifier = config.classifier or config.judge or config.model
    return rate | {
        "classifier": classifier,
        "held_out": classifier != config.model,
        "judged": named.total(),
        "unreadable": sum(one.followed.unreadable for one in steered.games),
        "named": [{"told": told, "named": as_, "messages": n} for (told, as_), n in sorted(named.items())],
    }


def _second_figures(steered: SteerResults) -> JsonObject | None:
    opinions = pooled([one.opinions for one in steered.games])
    if not opinions.pairs and not opinions.void:
        return None
    found = {"same": opinions.same, "distance": opinions.distance, "alpha": opinions.alpha}
    return found | {"payoffs": len(opinions.pairs), "void": opinions.void}


def imitation_worth(steered: SteerResults, earned: Sequence[Earned], who: str) -> Worth:
    """What was earned on the games held out, with intervals over these games."""
    figures = ([one.gain for one in earned], [one.margin for one in earned])
    return Worth(steered.mean(figures[0], f"{who} gain"), steered.mean(figures[1], f"{who} margin"))


def _imitation_figures(steered: SteerResults) -> JsonObject | None:
    found = steered.imitation
    if found is None:
        return None
    return {
        "embedding": steered.config.embed,
        "trained_on": found.trained_on,
        "information_sets": found.information_sets,
        "steps": found.steps,
        "cross_entropy": {"trained_on": found.losses[0], "held_out": found.losses[1]},
        "held_out": found.held_out,
        "network": imitation_worth(steered, found.network, "network").to_json(),
        "average": imitation_worth(steered, found.average, "average").to_json(),
        "solver": imitation_worth(steered, found.solver, "solver").to_json(),
        "solver_fresh": _fresh_figures(steered, steered.held_out),
        "transfer": _transfer_figures(steered, found.elsewhere),
    }


def _transfer_figures(steered: SteerResults, found: Played | None) -> JsonObject | None:
    """What the network earns in a domain that it has not learned from; None where it was not played there."""
    if found is None:
        return None
    who = {"network": found.network, "average": found.average, "solver": found.solver}
    figures = {name: imitation_worth(steered, own, f"transfer {name}").to_json() for name, own in who.items()}
    return {"domain": steered.config.transfer, "games": len(found.network)} | figures


class DialogueRow(TypedDict):
    """One game of a run solved by CFR; a void one has a reason and no figures."""

    game: int
    scenario: list[JsonObject]
    most: JsonObject
    nodes: int | None
    information_sets: int | None
    leaves: int | None
    nash_conv: float | None
    unguided_nash_conv: float | None
    gain: float | None
    attainable_gain: float | None
    best_response_gain: float | None
    over_all_equilibria: bool | None
    margin: float | None
    won: float | None
    unguided_payoffs: Sequence[float] | None
    guided_payoffs: Sequence[float] | None
    equilibrium_payoffs: Sequence[float] | None
    fresh_gains: list[float | None] | None
    fresh_margins: list[float | None] | None
    why_void: str


def make_game_row(one: GameResult) -> DialogueRow:
    """List the figures of one game."""
    solved, fresh = one.solved, one.fresh
    return DialogueRow(
        game=one.number,
        scenario=[case.to_json() for case in one.game.cases],
        most=asdict(one.size),
        nodes=None if solved is None else solved.tree.num_nodes,
        information_sets=None if solved is None else len(solved.tree.infosets),
        leaves=None if solved is None else len(solved.tree.leaves),
        nash_conv=None if solved is None else solved.nash_conv,
        unguided_nash_conv=None if solved is None else solved.unguided_nash_conv,
        gain=None if solved is None else solved.gain,
        attainable_gain=None if solved is None else solved.attainable_gain,
        best_response_gain=None if solved is None else solved.best_response_gain,
        over_all_equilibria=None if solved is None else solved.refined.over_all,
        margin=None if solved is None else solved.margin,
        won=None if solved is None else solved.won,
        unguided_payoffs=None if solved is None else solved.unguided_payoffs,
        guided_payoffs=None if solved is None else solved.guided_payoffs,
        equilibrium_payoffs=None if solved is None else solved.equilibrium_payoffs,
        fresh_gains=None if fresh is None else _plain(fresh.gains),
        fresh_margins=None if fresh is None else _plain(fresh.margins),
        why_void=one.why_void,
    )


def new_prompt_mass(found: PsroResult) -> list[list[float]]:
    """For every seat, the probability of all manners that were not there at the start, by iteration."""
    start = found.history[0].prompts
    return [
        [
            float(sum(p for prompt, p in zip(step.prompts[seat], step.solution.marginals[seat], strict=True)
                      if prompt not in start[seat]))
            for step in found.history
        ]
        for seat in range(len(found.prompts))
    ]  # fmt: skip


def unguided_mixes(found: PsroResult, neutral: str) -> list[Any]:
    """Everybody neutral, as mixtures over the prompts of the table."""
    return [np.array([float(prompt == neutral) for prompt in own]) for own in found.prompts]


def _psro_figures(steered: SteerResults, found: PsroResult) -> JsonObject:
    config, held_out = steered.config, steered.psro_held_out
    neutral = steered.domain.manners(config.actions).neutral
    roles = [f"player {seat + 1}" for seat in range(len(found.prompts))]
    return {
        "oracle": config.oracle,
        "meta_solver": config.meta,
        "closed": found.closed,
        "iterations": len(found.history) - 1 + found.closed,
        "plays": steered.psro_played,
        "void_plays": steered.psro_voids,
        "prompts": dict(zip(roles, found.prompts, strict=True)),
        "payoffs": {role: as_json(value) for role, value in zip(roles, found.values, strict=True)},
        "probabilities": {
            role: {prompt: as_json(mass) for prompt, mass in zip(own, masses, strict=True)}
            for role, own, masses in zip(roles, found.prompts, found.masses, strict=True)
        },
        "new_prompt_mass": dict(zip(roles, new_prompt_mass(found), strict=True)),
        "nash_conv": table_nash_conv(found.game, found.solution.marginals),
        "unguided_nash_conv": table_nash_conv(found.game, unguided_mixes(found, neutral)),
        "in_table": table_worth(steered, found).to_json(),
        "held_out": None
        if held_out is None
        else {"plays": held_out.plays, "void_plays": held_out.void} | held_out_worth(steered, held_out).to_json(),
        "table": {"means": found.game.means.tolist(), "standard_errors": _plain(found.game.errors)},
        "responses": [
            [
                {"player": roles[r.seat], "new": r.best and r.best.manner, "value": r.value, "rejected": r.rejected}
                | {"tried": [asdict(c) | {"error": _finite(c.error)} for c in r.tried]}
                for r in iteration.responses
            ]
            for iteration in found.history
        ],
    }


def as_json(one: Interval | None) -> JsonObject | None:
    """Return an interval as plain data."""
    return None if one is None else one.to_json()


def shown(one: Interval | None) -> Interval | float | None:
    """An interval as a reader wants it: the estimate alone where nothing is known about its ends."""
    if one is None or (math.isfinite(one.low) and math.isfinite(one.high)):
        return one
    return one.estimate


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return [_plain(row) for row in array]
    return _finite(float(array))


def unread(steered: SteerResults) -> list[Entry]:
    """The answers that could not be read."""
    return [entry for entry in steered.entries if not Status(entry.reading.status).readable]
