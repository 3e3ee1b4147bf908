"""Keep what native libraries print off standard output.

Standard output belongs to the caller: `--json` is nothing but JSON.

Solvers such as HiGHS print from C, past `sys.stdout`, so they are caught at the file descriptor.
"""

import ctypes
import os
import sys
from contextlib import ContextDecorator
from threading import Lock

# file descriptors, as C libraries write past `sys.stdout`
_STDOUT = 1
_STDERR = 2


class NativeOutputToStderr(ContextDecorator):
    """Send what is written to descriptor 1 to standard error.

    Applies while the context is entered or while a decorated function runs.

    Descriptors belong to the process, so uses that are nested or in other threads share one
    diversion.
    """

    _lock = Lock()
    _entered = 0
    _kept = -1

    def __enter__(self) -> None:
        cls = type(self)
        with cls._lock:
            if cls._entered == 0:
                _flush()
                cls._kept = os.dup(_STDOUT)
                os.dup2(_STDERR, _STDOUT)
            cls._entered += 1

    def __exit__(self, *_: object) -> None:
        cls = type(self)
        with cls._lock:
            cls._entered -= 1
            if cls._entered == 0:
                _flush()
                os.dup2(cls._kept, _STDOUT)
                os.close(cls._kept)


def _flush() -> None:
    """Write out what Python and C still hold back for descriptor 1.

    This way it goes where it was meant to go.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    if (
        os.name == "posix"
    ):  # elsewhere a process can have several C libraries, each with buffers of its own
        ctypes.CDLL(None).fflush(None)
