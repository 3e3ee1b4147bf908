"""`bestresponse demo`: run the full pipeline, from a story to a report, in a minute, without a key
or a download.

Everything is computed when it is run but two texts: the program of the story, which comes along as
an example, and the words of the reasoner, a function of this file in the place of a model. One of
its sentences is wrong on purpose.
"""

import textwrap
from pathlib import Path

import bestresponse as br
from bestresponse.cli.options import OutputDir
from bestresponse.cli.terminal import console, print_table
from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.plan import FIRST, library
from bestresponse.games.lookup import NamedGame
from bestresponse.models.providers.function import from_function
from bestresponse.report.files import explain_os_error, write_text

_REASONS = "If I betray and you choose Silent, I get 5. If we both betray, I get 0."
_OPPONENTS = ("tit-for-tat", "grim", "cooperator", "defector", "random")


def demo_command(
    output_dir: OutputDir = Path("results"),
) -> None:
    """Run the full pipeline on one example: a game program, its solution, a tournament, checked
    reasoning and a report."""
    example = next(entry for entry in library() if entry.name == FIRST)
    game = NamedGame("two-burglars", ".pl", example.program)
    story, program, words = (
        output_dir / "demo" / name for name in ("story.txt", "game.pl", "words.txt")
    )
    try:
        story.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, f"making the folder {story.parent}") from None
    for file, text in ((story, example.story), (program, example.program), (words, _REASONS)):
        write_text(file, text)

    _announce("1. A story", f"bestresponse formalize {story} --model MODEL")
    _tell(example.story)

    _announce(
        "2. Its game program, as a model writes it, checked in a sandbox",
        f"bestresponse check {program}",
    )
    report = br.check(example.program)
    if not report.ok:
        raise InvalidGame(f"the program of the example is not a game: {report}")
    _tell("The program is a game: every play ends, every end pays every player.")

    _announce("3. Solved", f"bestresponse solve {program}")
    for _, table in br.solve(game).to_document().tables[:2]:
        print_table(console(), table)

    entries = " ".join(f"--entries {name}" for name in _OPPONENTS)
    _announce(
        "4. Played ten rounds each, by five strategies and by a reasoner",
        f"bestresponse tournament {program} --rounds 10 {entries} --entries MODEL",
    )
    run = br.tournament(
        game,
        [*_OPPONENTS, from_function("reasoner", reasoner)],
        rounds=10,
        output_dir=output_dir,
    )
    print_table(console(), run.report().tables[0][1])

    _announce(
        "5. The reasoner's words, checked by logic", f"bestresponse verify {program} --text {words}"
    )
    _tell(f"It says: {_REASONS}")
    review = br.verify(game, _REASONS)
    _tell(f"Verdict: {review.summary}")
    for refutation in review.refutations:
        _tell(refutation.correction)

    page = run.publish()[0].resolve()
    _announce("6. Reported", f"bestresponse report {run.path}")
    print(page)


def reasoner(prompt: str) -> str:
    """Answer as a model would, always with the same words."""
    return f"{_REASONS} So I betray.\nANSWER: Betray"


def _announce(title: str, command: str) -> None:
    print(f"\n{title}\n  $ {command}")


def _tell(text: str) -> None:
    print(textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="  "))
