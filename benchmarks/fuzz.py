"""Fuzz what reads foreign text: programs, messages of confined children, replies of providers, game files, run folders.

    python benchmarks/fuzz.py --programs 100000 --files 10000 --messages 1000 --seconds 600 --seed 1

Texts that are right are changed at random and read. Whatever is not a verdict or an error on purpose is a trace; a
program on which the engines come to different tables is a disagreement. Exit code 1 if there is any of either.
"""

from __future__ import annotations

import argparse
import atexit
import json
import re
import resource
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from bestresponse.studies.bench.study import bench
from bestresponse.studies.simulate.study import simulate
from bestresponse.api.running import tournament

from bestresponse.core.errors import BestResponseError
from bestresponse.formal.formalize.examples import library
from bestresponse.logic.confined.client import share_children
from bestresponse.logic.confined.messages import read_message
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine
from bestresponse.logic.language.diagnostics import Diagnostic
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.logic.programs.report import Report
from bestresponse.logic.programs.table import extract
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.swi.engine import SwiEngine
from bestresponse.models.base import Message, Request
from bestresponse.models.http import HttpClients, Secret
from bestresponse.models.providers.anthropic import AnthropicModel
from bestresponse.models.providers.google import GoogleModel
from bestresponse.models.providers.reading import read_chat_reply
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.run import load_run
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.catalogue.trees import load_tree
from bestresponse.theory.files.efg import format_efg, parse_efg
from bestresponse.theory.files.nfg import format_nfg, parse_matrix_json, parse_nfg

LIMITS = Limits(steps=30_000, cells=100_000, seconds=20)
PROGRESS = 5_000
PIECES = [
    *"()[]{}|,.;:-_'\"\\%!\n\t0 1aZ\0é\u202e\ud800",
    *("99999999999999999999", "1/0", "0'a", ":- ", "\\+ ", "_X", "do(", "holds(", "findall(", "is ", "nature", "s0"),
    *("1e400", "nan", "null", '{"a":', "[[[[[[[[", "move(P, M)"),
]
SIMILAR = {
    r"[a-z]\w*": [
        "member",
        "length",
        "append",
        "msort",
        "nth0",
        "last",
        "sum_list",
        "findall",
        "forall",
        "not",
        "nature",
    ],
    r"[A-Z_]\w*": ["_", "X"],
    r"\d+": ["0", "1", "2", "1/3", "0.5", "-1", "1000000007"],
    r"\s+": [" ", "\n"],
    r"[^\w\s]+": [
        ":-",
        ",",
        ";",
        "->",
        "\\+",
        "==",
        "\\==",
        "=",
        "\\=",
        "=:=",
        "<",
        ">=",
        "*",
        "-",
        "/",
        "//",
        "mod",
        "**",
    ],
}
"""What a word is replaced by, besides words of the same kind in its program."""
KINDS = list(SIMILAR)
WORD = re.compile("|".join(KINDS))


