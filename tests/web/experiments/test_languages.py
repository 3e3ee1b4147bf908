"""Every page of every game is in the language of the experiment, whole; a language is one file."""

import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from daily import share_out
from made_up_language import write_catalogue

from bestresponse.core.errors import UsageError
from bestresponse.games.capabilities import HasSpeakers
from bestresponse.telling import language as languages
from bestresponse.telling.language import list_languages
from bestresponse.web import texts
from bestresponse.web.sessions.setup import GameChoice, list_offers, make_game
from bestresponse.web.trial import TrialSettings, count_people, try_experiment

NAMES = {
    *("alex", "bob", "cindy", "david", "eric"),  # residents of the town
    *("bestresponse", "blotto", "spock", "joker"),
    *("a", "b", "c", "o", "w", "x"),  # columns and marks of boards
    *(
        name.lower()
        for offer in list_offers()
        if offer.name.startswith("dialogue:")
        for name in make_game(GameChoice(offer.name)).names
    ),  # who talk
}
"""Names that are the same in every language."""
FREQUENT = """
    about above after always among and another any anything are as at back be become been before
    below between bid bids both but by came can cannot card chance choice choices choose chooses
    choosing chose coin coins common could day days dealt decide decides did do does drawn draws
    dry each earn earned either else end ends enough equal equally ever every everybody
    everything factor first follows for from game gave get gets give given gives go goes got had
    has have having he health hold how if into is it its itself keep keeps kept knew know
    knowing known knows large least left less like likely lose loses lost low lowest made make
    makes many may me mean meant message messages money more most move moves much must my next
    nobody none nor not nothing now number numbers of offer offered on once one only open option
    options or other others our over own paid part pass pay payoff payoffs pays per play played
    player players plays point points pool possible pot private probability put puts raise ready
    receive returned right round rounds row rule rules same second secret see seen sees send
    sent share shared she should shown some somebody such sum take taken tell than that the
    their them then there these they thing this those time times to together told tokens took
    turn two under until up us use value want way were what whatever when where whether which
    while who whoever whole whom whose why will win wins with without would write written yes
    yet you your
"""
ENGLISH = frozenset(FREQUENT.split())
"""Frequent English words that no German sentence has."""


TABLES = [offer.name for offer in list_offers() if offer.kind == "table"]
"""Their pages differ in names alone."""
OTHERS = [offer.name for offer in list_offers() if offer.kind != "table"]


def refuse_models(name):
    raise UsageError(f"no model {name}")


def write_experiment(game, language):
    made = make_game(GameChoice(game))
    seats = ", ".join(['"person"'] * len(made.roles))
    repeated = "rounds = 2\n" if offers()[game].repeats else ""
    referee = 'referee = "strategy:simulated"\n' if isinstance(made, HasSpeakers) else ""
    return (
        f'title = "1"\nlanguage = "{language}"\nbrand = ""\n[[games]]\ngame = "{game}"\n'
        f"seats = [{seats}]\n{repeated}{referee}"
        '[payment]\ncurrency = "EUR"\nrate = 0.1\n'
    )


def offers():
    return {offer.name: offer for offer in list_offers()}


def list_shown(page):
    """List what a person can see on a page, hidden labels for screen readers included."""
    hidden = r"<script.*?</script>|P-\w{8}|bot-\d+|EUR|\b[a-c]\d[-x][a-c]\d\b"
    body = re.sub(hidden, "", page, flags=re.DOTALL)
    body = re.sub(r'<p class="bubble.*?</p>', "", body)
    labels = r'(?:aria-label|data-title|data-good|data-sum|data-unset|data-one|data-many)="([^"]*)"'
    shown = " ".join(re.findall(labels, body))
    return re.findall(r"[^\W\d_]+", unescape(re.sub(r"<[^>]+>", " ", body) + " " + shown))


def take_part(game, language):
    text = write_experiment(game, language)
    trial = try_experiment(text, TrialSettings(count_people(text)), refuse_models)
    assert (trial.finished, trial.wrong) == (trial.people, [])
    return trial.pages


@pytest.mark.parametrize("game", share_out(TABLES, part=1) + share_out(OTHERS, parts=2, part=1))
def test_no_english_word_stands_on_any_german_page(game):
    met = {}
    for page in take_part(game, "de"):
        for word in list_shown(page.html):
            if word.lower() in ENGLISH - NAMES:
                met.setdefault(word, page.kind)
    assert met == {}


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A folder of catalogues to which one file was added."""
    for name in ("en", "de"):
        source = Path(languages.__file__).parent / "catalogues" / f"{name}.po"
        shutil.copy(source, tmp_path / f"{name}.po")
    write_catalogue(tmp_path, "fi")
    monkeypatch.setattr(languages, "_find_catalogues", lambda: tmp_path)
    find_words = languages._find_words

    def find_made_up(home, name):
        if name != "fi":
            return find_words(home, name)
        source = find_words(home, "de")
        if not source.is_file():
            return source
        folder = tmp_path / home
        folder.mkdir(exist_ok=True)
        write_catalogue(folder, "fi", source=source)
        return folder / "fi.po"

    monkeypatch.setattr(languages, "_find_words", find_made_up)
    forget_languages()
    yield "fi"
    forget_languages()


def forget_languages():
    languages._load.cache_clear()
    languages.list_word_files.cache_clear()
    languages._load_folder.cache_clear()
    languages._add_folder.cache_clear()
    texts.load_texts.cache_clear()


JOINED = {"ja", "tai"}
"""What Babel joins lists with in the language whose code the made-up one has."""


@pytest.mark.parametrize("game", share_out(TABLES, part=0) + share_out(OTHERS, parts=2, part=0))
def test_nothing_is_left_in_english_on_the_pages_of_a_language_that_was_added(game, made_up):
    assert list_languages() == ("en", "de", made_up)
    met = {}
    for page in take_part(game, made_up):
        for word in list_shown(page.html):
            if word != word.upper() and word.lower() not in NAMES | JOINED:
                met.setdefault(word, page.kind)
    assert met == {}
