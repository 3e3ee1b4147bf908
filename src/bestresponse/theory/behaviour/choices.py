"""How deep and how noisy one-shot choices are: logit quantal response, level-k and cognitive
hierarchy.

Each model predicts the choices of both players of a game from one parameter, or from shares:

    qre                   the logit equilibrium of precision lambda on the branch from uniform play
    cognitive-hierarchy   Poisson levels with mean tau, level 0 uniform
    level-k               shares of the levels 0 to 3, level 0 uniform

(see `theory.fitting` for the models and their sources). The parameter of the first two is looked
for on a grid, where the log likelihood of every game is known at every point, so that resampling
and leaving out are sums of rows; the estimate itself is then narrowed down between its neighbours.

Scores are log likelihoods of a choice in games that the parameter was not fitted to. Completeness
(D. Fudenberg, J. Kleinberg, A. Liang & S. Mullainathan, "Measuring the completeness of economic
models", Journal of Political Economy 130, 2022) is the part of the way from chance to the best
attainable prediction, (chance - model) / (chance - best) in expected loss. Best attainable is to
know how often a choice was made by others in the same game: of n choices, k of them like it, (k - 1
+ 1/2) / (n - 1 + m/2) for m moves. This costs about m - 1 in log likelihood, so that with few
choices in a game even a perfect model would be above 1. Completeness is told where that cost
is at most 5 % of what can be gained, from 8 games on, with an interval from resampling games.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bestresponse.theory.arrays import Bools, Floats, Ints
from bestresponse.theory.fitting import level_k, quantal_branch, share_best
from bestresponse.theory.games.normal_form import NormalForm

ChoiceModel = Literal["qre", "level-k", "cognitive-hierarchy"]
HIGHEST_LEVEL = 3
_FOLDS = 10  # every model predicts each tenth of the games from the others
_SURE = 1e-9
"""No prediction counts as more certain than this, so that one surprise is not worth minus
infinity."""
_POINTS = 320  # of a grid, for a precision over a factor of 10,000
# between the largest and the smallest range of payoffs that a precision is looked for in
_MOST_SCALES = 1000.0
_TAUS = np.linspace(0.0, 8.0, _POINTS + 1)
_LEAST_USED = 1e-3  # a level that fewer are at is not there
_OFF = 1e-8
_JUMP = 0.2
"""Largest residual of an equilibrium, and the largest change of a probability between neighbours on
the grid."""


@dataclass(frozen=True, eq=False)
class Choices:
    """How often each action was chosen in a game, or in one match of it: `counts` has a row for
    each of two players."""

    form: NormalForm
    counts: tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class ChoiceFit:
    """A fitted model: its parameter (or the shares of the levels), the same for every resample, and
    its scores.

    `edge` says that the likelihood is largest at the end of the grid, so that there is no finite
    estimate; `flat` that other shares of the levels are as likely; `score` is None where there are
    too few games to leave some out, `completeness` where it cannot be estimated.
    """

    model: ChoiceModel
    estimate: Floats
    resampled: Floats
    log_likelihood: float
    edge: bool
    flat: bool
    score: float | None
    completeness: "Completeness | None"


@dataclass(frozen=True, eq=False)
class Completeness:
    """The part of the way from chance to the best attainable prediction, and the same for every
    resample of `games` games."""

    estimate: float
    resampled: Floats
    games: int


def predict_quantal(forms: Sequence[NormalForm], precisions: Floats) -> list[tuple[Floats, Floats]]:
    """Return what both players do at every precision, games of a shape at once.

    Neighbouring points lead to each other by Newton steps; a game in which that fails or jumps is
    followed along its branch instead.
    """
    predictions: dict[int, tuple[Floats, Floats]] = {}
    for shape in dict.fromkeys(form.shape for form in forms):
        members = [g for g, form in enumerate(forms) if form.shape == shape]
        first = np.array([forms[g].payoffs[0] for g in members])
        second = np.array([forms[g].payoffs[1].T for g in members])
        rows, columns = shape
        p = np.full((len(members), rows), 1 / rows)
        q = np.full((len(members), columns), 1 / columns)
        paths = np.empty((len(precisions), len(members), rows + columns))
        sound = np.ones(len(members), dtype=np.bool_)
        for r, precision in enumerate(precisions):
            for _ in range(30):
                gap_p, slope_p = _reply_gap(p, q, first, precision)
                gap_q, slope_q = _reply_gap(q, p, second, precision)
                off = np.concatenate([gap_p, gap_q], axis=1)
                if np.abs(off).max() < _OFF / 100:
                    break
                slopes = np.zeros((len(members), rows + columns, rows + columns)) + np.eye(
                    rows + columns
                )
                slopes[:, :rows, rows:] = -slope_p
                slopes[:, rows:, :rows] = -slope_q
                step = np.linalg.solve(slopes, off[..., None])[..., 0]
                p = p - step[:, :rows]
                q = q - step[:, rows:]
            here = np.concatenate([p, q], axis=1)
            sound &= np.abs(off).max(axis=1) < _OFF
            if r:
                sound &= np.abs(here - paths[r - 1]).max(axis=1) < _JUMP
            paths[r] = here
        for member, g in enumerate(members):
            path = paths[:, member] if sound[member] else _follow_branch(forms[g], precisions)
            predictions[g] = path[:, :rows], path[:, rows:]
    return [predictions[g] for g in range(len(forms))]


def _reply_gap(
    own: Floats, other: Floats, payoffs: Floats, precision: float
) -> tuple[Floats, Floats]:
    """Return how far strategies are from the logit reply, and how that reply changes with the
    other's strategy."""
    values = np.einsum("gij,gj->gi", payoffs, other)
    chances = np.exp(precision * (values - values.max(axis=1, keepdims=True)))
    reply = chances / chances.sum(axis=1, keepdims=True)
    spread = reply[:, :, None] * (np.eye(reply.shape[1]) - reply[:, None, :])
    return own - reply, precision * spread @ payoffs


