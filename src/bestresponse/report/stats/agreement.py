"""How far raters (models, people, repeated runs) agree beyond chance.

cohen_kappa          two raters, categories                    Cohen 1960, Educ. Psychol. Meas. 20:37-46
fleiss_kappa         many raters, categories, no gaps          Fleiss 1971, Psychol. Bull. 76:378-382
krippendorff_alpha   many raters, gaps allowed, any scale      Krippendorff 2011, "Computing Krippendorff's Alpha"
icc                  many raters, numbers, no gaps: ICC(2,1), ICC(2,k)   Shrout & Fleiss 1979, Psychol. Bull. 86:420-428

All are 1 at perfect agreement and 0 at what chance gives. Where chance alone already forces agreement (everybody
always says the same) they are not defined, and UsageError says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.interval import Floats

Scale = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Agreement of two raters who each put the same items into categories.

    >>> cohen_kappa("aabb", "abbb")
    0.5
    """
    if len(first) != len(second) or not first:
        raise UsageError(f"both raters rate the same items, but gave {len(first)} and {len(second)} ratings")
    categories = {name: number for number, name in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(categories), len(categories)))
    for one, other in zip(first, second, strict=True):
        table[categories[one], categories[other]] += 1 / len(first)
    return _beyond_chance(float(np.trace(table)), float(table.sum(axis=1) @ table.sum(axis=0)))


def fleiss_kappa(counts: ArrayLike) -> float:
    """Agreement from a table of items x categories: how many raters put the item there; equally many each item."""
    table = _table(counts, "counts")
    raters = table.sum(axis=1)
    if (table < 0).any() or (raters != raters[0]).any() or raters[0] < 2:
        raise UsageError("counts: every item needs the same number of ratings, two at least, and no negative counts")
    within = ((table**2).sum(axis=1) - raters) / (raters * (raters - 1))
    shares = table.sum(axis=0) / table.sum()
    return _beyond_chance(float(within.mean()), float(shares @ shares))


def krippendorff_alpha(ratings: ArrayLike, scale: Scale = "nominal") -> float:
    """Agreement from a table of raters x items; NaN is "did not rate". Categories are numbers, in order if ordinal."""
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise UsageError(f"ratings: expected a table of raters x items, got shape {table.shape}")
    rated = np.isfinite(table)
    table = table[:, rated.sum(axis=0) >= 2]
    values = np.unique(table[np.isfinite(table)])
    if values.size < 2:
        raise UsageError("agreement beyond chance is not defined: no two ratings of shared items differ")
    counts = np.array([[np.count_nonzero(item == value) for value in values] for item in table.T], dtype=np.float64)
    per_item = counts.sum(axis=1)
    coincidences = (counts / (per_item - 1)[:, None]).T @ counts - np.diag(
        (counts / (per_item - 1)[:, None]).sum(axis=0)
    )
    margins = coincidences.sum(axis=1)
    distance = _distances(values, margins, scale)
    expected = (np.outer(margins, margins) - np.diag(margins)) / (margins.sum() - 1)
    return 1 - float((coincidences * distance).sum() / (expected * distance).sum())


def _distances(values: Floats, margins: Floats, scale: Scale) -> Floats:
    """The squared difference of each two categories on the scale."""
    match scale:
        case "nominal":
            return 1.0 - np.eye(values.size)
        case "ordinal":
            position = np.cumsum(margins) - margins / 2
            return np.subtract.outer(position, position) ** 2
        case "interval":
            return np.subtract.outer(values, values) ** 2
    raise UsageError(f"scale: expected nominal, ordinal or interval, got {scale!r}")


def icc(ratings: ArrayLike, *, average: bool = False) -> float:
    """Intraclass correlation of a table of items x raters, both drawn at random, for absolute agreement.

    ICC(2,1): how far one rating can be trusted. `average` gives ICC(2,k): how far the mean of all raters can.
    """
    table = _table(ratings, "ratings")
    items, raters = table.shape
    if items < 2 or raters < 2:
        raise UsageError(f"ratings: expected two items and two raters at least, got {items} and {raters}")
    total = table.mean()
    between = raters * ((table.mean(axis=1) - total) ** 2).sum() / (items - 1)
    judges = items * ((table.mean(axis=0) - total) ** 2).sum() / (raters - 1)
    residual = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0, keepdims=True) + total
    error = (residual**2).sum() / ((items - 1) * (raters - 1))
    bias = (judges - error) / items
    spread = between + bias if average else between + (raters - 1) * error + raters * bias
    if spread <= 0:
        raise UsageError("agreement beyond chance is not defined: the items do not differ")
    return float((between - error) / spread)


def _table(numbers: ArrayLike, what: str) -> Floats:
    table = np.asarray(numbers, dtype=np.float64)
    if table.ndim != 2 or table.size == 0 or not np.isfinite(table).all():
        raise UsageError(f"{what}: expected a full table of finite numbers, got shape {table.shape}")
    return table


def _beyond_chance(observed: float, chance: float) -> float:
    if chance >= 1 - 1e-12:
        raise UsageError("agreement beyond chance is not defined: every rating is the same")
    return (observed - chance) / (1 - chance)
