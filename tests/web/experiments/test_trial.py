"""Programs try an experiment through its real pages; what they read is in one language, what they
sent is kept."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from daily import share_out
from typer.testing import CliRunner
from web_server import hidden, join, take

from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.services.export import list_moves
from bestresponse.web.trial import (
    TrialSettings,
    count_people,
    list_seated_models,
    render_preview,
    try_experiment,
)

EXAMPLES = Path(__file__).parents[3] / "examples" / "experiments"
WORDS = {
    "en": (
        """all and are as at been but by can choose coins day did do each for from give given go got has have how if
        is it made many more most much no none nothing of offer on one or other others part player point points question
        read ready right round rounds row rules send step take than thank that the their them then there they this time
        to two were what when which who will with would you your"""
    ),
    "de": (
        """alle als auf aus bei das dem den der des ein eine einem einen einer er es für haben ich ihr ihre ihnen im
        ist jede jeder kein können mit münzen nach nicht noch oder punkte runde runden sich sie sind spiel teil über um
        und von vor warten wie wir wird zu zum zur"""
    ),
}
"""Frequent words of each language that are none of the other."""


def read_example(name):
    text = (EXAMPLES / f"{name}.toml").read_text("utf-8")
    return text.replace("rounds = 10", "rounds = 2")


def refuse_models(name):
    raise UsageError(f"no model {name}")


def list_words(page):
    """List the words that a person can see on a page, hidden labels for screen readers included."""
    body = re.sub(r"<script.*?</script>|P-\w{8}", "", page, flags=re.DOTALL)
    shown = " ".join(
        re.findall(r'(?:aria-label|data-title|data-good|data-sum|placeholder)="([^"]*)"', body)
    )
    return re.findall(r"[^\W\d_]+", unescape(re.sub(r"<[^>]+>", " ", body) + " " + shown).lower())


@pytest.mark.parametrize(
    "name",
    share_out(
        ["public-goods-de", "dilemma-de", "dialogue-de", "public-goods", "dilemma", "dialogue"],
        parts=2,
    ),
)
def test_no_word_of_another_language_stands_on_any_page(name):
    foreign = "en" if name.endswith("-de") else "de"
    text = read_example(name)
    trial = try_experiment(text, TrialSettings(count_people(text)), refuse_models)
    assert (trial.finished, trial.wrong) == (trial.people, [])
    kinds = {page.kind.partition(",")[0] for page in trial.pages}
    assert {"invitation", "welcome", "turn", "over"} <= kinds
    words = set(WORDS[foreign].split())
    met = {
        word: page.kind for page in trial.pages for word in list_words(page.html) if word in words
    }
    assert met == {}


def test_people_agree_in_the_words_that_the_file_gives(server):
    text = (EXAMPLES / "dialogue-de.toml").read_text("utf-8").replace('= "random"', '= "arrival"')
    lobby = server.state.sessions.create_experiment(text)
    people = [server.client(), server.client()]
    links = [str(join(server, lobby, person).url).partition("localhost")[2] for person in people]
    for person, link in zip(people, links, strict=True):
        person.post(f"{link}/ready", data={"csrf": hidden(person.get(link), "csrf")})
    session = server.state.sessions.get_session(lobby.tables[0].id)
    for number, shown, typed in (
        (0, "montag", {"answer.0": "Passt der Tag?", "answer.1": "make an offer"}),
        (0, "mittwoch", {"answer.0": "Wednesday"}),
        (1, "mittwoch", {"answer.0": "Gut.", "answer.1": "accept"}),
    ):
        role = session.roles[number]
        server.wait_for(lambda role=role: role in session.pending())
        words = list_words(people[number].get(links[number]).text)
        assert (shown in words, "wednesday" in words) == (True, False)
        take(people[number], links[number], **typed)
    server.wait_for(lambda: server.state.sessions.is_finished(lobby.tables[0].id))
    _, offered, accepted = list_moves(server.state, lobby.id, "decisions")
    assert list(json.loads(offered["action"]).values()) == ["Wednesday"]
    assert json.loads(accepted["action"])["move"] == "accept"
    assert "Mittwoch" in people[0].get(links[0]).text


def test_a_file_is_checked_previewed_and_tried_by_buttons_on_the_page(server):
    text = read_example("dilemma")

    def press(button, **fields):
        form = {
            "csrf": hidden(server.admin.get("/experiments/new"), "csrf"),
            "toml": text,
            "do": button,
            **fields,
        }
        return server.admin.post("/experiments", data=form)

    assert (
        "This file is right. People who fill one group of every treatment: 1."
        in press("check").text
    )
    preview = press("preview")
    assert preview.text.count("<iframe srcdoc") >= 8
    assert "style-src" not in preview.headers["content-security-policy"]
    tried = unescape(press("bots", people="2").text)
    assert "2 of 2 finished" in tried
    assert "Every answer was kept as it was sent." in tried
    wrong = press("bots", toml=text.replace("rounds = 5", "rounds = 0"))
    assert wrong.status_code == 422
    assert "expected at least 1" in wrong.text
    assert server.state.sessions.list_lobbies() == []


def test_bots_who_leave_are_stood_in_for_and_the_others_come_to_the_end():
    text = read_example("public-goods").replace("answer = 120", "answer = 100")
    trial = try_experiment(text, TrialSettings(4, drop_outs=60), refuse_models)
    assert 0 < trial.finished < 4
    assert trial.wrong == []
    assert list(trial.files) == [
        f"{table}.csv"
        for table in (
            "decisions",
            "participants",
            "parts",
            "wide",
            "draws",
            "times",
            "chat",
            "codebook",
        )
    ]


def test_whoever_finds_no_seat_is_counted():
    text = read_example("dilemma").replace("groups = 20", "groups = 1")
    trial = try_experiment(text, TrialSettings(2), refuse_models)
    # Five rounds of the first game and three of the second.
    assert (trial.finished, trial.turned_away, trial.answers) == (1, 1, 8)


def test_a_preview_shows_every_page_of_every_role_once():
    text = read_example("dilemma")
    trial = try_experiment(text, TrialSettings(1), refuse_models)
    sheet = render_preview("dilemma", trial.pages)
    titles = re.findall(r"<h2>([^<]+)</h2>\s*<iframe", sheet)
    assert titles[:3] == [
        "invitation",
        "Game 1, row: welcome",
        "Game 1, row: turn, What do you choose?",
    ]
    assert "Game 2, row: over, questionnaire" in titles
    assert len(titles) == len(set(titles))
    assert "&lt;style&gt;" in sheet
    assert "/static/app.js" not in sheet


WORDED = """
title = "x"
language = "{language}"
[[games]]
game = "chicken"
seats = ["person", "person"]
[games.text]
"{phrase}" = "{said}"
[text]
{name} = "{text}"
"""


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {"said": "$m wins"},
            "line 8: $m does not occur in the phrase 'player $n' that it is to be taken from",
        ),
        ({"name": "wating"}, "line 10: there is no text named 'wating'. Did you mean waiting"),
        (
            {"text": "for $count"},
            "line 10: $count stands for nothing in the text waiting; it has no place",
        ),
        (
            {"language": "fr"},
            "line 3: there is no language 'fr'; there are en, de. Choose another language, or add it",
        ),
    ],
)
def test_a_text_that_cannot_be_shown_is_refused_with_its_line(changed, why):
    usual = {
        "language": "en",
        "phrase": "player $n",
        "said": "person $n",
        "name": "waiting",
        "text": "Wait.",
    }
    with pytest.raises(UsageError, match=re.escape(why)):
        check_experiment(WORDED.format(**{**usual, **changed}))


SEATED = """
title = "With a model"
[[games]]
game = "prisoners-dilemma"
seats = ["person", "model:gpt-9"]
quiz = false
"""


def test_bots_are_refused_before_they_sit_down_where_a_model_is_not_named():
    assert list_seated_models(SEATED) == ["gpt-9"]
    with pytest.raises(UsageError, match="there is no model named 'gpt-9' here"):
        try_experiment(SEATED, TrialSettings(1), refuse_models)


def test_the_command_says_which_models_a_file_needs(tmp_path):
    (tmp_path / "x.toml").write_text(SEATED.replace("gpt-9", "openai/gpt-9"))
    found = CliRunner().invoke(app, ["experiment", "check", str(tmp_path / "x.toml")])
    assert "It seats models: run `serve` and `bots` with --model openai/gpt-9." in found.output


def test_the_command_refuses_a_model_that_there_is_not(tmp_path):
    (tmp_path / "x.toml").write_text(SEATED)
    found = CliRunner().invoke(app, ["experiment", "check", str(tmp_path / "x.toml")])
    assert found.exit_code != 0
    assert "there is no model named 'gpt-9'. Did you mean openai/gpt-9?" in str(
        found.output + str(found.exception)
    )
