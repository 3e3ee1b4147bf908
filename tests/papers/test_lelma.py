"""Every promise of the paper "Logic-Enhanced Language Model Agents", each with a call and a check
of what comes out.

The ids are the promises with the section of the paper they stand in. docs/papers/lelma.md tells the
same in words.
"""

import csv
import json
import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from plugins import lay_example
from recorded import recorded
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError
from bestresponse.formal.claims import Checker, Subject, parse
from bestresponse.formal.claims.checker import claim_solvers
from bestresponse.formal.claims.claim import FORMS, OF_TABLES, OF_TREES, PAPER_FORMS
from bestresponse.logic import EmbeddedEngine, Proof, Verdict
from bestresponse.logic.engine import open_engine
from bestresponse.models.base import Request
from bestresponse.models.registry import providers
from bestresponse.report.document import Paragraph, Table
from bestresponse.studies.improve.export import ExportConfig, export
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.measure import _average_attempts
from bestresponse.studies.verify.ratings import ERROR_KINDS, read_rated_sheets
from bestresponse.theory.catalogue import load

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "papers" / "lelma.md"
PEOPLE = ROOT / "src" / "bestresponse" / "analysis" / "people.toml"
GAMES = ("prisoners-dilemma-lelma", "hawk-dove-lelma", "stag-hunt-lelma")
PD = GAMES[0]
PROMISES = []
PRINTED = """
initial(s0).
initially(player(p1), s0).
initially(player(p2), s0).
initially(role(p1, row), s0).
initially(role(p2, col), s0).
initially(control(p1), s0).
initially(control(p2), s0).
possible(choice(P, 'D'), S) :- holds(player(P), S).
possible(choice(P, 'C'), S) :- holds(player(P), S).
legal(choice(P, M), S) :- possible(choice(P, M), S), holds(control(P), S).
effect(did(P, M), choice(P, M), S).
abnormal(control(P), choice(P, M), S).
final(S) :- ground(S), S = do(choice(_, _), do(choice(_, _), I)), initial(I).
payoff('D', 'D', 1, 1).
payoff('C', 'D', 0, 5).
payoff('D', 'C', 5, 0).
payoff('C', 'C', 3, 3).
finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    final(S), holds(role(P1, row), S), holds(did(P1, M1), S), holds(role(P2, col), S), holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P1, U1), S) :- finally(outcome(P1, _, U1, _, _, _), S).
finally(goal(P2, U2), S) :- finally(outcome(_, _, _, P2, _, U2), S).
"""


def promise(sentence):
    """Put a check under the sentence that it holds the program to."""

    def add(check):
        PROMISES.append(pytest.param(check, id=sentence))
        return check

    return add


def learner(prompt):
    """Wrong about both R at first; right once it is told."""
    told = re.search(r"the other player chooses R, you get (\d)\.$", prompt, re.MULTILINE)
    return f"If both pick R, I get {told[1] if told else 7}.\nANSWER: {'R' if told else 'B'}"


def stubborn(prompt):
    """Never learns."""
    return "If both pick R, I get 9.\nANSWER: B"


def rater(prompt):
    """Marks every first reasoning as wrong, and the last one of who learns as right."""
    assert "WHAT IS NO ERROR" in prompt
    last = "incorrect" if "I get 9" in prompt else "correct"
    return f'ANSWER: {{"first": "incorrect", "last": "{last}", "errors": "pa"}}'


