"""A game whose folder does not tell all that it states is found out."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bestresponse.core.conformance import Broken
from bestresponse.core.errors import UsageError
from bestresponse.core.registry import games
from bestresponse.games.kit import check_game, find_kinds
from bestresponse.telling import language as languages

SOURCE = Path(languages.__file__).parents[1] / "games" / "trust"


@pytest.mark.parametrize("name", games.built_in)
def test_every_rule_and_event_of_a_registered_game_is_told_whole(name: str) -> None:
    check_game(games.make(name))


def test_the_kinds_of_a_play_are_listed() -> None:
    names = [kind.__name__ for kind in find_kinds(games.make("trust"))]
    assert names == ["TrustRule", "SentOver", "ReturnedBack"]


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        (
            "words.en.po",
            "{endowment}",
            "10",
            "the message 'trust' in en does not say 'endowment' of TrustRule",
        ),
        ("words.en.po", 'msgctxt "sent"', 'msgctxt "posted"', "SentOver has no message 'sent' in"),
        ("words.de.po", "{arrived} sind", "alle sind", "its message 'sent' must have amount, arr"),
        ("words.en.po", "", "", "TrustRule has no words: there is no words.en.po in trust_game"),
    ],
)
def test_a_folder_that_does_not_tell_its_game_is_refused(
    file: str, old: str, new: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "trust_game"
    shutil.copytree(SOURCE, folder)
    if old:
        words = (folder / file).read_text("utf-8")
        assert old in words
        (folder / file).write_text(words.replace(old, new), "utf-8")
        if file == "words.en.po":
            (folder / "words.de.po").unlink()
    else:
        (folder / file).unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_languages()
    try:
        from trust_game.rules import Trust

        with pytest.raises(Broken, match=why):
            check_game(Trust())
    finally:
        for module in [name for name in sys.modules if name.startswith("trust_game")]:
            del sys.modules[module]


def test_a_language_that_lacks_a_word_of_another_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nim_game"
    shutil.copytree(SOURCE.parent / "nim", folder)
    german = (folder / "words.de.po").read_text("utf-8")
    (folder / "words.fr.po").write_text(german.replace('"Objects left: {piles}."', '"x"'), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(languages, "list_catalogues", lambda: ["en", "de", "fr"])
    forget_languages()
    french = replace(languages.load_language("de"), name="fr")
    with pytest.raises(UsageError, match="'fr' cannot be used: it lacks the word for 'Objects le"):
        french.within("nim_game")


def test_a_folder_needs_a_file_for_every_language_but_english() -> None:
    finnish = replace(languages.load_language("de"), name="fi")
    with pytest.raises(UsageError, match="nim is not told in 'fi': it has no words"):
        finnish.within("bestresponse.games.nim")
    english = languages.load_language("en").within("bestresponse.games.nim")
    assert "Objects left: {piles}." in english.sources


def forget_languages() -> None:
    for cached in (languages.list_word_files, languages._load_folder, languages._add_folder):
        cached.cache_clear()
