"""The clause grammar reads conditions, amounts, best and worst cases, averages, tables and formulas."""

from __future__ import annotations

import pytest

from bestresponse.formal.claims import Reviewer, RulesTranslator, Subject
from bestresponse.theory.games.normal_form import NormalForm

TRADE = Subject(NormalForm.bimatrix([[4, -7], [6, 2]], [[4, 6], [-7, 2]], actions=(("Share", "Hoard"),) * 2))
DUEL = [[5, -20, 8], [-3, 12, 1]]
ZERO = Subject(NormalForm.bimatrix(DUEL, [[-x for x in row] for row in DUEL], actions=(("K", "L"), ("U", "V", "W"))))


def read(text: str, subject: Subject = TRADE) -> list[str]:
    return [str(claim) for claim in RulesTranslator().translate(text, subject).claims]


def pays(value: str, mine: str, theirs: str, who: str = "you") -> str:
    return f"finally(goal({who}, {value}), do(choice(you, '{mine}'), do(choice(them, '{theirs}'), s0)))."


def ends(low: str, high: str, action: str) -> list[str]:
    return [
        f"{end}_individual_payoff_for_choice({value}, '{action}')."
        for end, value in (("lowest", low), ("highest", high))
    ]


EVEN = "[mix(them, ['Share'-0.5, 'Hoard'-0.5])]"


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("With Hoard the least I can get is 2.", ends("2", "", "Hoard")[:1]),
        ("Picking Share, the worst I can end up with is -7.", ends("-7", "", "Share")[:1]),
        ("If I share, the worst that can happen is that I get -7.", ends("-7", "", "Share")[:1]),
        ("The maximum for Hoard is 6 and the minimum is 2.", ends("2", "6", "Hoard")[::-1]),
        ("I can get up to 4 with Share.", ends("", "4", "Share")[1:]),
        ("Hoard yields 2 or 6.", ends("2", "6", "Hoard")),
        ("If I share, my payoff is either 4 (if they share) or -7 (if they hoard).",
         [pays("4", "Share", "Share"), pays("-7", "Share", "Hoard")]),
        ("Hoard: 6 if they share, 2 if they hoard.", [pays("6", "Hoard", "Share"), pays("2", "Hoard", "Hoard")]),
        ("If they share, hoarding (6) beats sharing (4).",
         ["better_response('Hoard', 'Share', do(choice(them, 'Share'), s0)).",
          pays("6", "Hoard", "Share"), pays("4", "Share", "Share")]),
        ("If they hoard, my best choice is Hoard (2 > -7).",
         ["best_response('Hoard', do(choice(them, 'Hoard'), s0)).", "higher(2, -7).",
          pays("2", "Hoard", "Hoard"), pays("-7", "Share", "Hoard")]),
        ("Whatever they do, I am better off hoarding.", ["strictly_dominates('Hoard', 'Share')."]),
        ("My best reply is always Hoard.",
         ["best_response('Hoard', do(choice(them, 'Share'), s0)).",
          "best_response('Hoard', do(choice(them, 'Hoard'), s0))."]),
        ("Hoard is my dominant strategy, and by symmetry it is also theirs.",
         ["weakly_dominant('Hoard').", "weakly_dominant('Hoard', them)."]),
        ("Neither sharing nor hoarding is dominant.", ["no_dominant_choice."]),
        ("(Share, Hoard) and (Hoard, Share) are not equilibria.",
         ["not(equilibrium(do(choice(you, 'Hoard'), do(choice(them, 'Share'), s0)))).",
          "not(equilibrium(do(choice(you, 'Share'), do(choice(them, 'Hoard'), s0))))."]),
        ("Both prefer (Share, Share) to (Hoard, Hoard).",
         ["pareto_dominates(do(choice(you, 'Share'), do(choice(them, 'Share'), s0)), "
          "do(choice(you, 'Hoard'), do(choice(them, 'Hoard'), s0)))."]),
        ("Mutual sharing maximises our joint payoff of 8.",
         ["highest_mutual_payoff('Share', 'Share').", "total_payoff(8, 'Share', 'Share')."]),
        ("Nobody shares: 2/2.", [pays("2", "Hoard", "Hoard"), pays("2", "Hoard", "Hoard", "them")]),
        ("Together we earn 8 if we both share.", []),
        ("Hoard never gives me less than 2.", ["guaranteed_payoff_for_choice(2, 'Hoard')."]),
        ("Against Share, Hoard gives 6 versus 4 for Share.",
         [pays("6", "Hoard", "Share"), pays("4", "Share", "Share")]),
        ("Suppose Player 2 shares: Share → 4, Hoard → 6.", [pays("4", "Share", "Share"), pays("6", "Hoard", "Share")]),
        ("If I hoard, they get -7 from sharing and 2 from hoarding.",
         [pays("-7", "Hoard", "Share", "them"), pays("2", "Hoard", "Hoard", "them")]),
        ("Moving from Share to Hoard against Share raises my payoff from 4 to 6.",
         [pays("4", "Share", "Share"), pays("6", "Hoard", "Share")]),
        ("The sum of payoffs is 8 at (Share, Share) and 4 at (Hoard, Hoard).",
         ["total_payoff(8, 'Share', 'Share').", "total_payoff(4, 'Hoard', 'Hoard')."]),
        ("Both players have a dominant strategy to play Hoard.",
         ["weakly_dominant('Hoard').", "weakly_dominant('Hoard', them)."]),
        ("(Hoard, Hoard) is Pareto-dominated by (Share, Share).",
         ["pareto_dominates(do(choice(you, 'Share'), do(choice(them, 'Share'), s0)), "
          "do(choice(you, 'Hoard'), do(choice(them, 'Hoard'), s0)))."]),
        ("u(Share, Hoard) = -7", [pays("-7", "Share", "Hoard")]),
        (r"$\pi_1(\text{Hoard}, \text{Share}) = 6 > 4 = \pi_1(\text{Share}, \text{Share})$",
         [pays("6", "Hoard", "Share"), pays("4", "Share", "Share"), "higher(6, 4)."]),
        ("My choice does not cost me 7.", []),
        ("The payoff would be about 3.", []),
    ],
)  # fmt: skip
def test_a_sentence_is_read_by_its_structure(text: str, claims: list[str]) -> None:
    assert read(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Row K pays 5, -20 and 8.", [pays("5", "K", "U"), pays("-20", "K", "V"), pays("8", "K", "W")]),
        ("Column V gives me -20 and 12.", [pays("-20", "K", "V"), pays("12", "L", "V")]),
        ("With L I get 1, 12 and -3 against W, V and U.",
         [pays("1", "L", "W"), pays("12", "L", "V"), pays("-3", "L", "U")]),
        ("If I play K, the column player will respond with V, leaving me with -20.", [pays("-20", "K", "V")]),
        ("The security level of L is -3.", ["lowest_individual_payoff_for_choice(-3, 'L')."]),
        ("There is no saddle point.", ["pure_equilibria(0)."]),
    ],
)  # fmt: skip
def test_rows_columns_and_losses_of_a_matrix_are_read(text: str, claims: list[str]) -> None:
    assert read(text, ZERO) == claims


