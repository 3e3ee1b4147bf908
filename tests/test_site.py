"""The pages of the site that are written from the package."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import bestresponse
from bestresponse.games.lookup import game_names
from bestresponse.theory.catalogue import names, tree_names

MARK = object()
SITE = Path(__file__).parents[1] / "docs" / "_site"


@pytest.fixture
def site(monkeypatch):
    monkeypatch.syspath_prepend(str(SITE))
    yield import_module
    for name in ("reference", "gallery"):
        sys.modules.pop(name, None)


def test_every_public_name_is_in_the_reference(site):
    reference = site("reference")
    source = Path(bestresponse.__file__).parent
    lazy = [
        path.parent if path.stem == "__init__" else path.with_suffix("")
        for path in source.rglob("*.py")
        if "\n    __getattr__, __dir__, __all__ = lazy_exports(" in path.read_text("utf-8")
    ]
    packages = {".".join(["bestresponse", *path.relative_to(source).parts]) for path in lazy}
    assert "bestresponse.water" in packages
    assert packages <= set(reference.PACKAGES)
    for package in packages:
        page = reference.write_page(package)
        for name in import_module(package).__all__:
            assert f"\n## {name}\n" in page


def test_a_function_is_shown_with_its_signature_and_its_examples_as_code(site):
    def double(number: "int", /, times: "int" = 2, *, key=MARK) -> "int":
        """Return a multiple.

        >>> double(2)
        4

        More words.
        """

    shown = site("reference").describe("double", double)
    assert "{py:function} double(number: int, /, times: int = 2, *, key=...) -> int" in shown
    assert "```pycon\n>>> double(2)\n4\n```\n\nMore words." in shown


def test_an_alias_names_its_type_and_does_not_repeat_its_documentation(site):
    shown = site("reference").describe("Role", str)
    assert "An alias of `str`." in shown
    assert "encoding" not in shown


def test_a_game_of_the_gallery_has_a_page_with_story_picture_table_and_exact_equilibria(
    site, tmp_path
):
    gallery = site("gallery")
    page = gallery.write_page("chicken", gallery.show_table("chicken"), tmp_path)
    assert page.startswith("# chicken\n")
    assert "![Picture of chicken](chicken.svg)" in page
    assert "| swerve | 0, 0 | -1, 1 |" in page
    assert "- row: 9/10 swerve, 1/10 straight; col: 9/10 swerve, 1/10 straight → -0.1, -0.1" in page
    assert "Rapoport & Chammah" in page
    assert (tmp_path / "chicken.svg").read_bytes().lstrip().startswith(b"<?xml")


def test_a_tree_of_the_gallery_has_its_value_and_a_policy(site):
    shown = "\n".join(site("gallery").show_tree("kuhn-poker"))
    assert "Value for player 1: -1/18." in shown
    assert "| player 1 | K pb | bet |" in shown


def test_what_people_and_models_did_stands_under_the_game_with_its_source(site):
    gallery = site("gallery")
    shown = "\n".join(gallery.show_table("prisoners-dilemma"))
    assert "GPT-4o cooperated in 97 % of 30 runs at first" in shown
    assert (
        "cooperated in the first round with a share of 0.14 (DB 23, at most 2 rounds, 636 matches)"
        in shown
    )
    assert set(gallery.BEHAVIOUR) <= {*names(), *tree_names()}
    assert all(known["source"][-4:].isdigit() for known in gallery.BEHAVIOUR.values())


def test_a_game_given_by_rules_has_its_known_equilibrium(site):
    shown = site("gallery").show_rules("trust")
    assert (
        shown[-1]
        == "Equilibrium: The receiver returns nothing, and therefore the sender sends nothing."
    )


@pytest.mark.parametrize("name", ["oneill", "public-goods", "leduc-poker", "trust"])
def test_a_game_that_has_no_picture_of_its_own_gets_one_of_its_payoffs(site, name):
    caption, picture = site("gallery").draw_page_picture(name)
    assert "earn" in caption
    assert b"<svg" in picture


@pytest.mark.parametrize("name", game_names())
def test_the_lines_to_copy_of_each_game_run(site, name):
    blocks = re.findall(
        r"^```python\n(.*?)^```", site("gallery").show_use(name), re.DOTALL | re.MULTILINE
    )
    values = {}
    exec(compile(blocks[0], name, "exec"), values)
    assert list(values["record"].payoffs) == list(bestresponse.find_game(name).playable().roles)
    assert len(blocks) == 1 + (name in (*names(), *tree_names()))
