"""How deep and how noisy one-shot choices are.

The models are logit quantal response, level-k and cognitive hierarchy.

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
# Between the largest and the smallest range of payoffs that a precision is looked for in.
_MOST_SCALES = 1000.0
_TAUS = np.linspace(0.0, 8.0, _POINTS + 1)
_LEAST_USED = 1e-3  # a level that fewer are at is not there
_OFF = 1e-8
"""Largest residual of an equilibrium."""
_JUMP = 0.2
"""Largest change of a probability between neighbours on the grid."""
_NEWTON_STEPS = 30


@dataclass(frozen=True, eq=False)
class Choices:
    """How often each action was chosen in a game, or in one match of it.

    `counts` has a row for each of two players.
    """

    form: NormalForm
    counts: tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class ChoiceFit:
    """A fitted model: its parameter (or the shares of the levels) and its scores.

    The parameter is given for every resample too.

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
    """The part of the way from chance to the best attainable prediction.

    It is given for every resample of `games` games too.
    """

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
        paths, is_sound = _follow_together([forms[g] for g in members], precisions)
        rows = shape[0]
        for member, g in enumerate(members):
            path = paths[:, member]
            if not is_sound[member]:
                path = _follow_branch(forms[g], precisions)
            predictions[g] = path[:, :rows], path[:, rows:]
    return [predictions[g] for g in range(len(forms))]


def _follow_together(forms: Sequence[NormalForm], precisions: Floats) -> tuple[Floats, Bools]:
    """Return the strategies of both players by precision and game.

    Also returns in which games every point is an equilibrium next to the one before.
    """
    rows, columns = forms[0].shape
    games = len(forms)
    first = np.array([form.payoffs[0] for form in forms])
    second = np.array([form.payoffs[1].T for form in forms])
    p = np.full((games, rows), 1 / rows)
    q = np.full((games, columns), 1 / columns)
    identity = np.eye(rows + columns)
    paths = np.empty((len(precisions), games, rows + columns))
    is_sound = np.ones(games, dtype=np.bool_)

    for r, precision in enumerate(precisions):
        for _ in range(_NEWTON_STEPS):
            gap_p, slope_p = _reply_gap(p, q, first, precision)
            gap_q, slope_q = _reply_gap(q, p, second, precision)
            off = np.concatenate([gap_p, gap_q], axis=1)
            if np.abs(off).max() < _OFF / 100:
                break
            slopes = np.zeros((games, rows + columns, rows + columns)) + identity
            slopes[:, :rows, rows:] = -slope_p
            slopes[:, rows:, :rows] = -slope_q
            step = np.linalg.solve(slopes, off[..., None])[..., 0]
            p = p - step[:, :rows]
            q = q - step[:, rows:]

        here = np.concatenate([p, q], axis=1)
        is_sound &= np.abs(off).max(axis=1) < _OFF
        if r:
            moved = np.abs(here - paths[r - 1])
            is_sound &= moved.max(axis=1) < _JUMP
        paths[r] = here
    return paths, is_sound


def _reply_gap(
    own: Floats,
    other: Floats,
    payoffs: Floats,
    precision: float,
) -> tuple[Floats, Floats]:
    """Return how far strategies are from the logit reply, and how that reply changes.

    It changes with the other's strategy.
    """
    values = np.einsum("gij,gj->gi", payoffs, other)
    behind = values - values.max(axis=1, keepdims=True)
    chances = np.exp(precision * behind)
    reply = chances / chances.sum(axis=1, keepdims=True)
    identity = np.eye(reply.shape[1])
    spread = reply[:, :, None] * (identity - reply[:, None, :])
    return own - reply, precision * spread @ payoffs


def _follow_branch(form: NormalForm, precisions: Floats) -> Floats:
    branch = quantal_branch(form, float(precisions[-1]))
    reached = np.maximum.accumulate(branch.precisions)
    columns = []
    for side in branch.strategies:
        for path in side.T:
            columns.append(np.interp(precisions, reached, path))
    return np.column_stack(columns)


def predict_hierarchy(form: NormalForm, taus: Floats) -> tuple[Floats, Floats]:
    """Return what both players do at every mean number of steps.

    There are as many levels as the largest needs.
    """
    weights = _weigh_levels(taus)
    tables = (form.payoffs[0], form.payoffs[1].T)
    totals = [weights[:, :1] * np.full(count, 1 / count) for count in form.shape]
    for k in range(1, weights.shape[1]):
        below = weights[:, :k].sum(axis=1)[:, None]
        grown = []
        for own, other, table in zip(totals, totals[::-1], tables, strict=True):
            believed = other / below
            reply = share_best(believed @ table.T, table)
            weight = weights[:, k : k + 1]
            grown.append(own + weight * reply)
        totals = grown
    whole = weights.sum(axis=1)[:, None]
    return totals[0] / whole, totals[1] / whole


