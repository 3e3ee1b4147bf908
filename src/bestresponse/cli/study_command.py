"""The command of a study, made from its settings: every field is an argument or an option with its
help and default.

Typed values are passed to the settings as they are; the settings convert and check them, so there
is one place that refuses a value.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import MISSING, dataclass, replace
from importlib.util import find_spec
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bestresponse.cli.defaults import find_defaults
from bestresponse.cli.help import MEANT, find_placeholder
from bestresponse.cli.options import (
    COMPLETIONS,
    OUTPUT_FLAGS,
    AsJson,
    With,
    is_option,
    name_option_of,
    offer_names,
    read_pairs,
)
from bestresponse.cli.terminal import (
    DownloadProgress,
    console,
    play_progress,
    print_note,
    print_table,
    tell_interrupt,
)
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.files import read_text
from bestresponse.core.registry import did_you_mean
from bestresponse.games.mechanisms import name_with
from bestresponse.models.base import ModelsByName, Usage
from bestresponse.models.providers.weights import default_folder
from bestresponse.models.wrappers.limits import estimate_price, find_price
from bestresponse.players.llm.verified import bare_name
from bestresponse.report.blocks import fill_template
from bestresponse.report.files import write_text
from bestresponse.report.frames import read_help
from bestresponse.report.text import visible
from bestresponse.runs.comparison import RunComparison, compare_runs
from bestresponse.runs.execution import Progress
from bestresponse.runs.gate import check_conditions, refuse_conditions
from bestresponse.runs.inputs import Converted
from bestresponse.runs.models import OpenedModels
from bestresponse.runs.run import C, Run, find_path, load_run, play_missing
from bestresponse.runs.settings import (
    MISSING_SETTING,
    RunSettings,
    list_parts,
    list_settings,
    read_extra,
    read_settings,
)
from bestresponse.runs.settings_file import ForeignAddress, read_settings_file
from bestresponse.runs.store.folder import Shard
from bestresponse.runs.study import AnyStudy, Estimate

_MOST_FAILURES = 5
_DRY_RUN = "Show the plan and its estimated cost, then exit."
_CODE_OF_GATE = 3

DryRun = Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)]

Against = Annotated[
    Path | None,
    typer.Option(
        help="Compare the run with this recorded run at the end: its folder, or the folder above.",
        metavar="RUN",
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            'Exit with code 3 if this holds for a model, such as "exploitability_normalised >'
            ' 0.2", "low(nash_gap) > 1" or, with --against, "p(nash_gap - baseline) < 0.05"; may'
            " be repeated."
        ),
        metavar="CONDITION",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option(help="Write what --fail-if found to this file, as JUnit XML.", metavar="FILE"),
]
FiguresFolder = Annotated[
    Path | None,
    typer.Option(
        "--figures",
        help=(
            "Write every figure as PDF and SVG and every table as LaTeX and Markdown to this"
            " folder."
        ),
        metavar="FOLDER",
    ),
]


def show_figures(run: Run[C], folder: Path | None) -> None:
    """Write the figures and tables of a run for a paper, where a folder is named."""
    if folder is not None and run.results.rows:
        written = run.write_figures(folder)
        sentence = f"wrote {len(written)} files to {folder}"
        print_note(sentence)


@dataclass(frozen=True)
class GateOptions:
    """What a command checks at the end of a run: conditions, the run they compare with, and the
    file for the result."""

    conditions: tuple[str, ...] = ()
    against: Path | None = None
    junit: Path | None = None

    def refuse(self, study: AnyStudy) -> None:
        """Refuse conditions that can never be checked, before anything is played."""
        names = [metric.name for metric in study.all_metrics]
        refuse_conditions(self.conditions, names, baseline=self.against is not None)
        if self.junit is not None and not self.conditions:
            raise UsageError("--junit: there is nothing to write without --fail-if CONDITION")
        if self.against is not None:
            load_run(self.against)

    def check(self, run: Run[C]) -> None:
        """Check the conditions and print what failed; exit with 3 where something did."""
        if not self.conditions:
            return
        baseline = None if self.against is None else load_run(self.against)
        result = check_conditions(self.conditions, run, baseline)
        if self.junit is not None:
            write_text(self.junit, result.to_junit())
            print_note(f"wrote {self.junit}")
        for check in result.failures:
            print(f"bestresponse: failed: {visible(check.describe())}", file=sys.stderr)
        if result.failures:
            raise typer.Exit(_CODE_OF_GATE)
        print_note("all checks passed")


def show_comparison(comparison: RunComparison, folder: Path, as_json: bool) -> None:
    """Write the files of a comparison, and print its tables and what limits it."""
    written = comparison.publish(folder)
    if as_json:
        return
    for note in comparison.notes:
        print_note(visible(note))
    for _, table in comparison.report().tables:
        print_table(console(), table)
    print_note(f"wrote {written[0]} and {len(written) - 1} files next to it")


_METAVARS = {int: "INTEGER", float: "NUMBER"}


def make_study_command(study: AnyStudy) -> Callable[..., object]:
    """Return the function that typer makes a command of: it builds the settings, runs the study and
    shows the run."""

    def run(
        config: RunSettings,
        as_json: AsJson = False,
        dry_run: DryRun = False,
        against: Against = None,
        fail_if: FailIf = None,
        junit: Junit = None,
        figures: FiguresFolder = None,
    ) -> Path | None:
        gate = GateOptions(tuple(fail_if or ()), against, junit)
        return run_gated(
            study,
            config,
            gate,
            as_json=as_json,
            dry_run=dry_run,
            figures=figures,
        )

    again = "You can stop at any time; run the same command to resume."
    return make_settings_command(study.config, run, again)


def run_gated(
    study: AnyStudy,
    config: RunSettings,
    gate: GateOptions,
    *,
    as_json: bool,
    dry_run: bool,
    figures: Path | None,
) -> Path | None:
    """Run a study, write its figures and check its gate at the end, or show what it would take.

    Return the folder of the run.
    """
    gate.refuse(study)
    if dry_run:
        show_estimate(study, config, as_json)
        return None
    return run_and_show(study, config, as_json, gate, figures)


@dataclass(frozen=True)
class Typed:
    """What was typed after a command: its settings as they are written, its other options, and
    whether more settings come from elsewhere: a file, or the user's defaults."""

    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    elsewhere: bool

    def list_given(self) -> list[str]:
        """Return the names of the settings that were typed."""
        return [name for name, value in self.settings.items() if value not in (None, [], False)]


