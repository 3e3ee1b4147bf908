"""Experiment files: what is read, and which line is blamed."""

from decimal import Decimal
from pathlib import Path

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.items import Item
from bestresponse.web.experiments.payment import Payment
from bestresponse.web.experiments.reading import check_experiment, find_line, parse_experiment
from bestresponse.web.sessions.lobbies import draw_treatments
from bestresponse.web.texts import FieldMistake, load_texts

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "experiments").glob("*.toml"))
SMALL = """title = "Small"
groups = 4
[[games]]
name = "one"
game = "prisoners-dilemma"
seats = ["person", "person"]
"""


def test_the_examples_are_right():
    assert [path.stem for path in EXAMPLES] == [
        "dialogue-de",
        "dialogue",
        "dilemma-de",
        "dilemma",
        "public-goods-de",
        "public-goods",
        "ultimatum",
        "water",
    ]
    for path in EXAMPLES:
        assert check_experiment(path.read_text("utf-8")).title


def test_what_a_file_leaves_out_is_as_the_documentation_says():
    experiment = check_experiment(SMALL)
    assert (experiment.language, experiment.seed, experiment.brand) == ("en", 0, "bestresponse")
    assert (experiment.debrief, experiment.show_others, experiment.show_history) == (
        False,
        True,
        True,
    )
    assert (experiment.assignment.groups, experiment.assignment.matching) == ("arrival", "partners")
    assert (experiment.limits.answer, experiment.limits.waiting, experiment.limits.hold) == (
        300,
        1800,
        900,
    )


def test_a_code_has_at_most_a_hundred_characters():
    assert (
        check_experiment(f'{SMALL}[completion]\ncode = "{"x" * 100}"').completion.code == "x" * 100
    )
    with pytest.raises(UsageError, match=r"line 8: code is .*; expected at most 100 characters"):
        check_experiment(f'{SMALL}[completion]\ncode = "{"x" * 101}"')


def test_a_treatment_changes_only_what_it_names():
    text = next(path for path in EXAMPLES if path.stem == "public-goods").read_text("utf-8")
    plain, punished = parse_experiment(text)[1].values()
    assert plain[0].setup.game.parameters["punishment"] is False
    assert punished[0].setup.game.parameters == {
        "rounds": 10,
        "endowment": 20,
        "factor": 1.6,
        "punishment": True,
        "impact": 3,
        "most_points": 5,
    }
    assert plain[0].game.questions == punished[0].game.questions


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ('title = "x', "this is not TOML"),
        (
            "groups = 0\n" + SMALL.replace("groups = 4\n", ""),
            "line 1: groups is 0; expected at least 1",
        ),
        (
            SMALL + "roundz = 3\n",
            "line 7: there is no setting named 'roundz' here. Did you mean rounds?",
        ),
        (
            SMALL.replace('["person", "person"]', '["person"]'),
            "line 3: the game one: prisoners-dilemma has 2 seats",
        ),
        (
            SMALL.replace("prisoners-dilemma", "prisoner-dilemma"),
            "line 3: the game one: there is no game named",
        ),
        (SMALL.replace('"person"]', '"robot"]'), "line 6: 'robot' fills no seat"),
        (SMALL + "parameters = { endowment = 3 }\n", "has no parameter 'endowment'"),
        (
            SMALL.replace("prisoners-dilemma", "public-goods-punishment")
            + 'parameters = { roles = ["A", "A"] }\n',
            "line 3: the game one: two roles are named 'A' and 'A'; give each a name of its own",
        ),
        (
            SMALL.replace("prisoners-dilemma", "public-goods-punishment")
            + 'parameters = { roles = ["a", "A"] }\n',
            "line 3: the game one: two roles are named 'a' and 'A'; give each a name of its own",
        ),
        (
            SMALL.replace("prisoners-dilemma", "public-goods-punishment")
            + 'parameters = { roles = ["a", ""] }\n',
            "line 3: the game one: a role has an empty name; give each a name of its own",
        ),
        (
            SMALL.replace("prisoners-dilemma", "public-goods-punishment")
            + 'parameters = { roles = ["a", "nature"] }\n',
            (
                "line 3: the game one: no person can have the role 'nature': draws and rulings are"
                " kept by that name"
            ),
        ),
        (
            SMALL.replace("prisoners-dilemma", "public-goods-punishment")
            + 'parameters = { roles = ["Referee", "b"] }\n',
            "line 3: the game one: no person can have the role 'Referee'",
        ),
        ("title = 'x'\n", "line 1: there is no game"),
        (
            SMALL + '[limits]\nanswer = "soon"\n',
            "line 8: answer is 'soon'; expected a whole number",
        ),
        (
            SMALL + '[completion]\nlink = "javascript:alert(1)"\n',
            "line 8: link is 'javascript:alert(1)'",
        ),
        (SMALL + '[[questionnaire]]\nname = "a b"\ntext = "?"\n', "line 8: name is 'a b'"),
        (
            SMALL + '[[questionnaire]]\nname = "a"\ntext = "?"\nkind = "choice"\n',
            "line 7: options are missing; a choice",
        ),
        (
            SMALL + 2 * '[[questionnaire]]\nname = "a"\ntext = "?"\n',
            "line 11: 'a' stands twice among the questionnaire",
        ),
        (SMALL + '[[games.questions]]\ntext = "?"\n', "line 7: answer is missing"),
        (
            SMALL + '[[treatments]]\nname = "t"\n[treatments.games.two]\nrounds = 2\n',
            "line 9: there is no game named 'two'",
        ),
        (
            SMALL + '[[treatments]]\nname = "t"\n[treatments.games.one]\nrounds = 0\n',
            "line 10: rounds is 0; expected at least 1",
        ),
        (
            SMALL + 'instructions = "You have $endowment."\n',
            "line 7: the game one: $endowment in the instructions stands for nothing",
        ),
        (SMALL + '[payment]\ncurrency = "EUR"\nrate = -1\n', "line 9: rate is -1"),
        (
            SMALL.replace("title", 'language = "xx"\ntitle'),
            "line 1: there is no language 'xx'; there are en, de. Choose another language",
        ),
        (
            SMALL
            + '[[games]]\ngame = "dialogue:meeting"\nseats = ["person", "person"]\n'
            + "parameters = { offers = false }\n",
            "a dialogue without offers needs a referee",
        ),
        (
            SMALL
            + '[[games]]\ngame = "volunteers-dilemma"\nseats = ["person", "person", "person"]\n',
            "different numbers",
        ),
    ],
)
def test_a_broken_file_is_refused_with_line_and_cause(change, why):
    with pytest.raises(UsageError) as error:
        check_experiment(change)
    assert why in str(error.value)
    assert str(error.value).count("line ") <= 1


