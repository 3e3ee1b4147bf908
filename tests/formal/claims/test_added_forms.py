"""Forms of claim and solvers that packages add by entry points."""

import json
import sys
from pathlib import Path

import pytest
from plugins import lay_example, lay_package

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.formal.claims import Checker, Subject, parse, say
from bestresponse.formal.claims.claim import FORMS, list_added
from bestresponse.formal.claims.form import add_form
from bestresponse.logic import EmbeddedEngine, Verdict
from bestresponse.theory.catalogue import load

EXAMPLE = Path(__file__).parents[3] / "examples" / "plugins" / "claims"
SAME = "fair_outcome(do(choice(you, 'defect'), do(choice(them, 'defect'), s0)))"
OTHER = "fair_outcome(do(choice(you, 'defect'), do(choice(them, 'cooperate'), s0)))"
BROKEN = """
from bestresponse.formal.claims.form import add_form

@add_form("{who} <is|is not> lucky")
def lucky(game, who):
    raise RuntimeError("no luck")

@add_form("{who} <is|is not> odd")
def odd(game, who):
    return "perhaps"

@add_form("{first} <is|is not> more than {second}")
def higher(game, first, second):
    return True

class Silent:
    def __init__(self, subject): ...
    def decide(self, grounded): return 1 / 0

class Mute:
    def __init__(self, subject): ...
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(lay_example(EXAMPLE, tmp_path))
    yield
    sys.modules.pop("fair_claims", None)


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    forms = [("bestresponse.forms", name, name) for name in ("lucky", "odd", "higher")]
    solvers = [("bestresponse.solvers", name, name.title()) for name in ("silent", "mute")]
    monkeypatch.syspath_prepend(lay_package(tmp_path, "faulty_claims", BROKEN, *forms, *solvers))
    yield
    sys.modules.pop("faulty_claims", None)


def decide(query, solver="both", engine=True):
    checker = Checker(
        Subject(load("prisoners-dilemma")), EmbeddedEngine() if engine else None, solver
    )
    proof = checker.check(parse(query)[0]).proof
    return proof.verdict, proof.why


@pytest.mark.usefixtures("installed")
def test_a_form_of_a_package_is_decided_by_its_rule_and_by_its_arithmetic():
    checker = Checker(Subject(load("prisoners-dilemma")), EmbeddedEngine())
    # Both defect: 1 and 1. Only I defect: 5 and 0.
    for query, holds in ((SAME, True), (OTHER, False)):
        (claim,) = parse(query)
        assert checker.check(claim).verdict is (Verdict.PROVED if holds else Verdict.REFUTED)
        assert checker.check(claim.negate()).verdict is (
            Verdict.REFUTED if holds else Verdict.PROVED
        )
        from bestresponse.formal.claims.grounding import ground

        assert (
            checker.logic.decide(ground(claim, checker.subject)).verdict
            is checker.check(claim).verdict
        )
    assert (
        say(parse(SAME)[0])
        == "Everybody gets the same if you choose defect and the other player chooses defect."
    )


@pytest.mark.usefixtures("installed")
def test_a_model_is_offered_the_form_and_is_corrected_by_it():
    asked = []
    said = "If I defect and they cooperate, it is fair"

    def translate(prompt):
        asked.append(prompt)
        outcome = [{"who": "you", "action": "defect"}, {"who": "them", "action": "cooperate"}]
        return json.dumps({"claims": [{"form": "fair_outcome", "quote": said, "outcome": outcome}]})

    review = br.verify("prisoners-dilemma", f"{said}.", translator=translate)
    assert (
        "- fair_outcome: outcome (chain). Meaning: everybody gets the same if {outcome}" in asked[0]
    )
    assert review.summary.startswith("1 refuted")
    assert "not everybody gets the same" in review.corrections[0].text.lower()


@pytest.mark.usefixtures("installed")
def test_a_solver_of_a_package_replaces_ours():
    # Equilibria pay 5, 1 and 5/3; it is not said which one is meant.
    query = "equilibrium_payoff(you, 5)"
    game = Subject(load("hawk-dove-lelma"))
    (claim,) = parse(query)
    assert Checker(game, EmbeddedEngine()).check(claim).verdict is Verdict.UNKNOWN
    assert Checker(game, None, "closed-world").check(claim).verdict is Verdict.REFUTED
    assert decide("higher(5, 3)", "closed-world") == (Verdict.PROVED, "")
    text = "If I defect and they cooperate, I get 7."
    assert br.verify("prisoners-dilemma", text, solver="closed-world").summary.startswith(
        "1 refuted"
    )


def test_without_the_package_there_is_no_such_form_or_solver():
    assert "fair_outcome" not in FORMS
    assert parse(SAME)[0].why.startswith("there is no form of claim 'fair_outcome'")
    with pytest.raises(
        UsageError, match="there is no solver named 'closed-world'; known: both, theory"
    ):
        br.verify("prisoners-dilemma", "I get 3.", solver="closed-world")
    with pytest.raises(
        UsageError, match="solver: there is no solver 'closed-world'; expected one of both, theory"
    ):
        br.verify_model(lambda prompt: "ANSWER: B", "prisoners-dilemma", solver="closed-world")


@pytest.mark.usefixtures("faulty")
def test_a_faulty_package_decides_nothing_and_spoils_nothing():
    with pytest.warns(UserWarning, match="'higher' of the package faulty-claims is left out"):
        assert set(list_added()) == {"lucky", "odd"}
    verdict, why = decide("lucky(you)")
    assert (verdict, why) == (
        Verdict.UNKNOWN,
        "the form of claim 'lucky' of the package faulty-claims fails: RuntimeError: no luck",
    )
    assert decide("odd(you)")[1].endswith("returns 'perhaps', which is not a verdict")
    assert decide("higher(3, 5)")[0] is Verdict.REFUTED
    assert decide("higher(5, 3)", "silent") == (
        Verdict.UNKNOWN,
        "the solver fails: ZeroDivisionError: division by zero",
    )
    with pytest.raises(
        UsageError,
        match="the solver 'mute' of the package faulty-claims cannot be used: Mute has no",
    ):
        decide("higher(5, 3)", "mute")


def test_an_argument_that_claims_do_not_have_is_refused():
    with pytest.raises(
        UsageError, match="the form loud has an argument 'volume'; possible: who, value"
    ):

        @add_form("it <is|is not> loud")
        def loud(game, volume):
            return True
