"""Dynamics of play by name: where they lead from a start, how far from equilibrium that is, and the path as a chart."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast, get_args

import numpy as np

from bestresponse import theory
from bestresponse.analysis.answers.answer import Answer, Chart, Question, Setting, Values, read_profile
from bestresponse.analysis.solve.data import name_mix, name_players
from bestresponse.core.errors import SettingError
from bestresponse.theory.dynamics.learning import Form, Trajectory
from bestresponse.theory.dynamics.moran import Fitness
from bestresponse.theory.games.normal_form import NormalForm

_RECORDED = 200
_STEPS = Setting("steps", 10_000, "how many steps to take")
_START = Setting("start", "", "where to start, as 0.2,0.8/0.5,0.5; uniform play if empty")
_SEED = Setting("seed", 0, "of the random numbers")


def _follow(
    dynamics: Callable[..., Trajectory], game: NormalForm, values: Values, *, optional: tuple[str, ...] = ()
) -> Answer:
    """Follow a path to its end; settings are the arguments of the dynamics, 0 stands for None in `optional` ones."""
    arguments: dict[str, object] = {name: None if name in optional and not v else v for name, v in values.items()}
    if "start" in arguments:
        arguments["start"] = read_profile(game, str(values["start"]))
    path = dynamics(game, **arguments)
    some = np.unique(np.linspace(0, len(path) - 1, min(len(path), _RECORDED)).astype(int))
    seats = list(zip(game.players, game.actions, path.strategies, strict=True))
    curves = {who: {name: shares[some, a].tolist() for a, name in enumerate(names)} for who, names, shares in seats}
    data = {
        "method": path.method,
        "time": float(path.times[-1]),
        "final": name_mix(game, path.final),
        "last": name_mix(game, path.last),
        "gains": name_players(game, path.gains[-1]),
        "gap": path.gap,
        "external_regret": None if path.external is None else name_players(game, path.external[-1]),
        "path": {"times": path.times[some].tolist(), "gap": path.curve[some].tolist(), "strategies": curves},
    }
    series = {
        f"{who}: {name}": (path.times, shares[:, a]) for who, names, shares in seats for a, name in enumerate(names)
    }
    return Answer(data, Chart(series, "time", "share", f"Shares of the actions over time, by {path.method}."))


def _evolve(game: NormalForm, values: Values) -> Answer:
    """Run the Moran process between the actions of a symmetric game."""
    if game.num_players != 2 or not np.array_equal(game.payoffs[0], game.payoffs[1].T):
        raise SettingError("dynamics", "moran needs a symmetric game of two players; this one is not")
    names, population, steps = game.actions[0], int(values["population"]), int(values["steps"])
    share, extra = divmod(population, len(names))
    done = theory.moran(
        game.payoffs[0],
        [share + (k < extra) for k in range(len(names))],
        seed=int(values["seed"]),
        intensity=float(values["intensity"]),
        fitness=cast(Fitness, values["fitness"]),
        mutation=float(values["mutation"]),
        steps=steps,
        stride=max(1, steps // _RECORDED),
    )
    times = np.arange(len(done.trajectory), dtype=np.float64) * done.stride
    curves = {name: done.trajectory[:, a] for a, name in enumerate(names)}
    data = {
        "method": f"Moran process, {values['fitness']} fitness, a population of {population:,}",
        "steps": done.steps,
        "winner": None if done.winner is None else names[done.winner],
        "counts": dict(zip(names, done.counts, strict=True)),
        "path": {"times": times.tolist(), "counts": {name: curve.tolist() for name, curve in curves.items()}},
    }
    series = {name: (times, curve) for name, curve in curves.items()}
    return Answer(data, Chart(series, "steps", "individuals", "Individuals of every type over time."))


def _rank(game: NormalForm, values: Values) -> Answer:
    found = theory.alpha_rank(
        game,
        alpha=float(values["alpha"]),
        population=int(values["population"]),
        one_population=bool(values["one_population"]),
    )
    ranking = [{"profile": list(profile), "probability": p} for profile, p in found.ranking()]
    method = f"{found.method}, alpha {found.alpha:g}, {found.population} individuals"
    return Answer({"method": method, "residual": found.residual, "ranking": ranking})


_ONE_POPULATION = Setting("one_population", False, "whether one population of a symmetric game plays against itself")
_SIZE = Setting("size", 0.01, "the length of a step in time")
DYNAMICS: tuple[Question[NormalForm], ...] = (
    Question(
        "replicator",
        "Actions that earn more than average grow",
        partial(_follow, theory.replicator),
        (_STEPS, _START, _SIZE, Setting("form", "rk4", "rk4, euler or discrete", get_args(Form)), _ONE_POPULATION,
         Setting("mutation", 0.0, "the share of offspring that turn into another action")),
    ),
    Question(
        "fictitious-play",
        "Everybody plays a best reply to what the others have done so far",
        partial(_follow, theory.fictitious_play, optional=("gain", "precision")),
        (_STEPS, _START, Setting("weight", 0.0, "how many rounds the start counts for"),
         Setting("gain", 0.0, "the weight of the newest round; 0: all rounds count alike"),
         Setting("precision", 0.0, "of stochastic play; 0: best replies"), _SEED),
    ),
    Question(
        "regret-matching",
        "Play each action in proportion to how much one regrets not having played it",
        partial(_follow, theory.regret_matching),
        (_STEPS, Setting("plus", False, "whether regrets stay above 0 (regret matching+)")),
    ),
    Question(
        "multiplicative-weights",
        "The weight of an action grows exponentially with what it would have earned",
        partial(_follow, theory.multiplicative_weights, optional=("rate",)),
        (_STEPS, Setting("rate", 0.0, "multiplies payoffs in the exponent; 0: the rate with the best guarantee")),
    ),
    Question(
        "logit",
        "Play drifts towards the softmax reply to the present profile",
        partial(_follow, theory.logit_dynamics),
        (_STEPS, _START, _SIZE, Setting("precision", 10.0, "how sharply better actions are preferred")),
    ),
    Question(
        "moran",
        "Individuals of a finite population reproduce by fitness and replace others at random",
        _evolve,
        (Setting("steps", 100_000, "the most steps"), Setting("population", 100, "how many individuals there are"),
         Setting("intensity", 1.0, "of selection"),
         Setting("fitness", "exponential", "exponential or linear", get_args(Fitness)),
         Setting("mutation", 0.0, "the probability that a child is of another type"), _SEED),
    ),
    Question(
        "alpha-rank",
        "How long evolving populations stay at each pure profile",
        _rank,
        (Setting("alpha", 100.0, "strength of selection"), Setting("population", 50, "individuals of a population"),
         _ONE_POPULATION),
    ),
)  # fmt: skip
"""All dynamics that can be asked for by name."""