def _weigh_levels(taus: Floats) -> Floats:
    """Return the Poisson probability of every level, a row for each mean number of steps."""
    highest = taus.max()
    levels = int(highest + 8 * np.sqrt(highest) + 8)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.arange(levels + 1) * np.log(taus)[:, None] - taus[:, None]
    # Not a number is 0 * log 0: nobody thinks a step, and level 0 has all the weight.
    weights = np.exp(np.where(np.isnan(logs), 0.0, logs))
    factors = np.concatenate([[1.0], np.arange(1.0, levels + 1)])
    weights /= np.cumprod(factors)
    return np.asarray(weights)


def fit_choices(
    data: Sequence[Choices],
    models: Sequence[ChoiceModel],
    *,
    clusters: Sequence[Ints] = (),
    draws: int = 200,
    seed: int = 0,
) -> tuple[ChoiceFit, ...]:
    """Fit every model to the choices of one group of players.

    Resamples draw clusters with replacement: `clusters` numbers for every entry of `data` what it
    is drawn with, such as its player; without it every entry is drawn alone. Where there are
    several such numberings, each has as many resamples, one numbering after the other.
    """
    rng = np.random.default_rng(seed)
    weights: list[Floats] = [np.ones((1, len(data)))]
    for numbers in clusters or [np.arange(len(data))]:
        size = int(numbers.max()) + 1
        drawn = rng.multinomial(size, np.full(size, 1 / size), size=draws)
        weights.append(drawn[:, numbers].astype(np.float64))
    sample = _Sample(
        data=data,
        forms=list(dict.fromkeys(game.form for game in data)),
        weights=np.vstack(weights),
        draws=draws,
    )
    fits = []
    for model in models:
        if model == "level-k":
            fits.append(_fit_levels(sample, rng))
        else:
            fits.append(_fit_parameter(model, sample, rng))
    return tuple(fits)


@dataclass(frozen=True, eq=False)
class _Sample:
    """The choices of a group, their different games, and how often every entry counts.

    An entry counts once, then as often as it was drawn for each resample.
    """

    data: Sequence[Choices]
    forms: Sequence[NormalForm]
    weights: Floats
    draws: int

    def list_folds(self) -> list[Bools]:
        """List the entries that are predicted from the others; none where there is one game."""
        if len(self.forms) < 2:
            return []
        form_indices = np.array([self.forms.index(game.form) for game in self.data])
        folds = []
        for start in range(min(_FOLDS, len(self.forms))):
            left_out = np.arange(len(self.forms))[start::_FOLDS]
            folds.append(np.isin(form_indices, left_out))
        return folds


def _fit_parameter(model: ChoiceModel, sample: _Sample, rng: np.random.Generator) -> ChoiceFit:
    """Fit a model of one parameter on grids.

    First comes a coarse grid, then one with more points around the largest likelihood, then the
    space between the neighbours of the best point there.
    """
    data = sample.data
    forms = sample.forms
    grid = _space_precisions(forms) if model == "qre" else _TAUS
    coarse = (sample.weights @ _score_grid(model, data, forms, grid)).argmax(axis=1)
    grid = np.unique(np.concatenate([grid, *_refine_grid(grid, coarse)]))
    table = _score_grid(model, data, forms, grid)
    heights = sample.weights @ table
    best = heights.argmax(axis=1)

    scores = np.zeros(len(data))
    for fold in sample.list_folds():
        most_likely = table[~fold].sum(axis=0).argmax()
        scores[fold] = table[fold][:, most_likely]

    highest = heights[0].max()
    edge = bool(heights[0, -1] > highest - 1e-6)
    estimate = grid[best[0]]
    if not edge:
        estimate = _narrow_down(model, data, forms, grid=grid, best=int(best[0]))
    score, completeness = _judge(sample, scores, rng)
    return ChoiceFit(
        model=model,
        estimate=np.array([estimate]),
        resampled=grid[best[1:], None],
        log_likelihood=float(highest),
        edge=edge,
        flat=False,
        score=score,
        completeness=completeness,
    )


_ROUNDS = 4
_FINE = 21  # points between two neighbours, so that each round narrows to a tenth


def _narrow_down(
    model: ChoiceModel,
    data: Sequence[Choices],
    forms: Sequence[NormalForm],
    grid: Floats,
    best: int,
) -> float:
    """Find the most likely parameter between the neighbours of a grid's best point.

    Each search is among a tenth of the width before.
    """
    points = grid
    place = best
    for _ in range(_ROUNDS):
        low = points[max(place - 1, 0)]
        high = points[min(place + 1, len(points) - 1)]
        fine = np.linspace(low, high, _FINE)
        # Equilibria are followed from uniform play, so the way there is part of the grid.
        points = np.concatenate([grid[grid < low], fine])
        likelihoods = _score_grid(model, data, forms, points).sum(axis=0)
        place = int(likelihoods.argmax())
    return float(points[place])


def _space_precisions(forms: Sequence[NormalForm]) -> Floats:
    """Return precisions that cover all payoffs.

    They range from hardly any difference between actions in the largest payoffs to all of it in the
    smallest.

    Payoffs are compared within a player: what one gets whatever happens is no difference between
    actions.
    """
    ranges = np.array([np.ptp(form.payoffs, axis=(1, 2)) for form in forms])
    largest = float(ranges.max()) or 1.0
    smallest = float(ranges[ranges > 0].min(initial=largest))
    low = 0.01 / largest
    high = 100.0 / max(smallest, largest / _MOST_SCALES)
    decades = np.log10(high / low)
    precisions = np.geomspace(low, high, int(_POINTS * decades / 4))
    return np.concatenate([[0.0], precisions])


