"""One writer per run folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from bestresponse.core.errors import StoreError
from bestresponse.report.files import explain_os_error


class FolderLock:
    """Held until released or until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        try:
            self._file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise explain_os_error(error, f"writing into {folder}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            why = f"another process is working in {folder}; wait for it or choose another --output-dir"
            raise StoreError(why) from None

    def release(self) -> None:
        """Let others write into the folder."""
        os.close(self._file)
