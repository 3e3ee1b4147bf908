"""Sheets that raters fill in, and how far raters agree.

A sheet is a CSV file: it goes out through `report.tables.to_csv`, whose cells no spreadsheet takes for formulas, and
comes back through one reader, which gives every cell as text and every fault with its line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import UsageError
from bestresponse.report import tables
from bestresponse.report.stats.agreement import Scale, fleiss_kappa, icc, krippendorff_alpha


def read_sheet(
    text: str, columns: Sequence[str], where: str = "this file", some_of: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield every row of a sheet with the number of its line; missing cells are empty, guards are taken off.

    Raises:
        UsageError: the file is no CSV, one of `columns` is missing, or all of `some_of` are.
    """
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), restval="")
    try:
        names = set(reader.fieldnames or ())
        if not set(columns) <= names or (some_of and not set(some_of) & names):
            expected = ", ".join((*columns, *some_of))
            raise UsageError(f"{where} is no sheet; expected a CSV file with the columns {expected}")
        for row in reader:
            cells = {str(name): cell for name, cell in row.items() if isinstance(name, str)}
            yield reader.line_num, {name: tables.unguard(str(cell or "")) for name, cell in cells.items()}
    except csv.Error as error:
        raise UsageError(f"{where}, line {reader.line_num}: {error}") from None


@dataclass(frozen=True, slots=True)
class RatingSummary:
    """What raters gave on one scale; None where a figure is not defined, as agreement is with one rater."""

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


def summarise_ratings(table: NDArray[np.float64], levels: Sequence[int], scale: Scale = "ordinal") -> RatingSummary:
    """Summarise a table of raters x items, NaN where a rater gave nothing; `levels` are all that can be given.

    Kappa and ICC are of the items that everybody rated; ICC is left out where levels have no order.
    """
    values = table[~np.isnan(table)]
    quartiles = np.quantile(values, [0.25, 0.5, 0.75]).tolist() if values.size else [None] * 3
    whole = table[:, ~np.isnan(table).any(axis=0)]
    counts = np.stack([(whole == level).sum(axis=0) for level in levels], axis=1)
    return RatingSummary(
        int(values.size),
        len(table),
        quartiles[0],
        quartiles[1],
        quartiles[2],
        float(values.mean()) if values.size else None,
        float(values.std(ddof=1)) if values.size > 1 else None,
        compute_if_defined(fleiss_kappa, counts),
        compute_if_defined(lambda ratings: krippendorff_alpha(ratings, scale), table),
        compute_if_defined(icc, whole.T) if scale != "nominal" else None,
    )


def compute_if_defined(measure: Callable[[ArrayLike], float], ratings: ArrayLike) -> float | None:
    """Compute an agreement; None where there is none to speak of: one rater, one item, or nothing that differs."""
    try:
        return measure(ratings)
    except UsageError:
        return None
