"""Lines of a run without the hashes that they end with, and with new ones: what a test changes in
them is read as if it had been written so."""

import re

from bestresponse.runs.store.folder import _CHECK, _hash


def drop_hashes(text: str) -> str:
    """Return lines of JSON without their hashes."""
    return re.sub(r',"line_hash":"[0-9a-f]{16}"\}$', "}", text, flags=re.MULTILINE)


def add_hashes(text: str | bytes) -> bytes:
    """Return lines with the hash that each must have, whatever it holds."""
    content = text.encode() if isinstance(text, str) else text
    lines = []
    for line in content.splitlines(keepends=True):
        begun = line.rpartition(_CHECK)[0] or line.rstrip(b"\n").removesuffix(b"}")
        sealed = begun + _CHECK + _hash(begun) + b'"}\n'
        lines.append(sealed if line.endswith(b"\n") else line)
    return b"".join(lines)
