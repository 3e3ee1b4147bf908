"""The command of a study, made from its settings: every field is an argument or an option with its help and default.

What is typed goes to the settings as it is; they convert and check it, so there is one place that refuses a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

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
from bestresponse.runs.settings import RunSettings, list_parts, list_settings, read_extra, read_settings
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
        name: field for name, field in list_settings(kind).items() if read_extra(field)["option"] and name not in unused
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
            if error.field in fields and read_extra(fields[error.field])["argument"]:
                raise UsageError(f"{error.field.upper()}: {error.problem}; --help says what it may be") from None
            raise
        act(config, as_json=as_json, **chosen)

    run.__doc__ = f"{getdoc(kind)}\n\n{epilogue}".rstrip()
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def _make_parameter(kind: type, name: str, field: FieldInfo, hint: object) -> Parameter:
    """Describe a setting for typer; all are texts, because the settings themselves read and check them."""
    words, extra = field.description or read_help(kind).get(name, ""), read_extra(field)
    parts = list_parts(hint)
    choices = [str(option) for part in parts if get_origin(part) is Literal for option in get_args(part)]
    metavar = extra["metavar"] or next((_METAVARS[part] for part in parts if part in _METAVARS), None)
    metavar = f"[{'|'.join(choices)}]" if choices else metavar
    complete = offer_names(choices) if choices else COMPLETIONS.get(name)
    default = None if field.default in (PydanticUndefined, MISSING) else field.default
    if default is not None and not isinstance(default, bool) and default not in ("", ()):
        words += f" [default: {', '.join(map(str, default)) if isinstance(default, tuple | list) else default}]"
    form = _choose_form(hint)
    if extra["argument"]:
        # Never required here: a file of settings may hold it, and the settings say that it is missing.
        metavar = name.upper() if field.is_required() else f"[{name.upper()}]"
        argument = typer.Argument(help=words, metavar=metavar, show_default=False, autocompletion=complete)
        words_or_word: Any = list[str] if form == "many" else str
        return _keyword(name, Annotated[words_or_word | None, argument])
    flag = f"--{name.replace('_', '-')}"
    flags = [flag, *([extra["short"]] if extra["short"] else [])]
    if bool in parts:
        # The metavar of a yes/no setting names the option that turns it off.
        flags = [f"{flag}/--{extra['metavar'] or f'no-{flag[2:]}'}"] if default is True else flags
        return _keyword(name, Annotated[bool | None, typer.Option(*flags, help=words, show_default=False)])
    if form != "one":
        words = f"{words.rstrip('.')}; may be repeated."
    option = typer.Option(*flags, help=words, metavar=metavar, autocompletion=complete)
    words_or_word = str if form == "one" else list[str]
    return _keyword(name, Annotated[words_or_word | None, option])


def _keyword(name: str, annotation: object, default: object = None) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _choose_form(hint: object) -> Literal["pairs", "many", "one"]:
    """Choose how a setting is typed: as NAME=VALUE pairs, as several words, or as one."""
    origins = {get_origin(part) for part in list_parts(hint)}
    converted = hint if isinstance(hint, type) and issubclass(hint, Converted) else Converted
    if converted.pairs or origins & {dict, Mapping}:
        return "pairs"
    return "many" if converted.many or origins & {tuple, list} else "one"


def _read_typed(name: str, typed: Any, hint: object) -> object:
    """Read NAME=VALUE pairs and lists, which may be typed in one word with commas or as several words."""
    match _choose_form(hint):
        case "pairs":
            return read_pairs(name, typed)
        case "many":
            return [word.strip() for words in typed for word in words.split(",") if word.strip()]
        case "one":
            return typed
