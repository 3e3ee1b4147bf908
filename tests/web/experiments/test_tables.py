"""The tables of an experiment file: money, questions and codes, with bounds and amounts worked out
by hand."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.items import FormPage, Item, QuizQuestion
from bestresponse.web.experiments.model import (
    Assignment,
    Experiment,
    GameSettings,
    TimeLimits,
    wrap_setup,
)
from bestresponse.web.experiments.payment import Completion, Payment
from bestresponse.web.experiments.reading import check_experiment, find_line, parse_experiment
from bestresponse.web.sessions.setup import GameChoice, Setup
from bestresponse.web.texts import FieldMistake, load_texts

SEATS = ("person", "person")
PAIR = '[[games]]\nname = "{name}"\ngame = "prisoners-dilemma"\nseats = ["person", "person"]\n'
SMALL = 'title = "Small"\n' + PAIR.format(name="one")


# Money


def test_points_become_money_by_the_rate_of_the_game_or_else_of_the_file_up_to_its_most():
    payment = Payment("EUR", rate=Decimal("0.5"))
    assert GameSettings("chicken", SEATS).convert(3.0, payment) == Decimal("1.5")
    assert GameSettings("chicken", SEATS, rate=Decimal(2)).convert(3.0, payment) == Decimal(6)
    assert GameSettings("chicken", SEATS, rate=Decimal(0)).convert(3.0, payment) == Decimal(0)
    assert GameSettings("chicken", SEATS, most=Decimal(1)).convert(3.0, payment) == Decimal(1)
    # A third of a point in nine decimals: no more comes from the way in which computers add.
    assert GameSettings("chicken", SEATS, rate=Decimal(1)).convert(1 / 3, payment) == Decimal(
        "0.333333333"
    )


def test_a_total_lies_between_the_least_and_the_most_and_halves_are_rounded_up():
    payment = Payment("EUR", Decimal(2), least=Decimal(3), most=Decimal(5))
    assert [
        payment.settle(Decimal(earned)) for earned in ("0", "1", "1.005", "2.994", "3", "9")
    ] == [
        Decimal("3.00"),
        Decimal("3.00"),
        Decimal("3.01"),
        Decimal("4.99"),
        Decimal("5.00"),
        Decimal("5.00"),
    ]
    assert Payment("EUR").settle(Decimal(0)) == Decimal(0)


def test_the_most_is_at_least_what_everybody_gets():
    assert Payment("EUR", Decimal(4), most=Decimal(4)).most == 4
    assert Payment("EUR", least=Decimal(4), most=Decimal(4)).most == 4
    for more in ({"show_up": Decimal(5)}, {"least": Decimal(5)}):
        with pytest.raises(
            ValidationError, match="most is 4; expected at least what everybody gets"
        ):
            Payment("EUR", most=Decimal(4), **more)


def test_answers_of_stand_ins_count_nothing_half_or_all():
    rules = ("none", "half", "count")
    assert [Payment("EUR", stand_ins=rule).weigh_stand_ins() for rule in rules] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("field", ["show_up", "rate", "least"])
def test_amounts_of_money_end_at_a_trillion(field):
    assert getattr(Payment("EUR", **{field: Decimal(10**12)}), field) == 10**12
    for wrong in (Decimal(10**12 + 1), Decimal("-0.01")):
        with pytest.raises(ValidationError):
            Payment("EUR", **{field: wrong})


# Questions


def test_a_scale_has_the_steps_from_low_to_high_from_1_to_7_if_not_said():
    assert Item("a", "?", "scale").choices == ("1", "2", "3", "4", "5", "6", "7")
    # A scale may begin at 0.
    assert Item("a", "?", "scale", low=0, high=3).choices == ("0", "1", "2", "3")
    assert read(Item("a", "?", "scale", low=0, high=3), "0") == 0
    assert Item("a", "?", "scale", low=5).choices == ("5", "6", "7")
    assert len(Item("a", "?", "scale", low=0, high=20).choices) == 21
    # The steps are 1 apart, so that none of them would be 0.5 or 2.7.
    for low, high in ((0, 21), (3, 3), (-1, 5), (0, 0), (0.5, 3), (1, 2.7)):
        with pytest.raises(
            ValidationError,
            match=f"a scale from {low} to {high}; expected whole numbers, at most 21",
        ):
            Item("a", "?", "scale", low=low, high=high)


def test_options_that_nobody_would_see_are_refused():
    # Without a kind the question is one for text, and the options would be left out.
    with pytest.raises(ValidationError, match="options are for a choice, and kind is 'text'"):
        Item("a", "?", options=("yes", "no"))


def read(item, typed, language="en"):
    """The answer as it is kept, or the sentence that says what is wrong with it."""
    try:
        return item.read(typed, load_texts(language))
    except FieldMistake as mistake:
        return str(mistake)


def test_numbers_are_taken_from_low_to_high_both_included():
    # 0.1 and 0.7 are no sums of halves, so that the computer has them not quite; they are the ends
    # all the same.
    slider = Item("a", "?", "slider", low=0.1, high=0.7)
    assert [read(slider, typed) for typed in ("0.1", "0,7", "0.4", "")] == [0.1, 0.7, 0.4, None]
    assert read(slider, "0.09") == "0.09 is not between 0.1 and 0.7."
    assert read(slider, "0.71", "de") == "0,71 liegt nicht zwischen 0,1 und 0,7."
    for typed in ("x", "nan", "inf", "1_000"):
        assert read(slider, typed) == f"{typed} is not a number."
    number = Item("a", "?", "number")
    assert [read(number, typed) for typed in ("-5", "1e3", "7,5", " ")] == [-5, 1000, 7.5, None]
    assert read(Item("a", "?", "number", low=0), "-1") == "-1 is less than 0."
    assert read(Item("a", "?", "number", high=0), "1") == "1 is more than 0."


def test_numbers_of_a_questionnaire_are_kept_as_numbers_by_the_language_of_the_page():
    income = Item("income", "?", "number", low=0, high=1_000_000)
    assert read(income, "7,5", "de") == 7.5
    assert (
        read(income, "30.000", "de")
        == "30.000 kann 30000 oder 30 heißen. Bitte geben Sie eines davon ein."
    )
    assert read(income, "30,000", "en") == "30,000 can mean 30000 or 30. Please type one of these."
    assert read(income, "30000", "de") == 30000
    assert type(read(income, "30000", "de")) is int
    assert read(Item("a", "?", "scale"), "7") == 7
    assert read(Item("a", "?"), "7") == "7"


@pytest.mark.parametrize(
    ("low", "high", "step", "expected"),
    [
        (0, 1, None, 0.01),
        (0.1, 0.7, None, 0.01),
        (1, 7, None, 0.1),
        (0, 10, None, 1),
        (0, 100, None, 1),
        (0, 100, 0.5, 0.5),
        (-1, 1, None, 0.01),
        (0, 0.001, None, 0.00001),
    ],
)
def test_a_slider_has_its_own_step_or_one_that_leaves_many_positions(low, high, step, expected):
    assert Item("a", "?", "slider", low=low, high=high, step=step).slider_step == expected


def test_an_answer_of_a_slider_is_one_of_its_positions():
    likely = Item("p", "?", "slider", low=0, high=1, required=True)
    assert [read(likely, typed) for typed in ("0.37", "0,3", "0", "1")] == [0.37, 0.3, 0, 1]
    assert (
        read(likely, "0.375") == "0.375 is not possible here: the steps are 0.01 apart, from 0 on."
    )
    assert (
        read(likely, "0,375", "de")
        == "0,375 ist hier nicht möglich: Die Schritte liegen 0,01 auseinander, ab 0."
    )
    assert read(likely, "") == "Please answer this question."
    assert read(Item("p", "?", "slider", low=0, high=1), "") is None
    # The third position is 0.1 + 2 * 0.1, which is 0.30000000000000004 for the computer.
    assert read(Item("p", "?", "slider", low=0.1, high=0.7, step=0.1), "0.3") == 0.3


def test_steps_that_miss_the_end_of_a_slider_are_refused():
    with pytest.raises(
        ValidationError, match=r"steps of 0.3 do not lead from 0 to 1; set another step"
    ):
        Item("a", "?", "slider", low=0, high=1, step=0.3)
    with pytest.raises(ValidationError, match=r"steps of 2 do not lead from 0 to 1"):
        Item("a", "?", "slider", low=0, high=1, step=2)
    with pytest.raises(ValidationError, match="step is for a slider, and kind is 'number'"):
        Item("a", "?", "number", low=0, high=1, step=0.1)
    for step in (0, -1):
        with pytest.raises(ValidationError):
            Item("a", "?", "slider", low=0, high=1, step=step)


def test_a_slider_needs_two_ends_and_a_choice_two_options():
    for ends in ({"low": 0}, {"high": 1}, {"low": 1, "high": 1}, {"low": 2, "high": 1}, {}):
        with pytest.raises(ValidationError, match="a slider needs low and high"):
            Item("a", "?", "slider", **ends)
    assert Item("a", "?", "choice", ("yes", "no")).choices == ("yes", "no")
    with pytest.raises(ValidationError, match="a choice needs two or more"):
        Item("a", "?", "choice", ("yes",))


def test_texts_have_at_most_two_thousand_characters_and_only_what_is_required_must_be_there():
    item = Item("a", "?", "long text")
    too_long = "This is too long; at most 2,000 characters are possible."
    assert [read(item, text) for text in ("x" * 2000, "x" * 2001, "")] == ["x" * 2000, too_long, ""]
    assert read(Item("a", "?", required=True), "") == "Please answer this question."
    with pytest.raises(ValidationError):
        Item("a" * 41, "?")
    with pytest.raises(ValidationError):
        Item("a", "x" * 2001)


def test_a_quiz_question_is_answered_by_a_number_or_by_the_right_option():
    number = QuizQuestion("What is 2 + 2?", 4)
    assert [number.accepts(typed) for typed in ("4", "4.0", "5", "four")] == [
        True,
        True,
        False,
        False,
    ]
    option = QuizQuestion("Who moves?", options=("you", "nobody"), right="you")
    assert [option.accepts(typed) for typed in ("you", "nobody", "")] == [True, False, False]
    with pytest.raises(ValidationError, match="answer is missing"):
        QuizQuestion("What?")
    with pytest.raises(ValidationError, match="right is 'me'; expected one of the options"):
        QuizQuestion("Who?", options=("you", "nobody"), right="me")


# Codes, limits and people


def test_codes_follow_how_somebody_leaves():
    codes = Completion("done", no_consent="no", screened_out="out")
    outcomes = ("finished", "unfinished", "no consent", "screened out", "full", "seat lost")
    assert [codes.find_code(outcome) for outcome in outcomes] == [
        "done",
        "done",
        "no",
        "out",
        "",
        "",
    ]
    assert Completion("done", full="full-1").find_code("full") == "full-1"
    assert Completion("done", "half").find_code("unfinished") == "half"
    assert Completion("done").find_code("screened out") == ""


def test_links_lead_to_an_address():
    for link in ("", "https://example.org/x?code={code}", "http://example.org"):
        assert Completion("done", link=link).link == link
    for link in ("javascript:alert(1)", "https://", "example.org", "ftp://example.org/x"):
        with pytest.raises(ValidationError, match="expected an address that begins with https://"):
            Completion(link=link)


def test_limits_are_seconds_and_tries_none_if_not_said():
    limits = TimeLimits()
    assert (limits.answer, limits.waiting, limits.hold, limits.stand_in, limits.tries) == (
        300,
        1800,
        900,
        "random",
        0,
    )
    assert TimeLimits(tries=100).tries == 100
    for wrong in (-1, 101):
        with pytest.raises(ValidationError):
            TimeLimits(tries=wrong)
    # In a trial time passes faster; what does not come out even is rounded up.
    text = f"{SMALL}[limits]\nanswer = 61\nwaiting = 60\nhold = 90\n"
    fast = parse_experiment(text, speed=10)[0].limits
    assert (fast.answer, fast.waiting, fast.hold) == (7, 6, 9)
    assert parse_experiment(text)[0].limits.answer == 61


def test_a_label_stands_once():
    assert Assignment(labels=("a", "b")).labels == ("a", "b")
    with pytest.raises(ValidationError, match="the label 'b' stands twice"):
        Assignment(labels=("a", "b", "b"))


def test_what_a_game_leaves_out():
    game = GameSettings("chicken", SEATS)
    assert (game.rounds, game.repeat, game.mixed, game.quiz, game.bonus, game.rate, game.most) == (
        None,
        1,
        False,
        None,
        0,
        None,
        None,
    )
    experiment = check_experiment(SMALL)
    assert (experiment.groups, experiment.payment, experiment.completion) == (1, None, Completion())


def test_a_quiz_is_given_unless_there_are_questions_or_the_file_says_so():
    asked = '[[games.questions]]\ntext = "2 + 2?"\nanswer = 4\n'
    quiz = {
        text: parse_experiment(SMALL + text)[1][""][0].setup.quiz
        for text in ("", asked, "quiz = true\n" + asked, "quiz = false\n")
    }
    assert list(quiz.values()) == [True, False, True, False]


def test_a_game_that_is_repeated_has_its_quiz_questions_and_bonus_once():
    text = (
        SMALL
        + 'repeat = 3\nbonus = 2\n[[games.questions]]\ntext = "2 + 2?"\nanswer = 4\n'
        + PAIR.format(name="two")
    )
    parts = parse_experiment(text)[1][""]
    assert [(part.name, part.number, part.again) for part in parts] == [
        ("one", 0, False),
        ("one 2", 0, True),
        ("one 3", 0, True),
        ("two", 1, False),
    ]
    assert [(part.game.bonus, len(part.game.questions)) for part in parts] == [
        (2, 1),
        (0, 0),
        (0, 0),
        (0, 0),
    ]
    assert [part.setup.quiz for part in parts] == [False, False, False, True]


def test_no_game_has_the_name_of_a_repetition():
    # The game one is played a second time as "one 2"; a lot for one of them would pay both.
    text = SMALL + "repeat = 2\n" + PAIR.format(name="one 2")
    with pytest.raises(UsageError, match="line 8: 'one 2' is what a repetition of 'one' is called"):
        parse_experiment(text)


def test_a_game_with_an_empty_name_is_named_by_its_number():
    text = SMALL.replace('"one"', '""') + '[[questionnaire]]\nname = "why"\ntext = "Why?"\n'
    experiment, parts = parse_experiment(text)
    assert [part.name for part in parts[""]] == ["game 1"]
    # The questionnaire comes at the end, not before the game.
    assert experiment.list_pages("game 1") == []


def test_pages_stand_before_their_game_and_the_questionnaire_at_the_end():
    item = Item("why", "Why?")
    pages = (FormPage("first", before="one"), FormPage("last", items=(Item("age", "Age?"),)))
    experiment = Experiment(title="x", pages=pages, questionnaire=(item,))
    assert [page.name for page in experiment.list_pages("one")] == ["first"]
    assert [page.name for page in experiment.list_pages()] == ["last", "questionnaire"]
    assert experiment.list_pages()[1].items == (item,)
    assert experiment.list_pages("two") == []
    assert [asked.name for asked in experiment.list_items()] == ["age", "why"]
    assert Experiment(title="x").list_pages() == []


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (
            '[[pages]]\nname = "p"\nbefore = "noe"\n',
            "line 8: there is no game named 'noe' here. Did you mean one?",
        ),
        (
            '[[pages]]\nname = "p"\nonly_if = { age = "3" }\n',
            "line 8: only_if: no page before this one asks 'age', or it cannot be answered by '3'",
        ),
        (
            (
                '[[pages]]\nname = "q"\n[[pages.items]]\nname = "age"\ntext = "?"\nkind = "scale"\n'
                '[[pages]]\nname = "p"\nonly_if = { age = "8" }\n'
            ),
            "line 14: only_if: no page before this one asks 'age', or it cannot be answered by '8'",
        ),
        ('[text]\nreadyy = "x"\n', "line 7: there is no text named 'readyy'."),
        (PAIR.format(name="one"), "line 7: 'one' stands twice among the games"),
        ('[[pages]]\nname = "questionnaire"\n', "stands twice among the pages"),
        (
            '[[treatments]]\nname = "t"\n[[treatments]]\nname = "t"\n',
            "line 9: 't' stands twice among the treatments",
        ),
        (
            PAIR.format(name="two").replace(
                '"person", "person"', '"strategy:random", "strategy:random"'
            ),
            "line 9: no seat is for a person; put 'person' into seats",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_with_its_line(more, why):
    with pytest.raises(UsageError) as refused:
        parse_experiment(SMALL + more)
    assert why in str(refused.value)


def test_a_page_is_shown_on_an_answer_that_can_be_given_before_it():
    pages = (
        '[[pages]]\nname = "q"\nbefore = "one"\n[[pages.items]]\nname = "age"\ntext = "?"\nkind ='
        ' "scale"\n[[pages]]\nname = "p"\nonly_if = { age = "7" }\n'
    )
    assert parse_experiment(SMALL + pages)[0].pages[1].only_if == {"age": "7"}


@pytest.mark.parametrize(
    ("kind", "typed", "comes"),
    [
        ("number", 18, True),
        ("number", 18.5, False),
        ("number", None, False),
        ("number", 81, False),
        ("text", "18.0", False),
        ("text", "18", True),
    ],
)
def test_an_answer_that_is_a_number_meets_a_condition_however_it_is_written(kind, typed, comes):
    pages = (
        '[[pages]]\nname = "q"\nbefore = "one"\n[[pages.items]]\nname = "age"\ntext = "?"\nkind ='
        f' "{kind}"\n[[pages]]\nname = "p"\nonly_if = {{ age = "18" }}\n'
    )
    experiment = parse_experiment(SMALL + pages)[0]
    assert experiment.is_asked(experiment.pages[1], {"age": typed}) == comes


def test_a_picture_from_elsewhere_is_refused_with_its_line():
    with pytest.raises(
        UsageError, match=r"line 2: the picture 'https://example.org/a.png' is not shown"
    ):
        parse_experiment('title = "x"\nwelcome = "![a](https://example.org/a.png)"\n')
    assert parse_experiment(SMALL + 'instructions = "![a](pictures/a.png)"\n')


def test_perfect_strangers_never_meet_twice():
    # Groups of two, three games: with three groups people move by one and by two, never by three.
    games = "".join(PAIR.format(name=name) for name in ("one", "two", "three"))
    for size, fits in ((2, False), (3, True)):
        text = f'title = "x"\ngroups = {size}\n{games}'
        text += f'[assignment]\nmatching = "perfect strangers"\nmatching_groups = {size}\n'
        if fits:
            assert len(parse_experiment(text)[1][""]) == 3
        else:
            with pytest.raises(
                UsageError, match="in 3 games people of 2 groups of 2 would meet twice"
            ):
                parse_experiment(text)


def test_a_line_is_that_of_the_nearest_table_around_what_is_missing():
    assert find_line("", ("x",)) == 1
    assert find_line("a = 1\nb = 2\n", ("b",)) == 2
    assert find_line("a = 1\n[b]\nc = 3\n", ("b", "d")) == 2
    assert find_line("a = [\n1,\n2]\nb = 1\n", ("b",)) == 4
    assert find_line("a = 1\nb = [\n1]\nc = 3\n", ("a",)) == 1


def test_tables_without_a_file_are_an_experiment_of_one_game_with_theory_at_the_end():
    experiment, part = wrap_setup(Setup(GameChoice("chicken"), SEATS, seed=7, consent="Yes?"))
    assert (experiment.title, experiment.seed, experiment.consent) == ("chicken", 7, "Yes?")
    assert (experiment.debrief, experiment.payment, part.name, part.number) == (True, None, "", 0)


@pytest.mark.parametrize(
    ("setting", "most"),
    [("welcome", 50_000), ("consent", 50_000), ("title", 200), ("brand", 60), ("logo", 100)],
)
def test_texts_of_an_experiment_end_somewhere(setting, most):
    values = {"title": "x", setting: "x" * most}
    assert len(getattr(Experiment(**values), setting)) == most
    with pytest.raises(ValidationError):
        Experiment(**values | {setting: "x" * (most + 1)})
