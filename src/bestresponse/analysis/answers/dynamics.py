"""Dynamics of play by name: where they lead from a start, how far from equilibrium that is, and the path as a chart."""

from __future__ import annotations

import numpy as np

from bestresponse.analysis.answers.answer import Answer, Chart, Data, Question, Setting, Values, name_mix, read_profile
from bestresponse.analysis.solve.words import mix_text, number_text, regret_text
from bestresponse.core.errors import SettingError
from bestresponse.report.document import Block, Column, KeyValues, Note, Table
from bestresponse.theory.dynamics.learning import (
    fictitious_play,
    logit_dynamics,
    multiplicative_weights,
    regret_matching,
)
from bestresponse.theory.dynamics.moran import Fitness, alpha_rank, moran
from bestresponse.theory.dynamics.replicator import Form, replicator
from bestresponse.theory.dynamics.trajectory import Trajectory
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["DYNAMICS"]

_RECORDED = 200
_RANKED = 20
_STEPS = Setting("steps", 10_000, "how many steps to take")
_START = Setting("start", "", "where to start, as 0.2,0.8/0.5,0.5; uniform play if empty")
_SEED = Setting("seed", 0, "of the random numbers")


def _describe_path(game: NormalForm, path: Trajectory) -> Answer:
    """Show the end of a path, what anybody could gain there, and shares over time."""
    rows = tuple(
        (who, mix_text(mix, names), mix_text(last, names), number_text(float(gain)))
        for who, names, mix, last, gain in zip(
            game.players, game.actions, path.final, path.last, path.gains[-1], strict=True
        )
    )
    columns = (
        Column("player"),
        Column("strategy at the end", help="Of learning rules the average over time."),
        Column("played last"),
        Column("could gain", "right", "By deviating from the strategies at the end, alone."),
    )
    note = Note(f"Method: {path.method}; {int(path.times[-1]):,} time units. Largest gain: {regret_text(path.gap)}.")
    return Answer(_collect_path(game, path), (note, Table(columns, rows)), _chart_path(game, path))


def _collect_path(game: NormalForm, path: Trajectory) -> Data:
    some = np.unique(np.linspace(0, len(path) - 1, min(len(path), _RECORDED)).astype(int))
    regrets = None if path.external is None else dict(zip(game.players, path.external[-1].tolist(), strict=True))
    return {
        "method": path.method,
        "time": float(path.times[-1]),
        "final": name_mix(game, path.final),
        "last": name_mix(game, path.last),
        "gains": dict(zip(game.players, path.gains[-1].tolist(), strict=True)),
        "gap": path.gap,
        "external_regret": regrets,
        "path": {
            "times": path.times[some].tolist(),
            "gap": path.curve[some].tolist(),
            "strategies": {
                who: {name: shares[some, a].tolist() for a, name in enumerate(names)}
                for who, names, shares in zip(game.players, game.actions, path.strategies, strict=True)
            },
        },
    }


def _chart_path(game: NormalForm, path: Trajectory) -> Chart:
    series = {
        f"{who}: {name}": (path.times, shares[:, a])
        for who, names, shares in zip(game.players, game.actions, path.strategies, strict=True)
        for a, name in enumerate(names)
    }
    return Chart(series, "time", "share", f"Shares of the actions over time, by {path.method}.")


def _replicate(game: NormalForm, values: Values) -> Answer:
    form = str(values["form"])
    if form not in ("euler", "rk4", "discrete"):
        raise SettingError("form", f"expected rk4, euler or discrete, got {form!r}")
    kind: Form = "euler" if form == "euler" else "rk4" if form == "rk4" else "discrete"
    path = replicator(
        game,
        read_profile(game, str(values["start"])),
        steps=int(values["steps"]),
        size=float(values["size"]),
        form=kind,
        one_population=bool(values["one_population"]),
        mutation=float(values["mutation"]),
    )
    return _describe_path(game, path)


def _play_fictitiously(game: NormalForm, values: Values) -> Answer:
    precision, gain = float(values["precision"]), float(values["gain"])
    path = fictitious_play(
        game,
        read_profile(game, str(values["start"])),
        steps=int(values["steps"]),
        weight=float(values["weight"]),
        gain=gain or None,
        precision=precision or None,
        seed=int(values["seed"]),
    )
    return _describe_path(game, path)


def _match_regrets(game: NormalForm, values: Values) -> Answer:
    return _describe_path(game, regret_matching(game, steps=int(values["steps"]), plus=bool(values["plus"])))


def _weigh(game: NormalForm, values: Values) -> Answer:
    rate = float(values["rate"])
    return _describe_path(game, multiplicative_weights(game, steps=int(values["steps"]), rate=rate or None))


def _drift(game: NormalForm, values: Values) -> Answer:
    start = read_profile(game, str(values["start"]))
    steps, size = int(values["steps"]), float(values["size"])
    return _describe_path(game, logit_dynamics(game, float(values["precision"]), start, steps=steps, size=size))


