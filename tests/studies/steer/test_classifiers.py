"""Which of several classifiers names the manners of messages."""

import pytest

import bestresponse as br
from bestresponse.core.errors import SettingError
from bestresponse.games.dialogue.domain import load_domain
from bestresponse.players.dialogue.simulated import shown_in
from bestresponse.studies.steer.config import SteerConfig


def classify(prompt):
    """Name the manner by the first sentence of the message."""
    text = prompt.partition("The message:\n")[2].partition("\n\nThe manners")[0]
    return shown_in(text)


GOOD = br.models.from_function("good", classify)
CALM = br.models.from_function("always-calm", lambda prompt: "calm")
SILENT = br.models.from_function("silent", lambda prompt: "I cannot tell.")


@pytest.mark.parametrize("order", [(CALM, GOOD, SILENT), (GOOD, SILENT, CALM)])
def test_the_best_on_labelled_messages_is_taken(tmp_path, order):
    run = br.steer("meeting", follow=True, classifier=order, fresh=0, output_dir=tmp_path)
    rows = {row["classifier"]: row for row in run.frames["following"]}
    assert [row["classifier"] for row in run.frames["following"]] == [one.id for one in order]
    # Two labelled messages of each of four manners.
    tested = {name: (row["labelled"], row["labelled_right"]) for name, row in rows.items()}
    assert tested == {"good": (8, 1.0), "always-calm": (8, 0.25), "silent": (8, 0.0)}
    assert {name: row["taken"] for name, row in rows.items()} == {
        "good": "yes",
        "always-calm": "no",
        "silent": "no",
    }
    assert rows["good"]["judged"] > 0
    assert rows["good"]["rate"].estimate > 0.6
    assert rows["always-calm"]["rate"] is None
    assert rows["always-calm"]["judged"] == 0
    # The confusion table is that of the classifier that was taken.
    labelled = [row for row in run.frames["named"] if row["labelled"]]
    assert all(row["told"] == row["named"] for row in labelled)


def test_the_first_is_taken_where_they_tie(tmp_path):
    other = br.models.from_function("as-good", lambda prompt: classify(prompt))
    run = br.steer("meeting", follow=True, classifier=(other, GOOD), fresh=0, output_dir=tmp_path)
    assert [row["taken"] for row in run.frames["following"]] == ["yes", "no"]


def test_one_classifier_may_be_named_alone():
    assert SteerConfig("meeting", follow=True, classifier="M").classifiers == ("M",)
    assert SteerConfig("meeting", follow=True, judge="J").classifiers == ("J",)


def test_several_need_labelled_messages():
    assert load_domain("email").manners().labelled == ()
    with pytest.raises(SettingError, match="classifier: several are compared by labelled messages"):
        SteerConfig("email", follow=True, classifier=("A", "B"))
