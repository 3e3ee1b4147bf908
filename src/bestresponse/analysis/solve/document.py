"""A solved game as one document, for the terminal and for a page; what is shown is what the JSON
form holds.

Its picture is a tree as it is, or a small table by its best responses.
"""

from itertools import product
from typing import Literal

import numpy as np

from bestresponse.analysis.solve import facts
from bestresponse.analysis.solve.data import as_data
from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree
from bestresponse.core.json import JsonObject
from bestresponse.games.describing import describe_loaded_game
from bestresponse.games.lookup import LoadedGame
from bestresponse.report.document import (
    Block,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Section,
    Table,
)
from bestresponse.report.figures.pictures import Picture, draw, pictures, require_picture
from bestresponse.report.figures.tree import draw_tree, require_tree_picture
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

_ROWS = 16
_COLUMNS = 10
_TABLES = 16
_EXTENT = {
    "Nash": "all Nash equilibria",
    "extreme Nash": "all extreme Nash equilibria, with the sets they span",
    "isolated Nash": "all isolated Nash equilibria, and points of every continuum",
    "pure Nash": "all pure Nash equilibria; there may be more mixed ones",
    "pure subgame perfect": (
        "all pure subgame perfect equilibria; other Nash equilibria were not searched"
    ),
}
_SIZE = (
    "nodes",
    "leaves",
    "information_sets",
    "perfect_information",
    "perfect_recall",
    "constant_sum",
)
_APPROXIMATE = 3
"""As many decimals as the policy of an iterative method is good for."""


def as_document(
    game: LoadedGame, solved: SolvedTable | SolvedTree, pictures: tuple[Section, ...] = ()
) -> Document:
    """Say in the title which game it is, in the sections what is known of it; `pictures` come
    first."""
    data = as_data(game, solved)
    words = Section("The game in words", tuple(map(Paragraph, describe_loaded_game(game))))
    if isinstance(solved, SolvedTree):
        decimals = _APPROXIMATE if solved.cfr is not None else None
        policies = facts.show_policies([e["policy"] for e in data["equilibria"]], decimals)
        sections = [
            Section(
                "Size",
                (
                    facts.show_values(
                        {"players": data["players"]} | {key: data[key] for key in _SIZE}
                    ),
                ),
            ),
            Section("Equilibria", (*_show_equilibria(data, 1.0), *policies)),
        ]
    else:
        unit = float(np.abs(solved.game.payoffs).max())
        sections = [
            Section("Payoffs", payoff_blocks(solved.game)),
            Section("Equilibria", _show_equilibria(data, unit)),
            *_show_position(data, unit),
        ]
    subtitle = ". ".join(part.rstrip(".") for part in (game.description, game.citation) if part)
    return Document(game.name, f"{subtitle}." if subtitle else "", (*pictures, words, *sections))


def payoff_blocks(game: NormalForm) -> tuple[Block, ...]:
    """Show payoffs: rows are the first player's actions, columns the second's, tables profiles of
    the others."""
    rows, columns = (*game.shape, 1)[:2]
    if rows > _ROWS or columns > _COLUMNS or int(np.prod(game.shape[2:])) > _TABLES:
        shape = "x".join(map(str, game.shape))
        return (
            Note(f"The payoffs of {shape} cells are too many to show; the JSON form has them."),
        )
    best = []
    for player in range(game.num_players):
        own = game.payoffs[player] if game.units is None else game.units[player]
        slack = 0 if game.is_exact else 1e-12 * float(np.ptp(own))
        best.append(own >= own.max(axis=player, keepdims=True) - slack)

    def write_cell(cell: tuple[int, ...]) -> str:
        numbers = [facts.write_amount(float(own[cell]), unit=0.0) for own in game.payoffs]
        return ", ".join(
            f"{number}{'*' if best[k][cell] else ''}" for k, number in enumerate(numbers)
        )

    tables = []
    across = game.actions[1] if game.num_players > 1 else ("payoff",)
    heads = (Column(" \\ ".join(game.players[:2])), *(Column(name, "right") for name in across))
    for rest in product(*map(range, game.shape[2:])):
        cells = tuple(
            (action, *(write_cell((i, j, *rest)[: game.num_players]) for j in range(len(across))))
            for i, action in enumerate(game.actions[0])
        )
        chosen = zip(game.players[2:], game.actions[2:], rest, strict=True)
        where = "".join(f"; {seat} plays {names[a]}" for seat, names, a in chosen)
        tables.append(
            Table(
                heads, cells, f"Payoffs of {', '.join(game.players)}{where}; * marks best responses"
            )
        )
    return tuple(tables)


