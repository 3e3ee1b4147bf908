"""A key in every spelling that a server may send it back in, and a search for what is left of it."""

import base64
import re
import sqlite3
from urllib.parse import quote

KEY = "sk-Very/Secret+Key-0123456789abcdefXYZ"
ENCODINGS = [
    *("utf-8", "utf-8-sig", "latin-1", "utf-7"),
    *("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"),
]
WIDE = [name for name in ENCODINGS if name.startswith(("utf-16", "utf-32"))]


def widen(key):
    """Write a text in the full-width letters of East Asian fonts."""
    return "".join(chr(ord(letter) + 0xFEE0) for letter in key)


SPELLINGS = {
    "as it is": str,
    "in capitals": str.upper,
    "in an address": lambda key: quote(key, safe=""),
    "percent signs throughout": lambda key: "".join(f"%{ord(letter):02X}" for letter in key),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal with colons": lambda key: key.encode().hex(":"),
    "hexadecimal with spaces": lambda key: key.encode().hex(" ").upper(),
    "as bytes are written": lambda key: "".join(f"\\x{ord(letter):02x}" for letter in key),
    "as JSON escapes": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "fillers between letters": "\u3164".join,
    "other fillers between letters": "\u115f\uffa0".join,
    "empty Braille between letters": "\u2800".join,
    "base 64": lambda key: base64.b64encode(key.encode()).decode(),
    "base 64 after one byte": lambda key: base64.b64encode(f"x{key}yy".encode()).decode(),
    "base 64 after two bytes": lambda key: base64.urlsafe_b64encode(f"xx{key}y".encode()).decode(),
    "NUL between letters": "\0".join,
    "unseen joiners between letters": "\u200d".join,
    "lines of one letter": "\n".join,
    "wide letters": widen,
    "a Kelvin sign": lambda key: key.replace("K", "\N{KELVIN SIGN}"),
}


MARKS = ("", ":", " ", "\\x", "\\\\x", "\\u00", "\\\\u00")


def cut(text, length):
    return [text[start : start + length] for start in range(0, len(text), length)]


def say_in_tokens(key, length):
    """Answer with log-probabilities whose tokens are pieces of the key, among them as the likeliest
    alternatives."""
    content = [
        {
            "token": piece,
            "logprob": -0.1,
            "top_logprobs": [{"token": piece, "logprob": -0.1}, {"token": "#", "logprob": -3.0}],
        }
        for piece in cut(key, length)
    ]
    choice = {
        "message": {"content": "A"},
        "finish_reason": "stop",
        "logprobs": {"content": content},
    }
    return {"choices": [choice], "usage": {}}


def list_pieces(key):
    """List every 12 characters in a row, as a file may spell them."""
    pieces = [key[start : start + 12].lower() for start in range(len(key) - 11)]
    coded = base64.b64encode(key.encode()).decode().lower()
    coded_in_hex = [mark.join(f"{ord(letter):02x}" for letter in key[4:16]) for mark in MARKS]
    return [*pieces, quote(key, safe="").lower(), coded[4:20], *coded_in_hex]


def read_everything(folder):
    """Return what the files below a folder hold, as text without what is unseen; the store of
    replies row by row."""
    texts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            text = content.replace(b"\0", b"").replace(b"\\u0000", b"").decode("utf-8", "replace")
            texts.append(re.sub("[\u115f\u1160\u3164\uffa0\u2800]", "", text))
        if path.suffix == ".sqlite":
            with sqlite3.connect(path) as store:
                texts += store.iterdump()
    return texts


def find_pieces(texts):
    return [piece for text in texts for piece in list_pieces(KEY) if piece in text.lower()]