@dataclass
class Made:
    """A run of two models on three games, rated by three people and a model, and what a model was
    asked."""

    run: Any
    folder: Path
    asked: list[str] = field(default_factory=list)

    @cached_property
    def reproduced(self):
        return br.reproduce("lelma", recorded("lelma"))

    def frame(self, name, **where):
        return list(self.run.frame(name).select(**where))

    def ask(self, *replies, game=PD, **settings):
        """Let a model with these replies, the last one for ever, reason; return the run and what it
        was asked."""
        asked = []

        def model(prompt):
            asked.append(prompt)
            return replies[min(len(asked), len(replies)) - 1]

        folder = self.folder / f"asked {len(list(self.folder.iterdir()))}"
        settings = {"translator": "rules"} | settings
        run = br.verify_model(model, game, repeats=1, output_dir=folder, cache="off", **settings)
        return run, asked

    def show(self, title):
        (section,) = [section for section in self.run.report().sections if section.title == title]
        return section


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lelma")
    run = br.verify_model(
        [learner, stubborn], GAMES, repeats=2, translator="rules", output_dir=folder
    )
    run.publish()
    head = "sample,first_correct,last_correct,error_kinds"
    for number in (1, 2, 3):
        lines = [head]
        for index, row in enumerate(run.rows()):
            # The third rater overlooks the error of the first sample; all agree that the learner
            # ends up right.
            first = int(number == 3 and index == 0)
            last = int(row["model"] == "learner")
            lines.append(f"{row['run']},{first},{last},{'' if first else 'pa'}")
        (run.path / f"sheet-rater-{number}.csv").write_text("\n".join(lines))
    br.reasoning.judge(run, rater)
    return Made(br.load_run(run.path), folder)


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def decide(query, game=PD, engine=None):
    checker = Checker(Subject(load(game)), engine or EmbeddedEngine())
    return [checker.check(claim).verdict for claim in parse(query)]


@promise("Framework Overview: the Reasoner is any model")
def _(made):
    assert made.run.config.model == ("learner", "stubborn")
    assert len(made.frame("runs")) == 12


@promise(
    "Framework Overview: the Translator is another instance of a model, in a fresh conversation"
)
def _(made):
    asked = []

    def translator(prompt):
        asked.append(prompt)
        return (
            '{"claims": [{"form": "higher", "first": 5, "second": 7, "quote": "5 is more than 7"}]}'
        )

    review = br.verify(PD, "5 is more than 7.", translator=translator, output_dir=made.folder)
    assert review.state.value == "refuted"
    offered = set(FORMS) - {
        "no_claim",
        "will_play",
        "continuation_payoff",
        "moves_next",
        "average_payoff",
        "knows",
    }
    offered -= {form for form in OF_TREES if form not in OF_TABLES}
    assert [form for form in offered if f"- {form}" not in asked[0]] == []


@promise("Solver: a normal logic program decides the queries")
def _(made):
    outcome = "do(choice(you, 'betray'), do(choice(them, 'confess'), s0))"
    engine = open_engine("auto", confined=False)
    try:
        assert decide(f"finally(goal(you, 5), {outcome})", engine=engine) == [Verdict.PROVED]
        assert decide(f"finally(goal(you, 3), {outcome})", engine=engine) == [Verdict.REFUTED]
    finally:
        engine.close()


@promise(
    "Algorithm 1, line 5: without queries the reasoning is returned, and here counts as unchecked"
)
def _(made):
    run, asked = made.ask("I follow my heart.\nANSWER: B")
    assert (len(asked), run.rows()[0]["last_state"]) == (1, "unchecked")


@promise(
    "Algorithm 1, lines 9 to 17: all true ends it, failures are fed back, at most max_attempts"
    " times"
)
def _(made):
    wrong, right = "If both pick R, I get 7.\nANSWER: B", "If both pick R, I get 1.\nANSWER: R"
    assert [len(made.ask(*replies)[1]) for replies in ((right,), (wrong, right), (wrong,))] == [
        1,
        2,
        5,
    ]
    assert len(made.ask(wrong, attempts=3)[1]) == 3


@promise("Listing 1: failed queries come back as sentences with the right values")
def _(made):
    _, asked = made.ask("If both pick R, I get 7.\nANSWER: B", attempts=2)
    truth = "In fact, if you choose R and the other player chooses R, you get 1."
    assert truth in asked[1]
    assert truth not in asked[0]


@promise("Solver: the printed program of the dilemma says which situations give p1 a payoff of 5")
def _(made):
    path = made.folder / "printed.pl"
    path.write_text(PRINTED)
    done = command("check", path, "--json")
    assert done.exit_code == 0, done.output
    game = br.find_game(str(path)).solvable()
    # p1 betrays (D) and p2 confesses (C).
    outcomes = [
        (first, second)
        for i, first in enumerate(game.actions[0])
        for j, second in enumerate(game.actions[1])
        if game.payoffs[0, i, j] == 5
    ]
    assert outcomes == [("D", "C")]


