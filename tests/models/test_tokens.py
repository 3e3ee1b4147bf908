"""One estimate of tokens: a token for every digit and mark, and for every three bytes of the
rest."""

import pytest

from bestresponse.models import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abc", 1),
        ("abcd", 2),
        ("é", 1),
        ("策略", 2),
        ("\ud800", 1),
        ("-12.5", 5),
        ("a, b", 2),
    ],
)
def test_the_tokens_of_a_text(text, tokens):
    assert estimate_tokens(text) == tokens
