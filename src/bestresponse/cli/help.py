"""How the help of every command reads: placeholders in capitals, and options in groups.

A placeholder is the word of the field for what is typed (`--model MODEL`), and never the name of a
Python type. An option is in the group that its name has in `GROUPS`, in every command alike; what
is in none of them is particular to the command and comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Annotated, TypeVar, get_args

import typer
from typer.core import TyperCommand

from bestresponse.cli.switches import be_quiet, be_verbose
from bestresponse.core.registry import did_you_mean

if TYPE_CHECKING:  # what typer has taken over from click has no public names
    from typer._click.core import Context, Parameter
    from typer._click.exceptions import UsageError as Mistyped
    from typer._click.formatting import HelpFormatter

_UNSHOWN = ("--output-dir",)
F = TypeVar("F", bound=Callable[..., object])

GROUPS: dict[str, tuple[str, ...]] = {
    heading: tuple(names.split())
    for heading, names in {
        "Models": """
            model translator judge referee temperature max-tokens effort attempts on-failure style
            elicit format theme samples plain reasons own-words memory reasoning personas tools""",
        "Solver": "solver method iterations policy plays objective seconds engine",
        "Training": "minutes steps lora device",
        "Budget and speed": "dry-run budget cache cache-dir workers processes shard",
        "Checks of the result": "against fail-if junit",
        "Output": "output page figures formulas json force",
        "Other": "settings quiet verbose help",
    }.items()
}
"""The groups of options and the options of each, in the order of `--help`."""
_OWN: dict[str, str] = {
    **dict.fromkeys(
        ("bench", "game", "water", "tournament", "steer", "play", "run"),
        "What to play",
    ),
    **dict.fromkeys(("verify", "check"), "What to check"),
    **dict.fromkeys(("sft", "gguf", "dialogues"), "What to write"),
    "behave": "What to estimate",
    "improve": "What to practise",
}
"""What to call the options that only a command itself has."""
_FEW = 8
"""So many options are read at a glance, and make one group."""
_PLACEHOLDERS: dict[str, str] = {
    name: word
    for word, names in {
        "MODEL": "translator judge referee player",
        "PLAYER": "others seat",
        "STRATEGY": "entries strategies against",
        "FILE": "page text output o strategy experiment mapping",
        "FOLDER": "cache-dir data student examples",
        "NAME=VALUE": "set",
        "FILE/NAME=VALUE": "settings",
        "LIMITS": "budget",
        "PROGRAM": "programs",
        "GAME": "games",
        "RUN": "runs run",
        "PART": "part",
        "SHEET": "sheets",
        "THEME": "themes",
        "FORMAT": "formats",
        "TREE": "trees",
        "WHAT": "fit elicit",
        "COLUMN": "by",
        "MOVE": "after default-move",
        "TOKEN": "admin-token",
        "SET": "actions",
    }.items()
    for name in names.split()
}
"""Words for what is typed, where the parameter's own name in capitals would not do."""
_OF_TYPES = {int: "INTEGER", float: "NUMBER"}


def _take_switches(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="Print results and errors only.",
            callback=be_quiet,
            expose_value=False,
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Also print waits for servers and repeated calls.",
            callback=be_verbose,
            expose_value=False,
        ),
    ] = False,
) -> None:
    """Declare the options that every command has; they act before the command does."""


@cache
def _list_switches() -> list[Parameter]:
    """Return the options that every command has; typer makes them of a command without more."""
    alone = typer.Typer(add_completion=False)
    alone.command()(_take_switches)
    options: list[Parameter] = typer.main.get_command(alone).params
    return options


