"""A package with an entry point, laid into a folder as an installer would, for tests of
plug-ins."""

import shutil
import tomllib
from importlib import invalidate_caches
from pathlib import Path


def lay_package(folder: Path, name: str, source: str, *entries: tuple[str, str, str]) -> Path:
    """Write the module `name` and its metadata with `(group, entry, attribute)` entry points into
    `folder`."""
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n"
    )
    lines = [f"[{group}]\n{entry} = {name}:{attribute}\n" for group, entry, attribute in entries]
    (info / "entry_points.txt").write_text("\n".join(lines))
    invalidate_caches()
    return folder


def lay_example(project: Path, target: Path) -> Path:
    """Lay a project of one or more modules into `target` as `pip install --target` would, without a
    build."""
    data = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    name, version = data["project"]["name"], data["project"]["version"]
    for module in data["tool"]["setuptools"].get("py-modules", ()):
        shutil.copy(project / f"{module}.py", target)
    for package in data["tool"]["setuptools"].get("packages", ()):
        shutil.copytree(project / package, target / package)
    info = target / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines: list[str] = []
    for group, entries in data["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{entry} = {where}" for entry, where in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    invalidate_caches()
    return target
