"""One writer per run folder."""

from __future__ import annotations

import os
from pathlib import Path

from bestresponse.core.errors import StoreError
from bestresponse.report.files import explain_os_error

__all__ = ["FolderLock"]


class FolderLock:
    """Held until released or until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        try:
            self._file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise explain_os_error(error, f"writing into {folder}") from None
        if not _try_lock(self._file):
            os.close(self._file)
            raise StoreError(f"another process is working in {folder}; wait for it or choose another --output-dir")

    def release(self) -> None:
        """Let others write into the folder."""
        os.close(self._file)


def _try_lock(file: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_windows(file: int) -> bool:
    import msvcrt

    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
