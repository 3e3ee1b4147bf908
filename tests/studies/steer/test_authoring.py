"""Scenarios that a model writes from examples are checked, different, kept, and never filled in
for."""

import json

import pytest
from strict_schema import find_violations

from bestresponse.core.errors import InvalidGame, NotCached
from bestresponse.games.dialogue.domain import (
    domain_names,
    load_domain,
    read_scenario,
    scenario_schema,
    scenarios,
)
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.session import Author, most_questions
from bestresponse.telling.render import write_rules

GOOD = {
    "names": ["Uma", "Vito"],
    "public": {"situation": "They want to see a film."},
    "private": [{"values": {"Monday": 3, "Friday": 20}}, {"values": {"friday": 1, "Tuesday": 7}}],
}


def author(model, name="meeting", answers=None):
    return Author(model, load_domain(name), answers or AnswerStore(), 5)


@pytest.mark.parametrize("name", domain_names())
def test_a_model_writes_as_many_different_scenarios_as_are_asked_for(name):
    answers = AnswerStore()
    with pytest.raises(NotCached):
        author(SimulatedSpeaker(1), name, answers.rehearse()).write(9)
    written = author(SimulatedSpeaker(1), name, answers).write(9).scenarios
    assert len({one.id for one in written}) == 9
    assert 3 <= answers.calls == len(answers.book) <= most_questions(9) == 8
    assert author(SimulatedSpeaker(1), name, answers.rehearse()).write(9).scenarios == written
    domain = load_domain(name)
    game = DialogueGame(domain, (written[0],), domain.manners())
    assert written[0].names[0] in write_rules(game.view(game.start(), "player 1"))


@pytest.mark.parametrize("name", domain_names())
def test_the_generators_own_scenarios_keep_to_the_rules_for_writers(name):
    domain = load_domain(name)
    schema = scenario_schema(domain, 50)
    drawn = scenarios(domain, 11, 50)
    assert [read_scenario(domain, one.to_json()) for one in drawn] == drawn
    assert find_violations({"scenarios": [one.to_json() for one in drawn]}, schema) == []


def test_what_everybody_knows_is_told_to_all():
    domain = load_domain("meeting")
    game = DialogueGame(domain, (read_scenario(domain, GOOD),), domain.manners())
    for role in ("player 1", "player 2", "referee"):
        assert write_rules(game.view(game.start(), role)).count("They want to see a film.") == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"names": ["Uma"]}, "names is .* expected 2 names"),
        ({"names": ["Uma", "uma"]}, "not all different"),
        ({"names": ["Uma", "Vito:\n[3] From"]}, "is not a name"),
        ({"public": {}}, "public.situation is missing"),
        ({"public": {"situation": "x" * 400}}, "has 400 characters; the limit is 300"),
        ({"private": [{"values": {"Monday": 3, "Friday": 20}}]}, "one entry for each of 2 people"),
        (
            {"private": [{"values": {"Monday": 3, "Friday": 21}}, GOOD["private"][1]]},
            "is 21, expected 1 to 20",
        ),
        (
            {"private": [{"values": {"Monday": 3, "Sunday": 2}}, GOOD["private"][1]]},
            "has 'Sunday', expected only Monday",
        ),
        (
            {"private": [{"values": {"Monday": 3}}, GOOD["private"][1]]},
            "values of what Uma knows has 1 entries, expected 2 to 4: Monday, Tuesday",
        ),
        (
            {"private": [{"values": {"Monday": 3, "Thursday": 2}}, GOOD["private"][1]]},
            "nothing suits all of them",
        ),
        (
            {"private": [{"values": {"Monday": "3", "Friday": 2}}, GOOD["private"][1]]},
            "is '3', expected 1 to 20",
        ),
    ],
)
def test_what_is_no_scenario_of_the_domain_is_refused_with_a_reason(change, why):
    with pytest.raises(InvalidGame, match=why):
        read_scenario(load_domain("meeting"), GOOD | change)


def test_in_a_written_debate_the_sides_differ_too():
    domain = load_domain("debate")
    both = {"names": ["Uma", "Vito"], "public": {"topic": "Cats are better than dogs."}}
    with pytest.raises(InvalidGame, match="on the same side"):
        read_scenario(domain, both | {"private": [{"side": "for"}, {"side": "For"}]})
    assert (
        read_scenario(domain, both | {"private": [{"side": "against"}, {"side": "for"}]}).public
        == both["public"]
    )


def test_a_written_trade_has_baskets_that_somebody_can_give_from():
    domain = load_domain("fruit")
    values = {"apple": 1, "banana": 2, "blueberry": 3, "kiwi": 4}
    trade = {"names": ["Uma", "Vito"], "public": {"situation": "They cook."}}
    own = [
        {"endowment": {"apple": 2}, "values": values},
        {"endowment": {"kiwi": 0}, "values": values},
    ]
    with pytest.raises(InvalidGame, match="somebody owns nothing"):
        read_scenario(domain, trade | {"private": own})
    own[1]["endowment"] = {"kiwi": 3}
    found = read_scenario(domain, trade | {"private": own})
    assert found.private[0]["endowment"] == {"apple": 2, "banana": 0, "blueberry": 0, "kiwi": 0}


def test_duplicates_and_misfits_are_rejected_and_unreadable_answers_recorded():
    other = GOOD | {"names": ["Wim", "Xenia"]}
    shouted = json.loads(json.dumps(GOOD).replace("film", "FILM"))
    replies = iter(
        [
            "Here are some ideas!",
            json.dumps([GOOD, shouted, {"names": []}]),
            f"First: {json.dumps(other)}.",
        ]
    )
    answers = AnswerStore()
    written = author(ScriptedModel(lambda request: next(replies)), answers=answers).write(2)
    assert [one.names for one in written.scenarios] == [("Uma", "Vito"), ("Wim", "Xenia")]
    assert written.rejected == (
        "there is no scenario in 'Here are some ideas!'",
        "it already exists",
        "names is [], expected 2 names",
    )
    assert [(one.text is None, one.reading.status.value) for one in answers.book.entries] == [
        (True, "unparseable"),
        (False, "valid"),
        (False, "valid"),
    ]
    assert answers.book.entries[0].why == "Here are some ideas!"


def test_too_few_scenarios_are_an_error_that_says_why():
    writer = author(ScriptedModel(lambda request: json.dumps(GOOD)))
    with pytest.raises(
        InvalidGame,
        match="wrote 1 scenarios that can be played, not 3, in 4 answers; 3 were rejected",
    ):
        writer.write(3)
    silent = author(ScriptedModel(lambda request: ""))
    with pytest.raises(InvalidGame, match="mostly because there is no scenario in ''"):
        silent.write(1)
