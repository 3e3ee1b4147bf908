"""Put parts of a run together.

Parts are shards made on many machines or copies that went on separately, overlapping or not.

Every play is taken from one part, with its answers and calls. A play that several parts finished is
kept once where the records are equal, and refused where they differ. Of a play that nobody
finished, the part with the most answers is taken, the first by its path where several have as many.
The order in which the parts are named does not matter.
"""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.json import canonical, digest
from bestresponse.runs.run import Run, explain_no_run
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.store.folder import (
    LINE_FILES,
    FolderLock,
    Lines,
    Manifest,
    RunFolder,
    find_spec_id,
    identify_settings,
    read_lines,
    read_raw,
)
from bestresponse.runs.study import find_study

_BLOCK = 256  # lines written at once; parts may be larger than memory


@dataclass(frozen=True, slots=True)
class _Kept:
    """The part from which a play is taken, and the hash of its record where it has one."""

    part: int
    record: str = ""


def merge_runs(paths: Sequence[str | Path], output: str | Path) -> Run[RunSettings]:
    """Merge parts of one run into a folder below `output`, and return the merged run.

    The folder has the run's own name.

    A part is the folder of a run or a folder with exactly one run in it. UsageError where the parts
    are of different runs, StoreError where two parts recorded the same play differently; both are
    named. The same parts, or more of them, may be merged again into the same output.
    """
    parts = _find_parts(paths)
    manifest = _agree(parts)
    study = find_study(manifest.study)
    path = Path(output) / f"{study.name}-{manifest.run}"
    kept = _choose(parts)
    if not kept:
        raise UsageError(
            f"the parts of {manifest.study} {manifest.run} hold no plays: there is nothing to merge"
        )
    _write(path, manifest, parts, kept)
    merged: Run[RunSettings] = Run(RunFolder.read(path), study)
    if all(
        spec.id in kept and bool(kept[spec.id].record) for spec in study.list_specs(merged.config)
    ):
        merged.folder.mark_finished()
    else:
        warnings.warn(f"{path} lacks plays; merge the other parts too, or play them", stacklevel=2)
    if (path / "summary.json").exists():  # that of a part
        merged.publish()
    return merged


def _find_parts(paths: Sequence[str | Path]) -> list[RunFolder]:
    """Open every part once, ordered by its path."""
    if not paths:
        raise UsageError("name at least one part of a run")
    folders: dict[Path, RunFolder] = {}
    for path in map(Path, paths):
        inside = (
            [path]
            if (path / "manifest.json").exists()
            else [p.parent for p in path.glob("*/manifest.json")]
        )
        if len(inside) != 1:
            names = ", ".join(sorted(folder.name for folder in inside))
            if not inside:
                raise UsageError(explain_no_run(path, "bench --shard"))
            raise UsageError(f"{path} holds several runs ({names}); name one of them")
        folders[inside[0].resolve()] = RunFolder.read(inside[0])
    return [folders[path] for path in sorted(folders)]


def _agree(parts: Sequence[RunFolder]) -> Manifest:
    """Return the manifest of the whole.

    Raises UsageError where parts are of different studies, settings or models.

    The run names the folder of the whole, and parts come from other machines: it must be the one of
    the settings.
    """
    first = min(parts, key=lambda part: (part.manifest.created, part.path))
    for part in parts:
        for what in ("study", "config", "run", "prompts"):
            mine = getattr(first.manifest, what)
            other = getattr(part.manifest, what)
            if canonical(mine) != canonical(other):
                where = f"{mine!r} and {other!r}"
                if what in ("config", "prompts"):
                    where = ", ".join(
                        name
                        for name in sorted({*mine, *other})
                        if mine.get(name) != other.get(name)
                    )
                raise UsageError(
                    f"{first.path} and {part.path} are not parts of one run: {what} differs"
                    f" ({where})"
                )
    expected = identify_settings(first.manifest.study, first.manifest.config)
    if first.manifest.run != expected:
        raise StoreError(
            f"{first.path / 'manifest.json'} names the run {first.manifest.run!r}, but its settings"
            f" are those of run {expected}: the file was changed, so use the part as it was written"
        )
    models: dict[str, tuple[RunFolder, Any]] = {}
    for part in parts:
        for name, entry in part.manifest.models.items():
            before, known = models.setdefault(name, (part, entry))
            if _identify(known, before) != _identify(entry, part):
                raise UsageError(
                    f"{before.path} and {part.path} are not parts of one run: {name} is another"
                    " model"
                )
    return replace(
        first.manifest,
        shard=None,
        models={name: entry for name, (_, entry) in models.items()},
    )


