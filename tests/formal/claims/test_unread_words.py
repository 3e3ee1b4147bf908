"""A sentence with words that change its meaning and that the rules ignore is left unread."""

import pytest

from bestresponse.formal.claims import Reading, Reviewer, RulesTranslator, Subject
from bestresponse.theory import NormalForm
from bestresponse.theory.catalogue import tables

TRUE = [
    ("prisoners-dilemma", "If they cooperate, I am paid 2 more for defecting."),
    ("prisoners-dilemma", "If the other player defects, defecting gives me 1 extra point."),
    ("prisoners-dilemma", "Against a defector I lose 1 by cooperating."),
    ("prisoners-dilemma", "(cooperate, cooperate) gives both of us 2 more than (defect, defect)."),
    ("prisoners-dilemma", "If both defect, each of us gets 2 less compared with mutual cooperation."),
    ("prisoners-dilemma", "If the opponent defects half of the time, I get 3 by defecting."),
    ("prisoners-dilemma", "If they cooperate 50% of the time, cooperating gives me 1.5."),
    ("prisoners-dilemma", "If they cooperate and defect equally often, defecting gives me 3."),
    ("prisoners-dilemma", "If the other player cooperates, I get 4 on average when I pick either move equally often."),
    ("prisoners-dilemma", "If I cooperate while you defect, the first player gets 0 and the second 5."),
    ("prisoners-dilemma", "Defecting would give me 5 in the best case, and 1 in the worst case."),
    ("prisoners-dilemma", "They may defect, in which case they get 5 and I get 0 if I cooperate."),
    ("stag-hunt", "If the other hunter picks hare with probability 0.5, I get 2 by picking stag."),
    ("hawk-dove", "In this one-shot game, the best choice is to play dove."),
]  # fmt: skip
FALSE = [
    ("stag-hunt", "If my partner goes for stag 40% of the time, stag is my best response."),
    ("stag-hunt", "If my partner hunts stag only half of the time, stag is my best response."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "sentence"), [*TRUE, *FALSE])
def test_a_sentence_with_words_that_no_rule_accounts_for_gives_no_claim(name: str, sentence: str) -> None:
    translation = RulesTranslator().translate(sentence, Subject(tables.load(name)))
    assert translation.claims == ()
    assert all(passage.reading is not Reading.READ for passage in translation.passages or ())


@pytest.mark.parametrize(
    "opening", ["Once down is gone,", "With down removed,", "In the reduced game,", "After eliminating down,"]
)
def test_dominance_in_a_smaller_game_is_not_held_against_the_whole_game(opening: str) -> None:
    game = NormalForm.bimatrix(
        [[2, 2], [1, 1], [0, 0]], [[3, 1], [3, 1], [0, 4]], actions=(("up", "level", "down"), ("near", "far"))
    )
    review = Reviewer(RulesTranslator()).review(f"{opening} near strictly dominates far.", Subject(game))
    assert review.refuted == ()