def _refine_grid(grid: Floats, best: Ints) -> Iterator[Floats]:
    """Yield further points where the data are most likely, and over all places where a resample is.

    With much data all of these are within one step of a grid.
    """
    for part in (best[:1], best):
        before = int(part.min()) - 1
        after = int(part.max()) + 1
        low = max(before, 0)
        high = min(after, len(grid) - 1)
        yield np.linspace(grid[low], grid[high], _POINTS // 4)


def _score_grid(
    model: ChoiceModel,
    data: Sequence[Choices],
    forms: Sequence[NormalForm],
    grid: Floats,
) -> Floats:
    """Return the log likelihood of each game's choices (a row) at every grid point."""
    if model == "qre":
        predicted = predict_quantal(forms, grid)
    else:
        predicted = [predict_hierarchy(form, grid) for form in forms]
    sides = dict(zip(forms, predicted, strict=True))
    return np.array([_score(game, sides[game.form]) for game in data])


def _score(game: Choices, sides: tuple[Floats, Floats]) -> Floats:
    """Return the log likelihood of the choices in a game at every point of the grid."""
    first, second = (np.log(np.clip(side, _SURE, 1.0)) for side in sides)
    return first @ game.counts[0] + second @ game.counts[1]


def _fit_levels(sample: _Sample, rng: np.random.Generator) -> ChoiceFit:
    """Fit the shares of the levels by expectation maximisation."""
    data = sample.data
    levels = {form: level_k(form, HIGHEST_LEVEL).strategies for form in sample.forms}
    chances = np.concatenate([side.T for game in data for side in levels[game.form]])
    counts = np.concatenate([count for game in data for count in game.counts])
    owners = np.repeat(np.arange(len(data)), [sum(game.form.shape) for game in data])

    def fit(rows: Floats) -> Floats:
        shares = np.full((len(rows), chances.shape[1]), 1 / chances.shape[1])
        counted = rows[:, owners] * counts
        for _ in range(500):
            parts = shares[:, None, :] * chances
            likelihoods = np.maximum(parts.sum(axis=2), _SURE)
            parts *= (counted / likelihoods)[:, :, None]
            before = shares
            shares = parts.sum(axis=1) / parts.sum(axis=(1, 2))[:, None]
            if np.abs(shares - before).max() < 1e-7:
                break
        return shares

    def score(shares: Floats) -> Floats:
        """Return the log likelihood of the choices in every entry."""
        predicted = np.clip(chances @ shares, _SURE, 1.0)
        likelihoods = counts * np.log(predicted)
        return np.bincount(owners, likelihoods, minlength=len(data)).astype(np.float64)

    shares = fit(sample.weights)
    scores = np.zeros(len(data))
    for fold in sample.list_folds():
        kept = 1.0 - fold.astype(np.float64)
        fitted = fit(kept[None])[0]
        scores[fold] = score(fitted)[fold]

    # Levels that do the same in every choice that was made, or together what another one does, can
    # change places.
    is_used = shares[0] > _LEAST_USED
    used = chances[counts > 0][:, is_used]
    held_out, completeness = _judge(sample, scores, rng)
    return ChoiceFit(
        model="level-k",
        estimate=shares[0],
        resampled=shares[1:],
        log_likelihood=float(sample.weights[0] @ score(shares[0])),
        edge=False,
        flat=bool(np.linalg.matrix_rank(used) < used.shape[1]),
        score=held_out,
        completeness=completeness,
    )


_LEAST_GAMES = 8
_LARGEST_BIAS = 0.05


def _judge(
    sample: _Sample,
    scores: Floats,
    rng: np.random.Generator,
) -> tuple[float | None, Completeness | None]:
    """Return the score of a choice in games left out, and the completeness.

    Returns None where no game could be held out, and where completeness cannot be estimated.
    """
    data = sample.data
    forms = sample.forms
    if len(forms) < 2:
        return None, None
    numbers = {form: number for number, form in enumerate(forms)}
    owners = np.array([numbers[game.form] for game in data])
    of_model = np.bincount(owners, scores, minlength=len(forms))
    of_chance = np.zeros(len(forms))
    of_best = np.zeros(len(forms))
    cost = 0.0
    total = 0.0
    for number, form in enumerate(forms):
        pairs = [game.counts for game in data if game.form is form]
        for side in zip(*pairs, strict=True):
            count = sum(side)
            size = float(count.sum())
            moves = len(count)
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
    chances = np.full(len(forms), 1 / len(forms))
    drawn = rng.multinomial(len(forms), chances, size=sample.draws)
    below = drawn @ attainable
    is_known = below > 0
    resampled = drawn @ gained
    completeness = Completeness(
        estimate=float(gained.sum() / attainable.sum()),
        resampled=resampled[is_known] / below[is_known],
        games=len(forms),
    )
    return score, completeness
