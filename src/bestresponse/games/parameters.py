"""What can be set in the rules of a game: its plain fields, or what it names itself.

A name may have settings in brackets behind it, as in `connect-four(columns=5, rows=4)`; the parts
of a list are separated by semicolons, as in `diner(roles=Ann;Bo;Cy)`.
"""

import dataclasses
from collections.abc import Mapping

from bestresponse.core.capabilities import NamedParameters, Parameter
from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame, Game, S

_MOST_PARAMETER = 1_000_000
"""More is a typing error, and as a number of rounds it would fill the memory."""
_FIXED = ("name", "version", "description", "rules", "story", "wanted", "shown_as", "others")
"""What says which game it is and how it is told; a table or a tree has nothing else that is
simple."""


def list_parameters(game: Game[S]) -> dict[str, Parameter]:
    """List what can be set in the rules of a game, with the values that it has."""
    if isinstance(game, NamedParameters):
        return dict(game.list_parameters())
    if not dataclasses.is_dataclass(game):
        return {}
    parameters: dict[str, Parameter] = {}
    for known in dataclasses.fields(game):
        value = getattr(game, known.name)
        simple = (
            all(isinstance(part, str) for part in value)
            if type(value) is tuple
            else isinstance(value, bool | int | float | str)
        )
        if known.init and known.name not in _FIXED and simple and value != ():
            # An amount that need not be whole is a float also where it is whole.
            parameters[known.name] = (
                float(value) if known.type in (float, "float") and type(value) is int else value
            )
    return parameters


def set_parameters(game: Game[S], values: Mapping[str, Parameter]) -> AnyGame:
    """Return the game with these parameters.

    Raises UsageError where it has none of that name or of another kind.
    """
    known = list_parameters(game)
    for name, value in values.items():
        if name not in known:
            raise UsageError(
                f"{game.name} has no parameter {name!r}; it has {', '.join(known) or 'none'}"
            )
        wanted = type(known[name])
        if isinstance(value, int | float) and abs(value) > _MOST_PARAMETER:
            raise UsageError(
                f"the parameter {name} is {value:g}; expected at most {_MOST_PARAMETER:,}"
            )
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise UsageError(
                f"the parameter {name} is {value!r}; expected something like {known[name]!r}"
            )
    if not known:
        return game
    try:
        if isinstance(game, NamedParameters):
            return game.with_parameters(values)
        return dataclasses.replace(game, **values)  # type: ignore[type-var]
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(f"{game.name} cannot be made with these parameters: {error}") from None


def split_settings(text: str) -> tuple[str, dict[str, str]]:
    """Split a name from the settings in brackets behind it.

    >>> split_settings("connect-four(columns=5, rows=4)")
    ('connect-four', {'columns': '5', 'rows': '4'})
    >>> split_settings("nim")
    ('nim', {})
    """
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return name, {}
    settings: dict[str, str] = {}
    for pair in rest.removesuffix(")").split(","):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not rest.endswith(")") or not (key and equals and value) or key in settings:
            raise UsageError(
                f"{text!r:.80}: expected settings in brackets such as"
                " connect-four(columns=5, rows=4), each of them once"
            )
        settings[key] = value
    return name.strip(), settings


def apply_settings(game: Game[S], settings: Mapping[str, str], name: str) -> AnyGame:
    """Return the game of that name with settings that were typed.

    Each is read as the kind of value that it replaces.
    """
    known = list_parameters(game)
    values: dict[str, Parameter] = {}
    for setting, text in settings.items():
        values[setting] = _read_value(text, known.get(setting, ""))
    changed = set_parameters(game, values)
    has_name = "name" in getattr(changed, "__dataclass_fields__", ())
    return dataclasses.replace(changed, name=name) if has_name else changed  # type: ignore[type-var]


def _read_value(text: str, like: Parameter) -> Parameter:
    """Read a value of the kind of another one; what cannot be read is refused later, as a text."""
    if isinstance(like, tuple):
        return tuple(part.strip() for part in text.split(";"))
    if isinstance(like, bool):
        return {"true": True, "false": False}.get(text.casefold(), text)
    if isinstance(like, int | float):
        try:
            return type(like)(text)
        except ValueError:
            return text
    return text