def change(text: str, others: list[str], rng: Random) -> str:
    """Change a text in one to four places."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + rng.choice((0, 1, 3, 30)))
        other = rng.choice(others)
        c = rng.randrange(len(other) + 1)
        text = rng.choice(
            (
                text[:a] + rng.choice(PIECES) + text[b:],
                text[:a] + text[b:],
                text[:a] + other[c : c + rng.choice((2, 10, 80))] + text[b:],
                text[:b] + text[a:],
            )
        )
    return text


def vary(text: str, rng: Random) -> str:
    """Replace one to three words by others of their kind, or lines by each other: most of what comes out still runs."""
    words = WORD.findall(text)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(words))
        kind = next(kind for kind in KINDS if re.fullmatch(kind, words[place]))
        words[place] = rng.choice(
            [word for word in words if re.fullmatch(kind, word)] + SIMILAR[kind] + [words[place] + words[place]]
        )
    lines = "".join(words).split("\n")
    if rng.random() < 0.3:
        lines[rng.randrange(len(lines))] = rng.choice(lines)
    return "\n".join(lines)


class Tally:
    """Counts what was tried, and shows what went wrong."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.wrong = 0
        self.slowest = 0.0

    def attempt(self, kind: str, text: str, read: Callable[[], object]) -> object:
        """Read; errors on purpose are verdicts."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        begun = time.process_time()
        try:
            return read()
        except BestResponseError as error:
            return error
        except Exception as error:  # noqa: BLE001 - any other exception is what is looked for
            self.blame(f"{kind}: {type(error).__name__}: {error}", text)
            return None
        finally:
            self.slowest = max(self.slowest, time.process_time() - begun)

    def blame(self, what: str, text: str) -> None:
        """Note something that must not be."""
        self.wrong += 1
        print(f"WRONG {what}\n{text!r}", flush=True)


def fuzz_programs(tally: Tally, rng: Random, swi: LogicEngine | None) -> None:
    """Validate one changed program with both engines, in this process: containment is tested elsewhere."""
    (right,) = rng.choices(PROGRAMS, WEIGHTS)
    text = change(right, PROGRAMS, rng) if rng.random() < 0.5 else vary(right, rng)
    found = tally.attempt("program", text, lambda: validate(text, EmbeddedEngine(LIMITS)))
    if swi is None or not isinstance(found, Report) or found.refusals or any(d.code == "limit" for d in found.errors):
        return
    other = tally.attempt("program in swi", text, lambda: validate(text, swi))
    if isinstance(other, Report) and not any(d.code == "limit" for d in other.errors):
        same_errors = [*map(_describe, found.errors)] == [*map(_describe, other.errors)]
        if not same_errors or _without_orders(found) != _without_orders(other):
            tally.blame(f"disagreement: {list(map(str, found.errors))} {list(map(str, other.errors))}", text)


def _describe(error: Diagnostic) -> str:
    """Return an error with its place, which SWI-Prolog does not know where the head of a clause would become cyclic."""
    return error.message if "part of itself" in error.message else str(error)


def _without_orders(report: Report) -> GameTable | None:
    """Return the table, whether or not every order of simultaneous moves could be tried within the limits."""
    return None if report.table is None else replace(report.table, every_order=True)


def fuzz_files(tally: Tally, rng: Random) -> None:
    """Read one changed game file."""
    name, (right, parse) = rng.choice(list(FILES.items()))
    text = change(right, [right], rng)
    tally.attempt(name, text, lambda: parse(text, "fuzzed"))


def make_runs(place: Path) -> list[Path]:
    """Make small runs without a model, to be damaged."""
    answer = ScriptedModel(lambda request: '{"A": 0.5, "B": 0.5}')
    runs = (
        simulate("stag-hunt", seats={"row": "random", "col": "random"}, output_dir=place),
        tournament("prisoners-dilemma", ["tit-for-tat", "random"], rounds=2, output_dir=place),
        bench(answer, num_games=2, num_rows=2, num_cols=2, output_dir=place),
    )
    return [run.folder.path for run in runs]


def fuzz_folders(tally: Tally, rng: Random, folders: list[Path]) -> None:
    """Load and measure a run one of whose files was changed."""
    folder = rng.choice(folders)
    with tempfile.TemporaryDirectory() as place:
        copied = Path(place) / "run"
        shutil.copytree(folder, copied)
        path = rng.choice([path for path in sorted(copied.rglob("*")) if path.suffix in (".json", ".jsonl", ".toml")])
        text = change(path.read_text("utf-8"), ["{}"], rng)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        tally.attempt(f"run folder: {path.name}", text, lambda: load_run(copied).publish())


def fuzz_messages(tally: Tally, rng: Random) -> None:
    """Send a child something that is no request; it must end, and the next one must work."""
    body = rng.randbytes(rng.choice((0, 3, 30, 3000)))
    text = json.dumps({"job": rng.choice(("ask", "x", None)), "seed": 0, "limits": {}, "given": rng.choice(([], {}))})
    sent = rng.choice((body, change(text, [text], rng).encode("utf-8", "surrogatepass")))
    tally.attempt("message", repr(sent), lambda: share_children().request("embedded", sent, Limits(wall=5.0)))


def fuzz_replies(tally: Tally, rng: Random) -> None:
    """Read a reply that is none."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sent = rng.randbytes(rng.choice((0, 7, 8, 20)))
        theirs.sendall(sent)
        theirs.close()
        try:
            read_message(ours.fileno(), 1000, time.monotonic() + 5)
        except (EOFError, OverflowError):
            pass
        except Exception as error:  # noqa: BLE001 - any other exception is what is looked for
            tally.blame(f"reply: {type(error).__name__}: {error}", repr(sent))
    tally.counts["reply"] = tally.counts.get("reply", 0) + 1


def fuzz_wire(tally: Tally, rng: Random) -> None:
    """Read a changed reply of a provider: what is JSON is a reply or an error on purpose."""
    name, (right, read) = rng.choice(list(WIRE.items()))
    try:
        data = json.loads(change(right, [right, *VALUES], rng))
    except ValueError:
        data = damage(json.loads(right), rng)
    tally.attempt(f"wire: {name}", repr(data), lambda: read(data))


