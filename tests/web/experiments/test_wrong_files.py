"""Files that cannot work are refused when they are checked, each with the cause."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment, parse_experiment

HEAD = 'title = "x"\n'
GAME = """[[games]]
game = "{game}"
seats = ["person", "person"]
{more}
"""


def game(more="", name="chicken"):
    return HEAD + GAME.format(game=name, more=more)


def roles(*names):
    listed = ", ".join(f'"{name}"' for name in names)
    return game(f"parameters = {{ roles = [{listed}] }}", "first-price-auction")


QUIZ = '[[games.questions]]\ntext = "Who?"\n'
ITEM = '[[questionnaire]]\nname = "a"\ntext = "?"\n'
PAID = '[payment]\ncurrency = "EUR"\n'
DONE = '[completion]\ncode = "DONE"\n'
WRONG = [
    (roles("nature", "B"), "no person can have the role 'nature'"),
    (roles("referee", "B"), "no person can have the role 'referee'"),
    (roles("", "B"), "a role has an empty name"),
    (roles("a", "A"), "two roles are named 'a' and 'A'"),
    (
        game('[games.text]\n"row" = "player X"\n"col" = "player X"\n'),
        "two roles, 'row' and 'col', are both called 'player X'",
    ),
    (game(DONE + 'link = "https://example.org/?id={name}"\n'), "{name} in the link stands for"),
    (game(DONE + 'link = "https://example.org/?id={}"\n'), "{} in the link stands for nothing"),
    (game('[completion]\nlink = "https://example.org/?c={code}"\n'), "there is no code; set code"),
    (game(DONE + 'link = "javascript:alert(1)"\n'), "expected an address that begins with https"),
    (
        game(QUIZ + 'answer = 4\noptions = ["I", "you"]\nright = "I"\n'),
        "answer is for a question without options",
    ),
    (game(QUIZ + 'options = ["I", "you"]\nright = "we"\n'), "right is 'we'; expected one of"),
    (game(QUIZ + 'options = ["I"]\nright = "I"\n'), "a question needs two or more"),
    (game(QUIZ + 'options = ["I", "I"]\nright = "I"\n'), "the option 'I' stands twice"),
    (game(QUIZ + 'right = "I"\n'), "right is for a question with options"),
    (game(QUIZ), "answer is missing"),
    (game(QUIZ + "answer = nan\n"), "answer is nan"),
    (game(ITEM + 'kind = "choice"\noptions = ["yes", "yes"]\n'), "the option 'yes' stands twice"),
    (game(ITEM + 'kind = "slider"\nlow = 0\nhigh = 1\nstep = 0.3\n'), "steps of 0.3 do not lead"),
    (
        game(ITEM + 'kind = "number"\nlow = 3\nhigh = 1\n'),
        "no number lies between low, 3, and high",
    ),
    (game("parameters = { endowmnt = 3 }", "trust"), "has no parameter 'endowmnt'"),
    (game("parameters = { endowment = nan }", "trust"), "nan"),
    (game("", "chiken"), "there is no game named 'chiken'. Did you mean chicken?"),
    (game('instructions = "You have $endowment."'), "$endowment in the instructions stands for"),
    (game('[limits]\nstand_in = "tit-for-tatt"\n'), "tit-for-tatt"),
    (game(PAID + "show_up = -1\n"), "show_up is -1; expected at least 0"),
    (game(PAID + "most = 1\nleast = 2\n"), "most is 1; expected at least what everybody gets"),
    (game('[text]\nwaiting = "Wait for $minutes."\n'), "$minutes stands for nothing"),
    (game('[assignment]\nmatching = "strangers"\n'), "strangers need several groups"),
]
TREATED = '[[treatments]]\nname = "a"\n[treatments.games.pd]\nrounds = 2\n'
NAMED = 'name = "pd"\n'
PAGE = '[[pages]]\nname = "p"\n'
CHOICE = ITEM + 'kind = "choice"\n'
GOODS = '[[games]]\ngame = "public-goods-punishment"\nseats = ["person", "person", "person", "person"]\n'
NO_PLACES = "[text]\n{}\n"
SENSELESS = [
    (game("rate = 1\n"), "rate pays nothing, as there is no table [payment]"),
    (game("bonus = 1\n"), "bonus pays nothing, as there is no table [payment]"),
    (game("most = 1\n"), "most pays nothing, as there is no table [payment]"),
    (game(PAID), "nobody is ever paid anything"),
    (game("most = 0\n" + PAID + "rate = 1\n"), "most is 0, so that the points of the game"),
    (game(PAID + 'rate = "0,1"\n'), "rate is '0,1'; expected a number"),
    (game(PAID + "rate = true\n"), "rate is True; expected a number"),
    (game("quiz = false\n[limits]\ntries = 2\n"), "tries limits the quiz, and the first game"),
    (game(DONE + 'no_consent = "NO"\n'), "nobody gets the code no_consent"),
    (game(DONE + 'screened_out = "OUT"\n'), "nobody gets the code screened_out"),
    (game(DONE + 'full = "DONE"\n'), "full is the code of those who have finished"),
    (game(DONE + 'link = "https://{code}.org/"\n'), "a place in the name of the site"),
    (game(PAGE), "the page 'p' is empty"),
    (game(PAGE + 'text = "Read <b>this</b>"\n'), "people would read '<b>' as it is"),
    ('welcome = "<script>x</script>"\n' + game(), "people would read '<script>' as it is"),
    ('consent = "  "\n' + game(), "consent is empty; write something, or leave it out"),
    (game('instructions = " "\n'), "instructions is empty"),
    (game('name = " "\n'), "name is empty"),
    (game('[games.text]\nswerve = ""\n'), "swerve is empty"),
    ('welcome = "a\\u0000b"\n' + game(), "welcome has the hidden character U+0000"),
    ('welcome = "a\\u202eb"\n' + game(), "welcome has the hidden character U+202E"),
    ('logo = "../x.png"\n' + game(), "the logo '../x.png' is not the name of a picture"),
    ('logo = "x.txt"\n' + game(), "the logo 'x.txt' is not the name of a picture"),
    (game(ITEM + ITEM.replace('"a"', '"A"')), "'a' and 'A' among the questions differ"),
    (game(ITEM + "low = 1\n"), "low is for numbers, scales and sliders, and kind is 'text'"),
    (game(CHOICE + 'options = ["x", "y"]\nhigh = 1\n'), "high is for numbers, scales and sliders"),
    (game(CHOICE + 'options = ["Yes", "yes"]\n'), "'Yes' and 'yes' among the options differ"),
    (
        game(ITEM + 'kind = "slider"\nlow = 0\nhigh = 1\nstep = 0.000001\n'),
        "the slider has 1,000,000 positions; expected at most 100,000",
    ),
    (game(ITEM + 'kind = "number"\nlow = 3\nhigh = 3\n'), "only 3 can be answered"),
    (game(ITEM.replace('"a"', '"a-b"')), "name is 'a-b'; expected letters without accents"),
    (game((QUIZ + "answer = 1\n") * 2), "the quiz asks 'Who?' twice"),
    (
        game("".join(f'[[games.questions]]\ntext = "{n}"\nanswer = 1\n' for n in range(21))),
        "the quiz has 21 questions; expected at most 20",
    ),
    (HEAD + GOODS + "rounds = 2\nparameters = { rounds = 3 }\n", "the rounds are given twice"),
    (HEAD + GOODS + "parameters = { rounds = 201 }\n", "the parameter rounds is 201; expected"),
    (HEAD + GOODS + "parameters = { factor = nan }\n", "the parameter factor is nan; expected a"),
    (
        "groups = 2\n" + game('[[treatments]]\nname = "a"\n[[treatments]]\nname = "b"\n'),
        "the treatments 'a' and 'b' are the same",
    ),
    (
        "groups = 2\n" + game(NAMED + TREATED + '[[treatments]]\nname = "A"\n'),
        "'a' and 'A' among the treatments differ in capital letters alone",
    ),
    (
        game(NAMED + TREATED.replace("rounds = 2", 'name = "other"')),
        "a game has one name in all treatments",
    ),
    (game(NO_PLACES.format('waiting = { one = "x" }')), "has the forms one; expected one and many"),
    ("payment = [{}]\n" + game(), "expected a table"),
    (game(PAID + 'rate = "0.1"\n'), "rate is '0.1'; expected a number without quotes"),
    (game('bonus = "1"\n' + PAID + "rate = 1\n"), "bonus is '1'; expected a number without quotes"),
    (game(PAGE + 'title = "Only a title"\n'), "the page 'p' is empty; write text"),
    (
        "groups = 4\n" + game("[assignment]\nmatching_groups = 2\n"),
        "matching_groups mixes nobody, as partners stay together",
    ),
    (game(DONE + 'link = "https://example.org/a b"\n'), "expected an address without spaces"),
    (game(DONE + 'link = "https://example.org/?c={code"\n'), "and every { with its }"),
    (game(CHOICE + 'options = ["<b>x</b>", "y"]\n'), "people would read '<b>' as it is"),
    ('welcome = "[x](javascript:alert(1))"\n' + game(), "no link may lead to 'javascript':"),
]


@pytest.mark.parametrize(
    ("text", "why"), WRONG + SENSELESS, ids=[why[:40] for _, why in WRONG + SENSELESS]
)
def test_a_file_that_cannot_work_is_refused(text, why):
    with pytest.raises(UsageError) as refused:
        check_experiment(text)
    assert why in str(refused.value)
    assert str(refused.value).startswith("line ")


def test_pictures_and_logo_have_to_be_in_the_folder(tmp_path):
    text = (
        HEAD
        + 'logo = "lab.svg"\nwelcome = "![a](pictures/a.png)"\n'
        + GAME.format(game="chicken", more="")
    )
    with pytest.raises(UsageError, match=r"line 2: the logo 'lab\.svg' is not in the folder"):
        check_experiment(text, tmp_path / "pictures")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "lab.svg").write_text("<svg/>")
    with pytest.raises(UsageError, match=r"line 3: the picture 'a\.png' is not in the folder"):
        check_experiment(text, tmp_path / "pictures")
    (tmp_path / "pictures" / "a.png").write_bytes(b"\x89PNG")
    check_experiment(text, tmp_path / "pictures")
    for outside in ("../secret", "pictures/lab.svg"):
        with pytest.raises(UsageError, match="line 2: the logo"):
            check_experiment(text.replace("lab.svg", outside), tmp_path / "pictures")


def test_a_file_with_all_of_it_right_is_accepted():
    quiz = QUIZ + 'options = ["I", "you"]\nright = "I"\n'
    words = '[games.text]\n"row" = "player X"\n"col" = "player Y"\n'
    link = DONE + 'link = "https://example.org/?c={code}&l={label}&p={participant}"\n'
    assert check_experiment(game(quiz + words + link)).title == "x"


def test_a_dollar_that_is_no_placeholder_is_read_as_it_is():
    text = game('[games.text]\nswerve = "$ swerve"\n[text]\nwaiting = "Pay $ 5."\n')
    check_experiment(text)
    texts = parse_experiment(text)[1][""][0].texts
    assert texts("waiting") == "Pay $ 5."
    assert texts.word("swerve") == "$ swerve"
