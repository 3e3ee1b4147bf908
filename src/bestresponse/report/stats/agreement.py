"""Raters (models, people, repeated runs): the sheets that they fill in, and how far they agree
beyond chance.

A sheet is a CSV file: it goes out through `report.tables.to_csv`, whose cells no spreadsheet takes
for formulas, and comes back through one reader, which gives every cell as text and every fault with
its line.

cohen_kappa          two raters, categories
                     Cohen 1960, Educ. Psychol. Meas. 20:37-46
fleiss_kappa         many raters, categories, no gaps
                     Fleiss 1971, Psychol. Bull. 76:378-382
krippendorff_alpha   many raters, gaps allowed, any scale
                     Krippendorff 2011, "Computing Krippendorff's Alpha"
icc                  many raters, numbers, no gaps: ICC(1,1), ICC(1,k)
                     Shrout & Fleiss 1979, Psychol. Bull. 86:420-428

All are 1 at perfect agreement and 0 at what chance gives. Where chance alone already forces
agreement (everybody always says the same) they are not defined, and UsageError says so.
"""

import csv
import io
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import UsageError
from bestresponse.report import tables
from bestresponse.report.stats.statistics import Floats

Scale = Literal["nominal", "ordinal", "interval"]


def read_sheet(
    text: str,
    columns: Sequence[str],
    where: str = "this file",
    some_of: Sequence[str] = (),
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield every row of a sheet with the number of its line.

    Missing cells are empty, guards are taken off.

    Raises:
        UsageError: the file is no CSV, one of `columns` is missing, or all of `some_of` are.
    """
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), restval="")
    try:
        names = set(reader.fieldnames or ())
        if not set(columns) <= names or (some_of and not set(some_of) & names):
            expected = ", ".join((*columns, *some_of))
            raise UsageError(
                f"{where} is not a sheet; expected a CSV file with the columns {expected}"
            )
        for row in reader:
            cells = {}
            for name, cell in row.items():
                # What stands behind the last column has no name.
                if isinstance(name, str):
                    cells[name] = tables.unguard(str(cell or ""))
            yield reader.line_num, cells
    except csv.Error as error:
        # Only lines that were read to their end are counted.
        raise UsageError(f"{where}, line {reader.line_num + 1}: {error}") from None


@dataclass(frozen=True, slots=True)
class RatingSummary:
    """What raters gave on one scale.

    Returns None where a figure is not defined, as agreement is with one rater.
    """

    scores: int
    raters: int
    first_quartile: float | None
    median: float | None
    third_quartile: float | None
    mean: float | None
    deviation: float | None
    fleiss: float | None
    krippendorff: float | None
    icc: float | None


def summarise_ratings(
    table: NDArray[np.float64],
    levels: Sequence[int],
    scale: Scale = "ordinal",
) -> RatingSummary:
    """Summarise a table of raters x items, NaN where a rater gave nothing.

    `levels` are all that can be given.

    Every item may have raters of its own. ICC is left out where levels have no order. Kappa and
    ICC need equally many ratings each, two at least: they are of the items with the usual number,
    the larger one where two are as usual.
    """
    values = table[~np.isnan(table)]
    first, median, third = (
        np.quantile(values, [0.25, 0.5, 0.75]).tolist() if values.size else [None] * 3
    )
    by_item = _list_usual_items(table)
    by_level = [(by_item == level).sum(axis=1) for level in levels]
    counts = np.stack(by_level, axis=1)
    alpha = partial(krippendorff_alpha, scale=scale)
    return RatingSummary(
        scores=int(values.size),
        raters=len(table),
        first_quartile=first,
        median=median,
        third_quartile=third,
        mean=float(values.mean()) if values.size else None,
        deviation=float(values.std(ddof=1)) if values.size > 1 else None,
        fleiss=compute_if_defined(fleiss_kappa, counts),
        krippendorff=compute_if_defined(alpha, table),
        icc=compute_if_defined(icc, by_item) if scale != "nominal" else None,
    )


def _list_usual_items(table: Floats) -> Floats:
    """List the ratings of those items that have as many as most items with two at least."""
    numbers = (~np.isnan(table)).sum(axis=0)
    several, times = np.unique(numbers[numbers > 1], return_counts=True)
    usual = max(several[times == times.max(initial=0)], default=0)
    items = table.T[numbers == usual]
    ratings: Floats = items[~np.isnan(items)].reshape(len(items), usual)
    return ratings


def compute_if_defined(measure: Callable[[ArrayLike], float], ratings: ArrayLike) -> float | None:
    """Compute an agreement.

    Returns None where there is none to speak of: one rater, one item, or nothing that differs.
    """
    try:
        return measure(ratings)
    except UsageError:
        return None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Agreement of two raters who each put the same items into categories.

    >>> cohen_kappa("aabb", "abbb")
    0.5
    """
    if len(first) != len(second) or not first:
        raise UsageError(
            f"both raters rate the same items, but gave {len(first)} and {len(second)} ratings"
        )
    categories = {name: number for number, name in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(categories), len(categories)))
    for by_first, by_second in zip(first, second, strict=True):
        table[categories[by_first], categories[by_second]] += 1 / len(first)
    chance = table.sum(axis=1) @ table.sum(axis=0)
    return _beyond_chance(float(np.trace(table)), float(chance))


