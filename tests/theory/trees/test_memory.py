"""The memory of a growing tree: measured now and then, refused in a sentence."""

import os

import pytest

from bestresponse.core.errors import TooLarge
from bestresponse.theory import Turn, build_tree
from bestresponse.theory.trees import memory


def test_a_tree_whose_positions_are_large_is_refused(monkeypatch):
    taken = iter(range(0, 10**18, 10**9))
    monkeypatch.setattr(memory, "measure_resident", lambda: next(taken))
    with pytest.raises(TooLarge, match=r"takes 953 MB after 0 nodes, more than the 4 MB allowed"):
        build_tree(["only"], 0, lambda n: Turn("only", str(n), {"on": n + 1}), limit=1024)


def test_the_memory_of_this_process_is_that_which_the_system_says_and_0_where_it_says_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "statm")
    assert memory.measure_resident() == 0
    (tmp_path / "statm").write_text("9000 25 7 1 0 800 0\n")
    assert memory.measure_resident() == 25 * os.sysconf("SC_PAGE_SIZE")