class HelpfulCommand(TyperCommand):
    """A command whose help names what is typed, and shows its options in groups."""

    def __init__(self, name: str | None, **options: object) -> None:
        super().__init__(name, **options)  # type: ignore[arg-type]
        self.params += _list_switches()
        for parameter in self.params:
            parameter.metavar = choose_placeholder(parameter)

    def get_short_help_str(self, limit: int = 0) -> str:
        """Return the first sentence, which is the line in the list of commands, at any length."""
        first = " ".join((self.help or "").split("\n\n")[0].split())
        return first.partition(". ")[0].rstrip(".") + "."

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """Write `[OPTIONS] GAME [FILE]...`: what may be left out is in brackets."""
        arguments = [each for each in self.get_params(ctx) if each.param_type_name == "argument"]
        shown = [
            f"{each.metavar}..." if each.nargs != 1 else f"{each.metavar}" for each in arguments
        ]
        return ["[OPTIONS]", *shown]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the arguments, then the options by their groups."""
        parameters = self.get_params(ctx)
        arguments = [each for each in parameters if each.param_type_name == "argument"]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(
                    [(str(each.metavar).strip("[]"), _read_help(each)) for each in arguments]
                )
        for heading, options in group_options(str(self.name), parameters).items():
            with formatter.section(heading):
                formatter.write_dl(describe_options(options, ctx))


class Commands(typer.Typer):
    """A group of commands, each with such a help; none prints traces or installs completion."""

    def __init__(self, **options: object) -> None:
        super().__init__(
            rich_markup_mode=None,
            add_completion=False,
            pretty_exceptions_enable=False,
            **options,  # type: ignore[arg-type]
        )

    def command(  # type: ignore[override]
        self,
        name: str | None = None,
        *,
        cls: type[TyperCommand] | None = None,
    ) -> Callable[[F], F]:
        """Add a command."""
        return super().command(name, cls=cls or HelpfulCommand)


def group_options(command: str, parameters: list[Parameter]) -> dict[str, list[Parameter]]:
    """Sort the options of a command into groups, those of the command itself first; few options
    make one group."""
    options = [each for each in parameters if each.param_type_name == "option"]
    if len(options) <= _FEW:
        return {"Options": options}
    groups: dict[str, list[Parameter]] = {_OWN.get(command, "Options"): []}
    groups |= {heading: [] for heading in GROUPS}
    places = [(name, heading) for heading, names in GROUPS.items() for name in names]
    headings = dict(places)
    order = [name for name, _ in places]
    own = next(iter(groups))
    for option in options:
        groups[headings.get(name_option(option), own)].append(option)
    for heading in GROUPS:
        groups[heading].sort(key=lambda option: order.index(name_option(option)))
    return {heading: members for heading, members in groups.items() if members}


def name_option(parameter: Parameter) -> str:
    """Return the long name of an option without its dashes, or the name of an argument."""
    longest = max(list_names(parameter), key=len)
    return longest.lstrip("-").replace("_", "-")


def list_names(parameter: Parameter) -> list[str]:
    """Return what may be typed for an option, without names that are only understood."""
    return [name for name in parameter.opts if name not in _UNSHOWN] or parameter.opts


def describe_options(options: Iterable[Parameter], ctx: Context) -> list[tuple[str, str]]:
    """Describe options for the help, each by its names and its text, the default in brackets."""
    described = []
    for option in options:
        record = option.get_help_record(ctx)
        if record is not None:  # else it is hidden
            names = record[0]
            for unshown in _UNSHOWN if len(option.opts) > 1 else ():
                names = names.replace(f", {unshown}", "")
            described.append((names, describe_option(option)))
    return described


def describe_option(option: Parameter) -> str:
    """Return the text of an option with its default and the variable that sets it, in brackets."""
    words = [_read_help(option)]
    shown = getattr(option, "show_default", False) and not getattr(option, "is_flag", False)
    if shown and option.default not in (None, "", [], ()):
        words.append(f"[default: {option.default}]")
    if option.required:
        words.append("[required]")
    if option.envvar is not None:
        words.append(f"[environment: {option.envvar}]")
    return " ".join(words)


def choose_placeholder(parameter: Parameter) -> str | None:
    """Choose the word for what is typed: the parameter's own, that of its name, or its type."""
    if parameter.metavar or getattr(parameter, "is_flag", False):
        return parameter.metavar
    name = name_option(parameter)
    return _OF_TYPES.get(_read_type(parameter) or str) or find_placeholder(name)


