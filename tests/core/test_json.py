"""One text for equal values, and its hash."""

import pytest

from bestresponse.core.json import canonical, digest


def test_equal_values_give_equal_texts():
    assert (
        canonical({"b": 1, "a": (1.5, None, "é")})
        == '{"a":[1.5,null,"é"],"b":1}'
        == canonical({"a": [1.5, None, "é"], "b": 1})
    )


def test_what_is_no_number_has_no_text():
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(float("nan"))


def test_a_hash_is_the_beginning_of_sha_256_and_takes_any_text():
    assert digest({"a": 1}) == "015abd7f5cc57a2d"
    assert digest({"a": 1}, 4) == "015a"
    assert len(digest("\ud800")) == 16
