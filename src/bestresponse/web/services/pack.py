"""Replication packs: an experiment in one archive, from which its tables are made again.

    pack.json           what the pack is: versions, seed, and the hash of every other file
    experiment.toml     the experiment file
    texts.json          what people read: texts of the pages, and the rules of every game
    pictures/           pictures that the file shows
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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from bestresponse.core.errors import UsageError
from bestresponse.core.files import parse_json, parse_toml, read_archive
from bestresponse.runs import environment
from bestresponse.runs.store.folder import encode_rows, parse_line, read_raw
from bestresponse.telling.language import PAGE
from bestresponse.telling.render import word_rules
from bestresponse.web.access import ServerState
from bestresponse.web.experiments.reading import list_pictures
from bestresponse.web.security import Keys
from bestresponse.web.services.export import TABLES, export_table
from bestresponse.web.sessions.errors import NotFound
from bestresponse.web.sessions.journal import SESSIONS, Journal
from bestresponse.web.sessions.lobbies import Lobby
from bestresponse.web.sessions.session import LABELS
from bestresponse.web.sessions.setup import explain_mistake, make_game
from bestresponse.web.sessions.store import SessionStore

T = TypeVar("T")
FORMAT = 1
_LARGEST = 1_000_000_000
_LARGEST_PICTURES = 50_000_000
_KEPT = ("events", "submissions", "calls", "records")
_FILE = "experiment.toml"
_ABOUT = "pack.json"
_CODES = "journal/codes.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a pack, so that the same data make the same bytes."""
_PERSONAL = tuple(name for name in LABELS if name != "STUDY_ID")
_LISTED = re.compile(r"labels\s*=\s*\[.*?\]", re.DOTALL)
_SHORTEST = 4
"""A label of fewer characters occurs in any text by chance."""
_README = """A replication pack of bestresponse. To make its tables again from the journal:

    bestresponse experiment replay THIS_FILE.zip

tables/codebook.csv says what every column of the tables means.
"""


@dataclass(frozen=True, slots=True)
class PackManifest:
    """What pack.json says: the sessions, what made the pack, and all other files' hashes."""

    format: int
    title: str
    lobby: str
    created: str
    seed: int
    labels: Literal["kept", "replaced"]
    versions: Mapping[str, object]
    sha256: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Pack:
    """An archive, and what whoever shares it should know."""

    content: bytes
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayedTable:
    """A table of a pack as it was made again.

    `difference` says where it is another one, empty where both are equal.
    """

    name: str
    content: bytes
    difference: str


