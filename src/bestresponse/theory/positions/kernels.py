"""The loop over the positions of a cycle, compiled with numba (extra `fast`)."""

from numba import njit

from bestresponse.theory.arrays import Bytes, Floats, Ints, Shorts

_CHANCE = -1


@njit(cache=True, nogil=True, error_model="numpy")
def improve_in_place(
    nodes: Ints,
    owner: Bytes,
    first: Ints,
    child: Shorts,
    chance: Floats,
    total: float,
    values: Floats,
) -> float:
    """Set what each node is worth to both seats from those after it; return the largest change."""
    moved = 0.0
    for node in nodes:
        best = 0.0
        for edge in range(first[node], first[node + 1]):
            worth = values[child[edge], 0]
            if owner[node] == _CHANCE:
                best += chance[edge] * worth
            elif edge == first[node] or (worth > best) == (owner[node] == 0):
                best = worth
        moved = max(moved, abs(best - values[node, 0]))
        values[node, 0] = best
        values[node, 1] = total - best
    return moved
