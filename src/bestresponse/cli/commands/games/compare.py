"""`bestresponse compare`: are two games the same, and if not, where do they differ."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.cli.options import AsJson
from bestresponse.games.comparison import Comparison
from bestresponse.report.text import visible

__all__ = ["compare"]

_MOST_NAMES = 6
_MOST_LETTERS = 40
_SENTENCES = {
    "equal": "the same game under the same names",
    "renamed": "the same game under other names",
    "equivalent": "the same game up to names and positive affine payoffs",
    "ordinal": "different games in which every player ranks the ends alike",
    "different": "different games",
}


def compare(
    first: Annotated[str, typer.Argument(help="A name or a file, as for `solve`.")],
    second: Annotated[str, typer.Argument(help="A name or a file, as for `solve`.")],
    as_json: AsJson = False,
) -> None:
    """Say whether two games are the same up to names, order and positive affine payoffs, and where they differ.

    Names that occur in both games mean the same. Trees are compared as trees, up to the order of simultaneous moves,
    and where they are built differently by their reduced normal forms; where they differ it is said after which moves.
    The exit code is 1 where the games are different.
    """
    found = br.compare(first, second)
    print(json.dumps({"same": found.same, **asdict(found)}, indent=2, ensure_ascii=False) if as_json else _tell(found))
    if not found.same:
        raise typer.Exit(1)


def _tell(found: Comparison) -> str:
    lines = [f"{_SENTENCES[found.relation]} (by {found.basis})"]
    if found.relation in ("renamed", "equivalent"):
        lines += _tell_names(found)
    lines += [f"  built differently: {sentence}" for sentence in found.remarks]
    lines += [f"  {sentence}" for sentence in found.differences]
    if found.num_differences > len(found.differences):
        lines.append(f"  and {found.num_differences - len(found.differences):,} more")
    return "\n".join(visible(line) for line in lines)


def _tell_names(found: Comparison) -> list[str]:
    """Say how many names differ, and the first few of them."""
    kinds = [("players", [*found.players.items()]), *_list_names(found)]
    other = [(kind, [(old, new) for old, new in pairs if old != new], len(pairs)) for kind, pairs in kinds]
    counts = [f"{len(renamed):,} of {total:,} {kind}" for kind, renamed, total in other]
    renamed = [pair for _, pairs, _ in other for pair in pairs]
    lines = [f"  other names: {', '.join(counts)}"]
    lines += [f"    {_shorten(old)} = {_shorten(new)}" for old, new in renamed[:_MOST_NAMES]]
    more = len(renamed) - _MOST_NAMES
    return [*lines, f"    and {more:,} more (--json has all)"] if more > 0 else lines


def _list_names(found: Comparison) -> list[tuple[str, list[tuple[str, str]]]]:
    """List what is called how in the two games: actions, or, where plans are compared, information sets and moves."""
    actions = [pair for names in found.actions.values() for pair in names.items()]
    if found.basis == "payoff tables":
        return [("actions", actions)]
    if found.basis == "trees":
        return [("moves", list(dict.fromkeys(actions)))]
    sets, moves = dict[str, str](), dict[str, str]()
    for plans in actions:
        old, new = (tuple(part.rpartition(": ")[::2] for part in plan.split("; ")) for plan in plans)
        for (place, move), (other_place, other_move) in zip(old, new, strict=False):
            one_to_one = sets.setdefault(place, other_place) == other_place
            if len(old) != len(new) or not one_to_one or moves.setdefault(move, other_move) != other_move:
                return [("plans", actions)]
    return [("information sets", [*sets.items()]), ("moves", [*moves.items()])]


def _shorten(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 3]}..."
