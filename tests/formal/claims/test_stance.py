"""Questions, doubts, suppositions and other people's opinions are not taken for assertions."""

from __future__ import annotations

import pytest

from bestresponse.formal.claims import Reading, RulesTranslator, Subject
from bestresponse.theory.games.normal_form import NormalForm

HUNT = Subject(NormalForm.bimatrix([[9, 1], [7, 6]], [[9, 7], [1, 6]], actions=(("Deer", "Fish"),) * 2))


def read(text: str) -> tuple[list[str], list[str]]:
    translation = RulesTranslator().translate(text, HUNT)
    assert translation.passages is not None
    return [str(claim) for claim in translation.claims], [one.reading.value for one in translation.passages]


@pytest.mark.parametrize(
    "text",
    [
        "Is Deer dominant?",
        "Fish weakly dominates Deer?",
        "Could (Deer, Fish) be an equilibrium?",
        "Many people would claim that (Deer, Fish) is a Nash equilibrium.",
        "It is easy to believe that Deer is dominant.",
        "At first sight Deer is a dominant strategy.",
        "One could argue that Fish strictly dominates Deer.",
        "If Deer were dominant, I would take it at once.",
        "I wonder if (Deer, Fish) is an equilibrium.",
    ],
)
def test_what_is_not_asserted_is_set_aside(text: str) -> None:
    assert read(text) == ([], [Reading.NOT_ASSERTED.value])


def test_a_question_with_its_answer_is_an_assertion() -> None:
    outcome = "do(choice(you, 'Deer'), do(choice(them, 'Fish'), s0))"
    assert read("Is (Deer, Fish) an equilibrium? No, I would rather fish.")[0] == [f"not(equilibrium({outcome}))."]
    assert read("Is (Deer, Fish) an equilibrium? Yes.")[0] == [f"equilibrium({outcome})."]
    assert read("Does Deer dominate Fish? No.")[0] == ["not(strictly_dominates('Deer', 'Fish'))."]


def test_a_doubt_that_is_taken_back_is_a_denial() -> None:
    assert read("You might think that Deer is dominant, but it is not.")[0] == ["not(strictly_dominant('Deer'))."]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("(Deer, Fish) is not an equilibrium.",
         ["not(equilibrium(do(choice(you, 'Deer'), do(choice(them, 'Fish'), s0))))."]),
        ("Deer is not dominant.", ["not(strictly_dominant('Deer'))."]),
        ("Fish is not dominated by Deer.", ["not(strictly_dominates('Deer', 'Fish'))."]),
        ("(Fish, Fish) is not Pareto-optimal.",
         ["not(pareto_optimal(do(choice(you, 'Fish'), do(choice(them, 'Fish'), s0))))."]),
    ],
)  # fmt: skip
def test_denials_are_read_as_denials(text: str, claims: list[str]) -> None:
    assert read(text)[0] == claims


def test_an_exception_is_a_claim_about_all_the_others() -> None:
    others = [("Deer", "Deer"), ("Deer", "Fish"), ("Fish", "Deer")]
    wanted = [
        f"pareto_optimal(do(choice(you, '{mine}'), do(choice(them, '{theirs}'), s0)))." for mine, theirs in others
    ]
    assert read("Every outcome other than (Fish, Fish) is Pareto-optimal.")[0] == wanted