def _follow_branch(form: NormalForm, precisions: Floats) -> Floats:
    branch = quantal_branch(form, float(precisions[-1]))
    reached = np.maximum.accumulate(branch.precisions)
    return np.column_stack(
        [np.interp(precisions, reached, path) for side in branch.strategies for path in side.T]
    )


def predict_hierarchy(form: NormalForm, taus: Floats) -> tuple[Floats, Floats]:
    """Return what both players do at every mean number of steps, with as many levels as the largest
    needs."""
    levels = int(taus.max() + 8 * np.sqrt(taus.max()) + 8)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.arange(levels + 1) * np.log(taus)[:, None] - taus[:, None]
    weights = np.exp(np.where(np.isnan(logs), 0.0, logs))
    weights /= np.cumprod(np.concatenate([[1.0], np.arange(1.0, levels + 1)]))
    tables = (form.payoffs[0], form.payoffs[1].T)
    totals = [weights[:, :1] * np.full(count, 1 / count) for count in form.shape]
    for k in range(1, levels + 1):
        below = weights[:, :k].sum(axis=1)[:, None]
        pairs = zip(totals[::-1], tables, strict=True)
        replies = [share_best((other / below) @ table.T, table) for other, table in pairs]
        totals = [
            total + weights[:, k : k + 1] * reply
            for total, reply in zip(totals, replies, strict=True)
        ]
    whole = weights.sum(axis=1)[:, None]
    return totals[0] / whole, totals[1] / whole


