"""A sentence is read as a whole or not at all."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from deciding import prove
from drawn_claims import TABLE_FORMS, VALUES, table_claims
from hypothesis import given, settings, strategies as st
from sentences import read_by, read_examples, score

from bestresponse.formal.claims import Claim, Reviewer, RulesTranslator, State, Subject, say
from bestresponse.formal.claims.checker import TheoryCheck
from bestresponse.formal.claims.english import meaning
from bestresponse.formal.claims.feedback import deny
from bestresponse.formal.claims.translation import Reading
from bestresponse.logic import Verdict
from bestresponse.studies.verify.reproduction import turn_claim
from bestresponse.theory.catalogue import tables
from bestresponse.theory.catalogue.trees import load_tree
from bestresponse.theory.games.normal_form import NormalForm

HERE = Path(__file__).parent
DILEMMA = tables.load("prisoners-dilemma")
HUNT = tables.load("stag-hunt")
SILENCE = NormalForm.bimatrix(
    [[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(("Stay Silent", "Confess"),) * 2
)
CORNER = NormalForm.bimatrix(
    [[2, 0], [0, 1]], [[1, 0], [0, 2]], actions=(("Up", "Down"), ("Left", "Right"))
)
GRID = NormalForm.bimatrix(
    [[4, 1, 2], [3, 2, 0], [1, 0, 1]],
    [[3, 1, 2], [1, 4, 0], [0, 2, 5]],
    actions=(("top", "mid", "bottom"), ("left", "centre", "right")),
)
NAMES = (
    (("R", "B"), ("R", "B")),
    (("Up", "Down"), ("Left", "Right")),
    (("Cooperate", "Defect"), ("Cooperate", "Defect")),
    (("A", "B", "C"), ("P", "Q", "R")),
    (("Low", "Medium", "High"), ("Low", "Medium", "High")),
)


def read(game: NormalForm, text: str, seat: int = 0) -> list[str]:
    return [str(claim) for claim in RulesTranslator().translate(text, Subject(game, seat)).claims]


def verdicts(game: NormalForm, text: str) -> list[str]:
    return [
        checked.verdict.value
        for checked in Reviewer(RulesTranslator()).review(text, Subject(game)).checked
    ]


def pays(who: str, value: str, mine: str, theirs: str) -> str:
    return f"finally(goal({who}, {value}), {at(mine, theirs)})."


def at(mine: str, theirs: str) -> str:
    return f"do(choice(you, '{mine}'), do(choice(them, '{theirs}'), s0))"


BOTH = [pays("you", "5", "defect", "cooperate"), pays("them", "0", "defect", "cooperate")]
HALF = "[mix(them, ['cooperate'-0.5, 'defect'-0.5])]"
EVEN = "[mix(them, ['left'-1/3, 'centre'-1/3, 'right'-1/3])]"


@pytest.mark.parametrize(
    ("game", "text", "claims"),
    [
        (DILEMMA, "If I defect and they cooperate, I get 5 and they get 0.", BOTH),
        (DILEMMA, "If I defect while the other player cooperates, the payoffs are (5, 0).", BOTH),
        (DILEMMA, "(defect, cooperate) gives me 5 and the other player 0.", BOTH),
        (DILEMMA, "- (Defect, Cooperate): 5, 0", BOTH),
        (DILEMMA, "I defect, they cooperate: I'd get $5, they'd get $0.", BOTH),
        (DILEMMA, "Against a cooperator, defecting brings me 5.", BOTH[:1]),
        (DILEMMA, "If I expect them to cooperate, I get 5 by defecting.", BOTH[:1]),
        (
            DILEMMA,
            "Mutual cooperation gives 3 each.",
            [pays(who, "3", "cooperate", "cooperate") for who in ("you", "them")],
        ),
        (
            SILENCE,
            "If both stay Silent, each gets three dollars.",
            [pays(who, "3", "Stay Silent", "Stay Silent") for who in ("you", "them")],
        ),
        (
            DILEMMA,
            "If they cooperate, I get 3 by cooperating and 5 by defecting.",
            [pays("you", "3", "cooperate", "cooperate"), pays("you", "5", "defect", "cooperate")],
        ),
        (
            DILEMMA,
            "If they cooperate, defecting pays me 2 more than cooperating.",
            [
                f"payoff_difference(you, 2, {at('defect', 'cooperate')},"
                f" {at('cooperate', 'cooperate')})."
            ],
        ),
        (
            DILEMMA,
            "Mutual defection gives me 2 less than mutual cooperation.",
            [
                f"payoff_difference(you, 2, {at('cooperate', 'cooperate')},"
                f" {at('defect', 'defect')})."
            ],
        ),
        (
            DILEMMA,
            "I prefer mutual cooperation to mutual defection.",
            [f"better_outcome(you, {at('cooperate', 'cooperate')}, {at('defect', 'defect')})."],
        ),
        (
            DILEMMA,
            "If they cooperate half of the time, defecting gives me 3 on average.",
            [f"expected_payoff(you, 3, 'defect', {HALF})."],
        ),
        (
            GRID,
            "Against a uniformly random opponent, top has an expected payoff of 2.33.",
            [f"expected_payoff(you, 2.33, 'top', {EVEN})."],
        ),
        (
            DILEMMA,
            "If they cooperate with probability 0.5, defecting is better than cooperating.",
            [f"better_response_to_mix('defect', 'cooperate', {HALF})."],
        ),
        (
            DILEMMA,
            "Under a uniform belief, defecting maximizes my expected payoff.",
            [f"best_response_to_mix('defect', {HALF})."],
        ),
        (
            CORNER,
            "My best response to Left is Up.",
            ["best_response('Up', do(choice(them, 'Left'), s0))."],
        ),
        (CORNER, "The column player's best reply to Up is not Right.", []),
        (
            CORNER,
            "If I play Up, Left is the best response for the column player.",
            ["best_response('Left', do(choice(you, 'Up'), s0), them)."],
        ),
        (
            CORNER,
            "Against Right, Down is better for me than Up.",
            ["better_response('Down', 'Up', do(choice(them, 'Right'), s0))."],
        ),
        (
            DILEMMA,
            "Whatever they do, I am better off defecting.",
            ["strictly_dominates('defect', 'cooperate')."],
        ),
        (
            DILEMMA,
            "Cooperating is strictly dominated by defecting.",
            ["strictly_dominates('defect', 'cooperate')."],
        ),
        (
            DILEMMA,
            "Defect is a dominant strategy for both players.",
            ["weakly_dominant('defect').", "weakly_dominant('defect', them)."],
        ),
        (
            DILEMMA,
            "Defect is not dominated by cooperate.",
            ["not(strictly_dominates('cooperate', 'defect'))."],
        ),
        (
            DILEMMA,
            "Cooperate is not weakly dominant.",
            ["not(weakly_dominant('cooperate'))."],
        ),
        (
            DILEMMA,
            "Cooperate is not dominant.",
            ["not(strictly_dominant('cooperate'))."],
        ),
        (
            CORNER,
            "Neither player has a dominant strategy.",
            ["no_dominant_choice.", "no_dominant_choice(them)."],
        ),
        (CORNER, "(Up, Left) is a Nash equilibrium.", [f"equilibrium({at('Up', 'Left')})."]),
        (CORNER, "(Up, Right) isn't an equilibrium.", [f"not(equilibrium({at('Up', 'Right')}))."]),
        (
            CORNER,
            "There are two pure equilibria, (Up, Left) and (Down, Right).",
            [
                "pure_equilibria(2).",
                f"equilibrium({at('Up', 'Left')}).",
                f"equilibrium({at('Down', 'Right')}).",
            ],
        ),
        (
            DILEMMA,
            "The game has a unique equilibrium in which both defect.",
            ["equilibria(1).", f"equilibrium({at('defect', 'defect')})."],
        ),
        (
            HUNT,
            "In the mixed equilibrium each of us hunts stag with probability 3/4.",
            [
                "mixed_equilibrium([mix(you, ['stag'-0.75, 'hare'-0.25]), mix(them, ['stag'-0.75,"
                " 'hare'-0.25])])."
            ],
        ),
        (
            HUNT,
            "(stag, stag) Pareto-dominates (hare, hare).",
            [f"pareto_dominates({at('stag', 'stag')}, {at('hare', 'hare')})."],
        ),
        (
            HUNT,
            "(hare, hare) is not Pareto optimal.",
            [f"not(pareto_optimal({at('hare', 'hare')}))."],
        ),
        (HUNT, "Hare is my maximin strategy.", ["highest_guaranteed_payoff_choice('hare')."]),
        (
            HUNT,
            "The worst I can get with stag is 0.",
            ["lowest_individual_payoff_for_choice(0, 'stag')."],
        ),
        (HUNT, "Hare guarantees me at least 3.", ["guaranteed_payoff_for_choice(3, 'hare')."]),
        (HUNT, "Hare never gives me more than 3.", ["limited_payoff_for_choice(3, 'hare')."]),
        (
            HUNT,
            "The highest payoff I can get in this game is 4.",
            ["highest_possible_individual_payoff(4)."],
        ),
        (
            HUNT,
            "The sum of payoffs at (stag, stag) is 8.",
            [f"total_payoff(8, {at('stag', 'stag')})."],
        ),
        (HUNT, "5 is more than 3.", ["higher(5, 3)."]),
        (
            HUNT,
            "Stag is my best response to stag, since 4 > 3.",
            ["best_response('stag', do(choice(them, 'stag'), s0)).", "higher(4, 3)."],
        ),
        (
            HUNT,
            "(stag, stag) is an equilibrium, because we like venison.",
            [f"equilibrium({at('stag', 'stag')})."],
        ),
        (
            HUNT,
            "In the mixed equilibrium I choose stag with probability 3/4.",
            ["mixed_equilibrium_part([mix(you, ['stag'-0.75, 'hare'-0.25])])."],
        ),
        (GRID, "Once bottom is gone, (top, left) is an equilibrium.", []),
    ],
)
def test_what_a_sentence_claims(game: NormalForm, text: str, claims: list[str]) -> None:
    assert read(game, text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "If they cooperate, I am paid 2 more for defecting.",
        "Against a defector I lose 1 by cooperating.",
        "If both defect, each of us gets 2 less compared with mutual cooperation.",
        "I get 3 only if both cooperate.",
        "If I defect, I get 1 or 5.",
        "If both cooperate, we get 6.",
        "If both cooperate, we get 6 in total.",
        "If both cooperate, they get 3.",
        "If one of us defects, the other gets 0.",
        "If I defect and you cooperate, the first player gets 5 and the second 0.",
        "They may defect, in which case they get 5 and I get 0 if I cooperate.",
        "If we both cooperate twice, I get 6.",
        "If they believe that I cooperate, they get 5 by defecting.",
        "In this one-shot game, the best choice is to cooperate.",
        "Defecting is better.",
        "The maximum for defect is 5 and the minimum is 1.",
        "If I cooperate I get 3, 0 if they defect.",
        "If they defect, I get 0 instead of 3 under mutual cooperation.",
        "If they cooperate, I cannot get 3.",
        "Si los dos cooperan, gano 3.",
        "If they cooperate with probability above 3/4, I get 5 by defecting.",
        "I always get 1 by defecting.",
        "If they cooperate, defecting pays me twice as much as cooperating.",
        "After cooperating, I get 3.",
        r"$u(\text{defect}, \text{cooperate}) = 5$",
    ],
)
def test_a_word_that_is_not_accounted_for_leaves_the_sentence_unread(text: str) -> None:
    translation = RulesTranslator().translate(text, Subject(DILEMMA))
    assert translation.claims == ()
    assert all(passage.reading is not Reading.READ for passage in translation.passages or ())


@pytest.mark.parametrize(
    ("game", "text", "verdict"),
    [
        (
            "prisoners-dilemma",
            "If the opponent defects half of the time, I get 3 by defecting.",
            "proved",
        ),
        (
            "prisoners-dilemma",
            "If they cooperate 50% of the time, cooperating gives me 3.",
            "refuted",
        ),
        (
            "stag-hunt",
            "If my partner goes for stag 40% of the time, stag is my best response.",
            "refuted",
        ),
        (
            "stag-hunt",
            "If my partner goes for stag 80% of the time, stag is my best response.",
            "proved",
        ),
        (
            "prisoners-dilemma",
            "If the other player defects, defecting gives me 1 extra point.",
            "proved",
        ),
        (
            "prisoners-dilemma",
            "If the other player defects, defecting gives me 2 extra points.",
            "refuted",
        ),
        (
            "prisoners-dilemma",
            "Mutual defection gives both of us more than mutual cooperation does.",
            "refuted",
        ),
    ],
)
def test_frequencies_and_differences_are_decided_as_such(
    game: str, text: str, verdict: str
) -> None:
    assert set(verdicts(tables.load(game), text)) == {verdict}


@pytest.mark.parametrize(
    "opening",
    [
        "Once bottom is gone,",
        "With bottom removed,",
        "In the reduced game,",
        "After eliminating bottom,",
        "Row never plays bottom. Therefore,",
        "We can eliminate bottom.\n\nIt follows that",
        "In the game without bottom:",
    ],
)
def test_dominance_in_a_smaller_game_is_not_held_against_the_whole_game(opening: str) -> None:
    assert set(verdicts(GRID, f"{opening} left strictly dominates right.")) <= {"proved"}


@pytest.mark.parametrize(
    "text",
    [
        "Is stag dominant?",
        "Hare weakly dominates stag?",
        "Many people would claim that (stag, hare) is a Nash equilibrium.",
        "It is easy to believe that stag is dominant.",
        "At first sight stag is a dominant strategy.",
        "One could argue that hare strictly dominates stag.",
        "If stag were dominant, I would take it at once.",
        "I wonder if (stag, hare) is an equilibrium.",
    ],
)
def test_what_is_not_asserted_is_set_aside(text: str) -> None:
    translation = RulesTranslator().translate(text, Subject(HUNT))
    assert [passage.reading.value for passage in translation.passages or ()] == ["not asserted"]


def test_after_a_supposition_the_rest_of_the_paragraph_is_unread() -> None:
    text = (
        "Imagine the payoffs were doubled. If we both cooperate, I get 6.\n\nIf we both defect, I"
        " get 1."
    )
    assert read(DILEMMA, text) == [pays("you", "1", "defect", "defect")]


def test_headings_and_labels_say_under_which_choices_a_line_speaks() -> None:
    text = """**If they cooperate:**