def _read_type(parameter: Parameter) -> type | None:
    """Return the type of a value; typer keeps it in one place, and click, below older ones, in
    another."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return getattr(parameter, "type", None)
    annotation: type = described.annotation
    return next((each for each in get_args(annotation) if each in _OF_TYPES), annotation)


def find_placeholder(name: str) -> str:
    """Return the word for what is typed after an option, or for an argument, by its name."""
    return _PLACEHOLDERS.get(name, name.upper())


def _read_help(argument: Parameter) -> str:
    return str(getattr(argument, "help", None) or "")


Mistake: type[Exception] = typer.BadParameter.__bases__[0]
"""What typer raises where the words that were typed do not fit the command."""
MEANT = {
    "--lambda": " The parameter of a concept is typed as --set lambda=VALUE.",
    **dict.fromkeys(
        ("--size", "--sizes", "--actions"), " Games of `bench` have --num-rows and --num-cols."
    ),
    **dict.fromkeys(
        ("--parallel", "--concurrency", "--jobs", "--threads"),
        " How many plays run at once is --workers.",
    ),
    "--format": " For JSON, type --json.",
    "--config": " A file with settings is given as --settings FILE.",
    "--num-games": " How often a game is played is --repeats.",
    "--precision": " The metric games_needed says how many games to play: --num-games.",
    "--max-calls": " Limits are one option: --budget '200 calls'.",
    "--max-total-tokens": " Limits are one option: --budget '100000 tokens'.",
    "--max-cost": " Limits are one option: --budget '3 dollars'.",
    "--executor": " Plays run in processes where these are counted: --processes 8.",
    **dict.fromkeys(
        ("--out", "--pack", "--plot", "--picture", "--draw", "--save"),
        " It is called --output, or -o.",
    ),
}
"""Words that people type as options, with what they mean."""


def explain_usage_error(error: Mistyped) -> str:
    """Say in one sentence what does not fit the command, and what to type instead."""
    path = error.ctx.command_path if error.ctx is not None else "bestresponse"
    known = error.ctx.command.params if error.ctx is not None else []
    command = path.removeprefix("bestresponse ")
    where = f"`{path} --help` lists all options."
    typed = getattr(error, "option_name", "")
    parameter = getattr(error, "param", None)
    match type(error).__name__:
        case "NoSuchOption":
            # the dashes are not part of the likeness: --dynamics is not near to --noise
            options = [name for each in known for name in each.opts if name.startswith("-")]
            words = [name.lstrip("-") for name in options]
            near = did_you_mean(typed.lstrip("-"), words, likeness=0.65)
            name = typed.lstrip("-").replace("-", "_")
            if error.ctx is not None and name in getattr(error.ctx.command.callback, "rare", ()):
                return f"{command} takes {name} as a setting: --settings {name}=VALUE. {where}"
            hint = MEANT.get(typed) or near.replace(" Did you mean ", " Did you mean --")
            arguments = [each for each in known if each.param_type_name == "argument"]
            if name in [each.name for each in arguments]:
                hint = f" It is typed without a name: {command} {name.upper()}."
            if name in ("continuation", "discount", "noise") and "--with" in options:
                hint = f' Rounds are a mechanism: --with "repeated({name}=VALUE)".'
            return f"{command} has no option {typed}.{hint} {where}"
        case "BadOptionUsage":
            if "does not take a value" in error.message:
                return f"{typed} takes no value: type {typed} alone, or leave it out"
            return f"{typed} needs a value: {typed} {find_placeholder(typed.lstrip('-'))}"
        case "MissingParameter" if parameter is not None:
            flag = "" if parameter.param_type_name == "argument" else f"--{name_option(parameter)} "
            return f"{command}: missing {flag}{parameter.metavar}. {_read_help(parameter)} {where}"
        case "BadParameter" if parameter is not None:
            values = _describe_values(parameter) or error.message.removeprefix("Input should be ")
            return f"--{name_option(parameter)}: expected {values.rstrip('.')}; {where}"
    message = error.format_message()
    if "unexpected extra argument" in message:
        extra = message.partition("(s)")[2].strip(" ().")
        advice = ""
        if any(each.param_type_name == "argument" for each in known):
            advice = "; names have hyphens, as stag-hunt has, or quotes around them"
        return f"{command} takes no further word, got {extra!r}{advice}. {where}"
    listed = getattr(error.ctx.command, "commands", {}) if error.ctx is not None else {}
    if listed and message.startswith("Missing command"):
        return f"{path} needs one of {', '.join(listed)} after it. `{path} --help` describes them."
    if listed:
        return f"{message.rstrip('.')}; {path} has {', '.join(listed)}. {where}"
    return f"{command}: {message} {where}"


def _describe_values(parameter: Parameter) -> str:
    """Say which numbers an option takes, by its bounds; nothing where it takes no number."""
    words: str = {int: "a whole number", float: "a number"}.get(_read_type(parameter) or str, "")
    low: float | None = getattr(parameter, "min", None)
    high: float | None = getattr(parameter, "max", None)
    if not words or low is None:
        return words
    return f"{words} of at least {low:,}" if high is None else f"{words} from {low:,} to {high:,}"
