"""Curves of equilibria through a known one.

They follow directions in which the equations of its supports stay solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np

from bestresponse.theory.equilibria.many_players.equations import (
    REGRET_LIMIT,
    USED,
    Supports,
    derive_leads,
    embed,
    equal_payoffs,
    find_best_replies,
    find_supports,
    measure_distance,
    restrict,
    settle,
    shift,
    worst_regret,
)
from bestresponse.theory.equilibria.result import Continuum
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.games.regrets import Profile

_FLAT = 1e-8  # of the largest singular value; a false direction is found out by its first step
_STEP = 1e-2
_LAST_STEP = 1e-8
_MOST_STEPS = 2000
_END = 1e-6  # far more than the last step of a walk, which stops just before a probability is 0
_DIRECTIONS = 12  # in a kernel of more dimensions curves may lead elsewhere than along its axes
_MOST_FACES = 64  # they double with every unused best response
_NEARER = 0.7
"""On a curve that is known there is a point nearer than this share of the step to it."""


def add_continua(payoffs: Array, mix: Profile, continua: list[Continuum]) -> None:
    """Add curves of equilibria through one to those known.

    The curves go in directions in which the equations stay solved.

    Every face between the supports and the best responses is tried; of sets of more dimensions on a
    face one is kept.
    """
    generator = np.random.default_rng(0)
    for face in islice(_list_faces(payoffs, mix), _MOST_FACES):
        wide = [known for known in continua if known.dimension > 1]
        if face in [find_supports(known.inner, USED) for known in wide]:
            continue
        derivative = derive_leads(*restrict(payoffs, mix, face))
        for step in _draw_flat_steps(derivative, generator):
            near = _move(payoffs, face, mix, _STEP * step)
            if near is None:
                continue
            distance = measure_distance(near, mix)
            if is_on_curve(continua, near, _NEARER * distance):
                continue
            found = _follow(payoffs, face, mix, step)
            continua.append(found)
            if found.dimension > 1:
                break


def _list_faces(payoffs: Array, mix: Profile) -> Iterator[Supports]:
    """Yield the supports with every choice of best responses outside them, smallest first."""
    supports = find_supports(mix, USED)
    unused = []
    for player, actions in enumerate(find_best_replies(payoffs, mix)):
        unused += [(player, action) for action in actions if action not in supports[player]]
    for count in range(len(unused) + 1):
        for chosen in combinations(unused, count):
            face = []
            for player, support in enumerate(supports):
                added = [action for who, action in chosen if who == player]
                face.append(tuple(sorted((*support, *added))))
            yield tuple(face)


def _follow(payoffs: Array, face: Supports, mix: Profile, step: Array) -> Continuum:
    """Follow equilibria on a face in both directions, and measure the dimension in the middle."""
    backwards = _walk(payoffs, face, mix, -step)
    forwards = _walk(payoffs, face, mix, step)
    path = (*reversed(backwards), mix, *forwards)
    inner = path[len(path) // 2]
    derivative = derive_leads(*restrict(payoffs, inner, find_supports(inner, USED)))
    singular = np.linalg.svd(derivative, compute_uv=False)
    largest = max(float(singular.max(initial=0.0)), 1.0)
    dimension = int((singular <= _FLAT * largest).sum())
    return Continuum(max(1, dimension), path)


def is_on_curve(continua: Sequence[Continuum], mix: Profile, distance: float) -> bool:
    """Say whether a mixture is closer than that to a point of one of the curves."""
    whole = np.concatenate(mix)
    for known in continua:
        distances = np.abs(known.points - whole).max(axis=1)
        if (distances < distance).any():
            return True
    return False


def _move(payoffs: Array, face: Supports, mix: Profile, step: Array) -> Profile | None:
    """Find the equilibrium on a face that is about a step away; None where there is none."""
    _, on_face = restrict(payoffs, mix, face)
    start = shift(on_face, step)
    if np.concatenate(start).min() < 0.0:
        return None
    guess = embed(start, face, mix)
    if guess is None:
        return None
    other = equal_payoffs(payoffs, face, guess)
    if other is None or worst_regret(payoffs, other) > REGRET_LIMIT:
        return None
    has_moved = measure_distance(mix, other) > np.abs(step).max() / 10
    return other if has_moved else None


def _walk(payoffs: Array, face: Supports, mix: Profile, step: Array) -> list[Profile]:
    """Follow equilibria on a face, each a step from the last, as far as they go."""
    path = [mix]
    size = _STEP
    while size > _LAST_STEP and len(path) < _MOST_STEPS:
        other = _move(payoffs, face, path[-1], size * step)
        if other is None:
            size /= 2.0
            continue
        _, before = restrict(payoffs, path[-1], face)
        _, after = restrict(payoffs, other, face)
        changes = [new[1:] - old[1:] for old, new in zip(before, after, strict=True)]
        change = np.concatenate(changes)
        step = change / np.abs(change).max()
        path.append(other)
    end = settle(payoffs, path[-1], _END)
    return path[1:] if end is None else [*path[1:], end]


def _draw_flat_steps(derivative: Array, generator: np.random.Generator) -> Array:
    """Draw steps along which the equations stay solved, the largest change being 1."""
    if not len(derivative):
        return derivative
    _, singular, rows = np.linalg.svd(derivative)
    largest = max(float(singular[0]), 1.0)
    kernel = rows[singular <= _FLAT * largest]
    axes = np.eye(len(kernel))
    drawn = generator.normal(size=(_DIRECTIONS, len(kernel)))
    steps = np.concatenate([axes, -axes, drawn]) @ kernel
    sizes = np.abs(steps).max(axis=1, initial=0.0)
    is_step = sizes > 0
    return np.asarray(steps[is_step] / sizes[is_step, None])
