"""The command of a study, made from its settings: every field is an argument or an option with its help and default.

What is typed goes to the settings as it is; they convert and check it, so there is one place that refuses a value.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bestresponse.cli.completion import COMPLETIONS, offer_names
from bestresponse.cli.options import read_pairs
from bestresponse.cli.running import run_and_show, show_estimate
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.files import read_toml
from bestresponse.report.frames import read_help
from bestresponse.runs.inputs import Converted
from bestresponse.runs.settings import RunSettings, list_settings, read_settings
from bestresponse.runs.study import AnyStudy

_DRY_RUN = "Print what would be played and what it takes, and stop."
_METAVARS = {int: "INTEGER", float: "NUMBER", Path: "PATH"}


def make_study_command(study: AnyStudy) -> Callable[..., None]:
    """Return the function that typer makes a command of: it builds the settings, runs the study and shows the run."""

    def run(
        config: RunSettings,
        as_json: bool,
        dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)] = False,
    ) -> None:
        show = show_estimate if dry_run else run_and_show
        show(study.pick(config), config, as_json)

    again = "The same command again goes on where it was stopped and plays only what is missing."
    return make_settings_command(study.config, run, again)


def make_settings_command(kind: type, act: Callable[..., None], epilogue: str = "") -> Callable[..., None]:
    """Return a command with an option for every setting of `kind`, and for every further parameter that `act` has.

    `act` is called with the settings, with whether JSON is wanted, and with its own parameters.
    """
    unused: frozenset[str] = getattr(kind, "unused", frozenset())
    fields = {
        name: field for name, field in list_settings(kind).items() if _extra(field, "option") and name not in unused
    }
    hints = get_type_hints(kind)
    own = get_type_hints(act, include_extras=True)
    more = [
        _keyword(name, own[name], parameter.default)
        for name, parameter in signature(act).parameters.items()
        if name not in ("config", "as_json")
    ]
    file = typer.Option(help="TOML with settings; what is typed goes before it.")
    as_json = typer.Option("--json", help="Print the summary as JSON.")
    parameters = [
        *(_make_parameter(kind, name, field, hints[name]) for name, field in fields.items()),
        _keyword("settings", Annotated[Path | None, file]),
        *more,
        _keyword("as_json", Annotated[bool, as_json], False),
    ]

    def run(*, settings: Path | None, as_json: bool, **typed: Any) -> None:
        chosen = {parameter.name: typed.pop(parameter.name) for parameter in more}
        values: dict[str, Any] = dict(read_toml(settings)) if settings is not None else {}
        for name, value in typed.items():
            if value is not None and value != []:
                values[name] = _read_typed(name, value, hints[name])
        try:
            config: Any = read_settings(kind, values)
        except SettingError as error:
            if error.field in fields and _extra(fields[error.field], "argument"):
                raise UsageError(f"{error.field.upper()}: {error.problem}; --help says what it may be") from None
            raise
        act(config, as_json=as_json, **chosen)

    run.__doc__ = f"{getdoc(kind)}\n\n{epilogue}".rstrip()
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def _make_parameter(kind: type, name: str, field: FieldInfo, hint: Any) -> Parameter:
    """Describe a setting for typer; all are texts, because the settings themselves read and check them."""
    words = field.description or read_help(kind).get(name, "")
    metavar = _extra(field, "metavar") or next(
        (_METAVARS[part] for part in _list_parts(hint) if part in _METAVARS), None
    )
    choices = [str(option) for part in _list_parts(hint) if get_origin(part) is Literal for option in get_args(part)]
    if choices:
        metavar = f"[{'|'.join(choices)}]"
    complete = COMPLETIONS.get(name)
    if choices:
        complete = offer_names(choices)
    default = None if field.default in (PydanticUndefined, MISSING) else field.default
    if default is not None and not isinstance(default, bool) and default not in ("", ()):
        words = f"{words} [default: {_show_default(default)}]"
    if _extra(field, "argument"):
        # Never required here: a file of settings may hold it, and the settings say that it is missing.
        metavar = name.upper() if field.is_required() else f"[{name.upper()}]"
        argument = typer.Argument(help=words, metavar=metavar, show_default=False, autocompletion=complete)
        return _keyword(name, Annotated[(list[str] if _takes_many(hint) else str) | None, argument])
    flag = f"--{name.replace('_', '-')}"
    flags = [flag, *([_extra(field, "short")] if _extra(field, "short") else [])]
    if bool in _list_parts(hint):
        # The metavar of a yes/no setting names the option that turns it off.
        flags = [f"{flag}/--{_extra(field, 'metavar') or f'no-{flag[2:]}'}"] if default is True else flags
        return _keyword(name, Annotated[bool | None, typer.Option(*flags, help=words, show_default=False)])
    if _takes_many(hint) or _takes_pairs(hint):
        words = f"{words.rstrip('.')}; may be repeated."
        option = typer.Option(*flags, help=words, metavar=metavar, autocompletion=complete)
        return _keyword(name, Annotated[list[str] | None, option])
    option = typer.Option(*flags, help=words, metavar=metavar, autocompletion=complete)
    return _keyword(name, Annotated[str | None, option])


def _keyword(name: str, annotation: object, default: object = None) -> Parameter:
    """Describe an option for typer."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _extra(field: FieldInfo, name: str) -> Any:
    extra = field.json_schema_extra
    return extra[name] if isinstance(extra, dict) else None


def _list_parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _is_mapping(hint: Any) -> bool:
    return any(get_origin(part) in (dict, Mapping) for part in _list_parts(hint))


def _takes_pairs(hint: Any) -> bool:
    return _is_mapping(hint) or (isinstance(hint, type) and issubclass(hint, Converted) and hint.pairs)


def _takes_many(hint: Any) -> bool:
    several = any(get_origin(part) in (tuple, list) for part in _list_parts(hint))
    return several or (isinstance(hint, type) and issubclass(hint, Converted) and hint.many)


def _read_typed(name: str, typed: Any, hint: Any) -> Any:
    """Read NAME=VALUE pairs and lists, which may be typed in one word with commas or as several words."""
    if _takes_pairs(hint):
        return read_pairs(name, typed)
    if _takes_many(hint):
        return [word.strip() for words in typed for word in words.split(",") if word.strip()]
    return typed


def _show_default(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
