"""Models take part in an experiment: they read what people read, answer everything, and are in the
same tables."""

import csv
import io
import json
import re
import time
from pathlib import Path

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.web.experiments.reading import parse_experiment
from bestresponse.web.reader import read_page, read_typed
from bestresponse.web.texts import load_texts
from bestresponse.web.trial import TrialSettings, try_experiment

EXAMPLES = Path(__file__).parents[3] / "examples" / "experiments"
FILE = """
title = "A dilemma"
language = "de"
consent = "Ihre Antworten werden gespeichert."
[limits]
answer = 20
tries = 2
[[games]]
name = "pd"
game = "prisoners-dilemma"
rounds = 2
seats = ["person", "person"]
quiz = false
[[games.questions]]
text = "Wie viele Runden?"
answer = 2
[[questionnaire]]
name = "hours"
text = "Wie viele Stunden schlafen Sie?"
kind = "number"
low = 0
high = 24
required = true
[[questionnaire]]
name = "trust"
text = "Vertrauen Sie anderen?"
kind = "choice"
options = ["ja", "nein"]
[payment]
currency = "EUR"
rate = 0.1
"""


def read_table(trial, name):
    return list(csv.DictReader(io.StringIO(trial.files[name].decode())))


def answer_page(request):
    """Agree, pass the quiz, cooperate, and fill in the questionnaire."""
    page = request.messages[0].content.partition("The page:\n")[2]
    fields = re.search(r"The fields are: (.*)", page)[1].split(", ")
    answers = {
        "do": "agree",
        "quiz.0": 2,
        "answer": "cooperate",
        "item.hours": 7.5,
        "item.trust": "ja",
        "consent": "yes",
    }
    return "Here it is: " + json.dumps({name: answers[name] for name in fields})


def take_part(text, script, people=2, **settings):
    model = ScriptedModel(script)
    wanted = TrialSettings(people, speed=1, models=("m",), readers=("m",), **settings)
    return try_experiment(text, wanted, lambda name: model), model


def test_models_answer_consent_quiz_game_and_questionnaire_on_the_pages_of_people():
    trial, model = take_part(FILE, answer_page)
    assert (trial.finished, trial.wrong, trial.answers) == (2, [], 4)
    people = read_table(trial, "participants.csv")
    told = [(row["participant_label"], row["consent"], row["quiz_tries"]) for row in people]
    assert sorted(told) == [("m 1", "True", "1"), ("m 2", "True", "1")]
    assert {(row["q_hours"], row["q_trust"]) for row in people} == {("7.5", "ja")}
    # Both cooperate twice: 6 points at 0.10.
    assert {(row["points"], row["money"]) for row in people} == {("6.0", "0.6")}
    decisions = read_table(trial, "decisions.csv")
    assert {(row["action"], row["answered_by"]) for row in decisions} == {("cooperate", "person")}
    prompts = [request.messages[0].content for request in model.asked]
    assert any("Wie viele Stunden schlafen Sie?" in prompt for prompt in prompts)
    assert any("[answer = cooperate]" in prompt for prompt in prompts)
    assert not any("csrf" in prompt for prompt in prompts)
    rows = [json.loads(line) for line in trial.files["readings.jsonl"].decode().splitlines()]
    assert [row["prompt"] for row in rows if row["who"] == "m 1"] != []
    assert len(rows) == len(prompts)


def test_a_model_reads_what_is_wrong_and_tries_again():
    def stumble(request):
        page = request.messages[0].content
        if "item.hours" in page and "kann" not in page and "liegt nicht" not in page:
            return json.dumps({"item.hours": 99, "item.trust": "ja"})
        return answer_page(request)

    trial, model = take_part(FILE, stumble)
    assert trial.finished == 2
    assert {row["q_hours"] for row in read_table(trial, "participants.csv")} == {"7.5"}
    again = [
        request.messages[0].content
        for request in model.asked
        if "99 liegt nicht zwischen 0 und 24." in request.messages[0].content
    ]
    assert len(again) == 2


def test_a_model_that_declines_or_fails_the_quiz_is_in_the_data_like_a_person():
    def decline(request):
        return '{"do": "decline"}'

    trial, _ = take_part(FILE, decline, people=1)
    (row,) = read_table(trial, "participants.csv")
    assert (trial.finished, trial.turned_away, row["outcome"]) == (0, 1, "no consent")

    def guess(request):
        return '{"do": "agree", "quiz.0": 5}'

    trial, _ = take_part(FILE, guess, people=1)
    (row,) = read_table(trial, "participants.csv")
    assert (row["outcome"], row["quiz_tries"], row["consent"]) == ("screened out", "2", "True")


def test_a_model_that_answers_no_question_is_stood_in_for():
    def mumble(request):
        page = request.messages[0].content
        # The first participant asks with the seeds 0, 1 and 2.
        if "[answer = cooperate]" in page and request.seed < 3:
            return "I would rather not say."
        return answer_page(request)

    text = FILE.replace("answer = 20", "answer = 1")
    trial, _ = take_part(text, mumble)
    decisions = read_table(trial, "decisions.csv")
    by = sorted((row["participant_label"], row["answered_by"]) for row in decisions)
    assert by == [("m 1", "stand-in")] * 2 + [("m 2", "person")] * 2
    assert trial.finished == 1


def test_numbers_are_typed_as_the_language_of_the_page_writes_them():
    page = read_page('<main><form method="post"><input name="item.a"></form></main>')
    assert read_typed(page, '{"item.a": 7.5}', load_texts("de")) == {"item.a": "7,5"}
    assert read_typed(page, '{"item.a": 7.5}', load_texts("en")) == {"item.a": "7.5"}
    assert read_typed(page, "seven", load_texts("en")) == {"item.a": "seven"}
    assert read_typed(page, '{"other": 1, "item.a": true}', load_texts("en")) == {"item.a": "True"}


def test_forty_models_go_through_three_rounds_of_public_goods_in_twenty_seconds_of_work():
    text = (EXAMPLES / "public-goods.toml").read_text("utf-8")
    text = text.replace("rounds = 10", "rounds = 3")
    parts = [part for parts in parse_experiment(text)[1].values() for part in parts]
    right = {question.text: question.answer for part in parts for question in part.game.questions}

    def contribute(request):
        page = request.messages[0].content.partition("The page:\n")[2]
        fields = re.search(r"The fields are: (.*)", page)[1].split(", ")
        typed = {}
        for name in fields:
            options = re.findall(rf"\[{re.escape(name)} = ([^\]]*)\]", page)
            typed[name] = options[0] if options and options[0] != "..." else "3"
            if name == "item.age":
                typed[name] = 30
            if name.startswith("quiz."):
                asked = re.search(rf"(.*)\n\[{re.escape(name)} = \.\.\.\]", page)[1]
                typed[name] = right[asked]
        return json.dumps(typed)

    began = time.process_time()
    trial, _ = take_part(text, contribute, people=40)
    spent = time.process_time() - began
    assert (trial.finished, trial.wrong) == (40, [])
    # Ten rounds take 60 s at most; here are three.
    assert spent < 20