def test_latex_arrays_and_tables_of_single_payoffs_are_read_as_tables() -> None:
    array = r"""\begin{array}{c|cc}
 & \text{Share} & \text{Hoard} \\ \hline
\text{Hoard} & (6, -7) & (2, 2)
\end{array}"""
    assert read(array)[:2] == [pays("6", "Hoard", "Share"), pays("-7", "Hoard", "Share", "them")]
    table = "| Their choice | My payoff from Share | My payoff from Hoard |\n|---|---|---|\n| Hoard | -7 | 2 |"
    assert read(table) == [pays("-7", "Share", "Hoard"), pays("2", "Hoard", "Hoard")]


def test_a_list_of_cells_says_of_each_whether_it_is_an_equilibrium() -> None:
    text = "- (Share, Share): I get 4 and could get 6 by switching to Hoard, so this is not an equilibrium."
    assert f"not(equilibrium({'do(choice(you, '}'Share'), do(choice(them, 'Share'), s0))))." in read(text)


def test_the_worst_case_after_a_heading_is_not_that_of_the_whole_game() -> None:
    assert read("Consider Hoard. The worst I can get is 2.") == ends("2", "", "Hoard")[:1]


def test_a_refuted_sentence_carries_its_place_its_claim_and_its_correction() -> None:
    text = "First of all, I think.\n\n- **Hoard** is *dominant*. So with Share the worst I can get is 4.\nThat is all."
    review = Reviewer(RulesTranslator()).review(text, TRADE)
    (one,) = review.refutations
    (passage,) = one.passages
    assert text[passage.start : passage.end] == "So with Share the worst I can get is 4."
    assert str(one.claim) == "lowest_individual_payoff_for_choice(4, 'Share')."
    assert one.correction == (
        "You say that the least you can get by choosing Share is 4. "
        "In fact, the least you can get by choosing Share is -7."
    )


def test_the_summary_says_how_much_was_read() -> None:
    text = "Hoard is dominant. Somehow 7 is in the air. Is (Share, Share) an equilibrium?"
    reviewer = Reviewer(RulesTranslator())
    assert (
        reviewer.review(text, TRADE).summary == "nothing refuted; 1 claim read, 1 of 3 sentences unread, 1 not asserted"
    )
    assert (
        reviewer.review("I like 7.", TRADE).summary == "nothing could be checked; 0 claims read, 1 of 1 sentence unread"
    )


def test_paragraphs_keep_their_places_in_the_text() -> None:
    text = "I think.\n\nIf both hoard, I get 3.\n\nBye."
    (one,) = Reviewer(RulesTranslator(), unit="paragraph").review(text, TRADE).refutations
    assert [text[passage.start : passage.end] for passage in one.passages] == ["If both hoard, I get 3."]


@pytest.mark.parametrize(
    "text",
    [
        "Choosing Hoard avoids the lowest payoff of -7.",
        "If I choose Hoard, the worst case when both hoard is 2 each.",
    ],
)
def test_a_worst_case_that_is_avoided_or_has_a_condition_is_not_that_of_the_choice(text: str) -> None:
    assert "lowest_individual_payoff_for_choice" not in str(read(text))
