"""Texts beside the code, with places to fill."""

import hashlib

import pytest

from bestresponse.core.texts import Texts


@pytest.fixture
def texts(tmp_path, monkeypatch, request):
    """A package of the test's own with the texts that it writes."""
    name = f"texts_of_{request.node.name}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    found = Texts(name)
    found.folder = tmp_path / name
    return found


def test_places_are_filled_and_everything_else_stays_as_it_is(texts):
    (texts.folder / "rules.txt").write_text(
        "So $who gets $${amount} {as is}, ${sum}$unit: é.\n\n", "utf-8"
    )
    assert texts.text("rules") == "So $who gets $${amount} {as is}, ${sum}$unit: é."
    assert (
        texts.fill("rules", who="Ann", sum=3, unit="{x}")
        == "So Ann gets ${amount} {as is}, 3{x}: é."
    )


def test_a_place_that_is_not_filled_is_an_error_that_names_it(texts):
    (texts.folder / "rules.txt").write_text("$who gets it.")
    with pytest.raises(KeyError, match="who"):
        texts.fill("rules")


def test_a_dollar_sign_that_begins_no_name_is_refused(texts):
    (texts.folder / "rules.txt").write_text("It costs $5.")
    with pytest.raises(ValueError, match=r"rules\.txt: a dollar sign stands for itself as \$\$"):
        texts.fill("rules")


def test_the_hash_of_every_text_is_known(texts):
    (texts.folder / "b.txt").write_text("two")
    (texts.folder / "a.txt").write_text("one")
    (texts.folder / "other.md").write_text("three")
    assert list(texts.hashes()) == ["a.txt", "b.txt"]
    assert texts.hashes()["a.txt"] == hashlib.sha256(b"one").hexdigest()[:16]