def make_settings_command(
    kind: type,
    act: Callable[..., object],
    epilogue: str = "",
    instead: Callable[[Typed], bool] | None = None,
) -> Callable[..., object]:
    """Return a command with an option for every setting of `kind`, and for every further parameter
    that `act` has.

    `act` is called with the settings and with its own parameters. `instead` may do something else
    with what was typed, before it is read as settings, and then returns True.
    """
    unused: frozenset[str] = getattr(kind, "unused", frozenset())
    known = {
        name: field
        for name, field in list_settings(kind).items()
        if read_extra(field)["option"] and name not in unused
    }
    fields = {name: field for name, field in known.items() if is_option(kind, name)}
    rare = {name: _read_words(kind, name, known[name]) for name in known.keys() - fields.keys()}
    hints = get_type_hints(kind)
    act_hints = get_type_hints(act, include_extras=True)
    more = [
        _keyword(name, act_hints[name], other.default)
        for name, other in [*signature(act).parameters.items()][1:]
        if name not in known
        and name not in unused  # a study may mean something else by --against, as a tournament does
    ]
    told = _tell_settings(sorted(rare))
    file = typer.Option(
        help=told,
        metavar="FILE/NAME=VALUE" if rare else "FILE",
        autocompletion=offer_names([f"{name}=" for name in rare]),
    )
    presets: Mapping[str, Mapping[str, object]] = getattr(kind, "presets", {})
    named = typer.Option(help=_list_presets(presets), metavar="NAME")
    first = [name for name, field in fields.items() if read_extra(field)["argument"]]
    in_one_word = "game" in first and _choose_form(hints["game"]) == "one"
    named_by = "game" if in_one_word else "games" if "games" in first else ""
    parameters = [
        *(_make_parameter(kind, name, field, hints[name]) for name, field in fields.items()),
        *([_keyword("preset", Annotated[str | None, named])] if presets else []),
        *([_keyword("with_", With)] if named_by else []),
        _keyword("settings", Annotated[list[str] | None, file]),
        *more,
    ]

    def read_word(name: str, word: str) -> object:
        one = _choose_form(hints[name]) == "one"
        return _read_typed(name, word if one else [word], hints[name])

    def run(
        *,
        settings: list[str] | None,
        preset: str | None = None,
        with_: list[str] | None = None,
        **words: Any,
    ) -> object:
        chosen = {parameter.name: words.pop(parameter.name) for parameter in more}
        files, pairs = _split_settings(settings or (), hints, rare)
        typed = {**words, **dict.fromkeys(rare), **pairs}
        usual = find_defaults(kind, fields, _allow_address, read_word)
        if instead is not None and instead(Typed(typed, chosen, bool(files or usual))):
            return None
        values: dict[str, Any] = {}
        for name, value in typed.items():
            if value is not None and value != []:
                values[name] = _read_typed(name, value, hints[name])
        try:
            for file in files:
                values |= read_settings_file(file, kind, values, allow=_allow_address)
            values = {**usual, **values}
            if added := with_ or values.pop("with", None):
                given = values.get(named_by, "")
                several = given if isinstance(given, list | tuple) else [given]
                changed = [name_with(str(one), added) for one in several]
                values[named_by] = changed if len(several) > 1 else changed[0]
            if preset is None:
                return act(read_settings(kind, values), **chosen)
            return act(_read_with_preset(kind, preset, presets, values), **chosen)
        except SettingError as error:
            if error.field not in known:
                raise
            raise UsageError(_explain(kind, known[error.field], error)) from None

    run.rare = rare  # type: ignore[attr-defined]  # for the help, and for what was an option
    run.__doc__ = f"{getdoc(kind)}\n\n{epilogue}".rstrip()
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def _read_words(kind: type, name: str, field: FieldInfo) -> str:
    """Return what explains a setting: its help, or the text below it."""
    return field.description or read_help(kind).get(name, "")


