#!/usr/bin/env python3
"""Type every command of docs/papers as it is written, and say which of them end as they should.

Every page has a folder of its own, with the files that its commands name, in which its commands
are typed one after another. `M`, `MODEL` and models of OpenAI are a server on loopback whose
answers are fixed here; `RUN` is a run that was made before, and the records of the studies are
taken from $BESTRESPONSE_DATA, where that is set. A command that serves is stopped once it has
printed its links. What ends with another code than 0, and what takes longer than `--limit`, is
listed again at the end.

    scripts/paper_commands.py                    all of them (about an hour on one core)
    scripts/paper_commands.py --page lelma       those of one page
    scripts/paper_commands.py --list             only say which there are
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "papers"
sys.path.append(str(ROOT / "tests" / "support"))

from model_server import ModelServer, stated_mix  # noqa: E402 - from the folder of the tests

from bestresponse.formal.formalize.plan import library  # noqa: E402
from bestresponse.games.dialogue.domain import read_domain_text  # noqa: E402

MODEL = "openai/stand-in"
NEEDS_DOWNLOAD = ("bestresponse bench --num-games", "bestresponse models pull")
"""Commands that begin so take the embedded model, or download it."""
_ELLIPSIS = ("GAME...", "...`")
_SCALES = ("information", "reasoning", "effectiveness", "adaptability", "planning", "identity")
_FIRST = {
    "alympics": ["simulate water --model need --grid --repeats 5 --days 3 --output RUN"],
    "steering": ["steer meeting --games 2 --fresh 0 --output RUN"],
}
"""Commands that make the run which a page calls RUN."""
_TYPED = {"--interactive": "yes\n"}
_REFUTED = "bestresponse verify prisoners-dilemma-lelma --text reasoning.txt"
"""The reasoning of this command is wrong, so it ends with 1."""


def list_commands(page: str) -> list[str]:
    """List the commands of a page in their order, each once."""
    text = (PAGES / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    found = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    # Words in a table are a command where something follows its name.
    found += re.findall(r"`(bestresponse \w[\w-]* [^`]+)`", text)
    whole = [one for one in found if not any(mark in one for mark in _ELLIPSIS)]
    return list(dict.fromkeys(one for one in whole if one))


def list_pages() -> list[str]:
    """List the pages of papers."""
    return sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index")


def fill_in(command: str, page: str) -> str:
    """Put what is there in the place of what a page leaves open."""
    judges = " ".join(f"--judge J{number}" for number in range(1, 11))
    filled = command.replace("--judge J1 ... --judge J10", judges)
    filled = re.sub(r"\bMODEL-2\b", f"{MODEL}-2", filled)
    filled = re.sub(r"(?<=--model )(M|MODEL)\b(?!-)", MODEL, filled)
    filled = re.sub(r"(?<=--translator )MODEL\b", MODEL, filled)
    data = Path(os.environ.get("BESTRESPONSE_DATA", "data"))
    folder = data / {"alympics": "water"}.get(page, page)
    filled = re.sub(r"(?<=--data )\S+", str(folder), filled)
    return re.sub(r"(?<=--output )FOLDER", "output", filled)


def prepare(page: str) -> None:
    """Write the files that the commands of a page name."""
    Path("examples").symlink_to(ROOT / "examples")
    story = "Mara and Noor may cooperate or defect: both 3, both defect 1, alone 5 and 0.\n"
    for name in ("story.txt", "a.txt", "b.txt"):
        Path(name).write_text(story)
    program = next(one.program for one in library() if one.name == "prisoners_dilemma")
    for name in ("game.pl", "story.pl"):
        Path(name).write_text(program)
    text = read_domain_text("meeting").replace('name = "meeting"', 'name = "mine"')
    Path("my_domain.toml").write_text(text)
    header = ["lobby", "group", "participant", "treatment", *(f"q_{one}" for one in _SCALES)]
    with Path("payments.csv").open("w") as file:
        csv.writer(file).writerows([header, ["1", "1", "Ada", "low", *"234345"]])
    for words in _FIRST.get(page, []):
        type_command(f"bestresponse {words}", 600)


def fill_sheets() -> None:
    """Fill in the sheets of judges that are there, as judges would."""
    for path in Path().rglob("sheet-*.csv"):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        for number, row in enumerate(rows):
            for scale in _SCALES:
                if scale in row and row[scale] == "":
                    row[scale] = str(1 + (number + len(scale)) % 5)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        if path.parent != Path():
            Path(path.name).write_bytes(path.read_bytes())


def answer(body: dict[str, object]) -> str:
    """Say what a model would: a program, a mark, a ruling, a choice, a bid, or a mix."""
    text = "\n".join(str(message["content"]) for message in body["messages"])  # type: ignore[attr-defined]
    if "select(Player" in text:
        return "```prolog\nselect(P, _O, S, M) :- holds(default_move(P, M), S).\n```"
    if "initially(Fluent" in text:
        program = next(one.program for one in library() if one.name == "prisoners_dilemma")
        return f"```prolog\n{program}\n```"
    for form, said in (
        (
            '"planning"',
            '{"information": 3, "reasoning": 4, "effectiveness": 3, "adaptability": 2,'
            ' "planning": 3, "identity": 4, "reasons": "It paid."}',
        ),
        ('"claims"', '{"claims": []}'),
        ('"agreed"', '{"agreed": true, "choice": "Friday"}'),
        ("WHAT IS NO ERROR", 'ANSWER: {"first": "correct", "last": "correct", "errors": "none"}'),
        ("How much do you bid", "I need the water.\nANSWER: 5"),
    ):
        if form in text:
            return said
    options = re.search(r"is one of ([\w-]+)[,.]", text)
    if options:
        return f"If we both choose {options.group(1)}, we get the same.\nANSWER: {options.group(1)}"
    return stated_mix(body)


def type_command(command: str, limit: float) -> tuple[str, float]:
    """Run a command in a shell; return what came of it and how many seconds it took."""
    begun = time.monotonic()
    typed = next((text for word, text in _TYPED.items() if word in command), "")
    words = command.replace("bestresponse ", f"{sys.executable} -m bestresponse ", 1)
    if command.startswith("bestresponse serve"):
        said = _serve(f"{words} --port 0")
    else:
        try:
            done = subprocess.run(
                ["bash", "-c", words], input=typed, capture_output=True, text=True, timeout=limit
            )
            ended = (done.stdout + done.stderr)[-600:]
            wanted = int(command == _REFUTED)
            said = "ok" if done.returncode == wanted else f"code {done.returncode}: {ended}"
        except subprocess.TimeoutExpired:
            said = f"not ended after {limit:g} s"
    return said, time.monotonic() - begun


def _serve(words: str) -> str:
    """Start a server, read its first link, and stop it."""
    with subprocess.Popen(shlex.split(words), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None, "its output is read"
        line = server.stdout.readline()
        server.terminate()
    return "ok" if "http" in line else f"no link: {line}"


def type_page(page: str, limit: float) -> Iterator[tuple[str, str]]:
    """Type the commands of a page in a folder of their own; yield what came of each."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare(page)
        for command in list_commands(page):
            if command.startswith("bestresponse simulate scores"):
                fill_sheets()
            said, seconds = ("needs a download", 0.0)
            if not command.startswith(NEEDS_DOWNLOAD):
                said, seconds = type_command(fill_in(command, page), limit)
            print(f"{page}: {command}\n    {said} ({seconds:.0f} s)", flush=True)
            yield command, said
        os.chdir(ROOT)


def main() -> None:
    """Type the commands asked for; exit with 1 where one did not end as it should."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="append", choices=list_pages())
    parser.add_argument("--limit", type=float, default=600, help="seconds for each command")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    pages = options.page or list_pages()
    if options.list:
        for page in pages:
            print("\n".join([page, *(f"    {one}" for one in list_commands(page))]))
        return
    server = ModelServer(answer)
    os.environ |= {
        "OPENAI_BASE_URL": server.model.partition("#")[0],
        "OPENAI_API_KEY": "not-a-key",
    }
    said = [pair for page in pages for pair in type_page(page, options.limit)]
    server.close()
    wrong = [pair for pair in said if pair[1] not in ("ok", "needs a download")]
    for command, why in wrong:
        print(f"WRONG {command}\n    {why}")
    print(f"{sum(why == 'ok' for _, why in said)} of {len(said)} commands ended as they should")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
