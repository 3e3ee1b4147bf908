"""Foreign text made safe to print: a server's error message can hold codes that steer the reader's terminal."""

__all__ = ["make_printable"]


def make_printable(text: str) -> str:
    r"""Write every character that is not printable as its escape: controls, direction overrides, surrogates.

    >>> make_printable("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)