@dataclass(frozen=True, slots=True)
class ReplayedPack:
    """What came of a pack: its tables, and remarks about versions and files that were changed."""

    tables: tuple[ReplayedTable, ...]
    remarks: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Tell whether every table is the same, byte by byte."""
        return not any(table.difference for table in self.tables)


def make_pack(
    folder: Path, secret: str, lobby: str, pictures: Path, *, anonymous: bool = False
) -> Pack:
    """Make the pack of a lobby from the folder of sessions.

    With `anonymous` people are called label-1, label-2 and so on in the place of their labels.
    """
    removed: dict[str, str] = {}
    journal = _collect_journal(folder, lobby, removed if anonymous else None)
    with _open_journal(journal, Keys(secret)) as server:
        study = _find_lobby(server, lobby)
        tables = _export_tables(server, lobby)
        files = {f"tables/{name}": content for name, content in tables.items()}
        files |= {f"journal/{name}": content for name, content in journal.items()}
        files[_CODES] = _write_json(server.codes)
        files["texts.json"] = _write_json(_list_texts(study))
    if study.source:
        files[_FILE] = study.source.encode("utf-8")
    shown, remarks = _collect_pictures(study, pictures)
    remarks += _find_labels(files, removed)
    files |= shown
    files["README.txt"] = _README.encode("utf-8")
    manifest = PackManifest(
        format=FORMAT,
        title=study.experiment.title,
        lobby=study.id,
        created=study.created,
        seed=study.experiment.seed,
        labels="replaced" if anonymous else "kept",
        versions=environment(),
        sha256={name: _hash(content) for name, content in sorted(files.items())},
    )
    files[_ABOUT] = _write_json(asdict(manifest))
    return Pack(_write_archive(files), tuple(remarks))


def replay_pack(path: Path) -> ReplayedPack:
    """Make the tables of a pack again from its journal, and compare them.

    Raises UsageError where the file is no pack.
    """
    files = read_archive(path, _LARGEST)
    about = _read_json(files, _ABOUT, path)
    made = about.get("format") if isinstance(about, dict) else None
    if made != FORMAT:
        raise UsageError(f"{path} is a pack of format {made!r}; this version reads format {FORMAT}")
    manifest = _read_typed(PackManifest, about, f"{_ABOUT} in {path}")
    codes = _read_typed(dict[str, str], _read_json(files, _CODES, path), f"{_CODES} in {path}")
    journal = {}
    for name in _KEPT:
        journal[f"{name}.jsonl"] = files.get(f"journal/{name}.jsonl", b"")
    try:
        # Codes come from the pack, so that any secret does.
        with _open_journal(journal, Keys(secrets.token_hex(32))) as server:
            server.codes |= codes
            _find_lobby(server, manifest.lobby)
            tables = _export_tables(server, manifest.lobby)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"the journal of {path} cannot be read: {error!r}") from None
    return ReplayedPack(
        tuple(_compare(name, files, content) for name, content in tables.items()),
        tuple(_list_remarks(manifest, files)),
    )


def find_lobby_id(folder: Path, wanted: str, text: str | None) -> str:
    """Find the newest lobby that was made from the file with that `text`.

    If one is `wanted` by its id, finds that one. Raises UsageError if there is none in the folder
    of sessions.
    """
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
    """Collect the lines about one lobby.

    Where labels are `removed`, that notes each with what is written instead.
    """
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
        renamed = {}
        for name, label in labels.items():
            renamed[name] = _rename(label, removed) if name in _PERSONAL else label
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
    """List what people read around the games, and the rules of every game by treatment and role."""
    language = lobby.texts.language
    pages: dict[str, object] = {}
    for name in sorted(lobby.texts.names):
        key = f"{PAGE}{name}"
        forms = language.plurals.get(key)
        pages[name] = language.messages[key] if forms is None else list(forms)
    rules: list[dict[str, object]] = []
    told: set[tuple[str, int]] = set()
    for table in lobby.tables:
        if (table.treatment, table.number) in told:
            continue
        told.add((table.treatment, table.number))
        game = make_game(table.setup.game)
        for role in game.roles:
            view = game.view(game.start(), role)
            rules.append(
                {
                    "treatment": table.treatment,
                    "part": table.number,
                    "game": table.setup.game.name,
                    "version": game.version,
                    "role": role,
                    "instructions": table.part.game.instructions,
                    "rules": word_rules(game, view, table.texts.language),
                }
            )
    return {"language": language.name, "pages": pages, "games": rules}


def _collect_pictures(lobby: Lobby, folder: Path) -> tuple[dict[str, bytes], list[str]]:
    found: dict[str, bytes] = {}
    missing: list[str] = []
    left = _LARGEST_PICTURES
    for name in list_pictures(lobby.source, lobby.experiment):
        path = folder / name
        # A name with a slash would lead out of the folder.
        plain = path.name == name and path.is_file()
        size = path.stat().st_size if plain else 0
        if not plain or size > left:
            missing.append(name)
            continue
        left -= size
        found[f"pictures/{name}"] = path.read_bytes()
    if not missing:
        return found, []
    return found, [f"These pictures are not in the pack: {', '.join(missing)}."]


def _find_labels(files: Mapping[str, bytes], removed: Mapping[str, str]) -> list[str]:
    """Say which labels are still there, as people wrote them into their answers."""
    remarks: list[str] = []
    for label in removed:
        spelt = label.encode("utf-8", "replace")
        where = [name for name, content in files.items() if spelt in content]
        if len(label) >= _SHORTEST and where:
            remarks.append(
                f"The label {label!r} is still in {', '.join(where)}: somebody wrote it into an"
                " answer or into the file."
            )
    return remarks


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_json(value: object) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n".encode()


def _write_archive(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            about = zipfile.ZipInfo(name, _EPOCH)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            archive.writestr(about, content)
    return packed.getvalue()


def _read_json(files: Mapping[str, bytes], name: str, path: Path) -> object:
    if name not in files:
        raise UsageError(f"{path} is not a replication pack: there is no {name} in it")
    try:
        value: object = parse_json(files[name])
    except ValueError as error:
        raise UsageError(f"{name} in {path} is not JSON: {error}") from None
    return value


def _read_typed(kind: type[T], value: object, where: str) -> T:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        _, why = explain_mistake(error)
        raise UsageError(f"{where} was not written by bestresponse: {why}") from None


def _compare(name: str, files: Mapping[str, bytes], content: bytes) -> ReplayedTable:
    table = ReplayedTable(name, content, "")
    packed = files.get(f"tables/{name}")
    if packed is None:
        return replace(table, difference="it is not in the pack")
    if packed == content:
        return table
    # Lines of a table are compared as they are, so that a cell with a line break counts as two.
    before = packed.decode("utf-8", "replace").split("\r\n")
    after = content.decode("utf-8", "replace").split("\r\n")
    number = 0
    while number < min(len(before), len(after)) and before[number] == after[number]:
        number += 1
    shown = [lines[number] if number < len(lines) else "(no line)" for lines in (before, after)]
    return replace(
        table,
        difference=f"line {number + 1} is {shown[0][:200]!r} in the pack and {shown[1][:200]!r}"
        " when it is made again",
    )


def _list_remarks(manifest: PackManifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """Say what may explain a difference: another version, or files that were changed."""
    made = _find_release(manifest.versions)
    here = _find_release(environment())
    if made != here:
        yield f"The pack was made with bestresponse {made}, and this is {here}."
    known = manifest.sha256
    for name in sorted({*known, *files} - {_ABOUT}):
        if name not in files:
            yield f"{name} was taken out of the pack."
        elif name not in known:
            yield f"{name} was added to the pack."
        elif known[name] != _hash(files[name]):
            yield f"{name} was changed after the pack was made."


def _find_release(versions: Mapping[str, object]) -> object:
    packages = versions.get("packages")
    return packages.get("bestresponse") if isinstance(packages, dict) else None
