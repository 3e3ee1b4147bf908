"""Tables of the documentation hold what the package and its metadata say."""

import re
import tomllib
from pathlib import Path

import bestresponse as br
from bestresponse.models.registry import KEYS

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def read_rows(page, first):
    """Return the rows of the table whose head begins so, as lists of cells."""
    table = re.search(
        rf"^\| {first} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)",
        (ROOT / page).read_text("utf-8"),
        re.MULTILINE,
    )[1]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]


def test_the_table_of_providers_has_every_kind_of_model_with_its_extra_and_its_key():
    rows = {
        name.strip("`| "): (extra, key)
        for name, _, extra, key in read_rows("docs/reference/models.md", "name")
    }
    plain = [model["name"] for model in br.list_models().rows if model["kind"] != "plug-in"]
    assert list(rows) == plain
    assert {extra.strip("`") for extra, _ in rows.values()} - {"none"} <= set(EXTRAS)
    for provider, variables in KEYS.items():
        extra, key = rows[f"{provider}/<model>"]
        assert (extra, re.findall(r"`(\w+)`", key)) == ("none", list(variables))


def test_the_table_of_other_tools_installs_extras_that_exist():
    installs = [install for _, install, _ in read_rows("docs/reference/integrations.md", "tool")]
    named = {extra for install in installs for extra in re.findall(r"\[([\w-]+)\]", install)}
    assert named == {"mcp", "pettingzoo", "inspect", "scout", "verifiers", "lm-eval", "openspiel"}
    assert named <= set(EXTRAS)


def test_the_readme_names_every_extra_of_all_and_is_no_longer_than_three_screens():
    text = (ROOT / "README.md").read_text("utf-8")
    everything = re.search(r"\[(.*)\]", EXTRAS["all"][0])[1].split(",")
    assert [extra for extra in everything if f"`{extra}`" not in text] == []
    assert len(text.splitlines()) <= 145


def test_every_page_is_at_most_two_clicks_from_the_readme():
    seen = set()
    reached = {ROOT / "README.md"}
    for _ in range(2):
        todo = reached - seen
        seen |= todo
        for page in todo:
            links = re.findall(r"\]\(([^)#\s]+\.md)", page.read_text("utf-8"))
            reached |= {(page.parent / link).resolve() for link in links}
    assert set(ROOT.glob("docs/**/*.md")) - reached == set()


def list_anchors(page):
    """List what links to a page can lead to: its headings, as GitHub and the site write them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_pages_of_the_site_lead_to_pages_and_headings_that_exist():
    docs = ROOT / "docs"
    # The generator of the gallery writes pages into a folder beside the others.
    linking = [(page, page.parent) for page in docs.glob("**/*.md")]
    linking += [(page, docs / "gallery") for page in docs.glob("_site/*.py")]
    lost = []
    for page, folder in linking:
        for name, anchor in re.findall(r"\]\(([\w./-]+\.md)#?([^)]*)\)", page.read_text("utf-8")):
            target = (folder / name).resolve()
            if target.parent in {docs / "gallery", docs / "api"}:
                continue  # written where the site is built
            is_there = target.is_file() and target.is_relative_to(docs)
            if not is_there or (anchor and anchor not in list_anchors(target)):
                lost.append(f"{page.name}: {name}#{anchor}")
    assert lost == []


def test_the_readme_makes_an_environment_and_names_the_two_commands_of_make():
    text = (ROOT / "README.md").read_text("utf-8")
    assert text.index("python3 -m venv .venv") < text.index("pip install .")
    targets = (ROOT / "Makefile").read_text("utf-8")
    for target in ("bench", "test"):
        assert f"`make {target}`" in text
        assert f"\n{target}:" in targets


def test_no_page_names_an_address_of_the_project_that_nobody_has_tried():
    pages = [
        ROOT / "README.md",
        ROOT / "SECURITY.md",
        ROOT / "CONTRIBUTING.md",
        *ROOT.glob("docs/**/*.md"),
    ]
    address = re.compile(r"(github|gitlab)\.com/[\w-]+/bestresponse")
    assert [page.name for page in pages if address.search(page.read_text("utf-8"))] == []


def test_every_claim_about_another_tool_has_a_source_and_every_claim_of_ours_a_page():
    page = (ROOT / "docs" / "reference" / "comparison.md").read_text("utf-8")
    rows = read_rows("docs/reference/comparison.md", "tool")
    assert {tool.strip("| ") for tool, _, _ in rows} >= {
        "Gambit",
        "OpenSpiel",
        "GTBench",
        "GAMA-Bench",
        "TextArena",
        "PettingZoo",
        "Inspect",
    }
    assert [tool for tool, theirs, _ in rows if not re.search(r"\[\d+\]", theirs)] == []
    assert [
        tool for tool, _, ours in rows if not re.search(r"\]\([\w./-]+\.md\)|\(below\)", ours)
    ] == []
    cited = {int(number) for number in re.findall(r"\[(\d+)\]", page)}
    assert cited == {int(number) for number in re.findall(r"^(\d+)\. ", page, re.MULTILINE)}


def test_what_is_there_of_otree_is_shown_by_tests_that_exist():
    rows = read_rows("docs/people/otree.md", "feature of oTree")
    written = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "web").rglob("*.py"))
    shown = [test.strip("` |") for _, answer, test in rows if answer == "yes"]
    assert (len(rows), len(shown)) == (36, 34)
    assert [test for test in shown if f"def {test}(" not in written] == []
