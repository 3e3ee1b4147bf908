"""A solved game as one document, for the terminal and for a page.

What is shown is what the JSON form holds.

Its picture is a tree as it is, or a small table by its best responses.
"""

from itertools import product
from typing import Literal

import numpy as np

from bestresponse.analysis.solve import facts
from bestresponse.analysis.solve.data import as_data
from bestresponse.analysis.solve.positions import SolvedPositions
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
from bestresponse.report.figures.pictures import draw, require_picture
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
_OF_EQUILIBRIUM = (
    "kind",
    "strategies",
    "strategies_exact",
    "payoffs",
    "payoffs_exact",
    "stability",
    "nash_conv",
)
_APPROXIMATE = 3
"""As many decimals as the policy of an iterative method is good for."""


def as_document(
    game: LoadedGame,
    solved: SolvedTable | SolvedTree | SolvedPositions,
    pictures: tuple[Section, ...] = (),
) -> Document:
    """Say in the title which game it is, in the sections what is known of it.

    `pictures` come first.
    """
    paragraphs = map(Paragraph, describe_loaded_game(game))
    words = Section("The game in words", tuple(paragraphs))
    if isinstance(solved, SolvedPositions):
        sections = solved.list_sections()
    elif isinstance(solved, SolvedTree):
        data = as_data(game, solved)
        decimals = _APPROXIMATE if solved.cfr is not None else None
        policies = facts.show_policies([e["policy"] for e in data["equilibria"]], decimals)
        size = {key: data[key] for key in ("players", *_SIZE)}
        sections = [
            Section("Size", (facts.show_values(size),)),
            Section("Equilibria", (*_show_equilibria(data, 1.0), *policies)),
        ]
    else:
        data = as_data(game, solved)
        unit = float(np.abs(solved.game.payoffs).max())
        sections = [
            Section("Payoffs", payoff_blocks(solved.game)),
            Section("Equilibria", _show_equilibria(data, unit)),
            *_show_position(data, unit),
        ]
    subtitle = ". ".join(part.rstrip(".") for part in (game.description, game.citation) if part)
    return Document(game.name, f"{subtitle}." if subtitle else "", (*pictures, words, *sections))


def payoff_blocks(game: NormalForm) -> tuple[Block, ...]:
    """Show the payoffs as tables.

    Rows are the first player's actions, columns the second's, and there is one table per profile of
    the others.
    """
    rows, columns = (*game.shape, 1)[:2]
    num_tables = int(np.prod(game.shape[2:]))
    if rows > _ROWS or columns > _COLUMNS or num_tables > _TABLES:
        shape = "x".join(map(str, game.shape))
        return (
            Note(f"The payoffs of {shape} cells are too many to show; the JSON form has them."),
        )
    best = []
    for player in range(game.num_players):
        own = game.payoffs[player] if game.units is None else game.units[player]
        slack = 0.0 if game.is_exact else 1e-12 * float(np.ptp(own))
        highest = own.max(axis=player, keepdims=True)
        best.append(own >= highest - slack)

    def write_cell(cell: tuple[int, ...]) -> str:
        texts = []
        for own, is_best in zip(game.payoffs, best, strict=True):
            number = facts.write_amount(float(own[cell]), unit=0.0)
            texts.append(f"{number}*" if is_best[cell] else number)
        return ", ".join(texts)

    tables = []
    across = game.actions[1] if game.num_players > 1 else ("payoff",)
    heads = (Column(" \\ ".join(game.players[:2])), *(Column(name, "right") for name in across))
    for rest in product(*map(range, game.shape[2:])):
        lines = []
        for i, action in enumerate(game.actions[0]):
            cells = [(i, j, *rest)[: game.num_players] for j in range(len(across))]
            lines.append((action, *map(write_cell, cells)))
        chosen = zip(game.players[2:], game.actions[2:], rest, strict=True)
        where = "".join(f"; {seat} plays {names[a]}" for seat, names, a in chosen)
        caption = f"Payoffs of {', '.join(game.players)}{where}; * marks best responses"
        tables.append(Table(heads, tuple(lines), caption))
    return tuple(tables)