def _show_equilibria(data: JsonObject, unit: float) -> tuple[Block, ...]:
    """Show the value, how the equilibria were found and how sure they are, the equilibria and their
    components."""
    blocks: list[Block] = []
    if "value" in data:
        shown = facts.write_amount(data["value"], data["value_exact"], unit=unit)
        blocks.append(KeyValues(((f"Value to {data['value_of']}", shown),), prominent=True))
    extent = next(
        (_EXTENT[concept] for concept in data["complete_for"]), "not necessarily all equilibria"
    )
    if not data.get("mixed_searched", True):
        extent = extent.replace(
            "there may be more mixed ones", "mixed equilibria were not searched"
        )
    blocks.append(
        Note(
            f"Method: {data['method']}; {extent}. Largest regret:"
            f" {facts.regret_text(data['regret'])}."
        )
    )
    blocks += [Note(f"{remark[:1].upper()}{remark[1:]}.", "warning") for remark in data["remarks"]]
    keys = (
        "kind",
        "strategies",
        "strategies_exact",
        "payoffs",
        "payoffs_exact",
        "stability",
        "nash_conv",
    )
    equilibria = [{key: e[key] for key in keys if key in e} for e in data["equilibria"]]
    what = "Extreme equilibria" if "extreme Nash" in data["complete_for"] else "Equilibria"
    if equilibria:
        blocks.append(facts.show_records(equilibria, data["players"], what, unit=unit))
    large = [component for component in data.get("components", ()) if not component["isolated"]]
    if large:
        blocks.append(
            Note(
                "The game is degenerate: whole sets of equilibria lie between the extreme ones"
                " listed."
            )
        )
        records = [
            {
                "index": component["index"],
                "extreme equilibria": [f"#{number + 1}" for number in component["equilibria"]],
                "sets": " and ".join(
                    _write_subset(data, component, subset) for subset in component["subsets"]
                ),
            }
            for component in large
        ]
        blocks.append(
            facts.show_records(
                records, data["players"], "Components with more than one equilibrium"
            )
        )
    for continuum in data.get("continua", ()):
        first, last = continuum["ends"]
        points = {"end": first, "between": continuum["inner"], "other end": last}
        records = [{"point": name, "plays": mix} for name, mix in points.items()]
        caption = f"A continuum of equilibria of dimension {continuum['dimension']}"
        blocks.append(facts.show_records(records, data["players"], caption, numbered=False))
    if len(data.get("outcomes", ())) > 1:
        outcomes = [{"payoffs": outcome} for outcome in data["outcomes"]]
        blocks.append(
            facts.show_records(
                outcomes, data["players"], "What some subgame perfect equilibrium pays"
            )
        )
    if "checkpoints" in data:
        caption = "How the average policy came closer to an equilibrium"
        blocks.append(
            facts.show_records(data["checkpoints"], data["players"], caption, numbered=False)
        )
    return tuple(blocks)


def _write_subset(data: JsonObject, component: JsonObject, subset: JsonObject) -> str:
    """Write a set of equilibria by its corners, each as fractions where an equilibrium of the
    component has it so."""
    sides = []
    for player, corners in zip(data["players"], (subset["x"], subset["y"]), strict=True):
        texts = []
        for corner in corners:
            mix = dict(zip(data["actions"][player], corner, strict=True))
            same = (data["equilibria"][number] for number in component["equilibria"])
            exact = next(
                (e["strategies_exact"] for e in same if e["strategies"][player] == mix), None
            )
            texts.append(facts.mix_text(mix, exact and exact[player]))
        sides.append(f"{{{'; '.join(texts)}}}")
    return " x ".join(sides)