TABLE_3 = {
    "finally(outcome(you, 'confess', 0, them, 'betray', _), s0)": True,
    "finally(outcome(you, 'confess', 1, them, 'betray', _), s0)": False,
    "higher(1, 3)": False,
    "highest_possible_individual_payoff(5)": True,
    "highest_individual_payoff_for_choice(3, 'confess')": True,
    "highest_guaranteed_payoff_choice('betray')": True,
    "higher_guaranteed_payoff('confess', 'betray')": False,
    "highest_mutual_payoff('confess', 'confess')": True,
}


@promise("Table 3: every query with its meaning")
def _(made):
    expected = {
        query: [Verdict.PROVED if holds else Verdict.REFUTED] for query, holds in TABLE_3.items()
    }
    assert {query: decide(query) for query in TABLE_3} == expected


@promise("Table 3: for every higher and highest there is a lower and lowest")
def _(made):
    queries = {
        "lower(1, 3)": True,
        "lowest_possible_individual_payoff(0)": True,
        "lowest_individual_payoff_for_choice(1, 'betray')": True,
        "lower_guaranteed_payoff('confess', 'betray')": True,
        "lowest_mutual_payoff('betray', 'betray')": True,
    }
    expected = {
        query: [Verdict.PROVED if holds else Verdict.REFUTED] for query, holds in queries.items()
    }
    assert {query: decide(query) for query in queries} == expected


@promise("Settings: rules and payoffs are told in sentences, without the name of the game")
def _(made):
    _, (prompt,) = made.ask("ANSWER: B")
    assert "If you choose R and Player 2 chooses B, you get 5, Player 2 gets 0." in prompt
    assert not re.search("dilemma|prisoner|betray|confess", prompt, re.IGNORECASE)


@promise(
    "Settings: the prompt asks to reason as a human player, and says nothing of aims or of rational"
    " others"
)
def _(made):
    config = VerifyConfig("m", PD)
    _, (human,) = made.ask("ANSWER: B")
    assert "as a person would" in config.system
    assert not re.search(
        "rational|your aim|as large as possible", config.system + human, re.IGNORECASE
    )
    _, (rational,) = made.ask("ANSWER: B", framing="rational")
    assert "The others are perfectly rational" in rational


@promise("Algorithm 1: the instruction prompt is an input")
def _(made):
    path = made.folder / "instruction.txt"
    path.write_text("Reason like a chess player.")
    config = VerifyConfig("m", PD, instruction=path)
    assert config.system == "Reason like a chess player."
    assert VerifyConfig.from_json(json.loads(json.dumps(config.to_json()))) == config
    # With a place for the game it is the whole prompt: one message, to which nothing is added, and
    # the answer in curly brackets is read.
    path.write_text("You take part in an experiment.\n\n$game\n\nPut your choice in {braces}.")
    sent = []

    def reason(request: Request) -> str:
        sent.append(request.messages)
        return f"If both pick R, I get {7 if len(sent) == 1 else 1}. My choice will be B. {{B}}"

    run = br.verify_model(
        br.models.from_function("m", reason),
        PD,
        repeats=1,
        translator="rules",
        instruction=path,
        output_dir=made.folder / "template",
    )
    (first,), (second,) = sent
    assert first.role == "user"
    assert first.content.startswith("You take part in an experiment.\n\nYou are Player 1")
    assert first.content.endswith("Put your choice in {braces}.")
    assert "ANSWER" not in first.content
    assert "If you choose R and Player 2 chooses B, you get 5" in first.content
    assert "In fact, if you choose R and the other player chooses R, you get 1." in second.content
    (row,) = run.rows()
    assert (row["attempts"], row["first_choice"], row["last_choice"]) == (2, "B", "B")
    assert run.frame("attempt_costs").rows[0]["calls"] == 2
    path.write_text("")
    for name, problem in (
        ("nowhere.txt", "cannot be read: No such file"),
        ("instruction.txt", "is empty"),
    ):
        with pytest.raises(UsageError, match=f"{name} {problem}"):
            VerifyConfig("m", PD, instruction=made.folder / name)