def _identify(entry: object, part: RunFolder) -> str:
    """Return what a manifest says about the identity of a model, as text."""
    if not isinstance(entry, dict) or "identity" not in entry:
        raise StoreError(f"{part.path / 'manifest.json'} does not say which models were asked")
    return canonical(entry["identity"])


def _choose(parts: Sequence[RunFolder]) -> dict[str, _Kept]:
    """Decide from which part every play is taken.

    Raises StoreError where two parts recorded a play differently.
    """
    kept: dict[str, _Kept] = {}
    for number, part in enumerate(parts):
        for row in read_lines(part.path / "records.jsonl"):
            spec = row.get("spec")
            if not isinstance(spec, str):
                raise StoreError(
                    f"{part.path / 'records.jsonl'}: expected the id of a spec, got {spec!r:.60}"
                )
            try:
                mark = digest([row.get("data"), row.get("record")])
            except ValueError:
                raise StoreError(
                    f"{part.path / 'records.jsonl'}: the record of {spec} holds a number that is"
                    " not finite"
                ) from None
            before = kept.setdefault(spec, _Kept(number, mark))
            if before.record != mark:
                raise StoreError(
                    f"{parts[before.part].path} and {part.path} hold different records of play"
                    f" {spec}; leave one of them out"
                )
    finished = frozenset(kept)
    most: Counter[str] = Counter()
    for number, part in enumerate(parts):
        path = part.path / "submissions.jsonl"
        lines = enumerate(read_raw(path), 1)
        for spec, answers in Counter(
            find_spec_id(line, path, line_number) for line_number, line in lines
        ).items():
            if spec not in finished and answers > most[spec]:
                most[spec] = answers
                kept[spec] = _Kept(number)
    return kept


def _write(
    path: Path,
    manifest: Manifest,
    parts: Sequence[RunFolder],
    kept: dict[str, _Kept],
) -> None:
    """Write the three files and then the manifest.

    Where the output is a part itself, through new files.
    """
    if (path / "manifest.json").exists() and path.resolve() not in {
        part.path.resolve() for part in parts
    }:
        raise UsageError(f"{path} already exists: name it as a part too, or choose another output")
    lock = FolderLock(path)
    try:
        for name in LINE_FILES:
            (path / f"{name}.merging").unlink(missing_ok=True)
            with closing(Lines(path / f"{name}.merging")) as file:
                lines = _select(parts, f"{name}.jsonl", kept)
                while block := b"".join(islice(lines, _BLOCK)):
                    file.append_raw(block)
                file.sync()
        (path / "finished").unlink(missing_ok=True)  # a part was; the whole may lack plays
        for name in LINE_FILES:
            (path / f"{name}.merging").replace(path / f"{name}.jsonl")
        RunFolder(path, manifest).write_manifest()
    finally:
        lock.release()


def _select(parts: Sequence[RunFolder], name: str, kept: dict[str, _Kept]) -> Iterator[bytes]:
    """Yield the lines of every play from the part it is taken from.

    A record that is there twice, once.
    """
    written: set[str] = set()
    for number, part in enumerate(parts):
        path = part.path / name
        for line_number, line in enumerate(read_raw(path), 1):
            spec = find_spec_id(line, path, line_number)
            if spec not in kept or kept[spec].part != number:
                continue
            if name == "records.jsonl":
                if spec in written:
                    continue
                written.add(spec)
            yield line
