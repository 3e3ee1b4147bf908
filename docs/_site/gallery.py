"""Write the gallery: every game of the catalogue with its story, picture, equilibria, source and what was played."""

import inspect
import tomllib
from pathlib import Path

import bestresponse as br
from bestresponse import theory
from bestresponse.analysis.people import describe_people
from bestresponse.core import registry
from bestresponse.core.capabilities import find_known_equilibrium
from bestresponse.core.errors import UsageError
from bestresponse.report.figures.pictures import draw
from bestresponse.theory.catalogue import names, tree_names
from bestresponse.theory.catalogue.trees import tree_entry

MOST_CELLS = 36
MOST_SETS = 12
BEHAVIOUR = tomllib.loads((Path(__file__).parent / "behaviour.toml").read_text("utf-8"))
INTRO = """Every game is played and measured by its name. Equilibria of tables are exact fractions. What people did in
dilemmas is worked out from recorded data, what models did is published; `bestresponse reproduce` gives both."""


def write_gallery(folder: Path) -> None:
    """Write a page for the tables, one for the trees and one for the games that are programs."""
    folder.mkdir(exist_ok=True)
    pages = {
        "tables": ("Games in normal form", [show_table(name, folder) for name in names()]),
        "trees": ("Games played in turn", [show_tree(name) for name in tree_names()]),
        "rules": ("Games given by rules", [show_rules(name) for name in registry.games.names()]),
    }
    index = f"# Games\n\n{INTRO}\n\n```{{toctree}}\n" + "\n".join(pages) + "\n```\n"
    (folder / "index.md").write_text(index, "utf-8")
    for page, (title, entries) in pages.items():
        (folder / f"{page}.md").write_text("\n\n".join([f"# {title}", *entries]) + "\n", "utf-8")


def show_rules(name: str) -> str:
    """Return the entry of a game that is neither a table nor a tree, with its equilibrium where one is known."""
    about = (inspect.getdoc(registry.games.load(name)) or "").partition("\n\n")[0]
    known = find_known_equilibrium(br.find_game(name).playable())
    return "\n\n".join([f"## {name}", about, *([f"Equilibrium: {known.words}"] if known else [])])


def show_table(name: str, folder: Path) -> str:
    """Return the entry of a game in normal form."""
    data = br.solve(name).to_json()
    parts = [f"## {name}", data["description"], f"*{data['citation']}*"]
    game = theory.catalogue.load(name)
    if game.num_players == 2 and game.payoffs[0].size <= MOST_CELLS:
        parts.append(show_payoffs(data))
    try:
        (folder / f"{name}.svg").write_bytes(draw(game, "svg"))
        parts.append(f"![Best responses in {name}]({name}.svg)")
    except UsageError:
        pass  # only small games have a picture
    return "\n\n".join([*parts, show_equilibria(data), *show_behaviour(name)])


def show_behaviour(name: str) -> list[str]:
    """Return what people and models did in a game, where it is recorded, with the sources."""
    people = describe_people(theory.catalogue.load(name)) if name in names() else ""
    known = BEHAVIOUR.get(name)
    return [*([people] if people else []), *([f"Models: {known['models']} *{known['source']}*"] if known else [])]


def show_payoffs(data: dict) -> str:
    """Return the table of a game for two."""
    row, col = data["players"]
    lines = [
        f"| {row} \\ {col} | " + " | ".join(data["actions"][col]) + " |",
        "|---" * (len(data["actions"][col]) + 1) + "|",
    ]
    for i, action in enumerate(data["actions"][row]):
        cells = zip(data["payoffs"][row][i], data["payoffs"][col][i], strict=True)
        lines.append(f"| {action} | " + " | ".join(f"{one:g}, {other:g}" for one, other in cells) + " |")
    return "\n".join(lines)


def show_equilibria(data: dict) -> str:
    """Return the equilibria as a list; the first dozen."""
    found = data["equilibria"]
    whole = "all Nash equilibria" if "Nash" in data.get("complete_for", ()) else "found"
    lines = [f"Equilibria ({len(found)}, {whole}):", ""]
    for one in found[:12]:
        exact = one.get("strategies_exact") or one.get("strategies") or {}
        mixes = "; ".join(f"{player}: {show_mix(mix)}" for player, mix in exact.items())
        earned = ", ".join(f"{value:g}" for value in one["payoffs"].values())
        lines.append(f"- {mixes or one['kind']} → {earned}")
    return "\n".join(lines)


def show_mix(mix: dict) -> str:
    """Return a strategy without what is never played."""
    played = {action: share for action, share in mix.items() if str(share) not in ("0", "0.0")}
    return (
        next(iter(played)) if len(played) == 1 else ", ".join(f"{share} {action}" for action, share in played.items())
    )


def show_tree(name: str) -> str:
    """Return the entry of a game in extensive form; the largest one is not solved."""
    entry = tree_entry(name)
    if name == "leduc-poker":
        return f"## {name}\n\n{entry.description}.\n\n*{entry.citation}*"
    data = br.solve(name).to_json()
    size = f"{data['nodes']:,} nodes, {data['leaves']:,} ends, {data['information_sets']:,} information sets."
    parts = [f"## {name}", f"{data['description']}.", f"*{data['citation']}*", size]
    if data.get("value_exact"):
        parts.append(f"Value for {data['value_of']}: {data['value_exact']}.")
    if data["information_sets"] <= MOST_SETS and data["equilibria"] and "policy" in data["equilibria"][0]:
        parts.append(show_policy(data["equilibria"][0]["policy"]))
    return "\n\n".join([*parts, *show_behaviour(name)])


def show_policy(policy: dict) -> str:
    """Return one equilibrium as a table of information sets."""
    lines = ["| player | information set | plays |", "|---|---|---|"]
    for player, sets in policy.items():
        for place, mix in sets.items():
            lines.append(f"| {player} | {place} | {show_mix({a: f'{share:.3g}' for a, share in mix.items()})} |")
    return "\n".join(lines)