@promise(
    "Settings: actions are called R and B, their order is inverted, and the report says what they"
    " stand for"
)
def _(made):
    assert made.run.config.scene.choices == ("R", "B")
    letters = {(row["game"], row["letter"]): row["move"] for row in made.frame("letters")}
    assert letters[PD, "B"] == "confess"
    said = [
        block.text
        for block in made.show("First and last attempt").blocks
        if isinstance(block, Paragraph)
    ]
    assert f"{PD}: B is confess, R is betray." in said[0]
    assert "in the reverse of the game's order: R, B." in said[0]
    run, _ = made.ask("ANSWER: B")
    assert "chose B (confess)" in [metric.title for metric in run.metrics.columns]


@promise("Table 1: the payoffs of the three games")
def _(made):
    def read(name):
        game = load(name)
        return {
            (first, second): tuple(game.payoffs[:, i, j].tolist())
            for i, first in enumerate(game.actions[0])
            for j, second in enumerate(game.actions[1])
        }

    dilemma, doves, stags = map(read, GAMES)
    assert dilemma == {
        ("betray", "betray"): (1, 1),
        ("betray", "confess"): (5, 0),
        ("confess", "betray"): (0, 5),
        ("confess", "confess"): (3, 3),
    }
    assert stags == {
        ("hare", "hare"): (1, 1),
        ("hare", "stag"): (3, 0),
        ("stag", "hare"): (0, 3),
        ("stag", "stag"): (5, 5),
    }
    assert doves == {
        ("hawk", "hawk"): (0, 0),
        ("hawk", "dove"): (5, 1),
        ("dove", "hawk"): (1, 5),
        ("dove", "dove"): (3, 3),
    }


@promise("Table 4: temperature 1, 1,024 tokens, 5 attempts, 30 repetitions")
def _(made):
    config = VerifyConfig("m", PD)
    assert (config.temperature, config.max_tokens, config.attempts, config.repeats) == (
        1.0,
        1024,
        5,
        30,
    )


@promise("Table 4: GPT-4 Omni and Gemini can be asked")
def _(made):
    words = ["verify", PD, "--model", "openai/gpt-4o", "--model", "google/gemini-2.5-pro"]
    estimate = json.loads(command(*words, "--repeats", 2, "--dry-run", "--json").stdout)
    # Two runs of at most five attempts, each reasoned and translated, by both.
    assert estimate["calls"] == 2 * 2 * 5 * 2
    assert {"openai", "google"} <= set(providers.names())


@promise("Table 5: how many samples took how many attempts, by model")
def _(made):
    table = made.show("Attempts").blocks[0]
    assert isinstance(table, Table)
    # The learner needs two attempts in each of its six runs.
    assert [row["runs"] for row in made.frame("attempts", model="learner", game="all games")] == [
        0,
        6,
        0,
        0,
        0,
    ]
    assert [row["runs"] for row in made.frame("attempts", model="stubborn", game="all games")] == [
        0,
        0,
        0,
        0,
        6,
    ]


@promise("Table 6: how often B is chosen in the first and the last reasoning, by game")
def _(made):
    (row,) = made.frame("choices", model="learner", game=PD, choice="B (confess)")
    assert (row["first"].estimate, row["last"].estimate) == (1.0, 0.0)


@promise("Table 7: correct first and last reasonings, by the checker")
def _(made):
    (row,) = made.frame("correctness", model="learner", game=PD)
    assert (row["first_by_checker"].estimate, row["last_by_checker"].estimate) == (0.0, 1.0)


@promise("Table 7: correct first and last reasonings, by people")
def _(made):
    (learns,) = made.frame("correctness", model="learner", game="all games")
    (never,) = made.frame("correctness", model="stubborn", game="all games")
    assert (learns["first_by_people"].estimate, learns["last_by_people"].estimate) == (0.0, 1.0)
    assert (never["last_by_people"].estimate, never["last_by_people"].n) == (0.0, 6)


@promise("Experiments: three games and two models in one experiment, with totals")
def _(made):
    heads = [heads for heads, _ in made.run.metrics.groups]
    assert len(heads) == 2 * 4 * 2
    assert ("stubborn", "all games", "last") in heads
    totals = made.frame("judgements", game="all games", model="learner")
    assert [(row["people"], row["unrefuted"], row["refuted"]) for row in totals] == [
        ("correct", 0, 0),
        ("incorrect", 0, 6),
    ]
    # Beside who betrays for sure, the learner first confesses (0) and then betrays (1).
    figures = dict(made.run.metrics.groups)
    earned = [figures["learner", PD, when]["payoff"].estimate for when in ("first", "last")]
    assert earned == [0.0, 1.0]


