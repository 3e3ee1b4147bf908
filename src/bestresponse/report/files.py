"""Write result files so that readers see either the old file or the new one.

Nothing outside the folder is touched.

A folder may come from somebody else and hold symbolic links under the names that are about to be
written. The new content goes into a file with a random name that did not exist before, and then
takes the place of whatever has the name: a link is replaced, never followed.
"""

import errno
import os
import secrets
from pathlib import Path

from bestresponse.core.errors import StoreError

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def write_text(path: Path, text: str) -> Path:
    """Write a text file (UTF-8; halves of surrogate pairs as escapes) and return its path."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file as a whole and return its path; `StoreError` says what went wrong."""
    temporary = path.with_name(f".{path.name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(temporary, _NEW, 0o666), "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise explain_os_error(error, f"writing {path}") from None
    return path


def explain_os_error(error: OSError, doing: str) -> StoreError:
    """Say what the operating system refused, with advice."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(
            f"the disk is full while {doing}; what was finished is kept, free some space and run"
            " again"
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StoreError(f"no permission for {doing}; choose another output folder")
    return StoreError(f"{doing} failed: {error.strerror or error}")