def _tell_settings(rare: Sequence[str]) -> str:
    """Say what --settings takes, and name the settings that have no option of their own."""
    if not rare:
        return "TOML with settings; command-line options override it."
    return (
        "TOML with settings, which options override; or one setting, such as"
        f" {rare[0]}=VALUE, of these: {', '.join(rare)}; may be repeated."
    )


def _split_settings(
    typed: Sequence[str],
    hints: Mapping[str, object],
    rare: Collection[str],
) -> tuple[list[Path], dict[str, str | list[str]]]:
    """Tell files of settings from single ones, which are written as they would be as options."""
    files = []
    pairs: dict[str, str | list[str]] = {}
    for words in typed:
        name, equals, value = words.partition("=")
        name = name.strip().replace("-", "_")
        if name in rare and equals:
            one = _choose_form(hints[name]) == "one"
            pairs[name] = value.strip() if one else [*pairs.get(name, ()), value.strip()]
        elif name in rare:
            raise UsageError(f"--settings {name} needs a value: --settings {name}=VALUE")
        elif equals and not Path(words).exists():
            hint = MEANT.get(f"--{name}") or did_you_mean(name, sorted(rare))
            hint = hint or " --help lists all."
            if name in hints:
                hint = f" {name} is an option: {name_option_of(name)}."
            raise UsageError(f"--settings: there is no setting {name!r} here.{hint}")
        else:
            files.append(Path(words))
    return files, pairs


def _list_presets(presets: Mapping[str, Mapping[str, object]]) -> str:
    """Say what each preset sets; options and a file of settings override it."""
    sentences = ["Settings by one name; options and --settings override them."]
    for name, values in presets.items():
        sentences.append(f"{name}: {_spell(values)}.")
    return " ".join(sentences)


def _spell(values: Mapping[str, object]) -> str:
    """Write settings as they are typed."""
    words = []
    for name, value in values.items():
        listed = ",".join(value) if isinstance(value, list | tuple) else value
        words.append(f"{name}={listed}")
    return ", ".join(words)


