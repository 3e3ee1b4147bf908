"""How to install an extra, in words that work for the way in which this package was installed."""

import json
from pathlib import Path


def install_hint(extra: str) -> str:
    """Say what to type for an extra.

    Where the package came from a folder or an address (PEP 610), the name alone may mean nothing on
    an index, or the package of somebody else, so it is given only to those who installed it from an
    index.
    """
    folder = Path(__file__).parents[2]
    return _write_hint(extra, _read_origin(folder))


def _read_origin(folder: Path) -> str | None:
    """Return the text of `direct_url.json` for the package in `folder`.

    Returns None after an installation from an index.

    An installed package has its metadata beside it; source files that are used where they lie have
    none: "{}".
    """
    for metadata in folder.glob("bestresponse-*.dist-info"):
        origin = metadata / "direct_url.json"
        return origin.read_text("utf-8") if origin.exists() else None
    return "{}"


def _write_hint(extra: str, origin: str | None) -> str:
    """Write the command for what `direct_url.json` says."""
    if origin is None:
        return f"pip install 'bestresponse[{extra}]'"
    where = json.loads(origin)
    if "archive_info" in where:
        return f"pip install 'bestresponse[{extra}] @ {where['url']}'"
    if "vcs_info" in where:
        version = where["vcs_info"]
        return (
            f"pip install 'bestresponse[{extra}] @"
            f" {version['vcs']}+{where['url']}@{version['commit_id']}'"
        )
    return f"pip install '.[{extra}]' in your clone of the repository"
