"""Settings of a study: one declaration from which come the command, the Python function, TOML,
JSON, checks and help.

    @settings
    class GuessingConfig(RunSettings):
        \"\"\"Let agents guess a share of the average, and report how deep they think.\"\"\"

        game: GameSetting = setting(help="A game of guessing.", kw_only=False, argument=True)
        agents: int = setting(default=100, ge=2, le=1_000_000)
        \"\"\"Agents per game.\"\"\"

A setting is explained by its help or by the text below it. The class is a frozen dataclass checked
by pydantic, so `GuessingConfig("guessing", agents=1)` raises a `SettingError` that names the
field, and type checkers know its constructor. A setting with `how=True` says how a run is made
(workers, folders, budgets): it changes no number and is left out of the run's identity. What cannot
be said by the bounds of one field is checked in `__post_init__`, which raises `SettingError`.
"""

import dataclasses
import re
import types
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, wraps
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic.fields import FieldInfo

from bestresponse.core.errors import BestResponseError, SettingError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.registry import did_you_mean
from bestresponse.models.wrappers.limits import Budget
from bestresponse.runs.execution import Progress
from bestresponse.runs.models import ModelLimits
from bestresponse.runs.store.folder import Shard

C = TypeVar("C")


_USUAL: Mapping[str, Any] = {
    "how": False,
    "argument": False,
    "option": True,
    "short": "",
    "metavar": "",
}


def setting(
    *,
    default: object = dataclasses.MISSING,
    default_factory: Callable[[], object] | None = None,
    help: str = "",
    kw_only: bool = True,
    how: bool = False,
    argument: bool = False,
    option: bool = True,
    short: str = "",
    metavar: str = "",
    **bounds: float,
) -> Any:
    """Declare a setting: its default, its help and its bounds (`ge`, `gt`, `le`, `lt`).

    `kw_only=False` lets Python name it by position, `argument=True` the command line; `short` is a
    letter for the command line, and `option=False` keeps the setting away from it.
    """
    start: dict[str, Any] = (
        {**bounds} if default is dataclasses.MISSING else {**bounds, "default": default}
    )
    if default_factory is not None:
        start["default_factory"] = default_factory
    extra: dict[str, Any] = {
        "how": how,
        "argument": argument,
        "option": option,
        "short": short,
        "metavar": metavar,
    }
    return Field(description=help, json_schema_extra=extra, kw_only=kw_only, **start)


@dataclass_transform(field_specifiers=(setting,), kw_only_default=True)
def settings(cls: type[C]) -> type[C]:
    """Make a class of settings: frozen, checked, and with a constructor.

    The constructor's errors are sentences about a field.
    """
    made: Any = pydantic_dataclass(
        frozen=True,
        config=ConfigDict(arbitrary_types_allowed=True, extra="forbid", allow_inf_nan=False),
    )(cls)
    check = made.__init__

    @wraps(check)
    def __init__(self: object, *args: object, **kwargs: object) -> None:
        try:
            # pydantic knows the numbers of Python, not those of numpy
            plain = {}
            for n, value in kwargs.items():
                plain[n] = value.item() if isinstance(value, np.generic) else value
            check(self, *args, **plain)
        except ValidationError as error:
            raise _explain(made, error) from None

    made.__init__ = __init__
    return made  # type: ignore[no-any-return]


MISSING_SETTING = "this setting is missing"
OF_PLAYS = frozenset(("workers", "processes", "shard"))
"""Settings of runs that a command leaves out (`unused`) where it makes no plays."""
OF_CALLS = frozenset(("cache", "cache_dir", "budget"))
"""Settings of runs that a command leaves out where it asks no model."""


def _check_budget(text: str) -> str:
    """Refuse limits that cannot be read before anything is asked."""
    Budget.parse(text)
    return text