def _read_with_preset(
    kind: type[RunSettings],
    preset: str,
    presets: Mapping[str, Mapping[str, object]],
    values: Mapping[str, object],
) -> RunSettings:
    """Read settings and those of a preset; what was given wins, and that is said.

    A preset may have other settings with some solver. Some settings can be given in other ways.
    """
    if preset not in presets:
        names = [name for name in presets if "," not in name]
        raise SettingError("preset", f"expected {' or '.join(names)}, got {preset!r}")
    solver = values.get("solver")
    usual = presets.get(f"{preset}, with solver={solver}", presets[preset])
    others = getattr(kind, "alternatives", {})
    given = {}
    filled = dict(values)
    for name in usual:
        ways = (name, *others.get(name, ()))
        given[name] = {way: values[way] for way in ways if way in values}
        if not given[name]:
            filled[name] = usual[name]
    config = read_settings(kind, filled)
    for name, typed in given.items():
        if typed and getattr(config, name) != usual[name]:
            told = f"{_spell(typed)} replaces {_spell({name: usual[name]})} of the preset {preset}"
            print(f"bestresponse: {visible(told)}", file=sys.stderr)
    return config


def _allow_address(foreign: ForeignAddress) -> None:
    """Let the user decide about an address that a file names, once; without a terminal, refuse."""
    known = default_folder(os.environ, Path.home()) / "allowed-addresses"
    allowed = read_text(known).splitlines() if known.exists() else []
    line = json.dumps(foreign.address)
    if line in allowed:
        return
    told = f"{foreign.file} sends requests to {foreign.address} (and the key for servers, if set)"
    if not sys.stdin.isatty():
        raise SettingError(
            foreign.setting,
            f"{visible(told)}. To allow it, type the address on the command line, or run the"
            " command in a terminal and confirm.",
        )
    if not typer.confirm(f"{visible(told)}. Allow it from now on?", err=True):
        raise SettingError(foreign.setting, f"{visible(foreign.address)} is not allowed")
    known.parent.mkdir(parents=True, exist_ok=True)
    write_text(known, "".join(f"{address}\n" for address in [*allowed, line]))


def _explain(kind: type, field: FieldInfo, error: SettingError) -> str:
    """Say which word or option cannot be used, or what is missing and what it is for."""
    extra = read_extra(field)
    placeholder = extra["metavar"] or find_placeholder(error.field.replace("_", "-"))
    flag = (
        name_option_of(error.field) if is_option(kind, error.field) else f"--settings {error.field}"
    )
    if error.problem == MISSING_SETTING:
        words = _read_words(kind, error.field, field)
        shown = placeholder if extra["argument"] else f"{flag} {placeholder}"
        return f"missing {shown}: {words} --help lists all options."
    if extra["argument"]:
        return f"{placeholder}: {error.problem} (--help says what it may be)"
    return f"{flag}: {error.problem}"


def _make_parameter(kind: type, name: str, field: FieldInfo, hint: object) -> Parameter:
    """Describe a setting for typer; all are texts, because the settings themselves read and check
    them."""
    extra = read_extra(field)
    parts = list_parts(hint)
    choices = [
        str(option)
        for part in parts
        if get_origin(part) is Literal
        for option in get_args(part)
        if option  # an empty word is the default, and nobody types it
    ]
    by_name = None if int in parts else COMPLETIONS.get(name)
    complete = offer_names(choices) if choices else by_name
    default = None if field.default in (PydanticUndefined, MISSING) else field.default
    words = _read_words(kind, name, field)
    form = _choose_form(hint)
    if form != "one" and not extra["argument"]:
        words = say_repeated(words)
    words += _show_default(default)
    words_or_word: Any = str if form == "one" else list[str]
    if extra["argument"]:
        # Never required here: a file of settings may hold it, and the settings say that it is
        # missing.
        placeholder = find_placeholder(name)
        argument = typer.Argument(
            help=words,
            metavar=placeholder if field.is_required() else f"[{placeholder}]",
            show_default=False,
            autocompletion=complete,
        )
        argument_type: Any = list[str] if form == "many" else str
        return _keyword(name, Annotated[argument_type | None, argument])
    flag = f"--{name.replace('_', '-')}"
    flags = [flag, extra["short"]] if extra["short"] else [flag]
    own_output = "output" in list_settings(kind)
    if name == "output_dir" and not own_output:
        flags = list(OUTPUT_FLAGS)
    if bool in parts:
        if default is True:
            # The metavar of a yes/no setting names the option that turns it off.
            off = extra["metavar"] or f"no-{flag[2:]}"
            flags = [f"{flag}/--{off}"]
        switch = typer.Option(*flags, help=words, show_default=False)
        return _keyword(name, Annotated[bool | None, switch])
    option = typer.Option(
        *flags,
        help=words,
        metavar=_choose_metavar(extra["metavar"], parts, choices),
        autocompletion=complete,
        hidden=name == "output_dir" and own_output,
    )
    return _keyword(name, Annotated[words_or_word | None, option])


