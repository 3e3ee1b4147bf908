import pytest
from hypothesis import given, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.runs.store.folder import Shard


@given(st.text(), st.integers(1, 50))
def test_every_play_belongs_to_exactly_one_part(spec, count):
    assert sum(Shard(number, count).holds(spec) for number in range(1, count + 1)) == 1


def test_the_partition_is_the_same_on_every_machine():
    assert [spec for spec in ("a", "b", "c", "d", "e", "f") if Shard(1, 2).holds(spec)] == ["a", "b", "c", "e", "f"]


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "-1/4", "1/2/3", "one/2", "1/99999999"])
def test_a_part_that_cannot_be_is_refused(text):
    with pytest.raises(UsageError, match="such as 3/16"):
        Shard.parse(text)
