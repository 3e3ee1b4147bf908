"""What a group of players did, and the models that are fitted to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.core.errors import InvalidGame, SettingError
from bestresponse.report.frames import Value, column
from bestresponse.report.stats.statistics import (
    Floats,
    Integers,
    Interval,
    bound_mean,
    cluster_codes,
    dyadic_ratio,
    interval_of_draws,
    normal_quantile,
    widen,
)
from bestresponse.studies.behave.config import BehaveConfig, Fit
from bestresponse.studies.behave.moves import SeatMoves, UnusedRow
from bestresponse.studies.tournament.entries import StageGame, as_automata
from bestresponse.theory.behaviour.choices import (
    HIGHEST_LEVEL,
    ChoiceFit,
    ChoiceModel,
    Choices,
    fit_choices,
)
from bestresponse.theory.behaviour.mixtures import (
    Histories,
    count_agreement,
    fit_mixture,
    prune_mixture,
    resample,
)
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import cooperative_actions

_MEAN_LEVEL = "mean level"
_FEW_GAMES = 8
"""With fewer games their resamples say little, and matches are resampled instead."""


class GroupRow(TypedDict, total=False):
    """A group of players and how its strategies were estimated."""

    group: str
    units: Annotated[
        int,
        column(help="subjects; if not identified, matches, or seats if both belong to the group"),
    ]
    unit: str
    log_likelihood: Annotated[float, column(format=".1f")]
    bic: Annotated[float, column("BIC", ".1f")]
    icl: Annotated[float, column("ICL", ".1f")]
    best_bic: Annotated[
        int, column("strategies by BIC", help="the number of strategies with the lowest BIC")
    ]
    best_icl: Annotated[int, column("by ICL", help="the number with the lowest ICL")]
    remark: str | None


class StrategyRow(TypedDict):
    """The share of a strategy in a group."""

    group: str
    strategy: str
    share: Annotated[Value, column(format=".3f", help="95 % interval from resampling units")]
    classified: Annotated[int, column(help="units for which it is the likeliest strategy")]


class ClassRow(TypedDict):
    """The likeliest strategy of a subject or match."""

    group: str
    unit: str
    strategy: str
    probability: Annotated[float, column(format=".3f")]


class NumberRow(TypedDict):
    """A mixture of fewer strategies."""

    group: str
    strategies: int
    bic: Annotated[float, column("BIC", ".1f")]
    icl: Annotated[float, column("ICL", ".1f")]
    left_out: Annotated[str | None, column("left out next")]


class FittedRow(TypedDict):
    """A model of single choices, fitted to a group."""

    group: str
    model: str
    parameter: str
    estimate: Annotated[
        Value, column(format=".3g", help="95 % interval from resampling games, subjects or matches")
    ]
    score: Annotated[
        float | None,
        column("held-out score", ".4f", "log likelihood of a choice in held-out games"),
    ]
    completeness: Annotated[
        Value,
        column(
            format=".3f",
            help="0 is chance, 1 the best attainable; only with enough games and choices",
        ),
    ]
    remark: str | None


@dataclass(frozen=True, eq=False)
class PlayerGroup:
    """What one group of players did."""

    sequences: Sequence[SeatMoves]
    seed: int

    @cached_property
    def has_subjects(self) -> bool:
        """Say whether it is known which matches are of one person."""
        return any(seen.subject for seen in self.sequences)

    @property
    def unit(self) -> str:
        """Say what the units of estimation are."""
        nameless = [seen.match for seen in self.sequences if not seen.subject]
        both_seats = len(set(nameless)) < len(nameless)
        seats = "seat" if both_seats else "match"
        if not self.has_subjects:
            return seats
        return f"subject or {seats}" if nameless else "subject"

    def remark_names(self) -> str | None:
        """Say that names recur although every match counts as another player's, if so."""
        nameless = [seen for seen in self.sequences if seen.imported and not seen.subject]
        matches = Counter(seen.labels["player"] for seen in nameless)
        repeated = sum(times > 1 for times in matches.values())
        if len(matches) < 2 or not repeated:
            return None
        return (
            f"{repeated} of {len(matches)} names appear in several matches, but every match counts"
            " as a new player; if the names are people, list their columns under `subjects` in the"
            " mapping"
        )

    @cached_property
    def cooperation(self) -> Sequence[tuple[SeatMoves, Floats]]:
        """By seat, which of its moves were to cooperate; only games in which one can."""
        rows = []
        for seen in self.sequences:
            kind = _find_cooperation(seen.form)
            if kind is None or not seen.has_moves:
                continue
            cooperated = np.array(seen.own) == kind[seen.seat]
            rows.append((seen, cooperated.astype(np.float64)))
        return rows

    def average_cooperation(self, start: int = 0, stop: int | None = None) -> Value:
        """Average cooperation in these rounds, with an interval.

        The interval is over persons, or over matches of nameless players.
        """
        parts: list[Floats] = []
        clusters: list[str] = []
        persons: list[tuple[str, ...]] = []
        for seen, moves in self.cooperation:
            in_rounds = moves[start:stop]
            if in_rounds.size:
                parts.append(in_rounds)
                # Two of the group who met each other are no two matches.
                clusters += [seen.cluster] * in_rounds.size
                persons += [seen.persons] * in_rounds.size
        if not parts:
            return None
        values = np.concatenate(parts)
        if len(set(clusters)) < 2:
            return float(values.mean())
        interval = bound_mean(
            values,
            (0.0, 1.0),
            clusters,
            rng=np.random.default_rng(self.seed),
        )
        # What a person does depends on whom they met, so that matches with a common person on
        # either side go together.
        return widen(interval, (0.0, 1.0), dyadic_ratio(values, clusters, persons))