@settings
class RunSettings:
    """What every study takes besides its own settings: where runs are kept, what they may cost, how
    they are made."""

    output_dir: str | Path = setting(default="results", how=True, metavar="FOLDER")
    """Folder for runs, reports and cached replies."""
    workers: int | None = setting(default=None, how=True, ge=1, le=1024)
    """Parallel plays. [default: as many as the models allow]"""
    processes: int = setting(default=1, how=True, ge=1, le=64)
    """Processes for plays without a model, or for a local model; each loads the model once."""
    cache: Literal["off", "read-write", "refresh", "replay"] = setting(
        default="read-write", how=True
    )
    """How to use cached replies."""
    cache_dir: Path | None = setting(default=None, how=True)
    """Folder of replies that several output folders share. [default: the output folder]"""
    budget: Annotated[str, AfterValidator(_check_budget)] = setting(
        default="", how=True, metavar="LIMITS"
    )
    """Maximum calls, tokens (of prompts and replies) or US dollars, such as "200 calls, 3 dollars";
    dollars need the extra `cost`."""
    shard: str | None = setting(default=None, how=True, metavar="I/N")
    """Play only one part of the run, such as 3/16; `bestresponse merge` joins the parts."""
    on_progress: Callable[[Progress], None] | None = setting(default=None, how=True, option=False)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that are asked, each once.

        A study that asks models overrides it.
        """
        return ()

    @property
    def limits(self) -> ModelLimits:
        """What calls may cost, and how many are made at once."""
        return ModelLimits(
            self.workers,
            self.cache,
            self.budget,
            cache_dir=self.cache_dir,
        )

    @property
    def part(self) -> Shard | None:
        """The part of the plays that is made; None for all."""
        return None if self.shard is None else Shard.parse(self.shard)

    def refuse_set(self, names: Iterable[str], problem: str) -> None:
        """Raise a SettingError for the first of these settings that is not at its default."""
        for name in names:
            if getattr(self, name) != list_settings(type(self))[name].get_default(
                call_default_factory=True
            ):
                raise SettingError(name, problem)

    def to_json(self) -> dict[str, object]:
        """Return the settings that can change a number as plain JSON data.

        Two runs with equal ones are the same.
        """
        how = {
            name for name, field in list_settings(type(self)).items() if read_extra(field)["how"]
        }
        kind: Any = type(self)
        plain: JsonObject = _adapt(kind).dump_python(self, mode="json", exclude=how)
        return plain

    @classmethod
    def from_json(cls, data: Mapping[str, object], *, stored: bool = True) -> Self:
        """Read settings from the plain data of a stored run or a file.

        If `stored` is False, the data are of a file that the user wrote.
        """
        return read_settings(cls, data, stored=stored)


def read_settings(kind: type[C], data: Mapping[str, object], *, stored: bool = False) -> C:
    """Read any class of settings from plain data.

    In those of a stored run no name is ever opened as a file.
    """
    try:
        checked: Any = kind
        made: C = _adapt(checked).validate_python(dict(data), context={"stored": stored})
    except ValidationError as error:
        raise _explain(kind, error) from None
    return made


@lru_cache(maxsize=64)
def _adapt(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def list_settings(kind: type) -> Mapping[str, FieldInfo]:
    """Return the fields of a class of settings.

    Its own come first, then what it inherits, and how a run is made comes last.
    """
    fields: Mapping[str, FieldInfo] = kind.__pydantic_fields__  # type: ignore[attr-defined]
    declared = {
        name: -depth
        for depth, cls in enumerate(reversed(kind.__mro__))
        for name in vars(cls).get("__annotations__", {})
    }
    return dict(
        sorted(
            fields.items(), key=lambda item: (bool(read_extra(item[1])["how"]), declared[item[0]])
        )
    )


def read_extra(field: FieldInfo) -> Mapping[str, Any]:
    """Return what `setting` was told besides what pydantic knows."""
    extra = field.json_schema_extra
    return extra if isinstance(extra, dict) else _USUAL


def describe_setting(kind: type, name: str) -> str:
    """Say what values a setting takes, such as `a whole number from 2 to 1,000,000`.

    Returns an empty result where any will do.
    """
    hint = get_type_hints(kind)[name]
    choices = [
        option
        for part in list_parts(hint)
        if get_origin(part) is Literal
        for option in get_args(part)
    ]
    if choices:
        return f"one of {', '.join(map(str, choices))}"
    plain = [part for part in list_parts(hint) if part in (int, float, bool)]
    if not plain:
        return ""
    words = {bool: "true or false", int: "a whole number", float: "a number"}[plain[0]]
    limits = {
        limit: getattr(bound, limit)
        for bound in list_settings(kind)[name].metadata
        for limit in ("ge", "gt", "le", "lt")
        if getattr(bound, limit, None) is not None
    }
    if "ge" in limits and "le" in limits:
        return f"{words} from {limits['ge']:,} to {limits['le']:,}"
    phrases = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}
    return " ".join(
        [words, " and ".join(f"{phrases[limit]} {value:,}" for limit, value in limits.items())]
    ).strip()


def list_parts(hint: object) -> tuple[object, ...]:
    """Return the types of a union, or the type alone."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _explain(kind: type, error: ValidationError) -> BestResponseError:
    """Say in our words what is wrong with the first setting that cannot be used."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(
        cause, BestResponseError
    ):  # one of ours that is a ValueError too, which pydantic wraps
        return cause
    path = [str(part) for part in first["loc"]]
    name = path[0] if path else ""
    known = list_settings(kind)
    if name not in known or first["type"] == "unexpected_keyword_argument":
        study = kind.__name__.removesuffix("Config").lower()
        hint = did_you_mean(name, sorted(known)) or " --help lists all settings."
        return UsageError(f"{study} has no setting {name!r}.{hint}")
    if first["type"] in ("missing", "missing_argument"):
        return SettingError(name, MISSING_SETTING)
    expected = describe_setting(kind, name)
    typed = isinstance(first["input"], str) and "number" in expected
    shown = str(first["input"]) if typed else repr(first["input"])
    if len(shown) > 80:
        shown = shown[:77] + "..."
    if expected:
        choices = (
            expected.removeprefix("one of ").split(", ") if expected.startswith("one of ") else []
        )
        near = did_you_mean(str(first["input"]), choices)
        return SettingError(name, f"expected {expected}, got {shown}{'.' + near if near else ''}")
    wanted = first["msg"].replace("Input should be", "expected")
    near = did_you_mean(str(first["input"]), re.findall("'(.*?)'", wanted))
    return SettingError(name, f"{wanted}, got {shown}{'.' + near if near else ''}")