def fit_choices(
    data: Sequence[Choices],
    models: Sequence[ChoiceModel],
    *,
    clusters: Ints | None = None,
    draws: int = 200,
    seed: int = 0,
) -> tuple[ChoiceFit, ...]:
    """Fit every model to the choices of one group of players.

    Resamples draw clusters with replacement: `clusters` numbers for every entry of `data` what it
    is drawn with, such as its player; without it every entry is drawn alone.
    """
    rng = np.random.default_rng(seed)
    clusters = np.arange(len(data)) if clusters is None else clusters
    size = int(clusters.max()) + 1
    drawn = rng.multinomial(size, np.full(size, 1 / size), size=draws)
    weights = np.vstack([np.ones(len(data)), drawn[:, clusters]])
    forms = list(dict.fromkeys(game.form for game in data))
    form_indices = np.array([forms.index(game.form) for game in data])
    folds = [
        np.isin(form_indices, np.arange(len(forms))[start::_FOLDS])
        for start in range(min(_FOLDS, len(forms)))
    ]
    fits = []
    for model in models:
        if model == "level-k":
            fits.append(_fit_levels(data, weights, folds, rng))
            continue
        grid = _space_precisions(forms) if model == "qre" else _TAUS
        coarse = (weights @ _score_grid(model, data, forms, grid)).argmax(axis=1)
        grid = np.unique(np.concatenate([grid, *_refine_grid(grid, coarse)]))
        table = _score_grid(model, data, forms, grid)
        heights = weights @ table
        best = heights.argmax(axis=1)
        scores = np.zeros(len(data))
        for fold in folds if len(folds) > 1 else ():
            scores[fold] = table[fold][:, table[~fold].sum(axis=0).argmax()]
        edge = bool(heights[0, -1] > heights[0].max() - 1e-6)
        estimate = grid[best[0]] if edge else _narrow_down(model, data, forms, grid, int(best[0]))
        score, completeness = _judge(data, scores if len(folds) > 1 else None, rng, draws)
        fits.append(
            ChoiceFit(
                model=model,
                estimate=np.array([estimate]),
                resampled=grid[best[1:], None],
                log_likelihood=float(heights[0].max()),
                edge=edge,
                flat=False,
                score=score,
                completeness=completeness,
            )
        )
    return tuple(fits)


_ROUNDS = 4
_FINE = 21


def _narrow_down(
    model: ChoiceModel,
    data: Sequence[Choices],
    forms: Sequence[NormalForm],
    grid: Floats,
    best: int,
) -> float:
    """Find the most likely parameter between the neighbours of the best point of a grid, each time
    among a tenth of the width before."""
    points, place = grid, best
    for _ in range(_ROUNDS):
        low, high = points[max(place - 1, 0)], points[min(place + 1, len(points) - 1)]
        # Equilibria are followed from uniform play, so the way there is part of the grid.
        fine = np.linspace(low, high, _FINE)
        points = np.concatenate([grid[grid < low], fine])
        place = int(_score_grid(model, data, forms, points).sum(axis=0).argmax())
    return float(points[place])


def _space_precisions(forms: Sequence[NormalForm]) -> Floats:
    """Return precisions from hardly any difference between actions in the largest payoffs to all of
    it in the smallest.

    Payoffs are compared within a player: what one gets whatever happens is no difference between
    actions.
    """
    ranges = np.array([np.ptp(form.payoffs, axis=(1, 2)) for form in forms])
    largest = float(ranges.max()) or 1.0
    smallest = max(float(ranges[ranges > 0].min(initial=largest)), largest / _MOST_SCALES)
    low = 0.01 / largest
    high = 100.0 / smallest
    return np.concatenate([[0.0], np.geomspace(low, high, int(_POINTS * np.log10(high / low) / 4))])