@promise("Computational cost: tokens and seconds of an attempt")
def _(made):
    (row,) = made.frame("attempt_costs", model="stubborn", game=PD)
    assert row["calls"] == 10
    assert row["prompt_tokens"] > row["reply_tokens"] > 0
    specs = {sample["run"] for sample in made.run.rows() if sample["game"] == PD}
    usage = [
        call["reply"]["usage"]
        for call in made.run.folder.calls()
        if call["model"] == "stubborn" and call["spec"] in specs
    ]
    assert len(usage) == 10
    assert row["prompt_tokens"] == pytest.approx(sum(one["prompt"] for one in usage) / 10)
    taken = [
        call["reply"]["latency"]
        for call in made.run.folder.calls()
        if call["model"] == "stubborn" and call["spec"] in specs
    ]
    assert row["seconds"] == pytest.approx(sum(taken) / 10)
    # Functions take no time that is measured: three attempts of one, three and eight seconds.
    calls = [
        {
            "spec": "run",
            "request": {"messages": [["system", "Reason."]]},
            "reply": {"latency": seconds, "usage": {"prompt": 10, "completion": 2}},
        }
        for seconds in (1.0, 3.0, 8.0)
    ]
    folder = SimpleNamespace(calls=lambda: calls)
    config = SimpleNamespace(system="Reason.")
    (cost,) = _average_attempts([("m", PD, [{"run": "run"}])], config, folder)
    assert (cost["seconds"], cost["prompt_tokens"], cost["calls"]) == (4.0, 10.0, 3)
    assert row["reply_tokens"] == pytest.approx(sum(one["completion"] for one in usage) / 10)


@promise("Evaluation: a sheet for each of three evaluators")
def _(made):
    run, _ = made.ask("ANSWER: B")
    run.publish()
    sheets = sorted(run.path.glob("sheet-rater-*.csv"))
    assert len(sheets) == 3
    (row,) = csv.DictReader(sheets[0].read_text("utf-8-sig").splitlines())
    assert (row["game"], row["first_correct"], row["last_correct"]) == (PD, "", "")


@promise("Evaluation: a protocol for evaluators, with the payoffs")
def _(made):
    protocol = (made.run.path / "protocol.txt").read_text()
    for game in GAMES:
        assert game in protocol
    assert "If you choose B and Player 2 chooses R, you get 1, Player 2 gets 5." in protocol
    assert [
        kind for kind in ERROR_KINDS if not re.search(rf"^{kind} ", protocol, re.MULTILINE)
    ] == []
    assert "dominant, equilibrium or Pareto" in protocol


@promise("Evaluation: a sample is correct only if all evaluators agree that it is")
def _(made):
    # One of three calls the first reasoning of the first sample correct.
    (row,) = made.frame("correctness", model="learner", game=PD)
    assert (row["first_by_people"].estimate, row["first_by_people"].n) == (0.0, 2)


@promise("Tables 8 and 9: confusion matrices by game and in total, and accuracy")
def _(made):
    (accuracy,) = made.frame("agreement", model="learner", game=PD, metric="accuracy")
    assert (accuracy["value"].estimate, accuracy["value"].n) == (1.0, 2)
    assert len(made.frame("judgements")) == 2 * 4 * 2
    # Ten samples of one game: the first reasoning of four is true and of six is false. People call
    # three of the true ones and one of the false ones correct.
    replies = {"true": "If both pick R, I get 1.", "false": "If both pick R, I get 7."}
    models = [
        br.models.from_function(name, lambda prompt, said=said: f"{said}\nANSWER: R")
        for name, said in replies.items()
    ]
    run = br.verify_model(
        models,
        PD,
        repeats=6,
        attempts=1,
        translator="rules",
        cache="off",
        output_dir=made.folder / "cells",
    )
    run.publish()
    rows = {name: [row for row in run.rows() if row["model"] == name] for name in replies}
    chosen = [*rows["true"][:4], *rows["false"]]
    correct = {row["run"] for row in (*rows["true"][:3], rows["false"][0])}
    lines = ["sample,first_correct,last_correct"]
    lines += [
        f"{row['run']},{int(row['run'] in correct)},{int(row['run'] in correct)}" for row in chosen
    ]
    (run.path / "sheet-rater-1.csv").write_text("\n".join(lines))
    rated = br.load_run(run.path)
    cells = {
        (row["model"], row["people"]): (row["unrefuted"], row["refuted"])
        for row in rated.frame("judgements").select(game=PD)
    }
    assert cells == {
        ("true", "correct"): (3, 0),
        ("true", "incorrect"): (1, 0),
        ("false", "correct"): (0, 1),
        ("false", "incorrect"): (0, 5),
    }
    found = {
        row["model"]: row["value"].estimate
        for row in rated.frame("agreement").select(game=PD, metric="accuracy")
    }
    assert found == {"true": 3 / 4, "false": pytest.approx(5 / 6)}


