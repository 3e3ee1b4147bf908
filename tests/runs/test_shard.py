import pytest
from hypothesis import given, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.runs.store.folder import Shard


@given(st.text(), st.integers(1, 50))
def test_every_play_belongs_to_exactly_one_part(spec, count):
    assert sum(Shard(number, count).holds(spec) for number in range(1, count + 1)) == 1


def test_the_partition_is_the_same_on_every_machine():
    assert [spec for spec in ("a", "b", "c", "d", "e", "f") if Shard(1, 2).holds(spec)] == [
        "a",
        "b",
        "c",
        "e",
        "f",
    ]


@pytest.mark.parametrize(
    "text", ["", "3", "0/4", "5/4", "1/0", "-1/4", "1/2/3", "one/2", "1/1000001", "1/99999999"]
)
def test_a_part_that_cannot_be_is_refused(text):
    with pytest.raises(UsageError, match="such as 3/16"):
        Shard.parse(text)


@pytest.mark.parametrize("text", ["1/1", "3/16", "16/16", "1000000/1000000"])
def test_a_part_is_written_as_it_is_read(text):
    shard = Shard.parse(text)
    assert (str(shard), f"{shard.number}/{shard.count}") == (text, text)


def test_the_first_eight_bytes_of_the_hash_tell_the_part():
    # SHA-256 of "a" begins with ca978112ca1bbdca, which is 14598278634844962250: 250 modulo 1,000.
    assert [number for number in range(1, 1001) if Shard(number, 1000).holds("a")] == [251]
