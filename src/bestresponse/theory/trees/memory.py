"""How much memory a growing tree may take.

It is refused with a sentence before the machine runs out of memory.
"""

import os
import sys
from pathlib import Path

from bestresponse.core.errors import TooLarge

_STATUS = Path("/proc/self/statm")
CHECK_EVERY = 2048
"""How many nodes a tree may grow between two looks at the memory."""
_PER_NODE = 4096


def measure_resident() -> int:
    """Measure the memory of this process in bytes; 0 where the system does not say."""
    if not _STATUS.exists():
        return 0
    return int(_STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure_machine() -> int:
    """Measure the memory of the machine in bytes.

    The largest number where the system does not say.
    """
    known = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" not in known:
        return sys.maxsize
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class MemoryGuard:
    """Refuses a tree that takes over 4 kB per allowed node, or half the machine's memory."""

    def __init__(self, nodes: int) -> None:
        self._before = measure_resident()
        self._allowed = min(_PER_NODE * nodes, measure_machine() // 2)

    def check(self, nodes: int) -> None:
        """Refuse a tree of so many nodes that takes too much; TooLarge says how much was taken."""
        taken = measure_resident() - self._before
        if taken > self._allowed:
            raise TooLarge(
                f"the tree takes {taken >> 20:,} MB after {nodes:,} nodes, more than the"
                f" {self._allowed >> 20:,} MB allowed; its positions or the names of its"
                " information sets are large: solve a smaller version"
            )