def _evolve(game: NormalForm, values: Values) -> Answer:
    """Run the Moran process between the actions of a symmetric game."""
    if game.num_players != 2 or not np.array_equal(game.payoffs[0], game.payoffs[1].T):
        raise SettingError("dynamics", "moran needs a symmetric game of two players; this one is not")
    fitness: Fitness = "linear" if values["fitness"] == "linear" else "exponential"
    if values["fitness"] not in ("linear", "exponential"):
        raise SettingError("fitness", f"expected exponential or linear, got {values['fitness']!r}")
    names, population = game.actions[0], int(values["population"])
    share, extra = divmod(population, len(names))
    counts = [share + (k < extra) for k in range(len(names))]
    steps = int(values["steps"])
    done = moran(
        game.payoffs[0],
        counts,
        seed=int(values["seed"]),
        intensity=float(values["intensity"]),
        fitness=fitness,
        mutation=float(values["mutation"]),
        steps=steps,
        stride=max(1, steps // _RECORDED),
    )
    winner = None if done.winner is None else names[done.winner]
    times = np.arange(len(done.trajectory), dtype=np.float64) * done.stride
    data: Data = {
        "method": f"Moran process, {fitness} fitness",
        "steps": done.steps,
        "winner": winner,
        "counts": dict(zip(names, done.counts, strict=True)),
        "path": {
            "times": times.tolist(),
            "counts": {name: done.trajectory[:, a].tolist() for a, name in enumerate(names)},
        },
    }
    blocks: tuple[Block, ...] = (
        Note(f"Method: {data['method']}; {done.steps:,} steps in a population of {population:,}."),
        KeyValues((("took over", winner), *((name, count) for name, count in zip(names, done.counts, strict=True)))),
    )
    series = {name: (times, done.trajectory[:, a]) for a, name in enumerate(names)}
    return Answer(data, blocks, Chart(series, "steps", "individuals", "Individuals of every type over time."))


def _rank(game: NormalForm, values: Values) -> Answer:
    found = alpha_rank(
        game,
        alpha=float(values["alpha"]),
        population=int(values["population"]),
        one_population=bool(values["one_population"]),
    )
    ranking = found.ranking()
    data: Data = {
        "method": found.method,
        "residual": found.residual,
        "ranking": [{"profile": list(profile), "probability": p} for profile, p in ranking],
    }
    columns = (Column("#", "right"), Column("profile"), Column("share of time", "right", format=".6g"))
    rows = tuple((k, ", ".join(profile), p) for k, (profile, p) in enumerate(ranking[:_RANKED], start=1))
    note = Note(f"Method: {found.method}, alpha {found.alpha:g}, {found.population} individuals.")
    return Answer(data, (note, Table(columns, rows, "Profiles by how long evolving populations stay there")))


_ONE_POPULATION = Setting("one_population", False, "whether one population of a symmetric game plays against itself")
_SIZE = Setting("size", 0.01, "the length of a step in time")
DYNAMICS: tuple[Question[NormalForm], ...] = (
    Question(
        "replicator",
        "Actions that earn more than average grow",
        _replicate,
        (_STEPS, _START, _SIZE, Setting("form", "rk4", "rk4, euler or discrete"), _ONE_POPULATION,
         Setting("mutation", 0.0, "the share of offspring that turn into another action")),
    ),
    Question(
        "fictitious-play",
        "Everybody plays a best reply to what the others have done so far",
        _play_fictitiously,
        (_STEPS, _START, Setting("weight", 0.0, "how many rounds the start counts for"),
         Setting("gain", 0.0, "the weight of the newest round; 0: all rounds count alike"),
         Setting("precision", 0.0, "of stochastic play; 0: best replies"), _SEED),
    ),
    Question(
        "regret-matching",
        "Play each action in proportion to how much one regrets not having played it",
        _match_regrets,
        (_STEPS, Setting("plus", False, "whether regrets stay above 0 (regret matching+)")),
    ),
    Question(
        "multiplicative-weights",
        "The weight of an action grows exponentially with what it would have earned",
        _weigh,
        (_STEPS, Setting("rate", 0.0, "multiplies payoffs in the exponent; 0: the rate with the best guarantee")),
    ),
    Question(
        "logit",
        "Play drifts towards the softmax reply to the present profile",
        _drift,
        (_STEPS, _START, _SIZE, Setting("precision", 10.0, "how sharply better actions are preferred")),
    ),
    Question(
        "moran",
        "Individuals of a finite population reproduce by fitness and replace others at random",
        _evolve,
        (Setting("steps", 100_000, "the most steps"), Setting("population", 100, "how many individuals there are"),
         Setting("intensity", 1.0, "of selection"), Setting("fitness", "exponential", "exponential or linear"),
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