- Cooperating gives me 3.
- Defecting gives me 5, so my best response is to defect.

1. If I defect:
   - If they defect: I get 1.
2. (cooperate, defect): I get 0. This is not an equilibrium.

Suppose they defect. Then cooperating gives me 0."""
    assert read(DILEMMA, text) == [
        pays("you", "3", "cooperate", "cooperate"),
        pays("you", "5", "defect", "cooperate"),
        "best_response('defect', do(choice(them, 'cooperate'), s0)).",
        pays("you", "1", "defect", "defect"),
        pays("you", "0", "cooperate", "defect"),
        f"not(equilibrium({at('cooperate', 'defect')})).",
    ]
    assert read(DILEMMA, "Then I get 5 by defecting. In that case I get 3.") == []
    assert read(DILEMMA, "With communication: I get 3 if both cooperate.") == []


def test_lines_of_wrapped_text_are_one_sentence() -> None:
    text = (
        "As everybody can see from the table, and as I said before, if\n"
        "we both defect I get 1. If I defect and they\ncooperate, I get 5."
    )
    passages = RulesTranslator().translate(text, Subject(DILEMMA)).passages or ()
    assert [passage.reading.value for passage in passages] == ["unread", "read"]
    assert text[passages[1].start : passages[1].end] == "If I defect and they\ncooperate, I get 5."


def test_you_are_the_other_player_where_i_speak_to_you() -> None:
    assert read(DILEMMA, "If I defect and you cooperate, I get 5 and you get 0.") == BOTH
    assert read(DILEMMA, "If you defect and they cooperate, you get 5.") == BOTH[:1]


def test_a_pair_that_does_not_say_whose_is_whose_is_not_read() -> None:
    assert read(CORNER, "(Up, Left) pays (2, 1).", seat=1) == []
    assert read(CORNER, "(Up, Right) pays (0, 0).", seat=1) == [
        pays("you", "0", "Right", "Up"),
        pays("them", "0", "Right", "Up"),
    ]
    assert read(CORNER, "If I play Left and row plays Up, I get 1.", seat=1) == [
        pays("you", "1", "Left", "Up")
    ]
    assert read(DILEMMA, "(defect, cooperate) is a Nash equilibrium.", seat=1) == []


@pytest.mark.parametrize(
    ("names", "text", "read_as"),
    [
        (("more", "less"), "If they choose more, I get 1 more by choosing more.", []),
        (("more", "less"), "More gives me 1 more than less if they choose more.", []),
        (("if", "best"), "If I choose if and they choose best, I get 7.", []),
        (("I", "you"), "If I choose I and they choose you, I get 7.", []),
        (("A", "a"), "A is a dominant strategy.", []),
        (("yes", "no"), "There is no equilibrium.", []),
        (("1", "2"), "(1, 2) is an equilibrium.", []),
        (("1", "2"), "If I choose 1 and they choose 2, I get 5.", [pays("you", "5", "1", "2")]),
        (
            ("yield", "dare"),
            "If I yield and they dare, I get 5.",
            [pays("you", "5", "yield", "dare")],
        ),
        (
            ("left", "right"),
            "I am left with 5 if I play left and they play right.",
            [pays("you", "5", "left", "right")],
        ),
    ],
)
def test_moves_that_are_english_words_are_read_rightly_or_not_at_all(
    names: tuple[str, str], text: str, read_as: list[str]
) -> None:
    game = NormalForm.bimatrix([[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(names, names))
    assert read(game, text) == read_as


def test_games_of_three_are_read_where_everybody_s_choice_is_said() -> None:
    game = tables.load("volunteers-dilemma")
    assert verdicts(game, "If all three volunteer, I earn 1.") == ["proved"]
    assert verdicts(game, "If all three volunteer, I earn 2.") == ["refuted"]
    assert verdicts(game, "If I volunteer and the others wait, I get 1.") == ["proved"]
    assert verdicts(game, "If I volunteer, I get 1.") == []
    assert verdicts(game, "They get 2 if I volunteer and they wait.") == []


def test_moves_that_you_and_i_make_are_read_one_after_the_other() -> None:
    text = (
        "If I pass, you will take. If I pass, you take. If I pass, you should take. If I take, I"
        " get 4."
    )
    assert [
        str(claim)
        for claim in RulesTranslator().translate(text, Subject(load_tree("centipede"))).claims
    ] == [
        "will_play(them, 'take', do(choice(you, 'pass'), s0)).",
        "finally(goal(you, 4), do(choice(you, 'take'), s0)).",
    ]


def test_what_is_beyond_the_limits_is_unread_and_counted() -> None:
    review = Reviewer(RulesTranslator()).review(
        "If we both defect, I get 1. " * 40_000, Subject(DILEMMA)
    )
    assert review.state is State.UNREFUTED
    spoken = [passage for passage in review.passages or () if passage.reading is not Reading.SILENT]
    assert sum(passage.reading is Reading.READ for passage in spoken) == 500
    assert "50,000 were looked at" in review.checked[-1].proof.why
    long = "If we both defect, " + "I get 1 and " * 60 + "I get 1."
    assert [
        passage.reading.value
        for passage in RulesTranslator().translate(long, Subject(DILEMMA)).passages or ()
    ] == ["unread"]


def test_every_kind_of_statement_in_the_grammar_has_a_meaning() -> None:
    grammar = files("bestresponse.formal.claims.english").joinpath("claims.lark").read_text("utf-8")
    rules = re.sub(r"//.*", "", grammar)
    kept = re.findall(r"^([a-z][a-z_]*):", rules, re.MULTILINE)
    aliased = re.findall(r"->\s*(\w+)", rules)
    known = set(meaning.STATEMENTS) | meaning._FLAGS | set(meaning._KINDS)
    inner = {
        name
        for name in kept
        if re.search(rf"^{name}:[^\n]*(?:\n +\|[^\n]*)*->", rules, re.MULTILINE)
    }
    assert (set(kept) - inner | set(aliased)) - known == set()


def test_what_is_read_in_everyday_sentences_is_what_they_say() -> None:
    found = score(RulesTranslator(), list(read_examples(HERE / "everyday.json")))
    assert found.precision == 1.0
    assert found.recall > 0.6


def test_sentences_that_the_grammar_was_not_written_for_are_read_rightly_or_not_at_all() -> None:
    found = score(RulesTranslator(), list(read_examples(HERE / "held_out.json")))
    assert found.precision == 1.0
    assert found.recall > 0.6


WRITERS = list(read_examples(HERE / "other_writers.json"))


@pytest.mark.parametrize("example", WRITERS, ids=lambda one: one.text[:30])
def test_what_is_read_in_whole_texts_is_what_their_writers_say(example) -> None:
    assert read_by(RulesTranslator(), example) <= example.claims | example.also


def test_a_sentence_with_an_amount_from_which_nothing_is_read_is_told() -> None:
    text = (
        "If we both defect, I get 1. Somehow 7 is in the air. I trust them. Is defect part of an"
        " equilibrium?"
    )
    translation = RulesTranslator().translate(text, Subject(DILEMMA))
    assert len(translation.claims) == 1
    assert translation.passages is not None
    assert [one.text for one in translation.passages if one.reading is Reading.UNREAD] == [
        "Somehow 7 is in the air"
    ]
    assert [one.reading.value for one in translation.passages] == [
        "read",
        "unread",
        "silent",
        "not asserted",
    ]


@pytest.mark.parametrize(
    ("text", "recorded_too"),
    [
        ("If I cooperate and they defect, I get 0.", True),
        ("If I cooperate and they defect, I get 4.", False),
        ("3 is less than 5.", True),
        ("Defect is dominant.", False),
    ],
)
def test_a_claim_is_found_among_the_recorded_ones_whichever_way_round_it_is_said(
    text: str, recorded_too: bool
) -> None:
    subject = Subject(DILEMMA)
    told = (
        "If we both cooperate, I get 3. If I cooperate and they defect, I get 0. 5 is more than 3."
    )
    recorded, (claim,) = (RulesTranslator().translate(one, subject).claims for one in (told, text))
    assert isinstance(claim, Claim)
    assert (
        turn_claim(claim) in {turn_claim(one) for one in recorded if isinstance(one, Claim)}
    ) is recorded_too


@pytest.mark.parametrize("form", TABLE_FORMS)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_a_true_claim_in_plain_words_is_not_refuted(form: str, data: st.DataObject) -> None:
    names = data.draw(st.sampled_from(NAMES))
    size = 2 * len(names[0]) * len(names[1])
    payoffs = data.draw(st.lists(st.sampled_from(VALUES), min_size=size, max_size=size))
    table = np.array(payoffs).reshape(2, len(names[0]), len(names[1]))
    subject = Subject(NormalForm(table, ("Ann", "Bob"), names), data.draw(st.integers(0, 1)))
    claim = data.draw(table_claims(subject, form))
    true = prove(TheoryCheck(subject), claim).verdict is Verdict.PROVED
    text = say(claim) if true else deny(claim)
    assert Reviewer(RulesTranslator()).review(text, subject).refuted == (), text


# Up: 2, 4, 1 and Down: 2, 3, 5 for the reasoner, so both moves are best replies to Left.
TIED = NormalForm.bimatrix(
    [[2, 4, 1], [2, 3, 5]],
    [[1, 1, 0], [4, 2, 4]],
    actions=(("Up", "Down"), ("Left", "Middle", "Right")),
)


@pytest.mark.parametrize("word", ["unique", "only"])
def test_that_a_best_reply_is_the_only_one_is_not_read_as_that_it_is_one(word):
    assert read(TIED, f"My {word} best response to Left is Up.") == []
    assert verdicts(TIED, "My best response to Left is Up.") == ["proved"]


def test_not_both_is_not_read_as_neither():
    # One of the two outcomes is an equilibrium, the other is none.
    text = "(stag, stag) and (stag, hare) are not both Nash equilibria."
    assert read(HUNT, text) == []
    assert len(read(HUNT, text.replace("not ", ""))) == 2


def test_the_only_equilibrium_is_told_from_the_only_pure_one():
    # A is as good as B against X. They choose X where A has at least half, so (A, X) is the only
    # pure equilibrium, and every mix with at least half on A is one too.
    tied = NormalForm.bimatrix([[2, 2], [2, 0]], [[1, 0], [0, 1]], actions=(("A", "B"), ("X", "Y")))
    assert verdicts(tied, "The only Nash equilibrium is (A, X).") == ["refuted", "proved"]
    assert verdicts(tied, "The only pure Nash equilibrium is (A, X).") == ["proved", "proved"]


def test_a_mixed_equilibrium_that_is_called_the_only_one_has_no_pure_ones_beside_it():
    # Up pays 2q and Down 1 - q where Left has q, so q = 1/3; Left pays p and Right 2(1 - p) where
    # Up has p, so p = 2/3. (Up, Left) and (Down, Right) are equilibria as well.
    mixes = "I play Up with probability 2/3 and they play Left with probability 1/3"
    assert verdicts(CORNER, f"In the mixed equilibrium, {mixes}.") == ["proved"]
    assert verdicts(CORNER, f"In the unique equilibrium, {mixes}.") == ["proved", "refuted"]
    pure = "In the unique equilibrium, both of us play defect with probability 1."
    assert verdicts(DILEMMA, pure) == ["proved", "proved"]


def test_one_equilibrium_in_which_something_is_played_does_not_count_the_others():
    # Both hunt the stag, or both the hare: there is one equilibrium of the first kind, and there
    # are two in all.
    assert read(HUNT, "There is one pure Nash equilibrium in which both play stag.") == []
    unique = "There is a unique pure Nash equilibrium in which both play stag."
    assert verdicts(HUNT, unique) == ["refuted", "proved"]


def test_what_follows_namely_says_where_and_puts_no_condition_on_the_statement() -> None:
    sentence = "If I cooperate, the worst case is a payoff of 2, namely when they defect."
    review = Reviewer(RulesTranslator()).review(sentence, Subject(tables.load("prisoners-dilemma")))
    assert review.state is State.REFUTED  # it is 0
    assert [passage.left_out for passage in review.passages] == [("when they defect",)]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Cooperating is dominated.", ["proved"]),
        ("Cooperating is a strictly dominated strategy.", ["proved"]),
        ("Defecting is not dominated.", ["proved"]),
        ("Defecting is weakly dominated.", ["refuted"]),
        ("Neither player has an incentive to deviate from (defect, defect).", ["proved"]),
        ("At (defect, defect), nobody can gain by deviating unilaterally.", ["proved"]),
        ("Neither of us would deviate from mutual cooperation.", ["refuted"]),
        ("The lowest payoff I can get from cooperating is 0.", ["proved"]),
        ("Defecting pays me more than cooperating, whatever the other player does.", ["proved"]),
    ],
)
def test_words_for_deviations_cases_and_dominated_moves_are_read(text, verdict):
    """Both cooperating pays 3, both defecting 1, defecting against a cooperator 5 and 0."""
    assert verdicts(DILEMMA, text) == verdict


def test_of_three_moves_one_may_be_dominated_by_a_mixture_of_which_nothing_is_read():
    assert read(GRID, "Bottom is dominated.") == []
