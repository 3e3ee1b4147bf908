"""Write the gallery: for every game a page with story, picture, equilibria, source, behaviour and
lines to copy."""

import inspect
import tomllib
from pathlib import Path

import bestresponse as br
from bestresponse import theory
from bestresponse.analysis.people import describe_people
from bestresponse.analysis.solve.document import drawable, picture_section
from bestresponse.core import registry
from bestresponse.core.capabilities import find_known_equilibrium
from bestresponse.core.errors import BestResponseError
from bestresponse.report.figures.charts import draw_distribution, draw_heatmap
from bestresponse.theory.catalogue import names, tree_names
from bestresponse.theory.catalogue.trees import tree_entry

MOST_CELLS = 36
MOST_DRAWN = 400
"""Cells of a table that are drawn in colours."""
MOST_SETS = 12
PLAYS = 50
NOT_SOLVED = "leduc-poker"
"""The largest tree; it is only described."""
BEHAVIOUR = tomllib.loads((Path(__file__).parent / "behaviour.toml").read_text("utf-8"))
INTRO = """Every game is played and measured by its name. Equilibria of tables are exact fractions. What people did in
dilemmas is worked out from recorded data, what models did is published; `bestresponse reproduce` gives both."""  # noqa: E501


def write_gallery(folder: Path) -> None:
    """Write a page for each game, and an index of the three kinds of games."""
    folder.mkdir(exist_ok=True)
    groups = {
        "Games in normal form": {name: show_table(name) for name in names()},
        "Games played in turn": {name: show_tree(name) for name in tree_names()},
        "Games given by rules": {name: show_rules(name) for name in registry.games.names()},
    }
    index = ["# Games", INTRO]
    for title, pages in groups.items():
        index += [f"## {title}", "```{toctree}\n:maxdepth: 1\n" + "\n".join(pages) + "\n```"]
        for name, facts in pages.items():
            (folder / f"{name}.md").write_text(write_page(name, facts, folder), "utf-8")
    (folder / "index.md").write_text("\n\n".join(index) + "\n", "utf-8")


def write_page(name: str, facts: list[str], folder: Path) -> str:
    """Return the page of a game: what it is, its picture, what is known of it, and what to type."""
    caption, picture = draw_page_picture(name)
    (folder / f"{name}.svg").write_bytes(picture)
    about, *known = facts
    parts = [
        f"# {name}",
        about,
        f"![Picture of {name}]({name}.svg)",
        f"*{caption}*",
        *known,
        show_use(name),
    ]
    return "\n\n".join(parts) + "\n"


def show_use(name: str) -> str:
    """Return the lines to copy: from Python, on the command line, and as an environment for
    learning."""
    seats = len(br.find_game(name).playable().roles)
    solved = name in (*names(), *tree_names())
    lines = [
        "## Use it",
        "```python",
        "import bestresponse as br",
        "",
        f'record = br.play("{name}", ["random"] * {seats}, seed=1)',
        "print(record.payoffs)",
        "```",
        "",
        "```",
        *([f"bestresponse solve {name}"] if solved and name != NOT_SOLVED else []),
        f"bestresponse play {name}",
        f"bestresponse {'bench' if solved else 'simulate'} {name} --model openai/gpt-4o",
        "```",
    ]
    if solved:
        learning = [
            "from bestresponse.integrations.pettingzoo.environments import env",
            "",
            f'game = env("{name}")',
        ]
        lines += [
            "",
            "As an environment of [PettingZoo](../reference/integrations.md):",
            "",
            "```python",
            *learning,
            "```",
        ]
    return "\n".join(lines)


def draw_page_picture(name: str) -> tuple[str, bytes]:
    """Draw what the library draws of a game; else the payoffs of the first of two, or what random
    players earn."""
    found = br.find_game(name)
    try:
        form = found.solvable()
        (figure,) = picture_section(drawable(form)).blocks
        return figure.caption, figure.image
    except BestResponseError:
        pass  # only small games have such a picture
    if name in names() and form.num_players == 2 and form.payoffs[0].size <= MOST_DRAWN:
        return f"What {form.players[0]} earns.", draw_heatmap(form.payoffs[0], *form.actions)
    rules = found.playable()
    plays = [
        br.play(rules, ["random"] * len(rules.roles), seed=seed).payoffs for seed in range(PLAYS)
    ]
    earned = {role: [payoffs[role] for payoffs in plays] for role in rules.roles}
    return f"What random players earn in {PLAYS} plays.", draw_distribution(
        earned, x_label="payoff"
    )


