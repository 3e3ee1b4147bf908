"""`bestresponse games`, `models` and `convert`: what can be named, and games in other formats."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.api.prompts import write_prompts
from bestresponse.cli.help import Commands
from bestresponse.cli.options import AsJson, complete_game, offer_names
from bestresponse.cli.terminal import DownloadProgress, print_note, show_frame
from bestresponse.models.providers.weights import WEIGHTS, pull as pull_weights
from bestresponse.models.registry import read_default_settings


def games_command(as_json: AsJson = False) -> None:
    """List the games of the catalogue, the registered games and the families that `bench` draws
    from."""
    show_frame(br.list_games(), as_json)


def prompts_command(
    games: Annotated[
        list[str],
        typer.Argument(
            metavar="GAME",
            help="Names from `bestresponse games`, or files.",
            autocompletion=complete_game,
        ),
    ],
) -> None:
    """Print one seeded play of a game with all that a model reads.

    A game is reviewed by this text: save it as golden.txt next to the rules of the game.
    """
    print("\n".join(map(write_prompts, games)), end="")


models_command = Commands(invoke_without_command=True)


@models_command.callback()
def _list_models(context: typer.Context, as_json: AsJson = False) -> None:
    """List the models that you can use with --model, and what each of them still needs."""
    if context.invoked_subcommand is None:
        show_frame(br.list_models(), as_json)


@models_command.command("pull")
def _pull(
    name: Annotated[
        str,
        typer.Argument(
            help="A name from the list, such as smollm2.", autocompletion=offer_names(WEIGHTS)
        ),
    ],
) -> None:
    """Download the weights of a model into the user's cache folder and check their hash."""
    print(pull_weights(name, read_default_settings().folder, DownloadProgress()))


def convert_command(
    game: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            autocompletion=complete_game,
            help=(
                "A name from `bestresponse games`, openspiel:NAME, a .pl, .efg, .nfg or .json file,"
                " or - for JSON."
            ),
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="The file to write, ending in .efg, .nfg, .json or .pl."
        ),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the file if it exists.")
    ] = False,
    openspiel: Annotated[
        bool,
        typer.Option(
            "--openspiel",
            help="Write .nfg in OpenSpiel's form: actions have numbers instead of names.",
        ),
    ] = False,
) -> None:
    """Write a game in another format.

    A tree becomes a table by its reduced normal form; a table becomes a tree in which nobody sees
    the others' choices.
    """
    source = br.find_game(game, read_input=sys.stdin.read)
    written = br.convert(source, out, force=force, openspiel=openspiel)
    print_note(f"wrote {written}")
