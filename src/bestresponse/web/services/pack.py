"""Replication packs: an experiment in one archive, from which its tables are made again.

    pack.json           the lobby, the versions, the seed, and the hash of every other file
    experiment.toml     the experiment file
    texts.json          what people read: texts of the pages, and the rules of every game
    journal/            everything that happened, as the server kept it, and the codes of people
    tables/             the exported tables with their codebook

A pack is made from the files on disk, so it can be made while the server runs. The secret by which
links are signed stays where it is.
"""

import hashlib
import io
import json
import re
import secrets
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from bestresponse.core.errors import UsageError
from bestresponse.core.files import parse_json, parse_toml, read_archive, read_text
from bestresponse.runs import environment
from bestresponse.runs.store.folder import encode_rows, parse_line, read_raw
from bestresponse.telling.language import PAGE
from bestresponse.telling.render import word_rules
from bestresponse.web.access import ServerState
from bestresponse.web.security import Keys
from bestresponse.web.services.export import TABLES, export_table
from bestresponse.web.sessions.errors import NotFound
from bestresponse.web.sessions.journal import SESSIONS, Journal
from bestresponse.web.sessions.lobbies import Lobby
from bestresponse.web.sessions.session import LABELS
from bestresponse.web.sessions.setup import make_game
from bestresponse.web.sessions.store import SessionStore

_FORMAT = 2
_LARGEST = 1_000_000_000
_KEPT = ("events", "submissions", "calls", "records")
_ABOUT = "pack.json"
_CODES = "journal/codes.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a pack, so that the same data make the same bytes."""
_PERSONAL = tuple(name for name in LABELS if name != "STUDY_ID")
_LISTED = re.compile(r"labels\s*=\s*\[.*?\]", re.DOTALL)
_SHORTEST = 4
"""A label of fewer characters occurs in any text by chance."""


@dataclass(frozen=True, slots=True)
class ReplayedPack:
    """The tables of a pack as they were made again, where they differ, and what was changed."""

    tables: Mapping[str, bytes]
    differences: Mapping[str, str]
    remarks: tuple[str, ...]


def make_pack(folder: Path, lobby: str, *, anonymous: bool = False) -> tuple[bytes, list[str]]:
    """Make the pack of a lobby from the folder of sessions; return it and what to know of it.

    With `anonymous` people are called label-1, label-2 and so on in the place of their labels.
    """
    removed: dict[str, str] = {}
    journal = _collect_journal(folder, lobby, removed if anonymous else None)
    with _open_journal(journal, Keys(read_text(folder / "secret").strip())) as server:
        study = _find_lobby(server, lobby)
        tables = _export_tables(server, lobby)
        codes = dict(server.codes)
    files = {f"tables/{name}": content for name, content in tables.items()}
    files |= {f"journal/{name}": content for name, content in journal.items()}
    files[_CODES] = _write_json(codes)
    files["texts.json"] = _write_json(_list_texts(study))
    if study.source:
        files["experiment.toml"] = study.source.encode("utf-8")
    remarks = []
    for label in removed:
        spelt = label.encode("utf-8", "replace")
        where = [name for name, content in files.items() if spelt in content]
        if len(label) >= _SHORTEST and where:
            found = ", ".join(where)
            remarks.append(f"The label {label!r} is still in {found}: somebody wrote it there.")
    about = {
        "format": _FORMAT,
        "title": study.experiment.title,
        "lobby": study.id,
        "created": study.created,
        "seed": study.experiment.seed,
        "versions": environment(),
        "sha256": {name: _hash(content) for name, content in sorted(files.items())},
    }
    files[_ABOUT] = _write_json(about)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue(), remarks


def replay_pack(path: Path) -> ReplayedPack:
    """Make the tables of a pack again from its journal, and compare them.

    Raises UsageError where the file is no pack.
    """
    files = read_archive(path, _LARGEST)
    about = _read_json(files, _ABOUT, path)
    if about.get("format") != _FORMAT:
        raise UsageError(
            f"{path} is a pack of format {about.get('format')!r}; this version reads {_FORMAT}"
        )
    journal = {}
    for name in _KEPT:
        journal[f"{name}.jsonl"] = files.get(f"journal/{name}.jsonl", b"")
    try:
        # Codes come from the pack, so that any secret does.
        with _open_journal(journal, Keys(secrets.token_hex(32))) as server:
            for place, code in _read_json(files, _CODES, path).items():
                server.codes[place] = str(code)
            lobby = str(about.get("lobby"))
            _find_lobby(server, lobby)
            tables = _export_tables(server, lobby)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"the journal of {path} cannot be read: {error!r}") from None
    differences = {}
    for name, content in tables.items():
        found = _compare(files.get(f"tables/{name}"), content)
        if found:
            differences[name] = found
    return ReplayedPack(tables, differences, tuple(_list_changes(about, files)))


def find_lobby_id(folder: Path, wanted: str, text: str | None) -> str:
    """Find the newest lobby that was made from the file with that `text`, or that has the id."""
    found = ""
    for line in read_raw(folder / "events.jsonl"):
        event = parse_line(line, folder / "events.jsonl", 0)
        if event.get("event") != "lobby":
            continue
        if event.get("lobby") == wanted or (text is not None and event.get("experiment") == text):
            found = str(event["lobby"])
    if not found:
        raise UsageError(
            f"there are no sessions of {wanted} in {folder}; name the file as it was when they"
            " began, or the id of the lobby (the last part of its address), and --output-dir where"
            " it is another one"
        )
    return found


