"""How many tokens a text has, before anything is paid: one rule for every estimate.

No tokenizer of a provider is at hand before a call, and they differ. One token for every four characters of plain
English is the usual rule; numbers, JSON and names of games take more, and other scripts several bytes a character. The
rule here, a token for every three bytes of UTF-8, errs on the side of too many: an estimate of cost should not
be passed. A budget is kept by `wrappers.meter`, which counts every byte as a token.
"""

from bestresponse.models.base import Request

__all__ = ["estimate_request_tokens", "estimate_tokens"]

_BYTES_PER_TOKEN = 3
_PER_MESSAGE = 8


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text.

    >>> estimate_tokens("Which row do you play?"), estimate_tokens("")
    (8, 0)
    """
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def estimate_request_tokens(request: Request) -> int:
    """Estimate the tokens of a prompt: its messages with what frames them, and the schema."""
    texts = [message.content for message in request.messages]
    return sum(map(estimate_tokens, texts)) + _PER_MESSAGE * len(texts) + estimate_tokens(request.schema or "")