def _show_position(data: JsonObject, unit: float) -> list[Section]:
    """Show what is known of a table besides its equilibria; what its size left out has no
    section."""
    players = data["players"]
    sections = []
    if data["maximin"] is not None:
        levels = data["maximin"]
        left = data["elimination"]
        titles = {
            "maximin": "value",
            "by playing": "strategy",
            "pure maximin": "pure_value",
            "with": "pure_action",
        }
        columns = {
            title: {seat: levels[seat][key] for seat in players} for title, key in titles.items()
        }
        for title in ("maximin", "by playing"):
            columns[f"{title}_exact"] = {
                seat: levels[seat][f"{titles[title]}_exact"] for seat in players
            }
        kept = {
            seat: left["kept"][seat] if left["kept"][seat] != data["actions"][seat] else "all"
            for seat in players
        }
        blocks = [
            facts.show_by_player(players, columns | {"left after iterated elimination": kept}, unit)
        ]
        for title, records in (
            ("Dominated actions", data["dominated"]),
            ("Iterated elimination", left["steps"]),
        ):
            if records:
                blocks.append(facts.show_records(records, players, title, numbered=False))
        sections.append(Section("Players", tuple(blocks)))
    chosen: JsonObject = {}
    if data["efficiency"] is not None:
        welfare = data["efficiency"]
        chosen["largest welfare (sum of payoffs)"] = welfare["optimum"]
        chosen["welfare at the best equilibrium"] = welfare["best_equilibrium"]
        chosen["welfare at the worst equilibrium"] = welfare["worst_equilibrium"]
        for price, bound in (("price_of_anarchy", "at least"), ("price_of_stability", "at most")):
            name = price if welfare["complete"] else f"{price}, {bound}"
            chosen[name] = (
                "undefined (welfare is not positive)" if welfare[price] is None else welfare[price]
            )
    if data["pareto_optimal"] is not None:
        chosen["Pareto-optimal cells"] = [f"({', '.join(cell)})" for cell in data["pareto_optimal"]]
    if len(data["equilibria"]) > 1:
        best = data["payoff_dominant"]
        risky = data["risk_dominant"]
        chosen["payoff-dominant equilibrium"] = None if best is None else f"#{best + 1}"
        chosen["risk-dominant equilibrium"] = None if risky is None else f"({', '.join(risky)})"
    if chosen:
        sections.append(Section("Efficiency and selection", (facts.show_values(chosen),)))
    if data["properties"] is not None:
        kind = data["properties"] | {
            "exact_potential": data["properties"]["exact_potential"] is not None
        }
        sections.append(Section("Kind of game", (facts.show_values(kind),)))
    if "correlated" in data:
        sections.append(
            Section("Correlated equilibrium", facts.show_facts(data["correlated"], players))
        )
    return sections


_WORDS: dict[Picture, str] = {
    "best responses": (
        "Best responses: each curve gives a player's best probability of its first action against"
        " the other's; the equilibria, dots and shaded sets, are where the curves meet"
    ),
    "replicator field": (
        "Replicator field: where a population that plays the game against itself moves; filled rest"
        " points attract what is near them, rings do not"
    ),
}
_TREE_WORDS = (
    "The game from left to right: circles bear the number of the player who moves, diamonds are"
    " chance; positions on one dashed line cannot be told apart by their player; payoffs are at"
    " the right."
)


def drawable(game: NormalForm | Tree) -> NormalForm | Tree:
    """Return the game if there is a picture of it; UsageError says why there is none."""
    if isinstance(game, Tree):
        require_tree_picture(game)
    else:
        require_picture(game)
    return game


def draw_game(game: NormalForm | Tree, kind: Literal["svg", "png"] = "svg") -> bytes:
    """Draw the picture of a game as a file."""
    return draw_tree(game, kind) if isinstance(game, Tree) else draw(game, kind)


def picture_figures(game: NormalForm | Tree) -> tuple[Figure, ...]:
    """Return each picture by itself, for narrow places."""
    if isinstance(game, Tree):
        return (Figure(draw_tree(game), _TREE_WORDS, f"{game.name or 'the game'}: the tree"),)
    return tuple(
        Figure(draw(game, only=picture), f"{_WORDS[picture]}.", f"{game.name}: {picture}")
        for picture in pictures(game)
    )


def picture_section(game: NormalForm | Tree) -> Section:
    """Return the picture, and in words what it shows."""
    if isinstance(game, Tree):
        return Section("Picture", picture_figures(game))
    words = [_WORDS[picture] for picture in pictures(game)]
    caption = f"{'. '.join(words)}."
    return Section(
        "Picture", (Figure(draw(game), caption, f"{game.name}: {', '.join(pictures(game))}"),)
    )