def say_repeated(words: str) -> str:
    """Say that an option may be given more than once, before the default in brackets."""
    text, bracket, default = words.partition(" [default:")
    return f"{text.rstrip('.')}; may be repeated.{bracket}{default}"


def _show_default(default: object) -> str:
    """Write a default in brackets; switches and empty ones have none."""
    if default is None or isinstance(default, bool) or default in ("", ()):
        return ""
    if isinstance(default, tuple | list):
        default = ", ".join(map(str, default))
    return f" [default: {default}]"


def _choose_metavar(given: str, parts: Sequence[object], choices: Sequence[str]) -> str | None:
    """Choose the placeholder of a value in the help: its choices, its own word, or its type."""
    if choices:
        return f"[{'|'.join(choices)}]"
    return given or next((_METAVARS[part] for part in parts if part in _METAVARS), None)


def _keyword(name: str, annotation: object, default: object = None) -> Parameter:
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=default,
        annotation=annotation,
    )


def _choose_form(hint: object) -> Literal["pairs", "many", "one"]:
    """Choose how a setting is typed: as NAME=VALUE pairs, as several words, or as one."""
    origins = {get_origin(part) for part in list_parts(hint)}
    converted = hint if isinstance(hint, type) and issubclass(hint, Converted) else Converted
    if converted.pairs or origins & {dict, Mapping}:
        return "pairs"
    return "many" if converted.many or origins & {tuple, list} else "one"


_COMMA = re.compile(r",(?![^()]*\))")
"""Between names, and not within the brackets of one."""


def _read_typed(name: str, typed: Any, hint: object) -> object:
    """Read NAME=VALUE pairs and lists, which may be typed in one word with commas or as several
    words."""
    match _choose_form(hint):
        case "pairs":
            return read_pairs(name, typed)
        case "many":
            parts = [part.strip() for words in typed for part in _COMMA.split(words)]
            return list(filter(None, parts))
        case "one":
            return typed


def show_estimate(study: AnyStudy, config: RunSettings, as_json: bool) -> None:
    """Print what a run takes at most, and make nothing."""
    estimate = _estimate_part(study, config, config.part)
    if as_json:
        print(json.dumps(estimate.to_json() | {"dollars": _price(estimate, {})}, indent=2))
    else:
        print(_describe(estimate, {}))


def run_and_show(
    study: AnyStudy,
    config: RunSettings,
    as_json: bool,
    gate: GateOptions | None = None,
    figures: Path | None = None,
) -> Path:
    """Play what is missing of a run, print its tables and return its folder; exit with 1 where
    plays or results are missing, and with 3 where the gate fails."""
    if (
        study.prepare is not None
    ):  # what is played is known only then; to prepare it again changes nothing
        config = study.prepare(config)
    folder = Path(config.output_dir)
    bars: list[Callable[[Progress], None]] = []

    def announce(opened: OpenedModels) -> None:
        if config.part is None:
            estimate = study.estimate_missing(
                config,
                opened.models,
                find_path(study, config, folder),
            )
        else:
            estimate = _estimate_part(study, config, config.part)
        if sentence := _describe(estimate, opened.models):
            print_note(sentence)
        # The bar begins once models are open: a model that cannot be used is named alone.
        total = study.count_part(config, config.part)
        # Some studies estimate plays and count something else: what is recorded of them does not
        # tell how far they are.
        recorded = estimate.found if estimate.plays == total else 0
        bars.append(stack.enter_context(play_progress(total, study.unit, recorded)))
        stack.enter_context(tell_interrupt(opened.workers))

    with ExitStack() as stack:
        run = play_missing(
            study,
            config,
            on_download=DownloadProgress(),
            on_opened=announce,
            on_progress=lambda progress: bars[0](progress),
        )
    show_figures(run, figures)
    show_run(run, as_json, study.count_tables(config))
    if gate is not None:
        if gate.against is not None:
            show_comparison(compare_runs(gate.against, run), run.path, as_json)
        gate.check(run)
    return run.path