def fleiss_kappa(counts: ArrayLike) -> float:
    """Agreement from a table of items x categories: how many raters put the item there.

    Equally many each item.
    """
    table = _table(counts, "counts")
    raters = table.sum(axis=1)
    if (table < 0).any() or (raters != raters[0]).any() or raters[0] < 2:
        raise UsageError(
            "counts: every item needs the same number of ratings, two at least, and no negative"
            " counts"
        )
    squares = (table**2).sum(axis=1)
    within = (squares - raters) / (raters * (raters - 1))
    shares = table.sum(axis=0) / table.sum()
    return _beyond_chance(float(within.mean()), float(shares @ shares))


def krippendorff_alpha(ratings: ArrayLike, scale: Scale = "nominal") -> float:
    """Agreement from a table of raters x items; NaN is "did not rate".

    Categories are numbers, in order if ordinal.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise UsageError(f"ratings: expected a table of raters x items, got shape {table.shape}")
    rated = np.isfinite(table)
    table = table[:, rated.sum(axis=0) >= 2]
    values = np.unique(table[np.isfinite(table)])
    if values.size < 2:
        raise UsageError(
            "agreement beyond chance is not defined: no two ratings of shared items differ"
        )
    by_value = [(table == value).sum(axis=0) for value in values]
    counts = np.stack(by_value, axis=1).astype(np.float64)
    pairs = counts / (counts.sum(axis=1, keepdims=True) - 1)
    coincidences = pairs.T @ counts - np.diag(pairs.sum(axis=0))
    margins = coincidences.sum(axis=1)
    if scale == "nominal":
        distance = 1.0 - np.eye(values.size)
    else:
        position = values if scale == "interval" else np.cumsum(margins) - margins / 2
        distance = np.subtract.outer(position, position) ** 2
    expected = (np.outer(margins, margins) - np.diag(margins)) / (margins.sum() - 1)
    found = (coincidences * distance).sum()
    by_chance = (expected * distance).sum()
    return 1 - float(found / by_chance)


def icc(ratings: ArrayLike, *, average: bool = False) -> float:
    """Intraclass correlation of a table of items x ratings, for absolute agreement.

    Every item may have raters of its own, so the order of its ratings says nothing. ICC(1,1): how
    far one rating can be trusted. `average` gives ICC(1,k): how far the mean of an item's can.
    """
    table = _table(ratings, "ratings")
    items, raters = table.shape
    if items < 2 or raters < 2:
        raise UsageError(
            f"ratings: expected two items and two raters at least, got {items} and {raters}"
        )
    by_item = table.mean(axis=1, keepdims=True)
    between = raters * ((by_item - table.mean()) ** 2).sum() / (items - 1)
    within = ((table - by_item) ** 2).sum() / (items * (raters - 1))
    spread = between if average else between + (raters - 1) * within
    if spread <= 0:
        raise UsageError("agreement beyond chance is not defined: the items do not differ")
    return float((between - within) / spread)


def _table(numbers: ArrayLike, what: str) -> Floats:
    table = np.asarray(numbers, dtype=np.float64)
    if table.ndim != 2 or table.size == 0 or not np.isfinite(table).all():
        raise UsageError(
            f"{what}: expected a full table of finite numbers, got shape {table.shape}"
        )
    return table


def _beyond_chance(observed: float, chance: float) -> float:
    if chance >= 1 - 1e-12:
        raise UsageError("agreement beyond chance is not defined: every rating is the same")
    return (observed - chance) / (1 - chance)