def _show_equilibria(data: JsonObject, unit: float) -> tuple[Block, ...]:
    """Show the value and the equilibria with their components.

    Also says how the equilibria were found and how sure they are.
    """
    players = data["players"]
    blocks: list[Block] = []
    if "value" in data:
        shown = facts.write_amount(data["value"], data["value_exact"], unit=unit)
        blocks.append(KeyValues(((f"Value to {data['value_of']}", shown),), prominent=True))
    regret = facts.regret_text(data["regret"])
    blocks.append(
        Note(f"Method: {data['method']}; {_write_extent(data)}. Largest regret: {regret}.")
    )
    for remark in data["remarks"]:
        sentence = f"{remark[:1].upper()}{remark[1:]}."
        blocks.append(Note(sentence, "warning"))
    equilibria = []
    for e in data["equilibria"]:
        equilibria.append({key: e[key] for key in _OF_EQUILIBRIUM if key in e})
    if equilibria:
        what = "Extreme equilibria" if "extreme Nash" in data["complete_for"] else "Equilibria"
        blocks.append(facts.show_records(equilibria, players, what, unit=unit))
    blocks += _show_components(data)
    for continuum in data.get("continua", ()):
        first, last = continuum["ends"]
        points = {"end": first, "between": continuum["inner"], "other end": last}
        records = [{"point": name, "plays": mix} for name, mix in points.items()]
        caption = f"A continuum of equilibria of dimension {continuum['dimension']}"
        blocks.append(facts.show_records(records, players, caption, numbered=False))
    if len(data.get("outcomes", ())) > 1:
        outcomes = [{"payoffs": outcome} for outcome in data["outcomes"]]
        caption = "What some subgame perfect equilibrium pays"
        blocks.append(facts.show_records(outcomes, players, caption))
    if "checkpoints" in data:
        caption = "How the average policy came closer to an equilibrium"
        blocks.append(facts.show_records(data["checkpoints"], players, caption, numbered=False))
    return tuple(blocks)


def _write_extent(data: JsonObject) -> str:
    """Say which equilibria are all there."""
    extent = "not necessarily all equilibria"
    if data["complete_for"]:
        extent = _EXTENT[data["complete_for"][0]]
    if data.get("mixed_searched", True):
        return extent
    return extent.replace("there may be more mixed ones", "mixed equilibria were not searched")


def _show_components(data: JsonObject) -> list[Block]:
    """Show the components of a degenerate game that are more than a point."""
    records = []
    for component in data.get("components", ()):
        if component["isolated"]:
            continue
        subsets = [_write_subset(data, component, subset) for subset in component["subsets"]]
        record = {
            "index": component["index"],
            "extreme equilibria": [f"#{number + 1}" for number in component["equilibria"]],
            "sets": " and ".join(subsets),
        }
        records.append(record)
    if not records:
        return []
    degenerate = (
        "The game is degenerate: whole sets of equilibria lie between the extreme ones listed."
    )
    caption = "Components with more than one equilibrium"
    return [Note(degenerate), facts.show_records(records, data["players"], caption)]


def _write_subset(data: JsonObject, component: JsonObject, subset: JsonObject) -> str:
    """Write a set of equilibria by its corners.

    A corner is written in fractions if an equilibrium of the component has it in fractions.
    """
    equilibria = [data["equilibria"][number] for number in component["equilibria"]]
    sides = []
    for player, corners in zip(subset["players"], (subset["x"], subset["y"]), strict=False):
        names = data["actions"][player]
        texts = []
        for corner in corners:
            mix = dict(zip(names, corner, strict=True))
            exact = None
            same = [e for e in equilibria if e["strategies"][player] == mix]
            if same and same[0]["strategies_exact"]:
                exact = same[0]["strategies_exact"][player]
            texts.append(facts.mix_text(mix, exact))
        side = f"{{{'; '.join(texts)}}}"
        sides.append(side if len(data["players"]) == 2 else f"{player}: {side}")
    return " x ".join(sides)