@promise("Inter-rater agreement: Fleiss' kappa of three evaluators")
def _(made):
    (row,) = made.frame(
        "agreement", model="learner", game="all games", metric="Fleiss' kappa of the raters"
    )
    # Of 18 marks 1 says correct. Observed: (5 + 1/3) / 6 = 8/9; by chance (1 + 289) / 324; kappa
    # (288 - 290) / 34.
    assert row["value"] == pytest.approx((8 / 9 - 290 / 324) / (1 - 290 / 324))


@promise("Evaluation protocol: kinds of error are counted")
def _(made):
    (row,) = made.frame(
        "agreement", model="learner", game="all games", metric=f"errors: {ERROR_KINDS['pa']}"
    )
    # Three raters of six samples, of whom one left one out.
    assert row["value"] == 17
    # A sample that is correct twice and still has an error is no mark that could be meant.
    folder = made.folder / "marked"
    folder.mkdir()
    first, second, *_ = (sample["run"] for sample in made.run.rows())
    marks = f"sample,first_correct,last_correct,error_kinds\n{first},1,1,pa\n{second},0,1,pa\n"
    (folder / "sheet-rater-1.csv").write_text(marks)
    sheets = read_rated_sheets(folder, made.run.rows())
    assert [list(sheet) for sheet in sheets.people] == [[second]]
    assert [(row["used"], row["contradictory"]) for row in sheets.marks] == [(1, 1)]


@promise("Correctness criteria: only errors about payoffs count; misuse of theory does not")
def _(made):
    text = "Both betraying is not a Nash equilibrium. If both betray, I get 1."
    assert br.verify(PD, text).state.value == "refuted"
    assert (
        br.verify(PD, text, forms="paper").summary
        == "nothing refuted; 1 claim read, 0 of 2 sentences unread, 1 set aside"
    )
    assert br.verify(PD, "If both betray, I get 3.", forms="paper").state.value == "refuted"
    assert {"payoff", "higher", "lowest_mutual_payoff"} < set(PAPER_FORMS) < set(FORMS)


@promise("LELMA Evaluation: a model with the protocol in an evaluator's place, beside people")
def _(made):
    assert (made.run.path / "sheet-model-rater.csv").exists()
    (row,) = made.frame(
        "agreement", model="stubborn", game=PD, metric="accuracy of rater in a rater's place"
    )
    assert row["value"].estimate == 1.0
    # The rater calls every first reasoning wrong, and so do people.
    for share in made.frame("agreement", metric="share that rater calls correct"):
        assert share["value"].estimate == 0.0
    names = {row["metric"] for row in made.frame("agreement")}
    assert {"kappa of people and rater", "kappa of people and checker"} <= names


