"""`bestresponse demo`: the whole way from a story to a report, in a minute and without a key or a download.

Everything is computed when it is run but two texts: the program of the story, which comes along as an example, and the
words of the reasoner, a function of this file in the place of a model. One of its sentences is wrong on purpose.
"""

import sys
import textwrap
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.cli.options import OutputDir
from bestresponse.cli.terminal import console, print_table
from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.examples import FIRST, library
from bestresponse.games.named_game import NamedGame
from bestresponse.models.providers.function import from_function

_REASONS = "If I betray and you choose Silent, I get 5. If we both betray, I get 0."
_OPPONENTS = ("tit-for-tat", "grim", "cooperator", "defector", "random")


def demo(
    output_dir: OutputDir = Path("results"),
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the report in a browser, where there is a terminal.")
    ] = True,
) -> None:
    """Show the whole way on one story: a game program, its solution, a tournament, checked reasoning and a report."""
    example = next(entry for entry in library() if entry.name == FIRST)
    game = NamedGame("two-burglars", ".pl", example.program)

    _announce("1. A story", "bestresponse formalize story.txt --model MODEL")
    _tell(example.story)

    _announce("2. Its game program, as a model writes it, checked in a sandbox", "bestresponse check game.pl")
    report = br.check(example.program)
    if not report.ok:
        raise InvalidGame(f"the program of the example is no game: {report}")
    _tell("The program is a game: every play ends, every end pays every player.")

    _announce("3. Solved", "bestresponse solve game.pl")
    for _, table in br.solve(game).to_document().tables[:2]:
        print_table(console(), table)

    _announce(
        "4. Played ten rounds each, by five strategies and by a reasoner", "bestresponse tournament game.pl --rounds 10"
    )
    run = br.tournament(game, [*_OPPONENTS, from_function("reasoner", reasoner)], rounds=10, output_dir=output_dir)
    print_table(console(), run.report().tables[0][1])

    _announce("5. The reasoner's words, checked by logic", "bestresponse verify game.pl --text words.txt")
    _tell(f"It says: {_REASONS}")
    review = br.verify(_REASONS, game)
    _tell(f"Verdict: {review.summary}")
    for refutation in review.refutations:
        _tell(refutation.correction)

    page = run.publish()[0].resolve()
    _announce("6. Reported", f"bestresponse report {run.path}")
    print(page)
    if open_page and sys.stdout.isatty():
        webbrowser.open(page.as_uri())


def reasoner(prompt: str) -> str:
    """Answer as a model would, always with the same words."""
    return f"{_REASONS} So I betray.\nANSWER: Betray"


def _announce(title: str, command: str) -> None:
    print(f"\n{title}\n  $ {command}")


def _tell(text: str) -> None:
    print(textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="  "))