def damage(data: object, rng: Random) -> object:
    """Put a value of another kind somewhere into JSON data."""
    places = list(data) if isinstance(data, dict) else list(range(len(data))) if isinstance(data, list) else []
    if not places or rng.random() < 0.2:
        return json.loads(rng.choice(VALUES))
    place = rng.choice(places)
    data[place] = damage(data[place], rng)  # type: ignore[index]
    return data


VALUES = ["null", "[]", "{}", "[[1]]", '"text"', "-1", "1e308", "9" * 400, "true", "0.5", "NaN", '{"a": []}']
REQUEST = Request((Message("user", "hello"),))
WIRE: dict[str, tuple[str, Callable[[object], object]]] = {
    "chat": (
        '{"id": "1", "choices": [{"message": {"content": "a", "refusal": null}, "finish_reason": "stop", "logprobs":'
        ' {"content": [{"token": "a", "logprob": -0.1, "top_logprobs": [{"token": "a", "logprob": -0.1}]}]}}],'
        ' "usage": {"prompt_tokens": 3, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}}}',
        lambda data: read_chat_reply(data, "fuzz"),
    ),
    "anthropic": (
        '{"id": "1", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "input": {"a": 1}}],'
        ' "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 4}}',
        lambda data: AnthropicModel("fuzz", HttpClients(), Secret(""))._read_reply(data, REQUEST),
    ),
    "google": (
        '{"responseId": "1", "candidates": [{"content": {"parts": [{"text": "a"}, {"text": "b", "thought": true}]},'
        ' "finishReason": "STOP", "logprobsResult": {"topCandidates": [{"candidates": [{"token": "a",'
        ' "logProbability": -0.1}]}], "chosenCandidates": [{"token": "a", "logProbability": -0.1}]}}],'
        ' "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}, "promptFeedback": {"blockReason": ""}}',
        lambda data: GoogleModel("fuzz", HttpClients(), Secret(""))._read_reply(data, REQUEST),
    ),
}
PROGRAMS = [example.program for example in library()]
WEIGHTS = [
    1 / len(extract(engine, engine.load(program)).require().rows)
    for engine in (EmbeddedEngine(),)
    for program in PROGRAMS
]
"""Small games more often, because they are done sooner."""
FILES: dict[str, tuple[str, Callable[[str, str], object]]] = {
    "nfg": (format_nfg(load("stag-hunt")), parse_nfg),
    "efg": (format_efg(load_tree("kuhn-poker")), parse_efg),
    "json": ('{"players": ["a", "b"], "payoffs": [[[1, 2], [3, 4]], [[0, 1], [2, 5]]]}', parse_matrix_json),
}


def plan(options: argparse.Namespace, tally: Tally, rng: Random, folders: list[Path]) -> Iterator[Callable[[], None]]:
    """Everything that is to be tried, mixed."""
    swi = SwiEngine(LIMITS) if shutil.which("swipl") else None
    left = {
        "programs": (options.programs, lambda: fuzz_programs(tally, rng, swi)),
        "files": (options.files, lambda: fuzz_files(tally, rng)),
        "messages": (options.messages, lambda: fuzz_messages(tally, rng)),
        "wire": (options.wire, lambda: fuzz_wire(tally, rng)),
        "replies": (options.messages, lambda: fuzz_replies(tally, rng)),
        "folders": (options.folders, lambda: fuzz_folders(tally, rng, folders)),
    }
    total = max(times for times, _ in left.values())
    for turn in range(total):
        for times, action in left.values():
            if turn * times // total != (turn + 1) * times // total:
                yield action


def main() -> int:
    """Fuzz until everything was tried or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (
        ("programs", 2000),
        ("files", 2000),
        ("messages", 100),
        ("wire", 2000),
        ("folders", 100),
        ("seed", 1),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--run", type=Path, help="a finished run folder, whose copies are damaged; else some are made")
    options = parser.parse_args()
    tally, rng, end = Tally(), Random(options.seed), time.monotonic() + options.seconds
    place = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, place)
    for action in plan(options, tally, rng, [options.run] if options.run else make_runs(place)):
        action()
        done = sum(tally.counts.values())
        if done % PROGRESS == 0:
            print(f"{done:,} tried, {tally.wrong} wrong", flush=True)
        if time.monotonic() > end:
            print("the time is over")
            break
    print(f"seed {options.seed}: {tally.counts}; wrong: {tally.wrong}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"slowest: {tally.slowest:.2f} s of the processor; this process: at most {memory:,.0f} MB")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
