"""One estimate of tokens: a token for every digit and mark, and for every three bytes of the rest."""

from dataclasses import replace

import pytest

from bestresponse.models import Message, Request, estimate_tokens
from bestresponse.models.prices import estimate_request_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("é", 1), ("策略", 2), ("\ud800", 1), ("-12.5", 5), ("a, b", 2)],
)
def test_the_tokens_of_a_text(text, tokens):
    assert estimate_tokens(text) == tokens


def test_a_request_counts_its_messages_their_frames_and_the_schema():
    request = Request((Message("system", "abc"), Message("user", "abcdef")))
    assert estimate_request_tokens(request) == 1 + 2 + 16
    assert estimate_request_tokens(replace(request, schema='{"a":1}')) == 1 + 2 + 16 + 7