def _estimate_part(study: AnyStudy, config: RunSettings, part: Shard | None) -> Estimate:
    """Say what a part takes at most: its share of the whole, with nothing recorded yet."""
    whole = study.estimate(config)
    if part is None:
        return whole
    plays = study.count_part(config, part) or 0
    scaled = whole.without((whole.plays or plays) - plays)
    return replace(
        scaled,
        plays=plays,
        found=0,
        what=f"shard {part} of {whole.what}" if whole.what else "",
    )


def _describe(estimate: Estimate, models: ModelsByName) -> str:
    """Say what a run takes at most, by the models that are open, else by their names; empty where
    nothing is known."""
    parts = [estimate.what] if estimate.what else []
    parts += (
        [f"{estimate.plays:,} play{'s' if estimate.plays > 1 else ''}"] if estimate.plays else []
    )
    parts += [f"{estimate.found:,} recorded already"] if estimate.found else []
    if estimate.calls and not estimate.total_calls:
        parts.append("0 calls to make")
    if estimate.total_calls:
        counted = "" if estimate.sure else " (as counted in plays of random players)"
        parts.append(
            f"at most {estimate.total_calls:,}"
            f" call{'s' if estimate.total_calls > 1 else ''}{counted}"
        )
        parts.append(f"about {estimate.total_tokens:,} tokens")
        money = _price(estimate, models)
        if money is None:
            missing = (
                ""
                if find_spec("genai_prices")
                else f" (for a list of prices, {install_hint('cost')})"
            )
            parts.append(f"dollars not known{missing}")
        elif money:
            parts.append(f"at most {money:.2f} US dollars")
    return "; ".join(parts)


def _price(estimate: Estimate, models: ModelsByName) -> float | None:
    """Price the tokens of an estimate; None where a price is not known."""
    costs = []
    for name in estimate.calls:
        tokens = estimate.prompt_tokens.get(name, 0), estimate.reply_tokens.get(name, 0)
        known = (
            find_price(models[name])(Usage(*tokens))
            if name in models
            else estimate_price(bare_name(name), *tokens)
        )
        costs.append(known)
    return None if None in costs else sum(cost or 0.0 for cost in costs)


def show_run(run: Run[C], as_json: bool, tables: int = 1) -> None:
    """Publish a run and print its tables (or its summary) and the names of its files; exit with 1
    where it is short."""
    if run.results.rows:
        files = run.publish()
        if as_json:
            print(run.summary_as_json())
        else:
            for _, table in run.report().tables[:tables]:
                print_table(console(), table)
            if sentence := fill_template(run.study.own.closing, run):
                console().print(visible(sentence), markup=False, soft_wrap=True)
        print_note(f"wrote {files[0]} and {len(files) - 1} files next to it")
    check_ended(run)


def check_ended(run: Run[C]) -> None:
    """Say why a run is short, and exit with 1 where it is."""
    for failure in run.outcome.failures[:_MOST_FAILURES] if run.outcome is not None else ():
        print(f"bestresponse: {visible(failure)}", file=sys.stderr)
    if run.stopped:
        print(f"bestresponse: stopped: {visible(run.stopped)}", file=sys.stderr)
    if not run.complete:
        print(
            "bestresponse: not everything was played; the same command plays what is missing",
            file=sys.stderr,
        )
    if not run.complete or not (run.results.answered or run.total == 0):  # a part may hold no plays
        raise typer.Exit(1)