def _collect_journal(folder: Path, lobby: str, removed: dict[str, str] | None) -> dict[str, bytes]:
    """Collect the lines about one lobby; labels are noted in `removed` with what replaces them."""
    collected: dict[str, bytes] = {}
    for name in _KEPT:
        path = folder / f"{name}.jsonl"
        lines: list[bytes] = []
        for number, line in enumerate(read_raw(path), 1):
            row = parse_line(line, path, number)
            where = str(row.get("session") or row.get("spec") or "")
            if row.get("lobby") != lobby and not where.startswith(f"{lobby}-"):
                continue
            if removed is not None and name == "events":
                line = encode_rows([_hide_labels(row, removed)])
            lines.append(line)
        collected[path.name] = b"".join(lines)
    return collected


def _hide_labels(event: Mapping[str, object], removed: dict[str, str]) -> dict[str, object]:
    hidden = dict(event)
    if "experiment" in event:
        hidden["experiment"] = _hide_listed(str(event["experiment"]), removed)
    labels = event.get("labels")
    if isinstance(labels, dict):
        renamed = dict(labels)
        for name in _PERSONAL:
            if name in labels:
                renamed[name] = _rename(labels[name], removed)
        hidden["labels"] = renamed
    return hidden


def _rename(label: str, removed: dict[str, str]) -> str:
    return removed.setdefault(label, f"label-{len(removed) + 1}")


def _hide_listed(text: str, removed: dict[str, str]) -> str:
    """Replace the labels that an experiment file lists; nothing else of it may change."""
    wanted = parse_toml(text.removeprefix("\ufeff"))
    listed = wanted.get("assignment", {}).get("labels", [])
    if not listed:
        return text
    renamed = [_rename(label, removed) for label in listed]
    wanted["assignment"]["labels"] = renamed
    for found in _LISTED.finditer(text):
        changed = f"{text[: found.start()]}labels = {json.dumps(renamed)}{text[found.end() :]}"
        try:
            if parse_toml(changed.removeprefix("\ufeff")) == wanted:
                return changed
        except ValueError:
            continue
    raise UsageError(
        "the labels that the experiment file lists cannot be left out, as the list is not found in"
        " it; share the pack with its labels, or not at all"
    )


@contextmanager
def _open_journal(files: Mapping[str, bytes], keys: Keys) -> Iterator[ServerState]:
    """Open a copy of a journal, in a folder that is thrown away."""

    def refuse_model(name: str) -> NoReturn:
        raise UsageError(f"the model {name} is not asked again: its answers are in the journal")

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / SESSIONS
        place.mkdir()
        for name, content in files.items():
            (place / name).write_bytes(content)
        with closing(Journal(place)) as journal:
            yield ServerState(
                SessionStore(journal), keys, output=Path(folder), open_model=refuse_model
            )


def _find_lobby(server: ServerState, lobby: str) -> Lobby:
    try:
        return server.sessions.get_lobby(lobby)
    except NotFound:
        raise UsageError(
            "the experiment in this journal cannot be read by this version of bestresponse; a game"
            " of a plug-in needs that plug-in, and other cases the version in pack.json"
        ) from None


def _export_tables(server: ServerState, lobby: str) -> dict[str, bytes]:
    return {f"{name}.csv": export_table(server, name, "csv", lobby) for name in TABLES}


def _list_texts(lobby: Lobby) -> dict[str, object]:
    """List what people read around the games, and the rules of every game by role."""
    language = lobby.texts.language
    pages: dict[str, object] = {}
    for name in sorted(lobby.texts.names):
        key = f"{PAGE}{name}"
        pages[name] = language.plurals.get(key) or language.messages[key]
    rules: dict[str, object] = {}
    for table in lobby.tables:
        game = make_game(table.setup.game)
        for role in game.roles:
            told = word_rules(game, game.view(game.start(), role), table.texts.language)
            part = {"instructions": table.part.game.instructions, "rules": told}
            rules[f"{table.treatment} / {table.part.game.name} / {role}"] = part
    return {"language": language.name, "pages": pages, "games": rules}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_json(value: object) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n".encode()


def _read_json(files: Mapping[str, bytes], name: str, path: Path) -> dict[str, object]:
    if name not in files:
        raise UsageError(f"{path} is not a replication pack: there is no {name} in it")
    try:
        value = parse_json(files[name])
    except ValueError as error:
        raise UsageError(f"{name} in {path} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{name} in {path} was not written by bestresponse")
    return value


def _compare(packed: bytes | None, content: bytes) -> str:
    """Say where a table differs from that in the pack; nothing where they are equal."""
    if packed is None:
        return "it is not in the pack"
    if packed == content:
        return ""
    # Lines of a table are compared as they are, so that a cell with a line break counts as two.
    before = [*packed.decode("utf-8", "replace").split("\r\n"), "(no line)"]
    after = [*content.decode("utf-8", "replace").split("\r\n"), "(no line)"]
    for number, (old, new) in enumerate(zip(before, after, strict=False), 1):
        if old != new:
            return f"line {number} is {old[:200]!r} in the pack and {new[:200]!r} made again"
    return "its bytes are others"


def _list_changes(about: Mapping[str, object], files: Mapping[str, bytes]) -> Iterator[str]:
    """Say what may explain a difference: another version, or files that were changed."""
    if about.get("versions") != json.loads(_write_json(environment())):
        yield "The pack was made with other versions; pack.json lists them."
    known = about.get("sha256")
    hashes = known if isinstance(known, dict) else {}
    for name in sorted({*hashes, *files} - {_ABOUT}):
        if name not in files:
            yield f"{name} was taken out of the pack."
        elif hashes.get(name) != _hash(files[name]):
            yield f"{name} was added or changed after the pack was made."
