"""How to install an extra, in words that work for the way in which this package was installed."""

import json


def install_hint(extra: str) -> str:
    """Say what to type for an extra.

    Where the package came from a folder or an address (PEP 610), the name alone may mean nothing on an index, or the
    package of somebody else, so it is given only to those who installed it from an index.
    """
    return _write_hint(extra, _read_origin())


def _read_origin() -> str | None:
    """Return the text of `direct_url.json`: None after an installation from an index, "{}" for mere source files."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow to load, and seldom needed

    try:
        return distribution("bestresponse").read_text("direct_url.json")
    except PackageNotFoundError:
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
        return f"pip install 'bestresponse[{extra}] @ {version['vcs']}+{where['url']}@{version['commit_id']}'"
    return f"pip install '.[{extra}]' in your clone of the repository"
