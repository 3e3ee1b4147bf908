"""Bodies of HTTP replies, decompressed within a limit.

A kilobyte that is compressed twice can hold gigabytes, and a decoder that is given a whole piece of the wire expands it
whole. Here at most one compression is undone, and never more than a bounded piece is expanded at a time.
"""

import zlib
from collections.abc import Iterable, Iterator

from bestresponse.core.errors import BadReply, Transient

__all__ = ["read_body"]

_PIECE = 2**16
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


def read_body(wire: Iterable[bytes], limit: int, who: str, *, compressed: bool) -> bytes:
    """Join and decompress the pieces of a body; `BadReply` beyond `limit` bytes, on the wire or decompressed.

    >>> read_body([zlib.compress(b"hello")], limit=100, who="the server", compressed=True)
    b'hello'
    """
    bounded = _bound(wire, limit, who)
    return b"".join(_bound(_inflate(bounded, who), limit, who) if compressed else bounded)


def _bound(pieces: Iterable[bytes], limit: int, who: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise BadReply(f"{who} sent more than {limit / 2**20:.4g} MB for one reply")
        yield piece


def _inflate(wire: Iterable[bytes], who: str) -> Iterator[bytes]:
    """Decompress gzip, zlib, or deflate without a header (which RFC 9110 does not allow and some servers send)."""
    decoder = zlib.decompressobj(_GZIP_OR_ZLIB)
    first = True
    for piece in wire:
        while piece and not decoder.eof:
            try:
                out = decoder.decompress(piece, _PIECE)
            except zlib.error as error:
                if not first:
                    raise Transient(f"{who} sent a compressed reply that is damaged: {error}") from None
                decoder, first = zlib.decompressobj(-zlib.MAX_WBITS), False
                continue
            first = False
            piece = decoder.unconsumed_tail
            yield out
    yield decoder.flush()
    if not first and not decoder.eof:
        raise Transient(f"{who} sent a compressed reply that breaks off")
