"""Files that cannot work are refused when they are checked, each with the cause."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.model import check_experiment

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
    (game(QUIZ + 'options = ["I"]\nright = "I"\n'), "a question needs two or more to choose from"),
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
    (game("parameters = { endowmnt = 3 }", "trust-amounts"), "has no parameter 'endowmnt'"),
    (game("parameters = { endowment = nan }", "trust-amounts"), "nan"),
    (game("", "chiken"), "there is no game named 'chiken'. Did you mean chicken?"),
    (game('instructions = "You have $endowment."'), "$endowment in the instructions stands for"),
    (game('[limits]\nstand_in = "tit-for-tatt"\n'), "tit-for-tatt"),
    (game(PAID + "show_up = -1\n"), "show_up is -1; expected at least 0"),
    (game(PAID + "most = 1\nleast = 2\n"), "most is 1; expected at least what everybody gets"),
    (game('[text]\nwaiting = "Wait for $minutes."\n'), "$minutes stands for nothing"),
    (game('[assignment]\nmatching = "strangers"\n'), "strangers need several groups"),
]


@pytest.mark.parametrize(("text", "why"), WRONG, ids=[why[:40] for _, why in WRONG])
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
