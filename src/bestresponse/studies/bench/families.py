"""Families of random games with their parameters, as `--set support=2` gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, TypeAlias, get_args

import numpy as np

from bestresponse.core.errors import InvalidGame, SettingError
from bestresponse.core.registry import did_you_mean, read_like
from bestresponse.runs.inputs import Converted
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.generators import FAMILIES, EquilibriumKind, generate

Value: TypeAlias = "bool | int | float | str | tuple[float, ...]"
Properties: TypeAlias = "tuple[tuple[str, Value], ...]"
"""Names and values of a family's parameters, in the order in which the family has them."""

_ELSEWHERE = {"shape": "num_rows and num_cols say how many actions there are"}
_LARGEST_WHOLE = 2**62  # of the numbers that numpy draws as integers


class PropertiesSetting(Converted["Mapping[str, object]", "tuple[tuple[str, Any], ...]"]):
    """Parameters of a family by their names.

    The settings read the values once they know the family.
    """

    pairs = True

    @classmethod
    def convert(cls, value: object, stored: bool) -> tuple[tuple[str, object], ...]:
        """Keep the pairs as they are."""
        if isinstance(value, tuple):
            return value
        if not isinstance(value, Mapping):
            raise SettingError(
                "set", f"expected parameters by name, such as {{'support': 2}}, got {value!r}"
            )
        return tuple((str(name), given) for name, given in value.items())

    @classmethod
    def to_json(cls, value: Properties) -> dict[str, object]:
        """Return the values by name."""
        return {name: list(given) if isinstance(given, tuple) else given for name, given in value}


def list_family_parameters(family: str) -> dict[str, object]:
    """Return the parameters that can be set of a family, and their defaults."""
    parameters = list(signature(FAMILIES[family]).parameters.values())[1:]
    return {p.name: p.default for p in parameters if p.name not in _ELSEWHERE}


def _name_families(parameter: str) -> str:
    """Say which families have a parameter of that name, or return an empty text.

    >>> _name_families("rho")
    ' It is a parameter of the family covariant.'
    """
    having = [family for family in FAMILIES if parameter in list_family_parameters(family)]
    return f" It is a parameter of the family {' and '.join(having)}." if having else ""


def read_properties(family: str, given: Sequence[tuple[str, object]]) -> Properties:
    """Read the values of a family's parameters.

    Raises SettingError if there is no such name or value.

    >>> read_properties("given-support", [("support", "2")])
    (('support', 2),)
    """
    known = list_family_parameters(family)
    for name, _ in given:
        if name in _ELSEWHERE:
            raise SettingError("set", f"{name} is not a parameter: {_ELSEWHERE[name]}")
        if name not in known:
            listed = ", ".join(f"{n}={_write(default)}" for n, default in known.items())
            hint = did_you_mean(name, list(known)) or _name_families(name)
            raise SettingError(
                "set", f"{family} has no parameter {name!r}; it has {listed or 'none'}.{hint}"
            )
    read = {name: _read_value(name, known[name], value) for name, value in given}
    if ("low" in read) != ("high" in read):
        raise SettingError(
            "set", "give both low and high: payoffs are drawn between them, whatever the scale"
        )
    return tuple((name, read[name]) for name in known if name in read)


def _write(default: object) -> str:
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    if isinstance(default, bool):
        return "yes" if default else "no"
    return "drawn" if default is None else str(default)


def _read_value(name: str, default: object, value: object) -> Value:
    """Read a value of the default's type; a number where the default is None."""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value).strip()
    try:
        read: Value = read_like(default, text, get_args(EquilibriumKind))
    except ValueError as error:
        raise SettingError("set", f"{name}: {error}") from None
    return read


def draw_family(
    family: str,
    count: int,
    seed: int,
    *,
    shape: tuple[int, int],
    scale: float,
    decimals: int,
    properties: Properties = (),
) -> Array:
    """Draw payoffs (count, 2, rows, columns), multiplied by `scale` and rounded.

    `low` and `high` are before that.
    """
    takes = signature(FAMILIES[family]).parameters
    wanted: dict[str, Any] = {"shape": shape} if "shape" in takes else {}
    if family in ("zero-sum", "uniform"):  # payoffs from -1 to 1 where their range is a parameter
        wanted |= {"low": -1.0, "high": 1.0}
    wanted |= dict(properties)
    if wanted.get("equilibrium", "any") == "any":
        batch = generate(family, count, seed=seed, **wanted).payoffs
        if batch.shape[1] != 2:
            raise InvalidGame(
                f"the benchmark plays two-player games; {family} makes {batch.shape[1]} players"
            )
        rounded: Array = np.round(batch * scale, decimals) + 0.0
        return rounded
    # Rounding can make a saddle point where there was none, so payoffs are drawn as they are shown:
    # whole steps.
    steps = 10**decimals
    low = wanted["low"] * scale * steps
    high = wanted["high"] * scale * steps
    if max(abs(low), abs(high)) > _LARGEST_WHOLE:
        raise SettingError(
            "decimals",
            f"payoffs up to {scale:g} cannot be drawn with {decimals} decimals; take fewer",
        )
    wanted |= {"low": low, "high": high, "whole": True}
    payoffs: Array = generate(family, count, seed=seed, **wanted).payoffs / steps + 0.0
    return payoffs