def _refine_grid(grid: Floats, best: Ints) -> Iterator[Floats]:
    """Yield further points where the data are most likely, and over all places where a resample is.

    With much data all of these are within one step of a grid.
    """
    for part in (best[:1], best):
        low = max(int(part.min()) - 1, 0)
        high = min(int(part.max()) + 1, len(grid) - 1)
        yield np.linspace(grid[low], grid[high], _POINTS // 4)


def _score_grid(
    model: ChoiceModel, data: Sequence[Choices], forms: Sequence[NormalForm], grid: Floats
) -> Floats:
    """Return the log likelihood of the choices in every game, a row each, at every point of the
    grid."""
    predicted = (
        predict_quantal(forms, grid)
        if model == "qre"
        else [predict_hierarchy(form, grid) for form in forms]
    )
    sides = dict(zip(forms, predicted, strict=True))
    return np.array([_score(game, sides[game.form]) for game in data])


def _score(game: Choices, sides: Sequence[Floats]) -> Floats:
    """Return the log likelihood of the choices in a game at every point of the grid."""
    return sum(
        np.log(np.clip(side, _SURE, 1.0)) @ count
        for side, count in zip(sides, game.counts, strict=True)
    )  # type: ignore[return-value]


def _fit_levels(
    data: Sequence[Choices], weights: Floats, folds: Sequence[Bools], rng: np.random.Generator
) -> ChoiceFit:
    levels = {
        form: level_k(form, HIGHEST_LEVEL).strategies
        for form in dict.fromkeys(game.form for game in data)
    }
    chances = np.concatenate([side.T for game in data for side in levels[game.form]])
    counts = np.concatenate([count for game in data for count in game.counts])
    owners = np.repeat(np.arange(len(data)), [sum(game.form.shape) for game in data])

    def fit(rows: Floats) -> Floats:
        shares = np.full((len(rows), chances.shape[1]), 1 / chances.shape[1])
        for _ in range(500):
            parts = shares[:, None, :] * chances
            parts *= (rows[:, owners] * counts / np.maximum(parts.sum(axis=2), _SURE))[:, :, None]
            before = shares
            shares = parts.sum(axis=1) / parts.sum(axis=(1, 2))[:, None]
            if np.abs(shares - before).max() < 1e-7:
                break
        return shares

    def score(shares: Floats) -> Floats:
        """Return the log likelihood of the choices in every entry."""
        likelihoods = counts * np.log(np.clip(chances @ shares, _SURE, 1.0))
        return np.bincount(owners, likelihoods, minlength=len(data)).astype(np.float64)

    shares = fit(weights)
    scores = np.zeros(len(data))
    for fold in folds if len(folds) > 1 else ():
        kept = 1.0 - fold.astype(np.float64)
        scores[fold] = score(fit(kept[None])[0])[fold]
    # Levels that do the same in every choice that was made, or together what another one does, can
    # change places.
    used = chances[counts > 0][:, shares[0] > _LEAST_USED]
    flat = bool(np.linalg.matrix_rank(used) < used.shape[1])
    held_out, completeness = _judge(
        data, scores if len(folds) > 1 else None, rng, draws=len(weights) - 1
    )
    return ChoiceFit(
        model="level-k",
        estimate=shares[0],
        resampled=shares[1:],
        log_likelihood=float(weights[0] @ score(shares[0])),
        edge=False,
        flat=flat,
        score=held_out,
        completeness=completeness,
    )


_LEAST_GAMES = 8
_LARGEST_BIAS = 0.05


def _judge(
    data: Sequence[Choices], scores: Floats | None, rng: np.random.Generator, draws: int
) -> tuple[float | None, Completeness | None]:
    """Return the score of a choice in games left out, and the completeness; None where no game
    could be held out, and where completeness cannot be estimated."""
    if scores is None:
        return None, None
    forms = list(dict.fromkeys(game.form for game in data))
    numbers = {form: number for number, form in enumerate(forms)}
    owners = np.array([numbers[game.form] for game in data])
    of_model = np.bincount(owners, scores, minlength=len(forms))
    of_chance = np.zeros(len(forms))
    of_best = np.zeros(len(forms))
    cost = 0.0
    total = 0.0
    for number, form in enumerate(forms):
        pairs = [game.counts for game in data if game.form is form]
        for count in (sum(side) for side in zip(*pairs, strict=True)):
            size, moves = float(count.sum()), len(count)
            if not size:
                continue
            cost += moves - 1
            total += size
            of_chance[number] -= size * np.log(moves)
            shares = np.maximum(count - 0.5, 0.5) / (size - 1 + moves / 2)
            of_best[number] += count @ np.log(shares)
    score = float(of_model.sum()) / total
    gained = of_model - of_chance
    attainable = of_best - of_chance
    if len(forms) < _LEAST_GAMES or cost > _LARGEST_BIAS * attainable.sum():
        return score, None
    drawn = rng.multinomial(len(forms), np.full(len(forms), 1 / len(forms)), size=draws)
    below = drawn @ attainable
    resampled = (drawn @ gained)[below > 0] / below[below > 0]
    return score, Completeness(float(gained.sum() / attainable.sum()), resampled, len(forms))