def show_rules(name: str) -> list[str]:
    """Return what is known of a game that is neither a table nor a tree, with its equilibrium where
    there is one."""
    about = (inspect.getdoc(registry.games.load(name)) or "").partition("\n\n")[0]
    known = find_known_equilibrium(br.find_game(name).playable())
    return [about, *([f"Equilibrium: {known.words}"] if known else [])]


def show_table(name: str) -> list[str]:
    """Return what is known of a game in normal form."""
    data = br.solve(name).to_json()
    game = theory.catalogue.load(name)
    payoffs = (
        [show_payoffs(data)] if game.num_players == 2 and game.payoffs[0].size <= MOST_CELLS else []
    )
    return [
        data["description"],
        f"*{data['citation']}*",
        *payoffs,
        show_equilibria(data),
        *show_behaviour(name),
    ]


def show_behaviour(name: str) -> list[str]:
    """Return what people and models did in a game, where it is recorded, with the sources."""
    people = describe_people(theory.catalogue.load(name)) if name in names() else ""
    known = BEHAVIOUR.get(name)
    return [
        *([people] if people else []),
        *([f"Models: {known['models']} *{known['source']}*"] if known else []),
    ]


def show_payoffs(data: dict) -> str:
    """Return the table of a game for two."""
    row, col = data["players"]
    lines = [
        f"| {row} \\ {col} | " + " | ".join(data["actions"][col]) + " |",
        "|---" * (len(data["actions"][col]) + 1) + "|",
    ]
    for i, action in enumerate(data["actions"][row]):
        cells = zip(data["payoffs"][row][i], data["payoffs"][col][i], strict=True)
        lines.append(
            f"| {action} | "
            + " | ".join(f"{first:g}, {second:g}" for first, second in cells)
            + " |"
        )
    return "\n".join(lines)


def show_equilibria(data: dict) -> str:
    """Return the equilibria as a list; the first dozen."""
    equilibria = data["equilibria"]
    whole = "all Nash equilibria" if "Nash" in data.get("complete_for", ()) else "found"
    lines = [f"Equilibria ({len(equilibria)}, {whole}):", ""]
    for equilibrium in equilibria[:12]:
        exact = equilibrium.get("strategies_exact") or equilibrium.get("strategies") or {}
        mixes = "; ".join(f"{player}: {show_mix(mix)}" for player, mix in exact.items())
        earned = ", ".join(f"{value:g}" for value in equilibrium["payoffs"].values())
        lines.append(f"- {mixes or equilibrium['kind']} → {earned}")
    return "\n".join(lines)


def show_mix(mix: dict) -> str:
    """Return a strategy without what is never played."""
    played = {action: share for action, share in mix.items() if str(share) not in ("0", "0.0")}
    return (
        next(iter(played))
        if len(played) == 1
        else ", ".join(f"{share} {action}" for action, share in played.items())
    )


def show_tree(name: str) -> list[str]:
    """Return what is known of a game in extensive form; the largest one is not solved."""
    entry = tree_entry(name)
    head = [f"{entry.description}.", f"*{entry.citation}*"]
    if name == NOT_SOLVED:
        return head
    data = br.solve(name).to_json()
    head.append(
        f"{data['nodes']:,} nodes, {data['leaves']:,} ends, {data['information_sets']:,}"
        " information sets."
    )
    if data.get("value_exact"):
        head.append(f"Value for {data['value_of']}: {data['value_exact']}.")
    if (
        data["information_sets"] <= MOST_SETS
        and data["equilibria"]
        and "policy" in data["equilibria"][0]
    ):
        head.append(show_policy(data["equilibria"][0]["policy"]))
    return [*head, *show_behaviour(name)]


def show_policy(policy: dict) -> str:
    """Return one equilibrium as a table of information sets."""
    lines = ["| player | information set | plays |", "|---|---|---|"]
    for player, sets in policy.items():
        for label, mix in sets.items():
            lines.append(
                f"| {player} | {label} |"
                f" {show_mix({a: f'{share:.3g}' for a, share in mix.items()})} |"
            )
    return "\n".join(lines)
