"""Options that several commands share, and which values a shell offers for them: games, models,
strategies.

Names alone are read, so that a key press waits for no model and no game to be loaded. What lists
them is imported at a key press only: every command imports this module.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.core import registry
from bestresponse.core.errors import SettingError
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_names

OUTPUT_FLAGS = ("--output", "-o", "--output-dir")
"""Where a command writes; the last one is understood and not shown."""
OutputDir = Annotated[
    Path,
    typer.Option(
        *OUTPUT_FLAGS, metavar="FOLDER", help="Folder for runs, reports and cached replies."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_RARE_NAMES = """
about_others actions after back_check background batch_tokens beside bootstraps choose
classifier cut_short default_move disguised early_end embed farthest feedback files
formats forms framing held_out instruction inverted learning_rate llm_seed
max_nodes max_prompt_tokens meta observe optimizer
oracle payoffs questions reasoning_tokens rectangular replies revise rule save_example
scenarios_by seats second second_judge start support swap_seats target tests themes think
threads tool_calls trees types unit variant varied with_personas wordings
"""
_RARE = frozenset(_RARE_NAMES.split())
"""Settings that few people ever change: a command takes them by --settings, and not as options."""


def is_option(kind: type, name: str) -> bool:
    """Say whether a setting is an option of its own; those of a plug-in always are."""
    return name not in _RARE or not kind.__module__.startswith("bestresponse.")


def name_option_of(name: str) -> str:
    """Return what is typed for a setting.

    >>> name_option_of("num_games"), name_option_of("wordings"), name_option_of("output_dir")
    ('--num-games', '--settings wordings', '--output')
    """
    if name == "output_dir":
        return OUTPUT_FLAGS[0]
    return f"--settings {name}" if name in _RARE else f"--{name.replace('_', '-')}"


_PAIRS = {
    "seat": "ROLE=PLAYER, such as row=random (--others names the player of all other seats)",
    "set": "NAME=VALUE, such as precision=2",
}
"""What is typed for options that take pairs."""


def read_pairs(option: str, typed: Iterable[str]) -> dict[str, str]:
    """Read pairs that were typed for an option.

    >>> read_pairs("set", ["depth=3"])
    {'depth': '3'}
    """
    pairs: dict[str, str] = {}
    for words in typed:
        name, equals, value = words.partition("=")
        if not equals or not name or not value:
            raise SettingError(
                option, f"expected {_PAIRS.get(option, 'NAME=VALUE')}, got {words!r}"
            )
        if name in pairs:
            raise SettingError(option, f"{name} is given twice, as {pairs[name]} and as {value}")
        pairs[name] = value
    return pairs


def offer_names(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the function that lists those of the names which begin as what was typed."""
    return lambda incomplete: sorted({name for name in names if name.startswith(incomplete)})


def offer_from(*sources: str) -> Callable[[str], list[str]]:
    """Return the function that lists the names of these sources which begin as what was typed.

    A source is `module:attribute`: names, or a function that lists them, perhaps with a word for it
    after a second colon. It is imported at a key press.

    >>> offer_from("bestresponse.analysis.answers:list_questions:concept")("quan")
    ['quantal-response']
    """

    def offer(incomplete: str) -> list[str]:
        names = [name for source in sources for name in _load_names(source)]
        return offer_names(names)(incomplete)

    return offer


def _load_names(source: str) -> list[str]:
    module, attribute, *words = source.split(":")
    things = getattr(import_module(module), attribute)
    if isinstance(things, registry.Registry):
        return things.names()
    listed = things(*words) if callable(things) else things
    return [getattr(thing, "name", thing) for thing in listed]


def list_game_names() -> list[str]:
    """List all games that can be named."""
    return [*catalogue.names(), *tree_names(), *registry.games.names()]


With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="MECHANISM",
        help=(
            "Change the game by a mechanism: contract, mediator, repeated, reputation or talk,"
            ' with settings if need be, such as "contract(payment=3)"; may be repeated.'
        ),
        autocompletion=offer_from("bestresponse.games.mechanisms:mechanisms"),
    ),
]

complete_game = offer_from("bestresponse.cli.options:list_game_names")
complete_model = offer_from("bestresponse.models.registry:list_openable")
complete_strategy = offer_from(
    "bestresponse.core.registry:players",
    "bestresponse.formal.strategies.programs:PUBLISHED",
    "bestresponse.theory.repeated.automaton:classic_strategies",
    "bestresponse.models.registry:list_openable",
)
complete_theme = offer_from("bestresponse.games.matrix.game:themes")
complete_concept = offer_from("bestresponse.analysis.answers:list_questions:concept")
complete_dynamics = offer_from("bestresponse.analysis.answers:list_questions:dynamics")
complete_method = offer_from("bestresponse.analysis.solve.solution:METHODS")
complete_objective = offer_from("bestresponse.analysis.solve.solution:OBJECTIVES")
complete_named_game = offer_from("bestresponse.formal.evaluate.validation:named_games")
complete_engine = offer_names(("auto", "embedded", "swi"))

COMPLETIONS: dict[str, Callable[[str], list[str]]] = {
    "game": complete_game,
    "games": complete_game,
    "family": offer_from("bestresponse.theory.generators:families"),
    "theme": complete_theme,
    "format": offer_from("bestresponse.games.matrix.game:FORMATS"),
    "elicit": offer_from("bestresponse.studies.bench.config:ELICITATIONS"),
    "domain": offer_from("bestresponse.games.dialogue.domain:domain_names"),
    **dict.fromkeys(
        (
            "model",
            "translator",
            "judge",
            "referee",
        ),
        complete_model,
    ),
    **dict.fromkeys(("entries", "others", "strategies", "against"), complete_strategy),
}
"""What is offered for the settings of these names, whatever the study."""
