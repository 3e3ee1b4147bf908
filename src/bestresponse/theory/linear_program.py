"""Linear programs by HiGHS, through scipy, which is imported when the first one is solved."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bestresponse.core.errors import NotCertified
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.games.normal_form import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Matrix: TypeAlias = "Array | csr_array"

_PRECISE: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# as scipy numbers them
_OUT_OF_TIME = 1
_INFEASIBLE = 2


def load_sparse() -> ModuleType:
    """Import sparse matrices when they are needed, since that is slow."""
    from scipy import sparse

    return sparse


def solve_program(
    cost: Array,
    above: Matrix,
    limits: Array,
    equal: Matrix,
    totals: Array,
    bounds: tuple[float, float | None] | Sequence[tuple[float | None, float | None]] | Array = (
        0.0,
        None,
    ),
    deadline: Deadline = NEVER,
) -> tuple[Array, Array] | None:
    """Minimise cost'x with above x <= limits and equal x = totals.

    Return x, and what relaxing each limit would save.

    `None` where nothing fulfils the constraints, NotCertified where HiGHS does not come to an end,
    for example not before the `deadline`.
    """
    from scipy import optimize

    minimise: Any = optimize.linprog
    options = {**_PRECISE, "time_limit": deadline.left}
    answer = minimise(
        cost,
        above,
        limits,
        equal,
        totals,
        bounds,
        method="highs",
        options=options,
    )
    if answer.status == _OUT_OF_TIME and deadline.is_over:
        raise NotCertified(
            f"a linear program was not solved within {deadline.seconds:g} s; allow more seconds"
        )
    if answer.status not in (0, _INFEASIBLE):
        raise NotCertified(f"a linear program was not solved: {answer.message}")
    return None if answer.status else (answer.x, -answer.ineqlin.marginals)


def find_mixture(
    cost: Array,
    above: Matrix,
    limits: Array,
    deadline: Deadline = NEVER,
) -> Array | None:
    """Find the distribution p of least cost'p with above p <= limits; None where there is none."""
    answer = solve_program(
        cost=cost,
        above=above,
        limits=limits,
        equal=np.ones((1, len(cost))),
        totals=np.ones(1),
        deadline=deadline,
    )
    return None if answer is None else _normalise(answer[0])


def find_fairest_mixture(
    payoffs: Array,
    above: csr_array | None = None,
    deadline: Deadline = NEVER,
) -> Array:
    """Find the distribution p whose lowest expected payoff is largest, with above p <= 0."""
    sparse = load_sparse()
    players, cells = payoffs.shape
    rows: Any = np.hstack([-payoffs, np.ones((players, 1))])
    if above is not None:
        free = sparse.csr_array((above.shape[0], 1))
        rows = sparse.vstack([sparse.hstack([above, free]), sparse.csr_array(rows)], format="csr")
    bounds = [(0.0, 1.0)] * cells + [(None, None)]
    total = np.append(np.ones(cells), 0.0)[None, :]
    answer = solve_program(
        cost=-np.eye(cells + 1)[-1],
        above=rows,
        limits=np.zeros(rows.shape[0]),
        equal=total,
        totals=np.ones(1),
        bounds=bounds,
        deadline=deadline,
    )
    if answer is None:
        raise NotCertified("a linear program that has a solution was found to have none")
    return _normalise(answer[0][:-1])


def _normalise(weights: Array) -> Array:
    positive = np.clip(weights, 0.0, None)
    return np.asarray(positive / positive.sum())
