"""Games and models in any form a user has them.

The functions of the Python interface and settings take these forms.

A setting that takes more than it keeps (a game by name, file, table or rules is kept as a
`NamedGame`) has one of the types below. To a type checker they are descriptors: the constructor
takes what `__set__` takes, the attribute is what `__get__` returns. At run time they only tell
pydantic how to convert a value and how to write it as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, ParamSpec, TypeAlias, TypeVar, cast

from pydantic_core import core_schema

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.files import read_text_file
from bestresponse.core.json import JsonObject, digest
from bestresponse.games.lookup import GameLike as GameLike, NamedGame, as_source, find_game
from bestresponse.models.base import Model, Reply, Request
from bestresponse.models.providers.function import FunctionModel, from_function
from bestresponse.models.providers.query import Queryable, QueryModel
from bestresponse.models.wrappers.mcp_tools import MCP, find_tools
from bestresponse.models.wrappers.tools import Tool
from bestresponse.players.llm.agent import Persona, make_persona, read_personas

_LARGEST_TEXT = 100_000
"""Bytes of a file whose text is told to a model."""
Given = TypeVar("Given")
Kept = TypeVar("Kept")
Config = TypeVar("Config")
Result = TypeVar("Result")
P = ParamSpec("P")

ModelLike: TypeAlias = (
    "str | Model | Queryable | Callable[[str], str | Reply] | Callable[[Request], str | Reply]"
)
"""A name, a model, any function from a prompt to a text, or an object with a method
`query(game)`."""
ToolLike: TypeAlias = "str | Tool | Callable[..., object]"
"""A function, a tool, `mcp:COMMAND`, or the name of a tool of an installed package."""


def count_parameters(function: Callable[..., object]) -> int:
    """Count the arguments that a function is called with: one makes it a model, two a strategy.

    >>> count_parameters(lambda own, other: other[-1])
    2
    """
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not say what they take
        return 1
    return sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in parameters
    )


class NamedModel(str):
    """The name of a model; `model` is the model itself where it is not to be opened by its name."""

    __slots__ = ("model",)
    model: Model | None

    def __new__(cls, name: str, model: Model | None = None) -> NamedModel:
        """Keep the model beside its name."""
        named = super().__new__(cls, name)
        named.model = model
        return named


class DefaultModel(NamedModel):
    """The model of a setting that nobody named: its weights are used, and never downloaded."""

    __slots__ = ()


def as_model(model: ModelLike) -> NamedModel:
    """Return the name of a model.

    It comes with the model itself if that is not to be opened by its name.
    """
    if isinstance(model, NamedModel):
        return model
    if isinstance(model, str):
        return NamedModel(model)
    if isinstance(model, Model):
        return NamedModel(model.id, model)
    if isinstance(model, Queryable):
        if isinstance(model, type):
            raise UsageError(
                f"{model.__name__} is a class; give an object of it, such as {model.__name__}()"
            )
        named = getattr(model, "name", None)
        name = named if isinstance(named, str) and named.strip() else type(model).__name__
        return NamedModel(name, QueryModel(name, model))
    if callable(model):
        if count_parameters(model) > 1:
            raise UsageError("a model is a function of one thing, the prompt; this one takes more")
        name = getattr(model, "__name__", type(model).__name__)
        if not name.isidentifier():
            source = from_function(name, model).identity["source"]
            name = f"function-{str(source or digest(repr(model)))[:6]}"
        return NamedModel(name, from_function(name, model))
    raise UsageError(
        "expected a model, its name, a function from prompt to text or an object with "
        f"query(game), got {type(model).__name__}"
    )


def list_once(models: Iterable[NamedModel]) -> tuple[NamedModel, ...]:
    """List the models, each once.

    Raises UsageError where two are called the same, because one would answer for both.
    """
    known: dict[str, NamedModel] = {}
    for named in models:
        first = known.setdefault(named, named).model
        second = named.model
        if first is not second and not (isinstance(first, FunctionModel) and first.is_same(second)):
            raise UsageError(
                f"two models are called {named}; name each, as by from_function(NAME, FUNCTION)"
            )
    return tuple(known.values())


def take_settings(
    kind: Callable[P, Config], act: Callable[[Config], Result]
) -> Callable[P, Result]:
    """Return a function with the fields of a class of settings as arguments.

    It calls `act` with these settings.
    """

    @wraps(act)
    def act_with(*args: P.args, **kwargs: P.kwargs) -> Result:
        return act(kind(*args, **kwargs))

    returned = signature(act).return_annotation
    called = signature(kind).replace(return_annotation=returned)
    act_with.__signature__ = called  # type: ignore[attr-defined]
    return act_with


class Converted(Generic[Given, Kept]):
    """A setting that is made from more than it keeps.

    `convert` makes it, and `to_json` writes it as plain data.

    `convert` is also called with what `to_json` wrote. `pairs` marks settings that the command line
    takes as NAME=VALUE, `many` those that it takes several times, `optional` those that may be
    None, and `files` those in which a text is the name of a file.
    """

    pairs: ClassVar[bool] = False
    many: ClassVar[bool] = False
    optional: ClassVar[bool] = False
    files: ClassVar[bool] = False

    if TYPE_CHECKING:

        def __get__(self, settings: object, kind: type | None = None) -> Kept: ...
        def __set__(self, settings: object, value: Given) -> None: ...

    @classmethod
    def convert(cls, value: Any, stored: bool) -> object:
        """Return what is kept.

        Where `stored`, the value is that of a stored run and no file may be opened.
        """
        raise NotImplementedError

    @classmethod
    def to_json(cls, value: Any) -> object:
        """Return what is kept as plain JSON data."""
        return value

    @classmethod
    def __get_pydantic_core_schema__(
        cls,
        source: object,
        handler: object,
    ) -> core_schema.CoreSchema:
        """Tell pydantic how the setting is made and written."""

        def convert(value: object, info: core_schema.ValidationInfo) -> object:
            if value is None and cls.optional:
                return None
            return cls.convert(value, bool(info.context and info.context.get("stored")))

        return core_schema.with_info_plain_validator_function(
            convert,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: None if value is None else cls.to_json(value)
            ),
        )


class GameSetting(Converted["GameLike", NamedGame]):
    """A game: a name, a file, a table, a tree, rules or a formalized story."""

    @classmethod
    def convert(cls, value: GameLike, stored: bool) -> NamedGame:
        """Find the game."""
        if isinstance(value, NamedGame):
            return value
        if stored and isinstance(value, Mapping):
            return NamedGame.from_json(value)
        if stored:
            return NamedGame(find_game(str(value), allow_files=False).name)
        return as_source(value)

    @classmethod
    def to_json(cls, value: NamedGame) -> dict[str, str]:
        """Return its name, and the text of its file where it came from one."""
        return value.to_json()


class OptionalGameSetting(Converted["GameLike | None", "NamedGame | None"]):
    """A game, or none."""

    optional = True
    convert = GameSetting.convert
    to_json = GameSetting.to_json


class NamedGamesSetting(Converted["GameLike | Sequence[GameLike]", tuple[NamedGame, ...]]):
    """One game or several."""

    many = True

    @classmethod
    def convert(cls, value: GameLike | Sequence[GameLike], stored: bool) -> tuple[NamedGame, ...]:
        """Find the games."""
        several = isinstance(value, tuple | list)
        given: Sequence[GameLike] = value if several else (value,)  # type: ignore[assignment]
        return tuple(GameSetting.convert(game, stored) for game in given)

    @classmethod
    def to_json(cls, value: tuple[NamedGame, ...]) -> list[dict[str, str]]:
        """Return their names, and the texts of their files where they came from one."""
        return [game.to_json() for game in value]


class ModelSetting(Converted["ModelLike", NamedModel]):
    """A model, its name, or a function from prompt to text."""

    @classmethod
    def convert(cls, value: ModelLike, stored: bool) -> NamedModel:
        """Name the model."""
        return as_model(value)


class OptionalModelSetting(Converted["ModelLike | None", "NamedModel | None"]):
    """A model, its name, a function from prompt to text, or none."""

    optional = True
    convert = ModelSetting.convert


class ModelsSetting(Converted["ModelLike | Sequence[ModelLike]", tuple[NamedModel, ...]]):
    """One model or several; players and strategies that are named may stand among them."""

    many = True

    @classmethod
    def convert(
        cls,
        value: ModelLike | Sequence[ModelLike],
        stored: bool,
    ) -> tuple[NamedModel, ...]:
        """Name the models."""
        if isinstance(value, Sequence) and not isinstance(value, str):
            return tuple(map(as_model, value))
        return (as_model(value),)


class NamesSetting(Converted[str | Sequence[str], tuple[str, ...]]):
    """One name or several."""

    many = True

    @classmethod
    def convert(cls, value: str | Sequence[str], stored: bool) -> tuple[str, ...]:
        """Return the names as a tuple."""
        names = (value,) if isinstance(value, str) else tuple(value)
        if not all(isinstance(name, str) for name in names):
            raise UsageError(f"expected names, got {value!r}")
        return names


class SeatsSetting(Converted["Mapping[str, ModelLike]", Mapping[str, NamedModel]]):
    """Who sits where: by seat a model, its name, or a strategy by name."""

    pairs = True

    @classmethod
    def convert(cls, value: Mapping[str, ModelLike], stored: bool) -> dict[str, NamedModel]:
        """Name the players."""
        return {str(seat): as_model(player) for seat, player in dict(value).items()}


class PersonasSetting(
    Converted["str | Path | Mapping[str, Persona | Mapping[str, str]]", Mapping[str, Persona]]
):
    """Personas by seat.

    Given as a TOML file with a table for each, or a mapping of such tables or personas.
    """

    files = True

    @classmethod
    def convert(cls, value: object, stored: bool) -> Mapping[str, Persona]:
        """Read the file, or make the personas of the mapping."""
        if isinstance(value, str | Path) and not stored:
            return read_personas(Path(value))
        if not isinstance(value, Mapping):
            raise SettingError(
                "personas", f"expected a file or a mapping from seats to personas, got {value!r}"
            )
        return {
            str(seat): (
                entry if isinstance(entry, Persona) else make_persona(str(seat), entry, "personas")
            )
            for seat, entry in value.items()
        }

    @classmethod
    def to_json(cls, value: Mapping[str, Persona]) -> dict[str, dict[str, str]]:
        """Return the texts by seat."""
        return {seat: persona.to_json() for seat, persona in value.items()}


class FileText(str):
    """A text that was read from a file."""

    __slots__ = ()


class FileTextSetting(Converted["str | Path | None", "FileText | None"]):
    """The text of a file, which is named; or none."""

    optional = True
    files = True

    @classmethod
    def convert(cls, value: str | Path, stored: bool) -> FileText:
        """Read the file; a stored run holds the text itself."""
        if isinstance(value, FileText):
            return value
        if stored:
            return FileText(value)
        try:
            text = read_text_file(Path(value), _LARGEST_TEXT).strip()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text in UTF-8"
            raise UsageError(f"{value} cannot be read: {why}") from None
        if not text:
            raise UsageError(f"{value} is empty; expected the text that a model is told")
        return FileText(text)

    @classmethod
    def to_json(cls, value: FileText) -> str:
        """Return the text."""
        return str(value)


class ToolsSetting(Converted["ToolLike | Sequence[ToolLike]", "Sequence[Tool]"]):
    """Tools that models may call.

    Given as functions, `mcp:COMMAND`, or names of tools of installed packages.
    """

    many = True

    @classmethod
    def convert(cls, value: ToolLike | Sequence[ToolLike], stored: bool) -> Sequence[Tool]:
        """Find the tools; those of a stored run can be told, and not called."""
        given = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
        if stored:
            return tuple(Tool(**cast("JsonObject", entry)) for entry in given)
        if any(isinstance(named, str) and named.startswith(MCP) for named in given):
            return _LateTools(given)
        return _list_tools(given)

    @classmethod
    def to_json(cls, value: Sequence[Tool]) -> list[dict[str, object]]:
        """Return what models are told of the tools."""
        return [tool.to_json() for tool in value]


def _list_tools(given: Sequence[ToolLike]) -> tuple[Tool, ...]:
    found = tuple(tool for named in given for tool in find_tools(named))
    known = set()
    for tool in found:
        if tool.name in known:
            raise SettingError("tools", f"two tools are named {tool.name!r}")
        known.add(tool.name)
    return found


class _LateTools(Sequence[Tool]):
    """Tools of servers, which are started when the first tool is looked at.

    Reading the settings and showing what a run would take start no server.
    """

    def __init__(self, given: Sequence[ToolLike]) -> None:
        self._given = given

    @cached_property
    def _found(self) -> tuple[Tool, ...]:
        return _list_tools(self._given)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, place: Any) -> Any:
        return self._found[place]