def test_a_file_may_begin_with_the_mark_of_notepad():
    assert check_experiment("\ufeff" + SMALL).title == "Small"


def test_a_line_is_found_behind_texts_of_several_lines():
    text = (
        'a = """\n[games]\nrounds = 1\n"""\n[[games]]\nrounds = 1\n[games.inner]\nx ='
        " 1\n[[games]]\nrounds = 2\n"
    )
    assert find_line(text, ("games", 0, "rounds")) == 6
    assert find_line(text, ("games", 0, "inner", "x")) == 8
    assert find_line(text, ("games", 1, "rounds")) == 10
    assert find_line(text, ("games", 1, "missing")) == 9
    as_notepad_saves_it = "\ufeff" + text.replace("\n", "\r\n")
    assert find_line(as_notepad_saves_it, ("games", 1, "rounds")) == 10


def test_treatments_are_drawn_in_blocks():
    text = SMALL + "".join(f'[[treatments]]\nname = "{name}"\n' for name in "AB")
    drawn = draw_treatments(parse_experiment(text)[0])
    assert sorted(drawn[:2]) == sorted(drawn[2:]) == ["A", "B"]
    assert drawn == draw_treatments(parse_experiment(text)[0])


def test_money_is_rounded_to_a_hundredth_and_never_below_the_least():
    assert Payment("EUR", Decimal("4")).settle(Decimal("7.008")) == Decimal("11.01")
    assert Payment("EUR", Decimal("2.5")).settle(Decimal(-10)) == Decimal("0.00")
    assert Payment("EUR", Decimal("2.5"), least=Decimal("1.5")).settle(Decimal(-10)) == Decimal(
        "1.50"
    )


@pytest.mark.parametrize(
    ("item", "typed", "why"),
    [
        (
            Item("age", "?", "number", low=16, high=120, required=True),
            " ",
            "Please answer this question.",
        ),
        (Item("age", "?", "number", low=16, high=120), "12", "12 is not between 16 and 120."),
        (Item("age", "?", "number", low=16, high=120), "NaN", "NaN is not a number."),
        (Item("a", "?", "choice", ("yes", "no")), "perhaps", "Please choose one of the answers."),
        (Item("a", "?"), "x" * 2001, "This is too long; at most 2,000 characters are possible."),
    ],
)
def test_answers_to_a_questionnaire_are_checked(item, typed, why):
    with pytest.raises(FieldMistake) as mistake:
        item.read(typed, load_texts("en"))
    assert str(mistake.value) == why
