"""What a speaker's reply comes to as a message, and who speaks without guidance."""

import pytest

from bestresponse.core.ask import Choice, Words
from bestresponse.core.game import View
from bestresponse.core.player import Decision
from bestresponse.models.base import Finish, Reply
from bestresponse.players.dialogue.speaker import Unguided, read_spoken_words


@pytest.mark.parametrize(
    ("text", "said", "how"),
    [
        (
            "I propose Monday.\n\n[2] From Bo to Ada:\n> Fine.",
            "I propose Monday.",
            "it went on with the prompt",
        ),
        ("Monday?\nHow to write: Write in a calm tone.", "Monday?", "it went on with the prompt"),
        ("[1] From Ada to Bo:\n> Monday?", None, "there is no message, only more of the prompt"),
        ("> [1] From Ada to Bo:\nMonday?", None, "there is no message, only more of the prompt"),
        (
            "I am from Rome, and go to Paris: a day each.",
            "I am from Rome, and go to Paris: a day each.",
            "",
        ),
        ("  ", None, "the model answered nothing"),
    ],
)
def test_a_message_ends_where_the_model_goes_on_with_the_prompt(text, said, how):
    message, reading = read_spoken_words(Reply(text), Words(1000))
    assert message == said
    assert reading.how.startswith(how)


def test_a_message_cut_at_the_token_limit_is_said_and_one_too_long_is_not():
    assert read_spoken_words(Reply("I prop", Finish.LENGTH), Words(100))[0] == "I prop"
    assert read_spoken_words(Reply("I prop", Finish.LENGTH), Words(100))[1].status == "repaired"
    assert read_spoken_words(Reply("x" * 101), Words(100))[0] is None


class Asked:
    name = "me"

    def decide(self, view, ask):
        return Decision(ask.options[-1] if isinstance(ask, Choice) else "my words")


def test_an_unguided_speaker_keeps_to_the_neutral_manner_and_a_person_says_whom_it_addresses():
    view = View("player 1", "a talk")
    ask = Choice(("calm, to Bo", "calm, to Cy", "any, to Bo", "any, to Cy"))
    person = Unguided(Asked(), ("any, to Bo", "any, to Cy"), choosing=True)
    assert person.decide(view, ask).action == "any, to Cy"
    assert person.decide(view, Words()).action == "my words"
    assert person.name == "me"
    drawn = {
        Unguided(Asked(), ("any, to Bo", "any, to Cy"), seed=seed).decide(view, ask).action
        for seed in range(20)
    }
    assert drawn == {"any, to Bo", "any, to Cy"}