def _show_position(data: JsonObject, unit: float) -> list[Section]:
    """Show what is known of a table besides its equilibria.

    What its size left out has no section.
    """
    sections = []
    if data["maximin"] is not None:
        sections.append(Section("Players", _show_players(data, unit)))
    if chosen := _gather_selection(data):
        sections.append(Section("Efficiency and selection", (facts.show_values(chosen),)))
    if data["properties"] is not None:
        kind = dict(data["properties"])
        kind["exact_potential"] = kind["exact_potential"] is not None
        sections.append(Section("Kind of game", (facts.show_values(kind),)))
    if "correlated" in data:
        correlated = facts.show_facts(data["correlated"], data["players"])
        sections.append(Section("Correlated equilibrium", correlated))
    return sections


def _show_players(data: JsonObject, unit: float) -> tuple[Block, ...]:
    """Show what each player can make sure of, and which actions are dominated."""
    players = data["players"]
    levels = data["maximin"]
    left = data["elimination"]
    titles = {
        "maximin": "value",
        "by playing": "strategy",
        "pure maximin": "pure_value",
        "with": "pure_action",
        "maximin_exact": "value_exact",
        "by playing_exact": "strategy_exact",
    }
    columns = {}
    for title, key in titles.items():
        columns[title] = {seat: levels[seat][key] for seat in players}
    kept = {}
    for seat in players:
        is_all = left["kept"][seat] == data["actions"][seat]
        kept[seat] = "all" if is_all else left["kept"][seat]
    columns["left after iterated elimination"] = kept

    blocks = [facts.show_by_player(players, columns, unit)]
    lists = {"Dominated actions": data["dominated"], "Iterated elimination": left["steps"]}
    for title, records in lists.items():
        if records:
            blocks.append(facts.show_records(records, players, title, numbered=False))
    return tuple(blocks)


def _gather_selection(data: JsonObject) -> JsonObject:
    """Gather how good the equilibria are, and which of them stand out."""
    chosen: JsonObject = {}
    if data["efficiency"] is not None:
        welfare = data["efficiency"]
        chosen["largest welfare (sum of payoffs)"] = welfare["optimum"]
        chosen["welfare at the best equilibrium"] = welfare["best_equilibrium"]
        chosen["welfare at the worst equilibrium"] = welfare["worst_equilibrium"]
        for price, bound in (("price_of_anarchy", "at least"), ("price_of_stability", "at most")):
            name = price if welfare["complete"] else f"{price}, {bound}"
            chosen[name] = welfare[price]
            if welfare[price] is None:
                chosen[name] = "undefined (welfare is not positive)"
    if data["pareto_optimal"] is not None:
        chosen["Pareto-optimal cells"] = [f"({', '.join(cell)})" for cell in data["pareto_optimal"]]
    if len(data["equilibria"]) > 1:
        best = data["payoff_dominant"]
        risky = data["risk_dominant"]
        chosen["payoff-dominant equilibrium"] = None if best is None else f"#{best + 1}"
        chosen["risk-dominant equilibrium"] = None if risky is None else f"({', '.join(risky)})"
    return chosen


_WORDS = (
    "Best responses: each curve gives a player's best probability of its first action against"
    " the other's; the equilibria, dots and shaded sets, are where the curves meet."
)
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


def picture_section(game: NormalForm | Tree) -> Section:
    """Return the picture, and in words what it shows."""
    if isinstance(game, Tree):
        figure = Figure(draw_tree(game), _TREE_WORDS, f"{game.name or 'the game'}: the tree")
    else:
        figure = Figure(draw(game), _WORDS, f"{game.name}: best responses")
    return Section("Picture", (figure,))