@promise("Future work: fine-tune the translator")
def _(made):
    folder = made.folder / "claims"
    export(ExportConfig(folder, games="claims", count=8, workers=1))
    rows = [
        json.loads(line)
        for path in folder.glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert len(rows) == 8
    assert {json.loads(row["task"])["kind"] for row in rows} == {"claims"}
    for row in rows:
        assert br.rewards.score_reply(row["task"], row["messages"][-1]["content"]) == 1.0


@promise("LELMA Applications: other queries and another solver, for other domains")
def _(made):
    package = made.folder / "package"
    package.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(lay_example(ROOT / "examples" / "plugins" / "claims", package))
        fair = "fair_outcome(do(choice(you, 'betray'), do(choice(them, 'betray'), s0)))"
        assert decide(fair) == [Verdict.PROVED]
        text = "If both betray, I get 3."
        assert br.verify(PD, text, solver="closed-world").state.value == "refuted"
        # What the package says counts, and not what we would.
        true = "If both betray, I get 1."
        assert br.verify(PD, true, solver="closed-world").state.value == "unrefuted"
        closed = claim_solvers.load("closed-world")
        patch.setattr(closed, "decide", lambda self, grounded: Proof(Verdict.REFUTED))
        assert br.verify(PD, true, solver="closed-world").state.value == "refuted"


@promise("LELMA Accuracy: expected payoffs, which the paper's predicates lacked")
def _(made):
    mixed = "[mix(them, ['confess'-0.5, 'betray'-0.5])]"
    # Half of 5 and half of 1.
    assert decide(f"expected_payoff(you, 3, 'betray', {mixed})") == [Verdict.PROVED]
    assert decide(f"expected_payoff(you, 2.5, 'betray', {mixed})") == [Verdict.REFUTED]


@promise("Introduction: verified agents in simulations")
def _(made):
    answers = iter(
        ["If we both confess, I get 9.\nANSWER: confess"]
        + ["If we both confess, I get 3.\nANSWER: betray"] * 9
    )
    model = br.models.from_function("agent", lambda prompt: next(answers))
    record = br.play(PD, {"row": _verify(model)})
    assert record.submissions[0].decision.action == "betray"


def _verify(model):
    from bestresponse.formal.claims import Reviewer, RulesTranslator
    from bestresponse.players.llm.player import LlmPlayer
    from bestresponse.players.llm.verified import Verified

    return Verified(LlmPlayer(model), Reviewer(RulesTranslator(), EmbeddedEngine))


@promise("LELMA Accuracy: cooperation beside that of people (Dal Bo 2005)")
def _(made):
    said = [
        block.text
        for block in made.show("First and last attempt").blocks
        if isinstance(block, Paragraph)
    ]
    (people,) = [text for text in said if "People, where defecting gains" in text]
    assert people.startswith(f"{PD}: ")
    assert "Dal Bo, American Economic Review 95, 2005" in people
    # In the paper's dilemma defecting gains (5 - 3) / (3 - 1) and saves (1 - 0) / (3 - 1).
    treatments = tomllib.loads(PEOPLE.read_text("utf-8"))["treatments"]
    near = min(treatments, key=lambda one: abs(one["gain"] - 1) + abs(one["loss"] - 0.5))
    assert f"defecting gains {near['gain']:.2f} and saves {near['loss']:.2f} times" in people
    assert f"{near['first']:.2f} ({near['study']} {near['treatment']}, " in people


@promise("LELMA Applications: an autoformalized game is the solver")
def _(made):
    path = made.folder / "formalized.pl"
    path.write_text(PRINTED)
    text = made.folder / "reasoning.txt"
    text.write_text("If I choose D and they choose C, I get 5. If we both choose D, I get 3.")
    done = command("verify", path, "--text", text, "--json")
    verdicts = [claim["verdict"] for claim in json.loads(done.output)["claims"]]
    assert (verdicts, done.exit_code) == (["proved", "refuted"], 1)


@promise("Results: the published tables come out of the recorded runs")
def _(made):
    # By the first query 1 is more than 3, which fails. Raters of the third sample disagree.
    ends = ((1, "B", "B"), (2, "R", "B"), (1, "B", "B"), (5, "R", "R"))
    marks = (((1, 1),) * 3, ((0, 1),) * 3, ((0, 0), (0, 0), (1, 1)), ((1, 0),) * 3)
    samples = []
    for number, ((attempts, first, last), rated) in enumerate(zip(ends, marks, strict=True)):
        tried = [{"queries": ["higher(1, 3)."], "failed": ["higher(1, 3)."]}] * attempts
        if attempts < 5:
            tried[-1] = {"queries": ["higher(3, 1)."], "failed": []}
        raters = [{"orig_cor": bool(one), "fin_cor": bool(two)} for one, two in rated]
        samples.append(
            {
                "id": str(number),
                "game": "pd",
                "attempts": tried,
                "orig_choice": first,
                "final_choice": last,
                "raters": raters,
            }
        )
    folder = made.folder / "samples"
    folder.mkdir()
    (folder / "samples.jsonl").write_text("\n".join(map(json.dumps, samples)))
    cells = {check.what: check.found for check in br.reproduce("lelma", folder).checks}
    assert [cells[f"samples with {number} attempts"] for number in range(1, 6)] == [2, 1, 0, 0, 1]
    assert cells["failed queries of all attempts"] == 9
    game = "Prisoner's Dilemma"
    assert [cells[f"{game}: choice B {when}, %"] for when in ("first", "last")] == [50, 75]
    assert [cells[f"{game}: correct {when}, %"] for when in ("first", "last")] == [50, 50]
    confusion = ("passed", "false alarm", "missed", "caught")
    assert [cells[f"{game}: {cell}"] for cell in confusion] == [1, 1, 1, 1]
    assert cells["incorrect after five attempts, %"] == 100
    # Observed: (1 + 1 + 1/3 + 1) / 4; by chance (7 * 7 + 5 * 5) / 144.
    assert cells["Fleiss' kappa of the raters"] == round((10 / 12 - 74 / 144) / (70 / 144), 2)


@promise(
    "Evaluation protocol: its own examples of errors are found or told as unread, never approved"
)
def _(made):
    examples = (
        "Betraying while they betray will result in a payoff of $5 for me.",
        "To confess is safer because it makes my smallest gain as large as possible.",
        "If I confess and they betray I get $0, which is better than $1.",
    )
    states = [br.verify(PD, example).state.value for example in examples]
    assert states[2] == "refuted"
    assert set(states) <= {"refuted", "unchecked"}


@pytest.mark.parametrize("check", PROMISES)
def test_the_paper_is_kept(check, made):
    check(made)


def test_every_promise_stands_here_once():
    assert len({param.id for param in PROMISES}) == len(PROMISES) == 38


def test_every_command_of_the_page_can_be_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reasoning.txt").write_text("If both betray, I get 1.")
    page = PAGE.read_text("utf-8")
    commands = re.findall(r"^bestresponse (verify .*?)(?:\s{2,}.*)?$", page, re.MULTILINE)
    assert len(commands) >= 5
    for words in commands:
        typed = words.replace("MODEL", "openai/gpt-4o").split()
        if "--judge" in typed or "--text" in typed:
            continue
        done = command(*typed, "--dry-run")
        assert done.exit_code == 0, (words, done.output)


@pytest.fixture
def reproduced(made):
    return made.reproduced


def cell(found, what):
    (check,) = [check for check in found.checks if check.what == what]
    return check.found


def test_the_failed_queries_of_every_attempt_are_found(reproduced):
    assert cell(reproduced, "failed queries of all attempts") == 186


def test_attempts_choices_correctness_and_agreement_come_out(reproduced):
    assert [cell(reproduced, f"samples with {n} attempts") for n in range(1, 6)] == [
        24,
        46,
        10,
        6,
        4,
    ]
    assert cell(reproduced, "Prisoner's Dilemma: choice B last, %") == 23.33
    assert cell(reproduced, "Stag Hunt: correct last, %") == 90.0
    assert cell(reproduced, "Fleiss' kappa of the raters") == 0.31
    cells = ("passed", "false alarm", "missed", "caught")
    assert [cell(reproduced, f"all games: {name}") for name in cells] == [15, 5, 9, 61]


def test_only_the_papers_own_contradiction_differs(reproduced):
    assert [check.what for check in reproduced.differing] == [
        "Hawk-Dove: false alarm",
        "Hawk-Dove: missed",
    ]
    assert all("transposed" in check.remark for check in reproduced.differing)


def test_the_rules_agree_with_the_recorded_translator_where_both_speak(reproduced):
    measured = reproduced.detail["rules_translator"]
    assert (
        measured["same_as_recorded"] + measured["not_recorded_but_true"]
        >= 0.98 * measured["claims"]
    )
    assert measured["same_as_recorded"] > 700
    assert measured["refused_to_read"] > measured["sentences_with_amounts_or_solutions"] / 2