@lru_cache(maxsize=4096)
def _find_cooperation(form: NormalForm) -> tuple[int, int] | None:
    try:
        return cooperative_actions(form)
    except InvalidGame:
        return None


_FITS: tuple[Fit, ...] = ("strategies", "qre", "level-k", "cognitive-hierarchy")


def choose_fits(group: PlayerGroup) -> tuple[Fit, ...]:
    """Choose what is estimated where the settings do not say it.

    In one game in which both players have a dominant move, every level above 0 does the same, and
    one share of one move tells nothing about precision or depth that could be compared.
    """
    first, *others = {seen.form for seen in group.sequences}
    if not others and has_dominant_moves(first):
        return ("strategies",)
    return _FITS


@lru_cache(maxsize=4096)
def has_dominant_moves(form: NormalForm) -> bool:
    """Say whether each player has a move that is better than all others whatever the other does."""
    for seat in range(2):
        own = form.payoffs[seat] if seat == 0 else form.payoffs[seat].T
        is_best = own == own.max(axis=0)
        is_unique = (is_best.sum(axis=0) == 1).all()
        best = set(own.argmax(axis=0).tolist())
        if not is_unique or len(best) > 1:
            return False
    return True


def as_float(value: Value) -> float:
    """Return the estimate of a metric; 0 where there is none."""
    return value.estimate if isinstance(value, Interval) else float(value or 0.0)


def estimate_strategies(
    config: BehaveConfig,
    name: str,
    group: PlayerGroup,
    frames: dict[str, list[Any]],
) -> Value:
    """Estimate shares and error of a group, list them, and return the error."""
    blocks, units, reasons = _list_histories(config, group.sequences)
    for why, times in reasons.items():
        frames["left_out"].append(UnusedRow(what=f"{name}: strategies", why=why, times=times))
    if not blocks:
        return None
    agreement = count_agreement(blocks)
    choices_per_unit = agreement.counts[:, 0].sum(axis=1)
    if choices_per_unit.max() < 2:
        # A strategy with errors and another strategy explain a single choice equally well.
        why = "everybody made a single choice, which cannot tell strategies from errors"
        row = UnusedRow(what=f"{name}: strategies", why=why, times=len(units))
        frames["left_out"].append(row)
        return None
    everything = fit_mixture(agreement, seed=group.seed)
    path = prune_mixture(agreement, everything, seed=group.seed)
    best_bic = min(path, key=lambda fit: fit.bic)
    best_icl = min(path, key=lambda fit: fit.icl)
    match config.choose:
        case "all":
            fitted = everything
        case "bic":
            fitted = best_bic
        case "icl":
            fitted = best_icl
    kept = [agreement.names.index(name) for name in fitted.names]
    counts = np.ascontiguousarray(agreement.counts[:, kept])
    reduced = replace(agreement, names=fitted.names, counts=counts)
    # People are drawn with all their matches, each alone: given what was played before, the
    # likelihood of a match is the product of those of its seats, so that scores of people who met
    # are uncorrelated. Nameless seats of a match are drawn together all the same, since one model
    # may sit in both.
    drawn_with = {seen.unit: seen.cluster for seen in group.sequences}
    clusters = cluster_codes([drawn_with[unit] for unit in units], len(units))
    drawn = int(clusters.max()) + 1
    remarks = []
    if fitted.flat:
        remarks.append("other shares fit as well")
    if fitted.error < 1e-6:
        remarks.append("every move is prescribed, so the error is 0")
    if drawn == 1:
        remarks.append(f"all moves are of one {group.unit}, so that there is no interval")
    if names := group.remark_names():
        remarks.append(names)
    shares, errors = resample(
        reduced,
        fitted,
        config.bootstraps,
        clusters,
        seed=group.seed,
    )
    classes = fitted.posterior.argmax(axis=1)
    for k, strategy in enumerate(fitted.names):
        share = interval_of_draws(
            float(fitted.shares[k]),
            shares[:, k],
            drawn,
            (0.0, 1.0),
        )
        classified = int(np.count_nonzero(classes == k))
        estimated = StrategyRow(
            group=name,
            strategy=strategy,
            share=share,
            classified=classified,
        )
        frames["strategies"].append(estimated)
    for unit, k, row in zip(units, classes, fitted.posterior, strict=True):
        likeliest = ClassRow(
            group=name,
            unit=unit,
            strategy=fitted.names[k],
            probability=float(row[k]),
        )
        frames["classes"].append(likeliest)
    for fit, following in zip(path, (*path[1:], None), strict=True):
        gone = None
        if following:
            (gone,) = set(fit.names) - set(following.names)
        fewer = NumberRow(
            group=name,
            strategies=len(fit.names),
            bic=fit.bic,
            icl=fit.icl,
            left_out=gone,
        )
        frames["numbers"].append(fewer)
    frames["groups"][-1] |= GroupRow(
        group=name,
        units=len(units),
        unit=group.unit,
        log_likelihood=fitted.log_likelihood,
        bic=fitted.bic,
        icl=fitted.icl,
        best_bic=len(best_bic.names),
        best_icl=len(best_icl.names),
        remark="; ".join(remarks) or None,
    )
    # Every move can be an error, so what is known of it grows with moves and not with units.
    moves = 1
    if drawn > 1:
        moves = int(agreement.weights @ choices_per_unit)
    return interval_of_draws(
        fitted.error,
        errors,
        moves,
        (0.0, 1 - 1 / agreement.actions),
    )


