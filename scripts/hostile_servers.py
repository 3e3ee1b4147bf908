"""Whole `bench` runs against servers that send the key back: does a file or the terminal hold it?

    python scripts/hostile_servers.py [--kinds 220]

A kind is a place (the text, a field, tokens, a header, an error, the status line, a redirect, half
a reply, ...) and a spelling (hexadecimal, base 64, invisible characters, ...). Each kind is a
server thread on loopback and a run of its own. Everything that was written is searched for any 12
characters of the key in a row, as `tests/support/key_spellings.py` lists them. Exit code 1 if any
are found.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import faulty
from key_spellings import KEY, SPELLINGS, find_pieces, read_everything, say_in_tokens
from typer.testing import CliRunner

from bestresponse.cli.app import app

MIX = '{"A": 0.5, "B": 0.5}'
Act = Callable[[Any], None]


def send_raw(head: str, body: bytes = b"") -> Act:
    """Send these lines as they are, and hang up."""

    def act(handler: Any) -> None:
        handler.wfile.write(head.encode("utf-8", "replace") + b"\r\n\r\n" + body)
        handler.close_connection = True

    return act


def fit_in_line(key: str) -> str:
    return key.replace("\n", " ").replace("\0", " ")


def in_header(key: str) -> Act:
    body = json.dumps(faulty.say(MIX)).encode()
    line = fit_in_line(key)
    head = f"HTTP/1.1 200 OK\r\nx-key: {line}\r\nset-cookie: k={line}"
    return send_raw(f"{head}\r\ncontent-length: {len(body)}", body)


def in_status_line(key: str) -> Act:
    line = fit_in_line(key)
    return send_raw(f"HTTP/1.1 400 {line}\r\ncontent-length: 0")


def in_redirect(key: str) -> Act:
    line = fit_in_line(key)
    return send_raw(f"HTTP/1.1 307 Over there\r\nlocation: /{line}\r\ncontent-length: 0")


def in_chunks(key: str) -> Act:
    """Answer in pieces of one byte, with the key beside their lengths and after the end."""
    line = fit_in_line(key)
    body = json.dumps(faulty.say(f"{MIX} {key}")).encode()
    pieces = b"".join(
        f"1;{line}\r\n".encode() + body[i : i + 1] + b"\r\n" for i in range(len(body))
    )
    return send_raw(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked", pieces + f"0\r\nx: {line}\r\n\r\n".encode()
    )


def in_call(key: str) -> Act:
    reply = faulty.say(MIX)
    call = {
        "id": key,
        "type": "function",
        "function": {"name": key, "arguments": f'{{"a": "{key}"}}'},
    }
    reply["choices"][0]["message"]["tool_calls"] = [call]
    return faulty.answer(reply)


PLACES: dict[str, Callable[[str], Act]] = {
    "text": lambda key: faulty.answer(faulty.say(f"{MIX} {key} and more")),
    "text, letters unescaped": lambda key: faulty.answer(
        json.dumps(faulty.say(f"{MIX} {key}"), ensure_ascii=False).encode()
    ),
    "fields": lambda key: faulty.answer(
        {**faulty.say(MIX), "id": key, "model": key, key: key, "usage": {key: key}}
    ),
    "tokens": lambda key: faulty.answer(say_in_tokens(f"{MIX} {key}", 5)),
    "header": in_header,
    "status line": in_status_line,
    "error": lambda key: faulty.answer({"error": {"message": key, "type": key, "code": key}}, 400),
    "page": lambda key: faulty.answer(f"<p>{key}</p>".encode(), 404, kind="text/html"),
    "redirect": in_redirect,
    "chunks": in_chunks,
    "call of a tool": in_call,
}


def run_bench(folder: Path, act: Act) -> tuple[list[str], int]:
    """Play a game with a server; what the terminal and all files say, and the exit code."""
    with faulty.serving(act) as server:
        model = f"{server.url}/v1#m"
        words = ["bench", "--model", model, "--num-games", "1", "--output-dir", str(folder)]
        words += ["--num-rows", "2", "--num-cols", "2", "--budget", "3 calls"]
        done = CliRunner().invoke(app, words)
    terminal = folder / "terminal.txt"
    terminal.parent.mkdir(exist_ok=True)
    terminal.write_text(f"{done.output}\n{done.exception!r}", errors="backslashreplace")
    return read_everything(folder), done.exit_code


def main() -> None:
    """Run all kinds and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", type=int, default=len(PLACES) * len(SPELLINGS))
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    os.environ["BESTRESPONSE_API_KEY"] = KEY
    kinds = [(place, spelling) for spelling in SPELLINGS for place in PLACES]
    kinds = kinds[options.first : options.first + options.kinds]
    codes: Counter[int] = Counter()
    leaks = 0
    for place, spelling in kinds:
        with tempfile.TemporaryDirectory() as name:
            texts, code = run_bench(Path(name) / "run", PLACES[place](SPELLINGS[spelling](KEY)))
        codes[code] += 1
        found = find_pieces(texts)
        if found or len(texts) < 3:
            leaks += bool(found)
            print(f"{place}, {spelling}: {len(texts)} texts, {found[:3]}", flush=True)
    print(f"{len(kinds)} kinds, exit codes {dict(codes)}: {leaks} with a piece of the key")
    sys.exit(leaks > 0)


if __name__ == "__main__":
    main()
