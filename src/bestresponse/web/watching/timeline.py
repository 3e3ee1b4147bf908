"""The stages of a play as a small chart: what everybody had earned, and what each answer cost."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from bestresponse.web.watching.steps import Stage

__all__ = ["draw_timeline"]

_WIDTH, _HEIGHT, _PAD = 640.0, 120.0, 8.0
_WIDEST = 14.0


def draw_timeline(stages: Sequence[Stage], roles: Sequence[str]) -> Markup:
    """Draw bars for the regrets against the others (else against the equilibrium); empty where none is known."""
    costs = [[_read_cost(stage, role) for role in roles] for stage in stages]
    most = max((cost for row in costs for cost in row if cost is not None), default=None)
    if len(stages) < 2 or most is None:
        return Markup("")
    step = (_WIDTH - 2 * _PAD) / len(stages)
    bars = [
        _draw_bar(number, seat, cost, most, step, len(roles))
        for number, row in enumerate(costs)
        for seat, cost in enumerate(row)
        if cost is not None
    ]
    cursor = Markup('<rect class="cursor" data-step="{:.2f}" data-pad="{}" x="{}" y="0" width="{:.2f}" height="{}"/>')
    label = f"Regret of {len(stages)} steps; the largest is {most:.4g}"
    frame = Markup('<svg class="timeline" viewBox="0 0 {} {}" role="img" aria-label="{}" preserveAspectRatio="none">')
    return (
        frame.format(_WIDTH, _HEIGHT, label)
        + cursor.format(step, _PAD, _PAD, step, _HEIGHT)
        + Markup("").join(bars)
        + Markup("</svg>")
    )


def _read_cost(stage: Stage, role: str) -> float | None:
    own = [step for step in stage.steps if step.role == role]
    if not own:
        return None
    return own[-1].regret if own[-1].regret is not None else own[-1].regret_equilibrium


def _draw_bar(number: int, seat: int, cost: float, most: float, step: float, seats: int) -> Markup:
    room = _HEIGHT - 2 * _PAD
    high = max(2.0, room * cost / most) if most > 0 else 2.0
    wide = min(0.7 * step / seats, _WIDEST)
    left = _PAD + step * (number + 0.5) + (seat - seats / 2) * wide
    place = Markup('x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"').format(
        left, _HEIGHT - _PAD - high, wide, high
    )
    bar = Markup('<rect class="bar seat{}" data-go="{}" {}><title>{}</title></rect>')
    return bar.format(seat % 4, number, place, f"step {number + 1}: {cost:.4g}")