def _list_histories(
    config: BehaveConfig, sequences: Sequence[SeatMoves]
) -> tuple[list[Histories], list[str], Counter[str]]:
    """Return the matches by game and seat with the strategies for that seat.

    Also returns the units, and why others are left out.
    """
    parts: dict[tuple[NormalForm, int], list[SeatMoves]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    for seen in sequences:
        if not seen.has_moves:
            reasons["the answers are mixtures and no moves"] += 1
        elif not seen.own:
            reasons["no move was made"] += 1
        else:
            parts[seen.form, seen.seat].append(seen)
    blocks = []
    units = dict[str, int]()
    for (form, seat), members in parts.items():
        stage = StageGame(form.name, form)
        try:
            pairs = [as_automata(entry, stage, None) for entry in config.strategies]
        except InvalidGame as error:
            reasons[str(error)] += len(members)
            continue
        automata = []
        for pair, entry in zip(pairs, config.strategies, strict=True):
            if pair:
                automata.append(replace(pair[seat], name=entry.name))
        if not automata:
            raise SettingError("strategies", "none of them is an automaton")
        longest = max(len(seen.own) for seen in members)
        own, other = np.full((2, len(members), longest), -1, dtype=np.int32)
        for i, seen in enumerate(members):
            answers = seen.other[:longest]
            own[i, : len(seen.own)] = seen.own
            other[i, : len(answers)] = answers
        numbers = [units.setdefault(seen.unit, len(units)) for seen in members]
        blocks.append(Histories(own, other, automata, np.array(numbers)))
    return blocks, list(units), reasons


def estimate_choices(
    config: BehaveConfig,
    name: str,
    group: PlayerGroup,
    models: Sequence[ChoiceModel],
    frames: dict[str, list[Any]],
) -> Mapping[str, Value]:
    """Estimate the models of single choices for a group, list them, and return their parameters."""
    few = len({seen.form for seen in group.sequences}) < _FEW_GAMES
    counts = _count_choices(config, group, by_cluster=few or group.has_subjects)
    data = [Choices(form, pair) for (form, _), pair in counts.items()]
    size = len(data)
    by_person = cluster_codes([cluster for _, cluster in counts], size)
    by_game = cluster_codes([form for form, _ in counts], size)
    if few:
        clusters = [by_person]
    elif group.has_subjects:
        # Persons differ, and so do games: what is drawn with both at once is an entry.
        clusters = [by_person, by_game, np.arange(size)]
    else:
        clusters = [by_game]
    parameters: dict[str, Value] = {}
    for fit in fit_choices(
        data,
        models,
        clusters=clusters,
        draws=config.bootstraps,
        seed=group.seed,
    ):
        # Where nearly all resamples say 0, as after moves that no precision explains, an interval
        # would be a point.
        fixed = fit.model != "level-k" and not np.ptp(np.quantile(fit.resampled, (0.025, 0.975)))
        remarks = _list_remarks(fit, fixed=fixed)
        if few:
            resampled = "subjects" if group.has_subjects else "matches"
            remarks.append(f"intervals resample {resampled}: few games")
        if fit.score is None:
            remarks.append("one game, nothing to hold out")

        completeness = _describe_completeness(fit)
        for parameter, estimate, draws, bounds in _list_parameters(fit):
            if fit.flat and parameter == _MEAN_LEVEL:
                # Where other shares fit as well, so does another mean level.
                continue
            value: Value = estimate
            if not (fit.edge or fixed):
                value = _bound_parameter(estimate, draws, clusters, bounds)
            row = FittedRow(
                group=name,
                model=fit.model,
                parameter=parameter,
                estimate=value,
                score=fit.score,
                completeness=completeness,
                remark="; ".join(remarks) or None,
            )
            frames["models"].append(row)
            parameters[parameter] = value
    return parameters


def _bound_parameter(
    estimate: float,
    draws: Floats,
    clusters: Sequence[Integers],
    bounds: tuple[float, float],
) -> Interval:
    """Compute the interval of a parameter from its resamples, as many for each of `clusters`.

    Of resamples of persons, of games and of both at once, the variances of the first two are added
    and the third, which both of them hold, is taken off (A. C. Cameron, J. B. Gelbach & D. L.
    Miller, "Robust inference with multiway clustering", Journal of Business & Economic Statistics
    29, 2011). The wider one of the two is widened accordingly.
    """
    by_cluster = draws.reshape(len(clusters), -1)
    variances = by_cluster.var(axis=1)
    widest = int(variances[:2].argmax())
    units = int(clusters[widest].max()) + 1
    interval = interval_of_draws(estimate, by_cluster[widest], units, bounds)
    if interval.method == "none":
        return interval
    ratio = 1.0
    if len(clusters) > 1 and variances[widest] > 0:
        persons, games, both = variances
        ratio = max(1.0, float(np.sqrt((persons + games - both) / variances[widest])))
    if not np.isfinite(bounds).all():
        from scipy.special import stdtrit

        # Resamples of few units vary less than samples do, by the square root of (n - 1) / n, and
        # their variance is itself an estimate, as in Student's t (T. C. Hesterberg, "What teachers
        # should know about the bootstrap", American Statistician 69, 2015). Within bounds, half a
        # unit that was not seen does the same.
        ratio *= np.sqrt(units / (units - 1)) * stdtrit(units - 1, 0.975) / normal_quantile(0.975)
    return widen(interval, bounds, ratio)


def _count_choices(
    config: BehaveConfig,
    group: PlayerGroup,
    *,
    by_cluster: bool,
) -> dict[tuple[NormalForm, str], tuple[Floats, Floats]]:
    """Count the moves of both seats by game, and within it by what is resampled where asked for."""
    counts: dict[tuple[NormalForm, str], tuple[Floats, Floats]] = {}
    for seen in group.sequences:
        key = (seen.form, seen.cluster if by_cluster else "")
        if key not in counts:
            rows, cols = seen.form.shape
            counts[key] = (np.zeros(rows), np.zeros(cols))
        count = counts[key][seen.seat]
        for move in config.select_rounds(seen.own):
            if isinstance(move, int):
                count[move] += 1.0
            else:
                count += np.array(move)
    return counts


def _list_remarks(fit: ChoiceFit, *, fixed: bool) -> list[str]:
    """Say why a parameter has no interval, or why others fit as well."""
    remarks = []
    if fit.edge:
        remarks.append("the likelihood grows with it without end")
    elif fixed:
        remarks.append("the same in 95 % of all resamples or more, so no interval")
    if fit.flat:
        remarks.append("other shares fit as well")
    return remarks


def _describe_completeness(fit: ChoiceFit) -> Value:
    """Return the completeness with an interval over games; None where it cannot be estimated."""
    if fit.completeness is None:
        return None
    found = fit.completeness
    return interval_of_draws(found.estimate, found.resampled, found.games)


def _list_parameters(fit: ChoiceFit) -> Iterator[tuple[str, float, Floats, tuple[float, float]]]:
    """Yield each parameter with its estimate, resampled estimates and bounds."""
    if fit.model != "level-k":
        name = "lambda" if fit.model == "qre" else "tau"
        yield name, float(fit.estimate[0]), fit.resampled[:, 0], (0.0, np.inf)
        return
    levels = np.arange(HIGHEST_LEVEL + 1)
    yield (
        _MEAN_LEVEL,
        float(fit.estimate @ levels),
        fit.resampled @ levels,
        (0.0, float(HIGHEST_LEVEL)),
    )
    for level in levels:
        yield (
            f"share of level {level}",
            float(fit.estimate[level]),
            fit.resampled[:, level],
            (0.0, 1.0),
        )
