"""A package with an entry point, laid into a folder as an installer would, for tests of plug-ins."""

from importlib import invalidate_caches
from pathlib import Path


def lay_package(folder: Path, name: str, source: str, *entries: tuple[str, str, str]) -> Path:
    """Write the module `name` and its metadata with `(group, entry, attribute)` entry points into `folder`."""
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n")
    lines = [f"[{group}]\n{entry} = {name}:{attribute}\n" for group, entry, attribute in entries]
    (info / "entry_points.txt").write_text("\n".join(lines))
    invalidate_caches()
    return folder
