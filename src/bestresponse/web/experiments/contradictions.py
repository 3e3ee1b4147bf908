"""What cannot be meant in an experiment file although each setting alone is right.

Examples are codes that nobody gets, rates without payment, and treatments that nobody plays.

Only new experiments are refused for these. One that runs already is read as it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from string import Template
from urllib.parse import urlsplit

from bestresponse.core.json import JsonMapping
from bestresponse.games.capabilities import HasDomain
from bestresponse.web.experiments.items import Item
from bestresponse.web.experiments.model import Experiment, Part
from bestresponse.web.sessions.setup import make_game

KeyPath = tuple[str | int, ...]
_MOST_QUESTIONS = 20
_MOST_POSITIONS = 100_000
_MOST_ROUNDS = 200
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
_HTML = re.compile(r"</?(?:img|script|iframe|style|div|span|p|br|b|i|u|a|table|font)\b[^<>]*>")
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202d\u202e]")
"""Control characters, and marks that turn the direction of what follows."""
_NEVER_EMPTY = ("name", "title", "welcome", "consent", "thanks", "instructions")
"""Other texts can be empty on purpose, as the brand at the top of a page."""
_SHOWN_TEXTS = (
    "title",
    "brand",
    "welcome",
    "consent",
    "thanks",
    "instructions",
    "text",
    "options",
)
_LINK = re.compile(r"\]\(\s*(?!https?:|mailto:)([a-z][a-z0-9+.-]*):", re.IGNORECASE)
"""A link in Markdown that leads to something else than a page or a mail."""
_PLACE = re.compile(r"{[^{}]*}")
_NOT_IN_LINKS = re.compile(r"[\s{}]")


class Mistake(Exception):
    """What is wrong, and the path of where it is in the file."""


def refuse_contradictions(
    values: JsonMapping, experiment: Experiment, treatments: Mapping[str, Sequence[Part]]
) -> None:
    """Refuse what cannot be meant; `values` are those of the file, as they are written there."""
    _check_texts(values, ())
    _check_logo(experiment)
    _check_payment(values, experiment, treatments)
    _check_codes(experiment, treatments)
    _check_treatments(experiment, treatments)
    _check_pages(experiment)
    _check_games(treatments)
    _check_grouping(experiment, treatments)


def _check_texts(values: object, path: KeyPath) -> None:
    """Refuse texts that are empty, hide something, or have HTML.

    People would read HTML as it is.
    """
    if isinstance(values, dict):
        for key, value in values.items():
            _check_texts(value, (*path, key))
    elif isinstance(values, list):
        for number, value in enumerate(values):
            _check_texts(value, (*path, number))
    elif isinstance(values, str):
        name = next((part for part in reversed(path) if isinstance(part, str)), "")
        is_word = path[:1] == ("games",) and "text" in path
        if not values.strip() and (is_word or name in _NEVER_EMPTY):
            raise Mistake(f"{name} is empty; write something, or leave it out", *path)
        if hidden := _HIDDEN.search(values):
            code = f"U+{ord(hidden[0]):04X}"
            raise Mistake(f"{name} has the hidden character {code}; take it out", *path)
        if name in _SHOWN_TEXTS and (tag := _HTML.search(values)):
            why = f"people would read {tag[0][:40]!r} as it is; write Markdown instead of HTML"
            raise Mistake(why, *path)
        if name in _SHOWN_TEXTS and (link := _LINK.search(values)):
            why = f"no link may lead to {link[1][:20]!r}:; expected https:, http: or mailto:"
            raise Mistake(why, *path)


def _check_logo(experiment: Experiment) -> None:
    logo = experiment.logo
    if logo and ("/" in logo or "\\" in logo or not logo.lower().endswith(_PICTURES)):
        why = (
            f"the logo {logo!r} is not the name of a picture; expected a file in the folder"
            " `pictures`, such as lab.svg"
        )
        raise Mistake(why, "logo")


def _check_payment(
    values: JsonMapping, experiment: Experiment, treatments: Mapping[str, Sequence[Part]]
) -> None:
    games = values.get("games", ())
    payment = experiment.payment
    tables: list[tuple[KeyPath, JsonMapping]] = [(("payment",), values.get("payment", {}))]
    tables += [(("games", number), game) for number, game in enumerate(games)]
    for path, table in tables:
        for name in ("show_up", "rate", "least", "most", "bonus"):
            # Whoever writes quotes may mean a decimal comma.
            if isinstance(table.get(name), str):
                why = f"{name} is {table[name][:40]!r}; expected a number without quotes"
                raise Mistake(why, *path, name)
    parts = list(chain.from_iterable(treatments.values()))
    if payment is None:
        for number, game in enumerate(games):
            for name in ("rate", "bonus", "most"):
                if name in game:
                    why = f"{name} pays nothing, as there is no table [payment]; add one"
                    raise Mistake(why, "games", number, name)
        return
    paid = [payment.show_up, payment.least, payment.rate]
    paid += [part.game.find_rate(payment) + part.game.bonus for part in parts]
    if not any(paid):
        why = "nobody is ever paid anything; set rate, show_up or least, or leave [payment] out"
        raise Mistake(why, "payment")
    for part in parts:
        if part.game.most == 0:
            why = f"most is 0, so that the points of the game {part.name} pay nothing"
            raise Mistake(f"{why}; set rate = 0 if you mean that", "games", part.number)


def _check_codes(experiment: Experiment, treatments: Mapping[str, Sequence[Part]]) -> None:
    completion = experiment.completion
    first = [parts[0] for parts in treatments.values()]
    has_quiz = any(part.setup.quiz or part.game.questions for part in first)
    if experiment.limits.tries and not has_quiz:
        why = "tries limits the quiz, and the first game has none; add questions, or leave it out"
        raise Mistake(why, "limits", "tries")
    if completion.no_consent and not experiment.consent:
        why = "nobody gets the code no_consent, as there is no consent text; write consent"
        raise Mistake(why, "completion", "no_consent")
    if completion.screened_out and not experiment.limits.tries:
        why = "nobody gets the code screened_out; set tries in [limits]"
        raise Mistake(why, "completion", "screened_out")
    for name in ("no_consent", "screened_out", "full"):
        code = getattr(completion, name)
        if code and code == completion.code:
            why = f"{name} is the code of those who have finished; give it another one"
            raise Mistake(why, "completion", name)
    if _NOT_IN_LINKS.search(_PLACE.sub("", completion.link)):
        why = f"link is {completion.link[:60]!r}; expected an address without spaces"
        raise Mistake(f"{why}, and every {{ with its }}", "completion", "link")
    link = urlsplit(completion.link)
    if "{" in link.netloc:
        why = "the link has a place in the name of the site; put places behind it"
        raise Mistake(why, "completion", "link")


def _check_treatments(experiment: Experiment, treated: Mapping[str, Sequence[Part]]) -> None:
    treatments = experiment.treatments
    names = [treatment.name for treatment in treatments]
    _refuse_alike("treatments", names, lambda number: ("treatments", number, "name"))
    for number, treatment in enumerate(treatments):
        for game, changes in treatment.games.items():
            if "name" in changes:
                path = ("treatments", number, "games", game, "name")
                raise Mistake("a game has one name in all treatments; leave name out", *path)
        for earlier in treatments[:number]:
            if earlier.games == treatment.games:
                why = f"the treatments {earlier.name!r} and {treatment.name!r} are the same"
                raise Mistake(f"{why}; say what differs", "treatments", number)
    assignment = experiment.assignment
    sizes = {len(part.setup.persons) for parts in treated.values() for part in parts}
    if assignment.matching == "partners" and assignment.matching_groups > 1 and len(sizes) == 1:
        why = "matching_groups mixes nobody, as partners stay together in all games"
        advice = 'leave it out, or set matching = "strangers"'
        raise Mistake(f"{why}; {advice}", "assignment", "matching_groups")
    named = [str(game.get("name", "")) for game in experiment.games]
    _refuse_alike("games", named, lambda number: ("games", number, "name"))


def _refuse_alike(table: str, names: Sequence[str], locate: Callable[[int], KeyPath]) -> None:
    """Refuse names that differ in capital letters alone: many programs take them for one."""
    taken: dict[str, str] = {}
    for number, name in enumerate(names):
        known = taken.setdefault(name.casefold(), name)
        if known != name:
            why = f"{known!r} and {name!r} among the {table} differ in capital letters alone"
            raise Mistake(f"{why}; choose other names", *locate(number))


def _check_pages(experiment: Experiment) -> None:
    for number, page in enumerate(experiment.pages):
        if not (page.text or page.items):
            why = f"the page {page.name!r} is empty; write text, or add questions"
            raise Mistake(why, "pages", number)
        for index, item in enumerate(page.items):
            _check_item(item, ("pages", number, "items", index))
    for number, item in enumerate(experiment.questionnaire):
        _check_item(item, ("questionnaire", number))
    names = [item.name for item in experiment.list_items()]
    _refuse_alike("questions", names, lambda _: ("questionnaire",))


def _check_grouping(experiment: Experiment, treatments: Mapping[str, Sequence[Part]]) -> None:
    """Refuse rules that name a role which is drawn only after they were read."""
    assignment = experiment.assignment
    if assignment.groups != "quiz" or assignment.roles != "random":
        return
    for parts in treatments.values():
        instructions = Template(parts[0].game.instructions)
        if "role" in instructions.get_identifiers():
            why = "$role is not known when people read the rules, as roles are drawn after the quiz"
            raise Mistake(f'{why}; leave it out, or set roles = "arrival"', "games", 0)


def _check_item(item: Item, path: KeyPath) -> None:
    for name in ("low", "high"):
        if getattr(item, name) is not None and item.kind not in ("number", "scale", "slider"):
            why = f"{name} is for numbers, scales and sliders, and kind is {item.kind!r}"
            raise Mistake(why, *path, name)
    if item.low is not None and item.low == item.high:
        why = f"only {item.low:g} can be answered, as low and high are the same"
        raise Mistake(why, *path, "high")
    if item.kind == "slider" and item.low is not None and item.high is not None:
        positions = (item.high - item.low) / item.slider_step
        if positions > _MOST_POSITIONS:
            why = f"the slider has {positions:,.0f} positions; expected at most {_MOST_POSITIONS:,}"
            raise Mistake(why, *path, "step")
    _refuse_alike("options", item.options, lambda _: (*path, "options"))


def _check_chat(part: Part) -> None:
    where = ("games", part.number, "chat")
    if part.game.chat and len(part.setup.persons) < 2:
        why = f"nobody reads the chat of the game {part.name}, as one person sits at its table"
        raise Mistake(f"{why}; leave chat out", *where)
    if part.game.chat and isinstance(make_game(part.setup.game), HasDomain):
        why = f"the game {part.name} is a dialogue already; leave chat out"
        raise Mistake(why, *where)


def _check_games(treatments: Mapping[str, Sequence[Part]]) -> None:
    for part in chain.from_iterable(treatments.values()):
        where = ("games", part.number)
        _check_chat(part)
        texts = [question.text for question in part.game.questions]
        if len(texts) > _MOST_QUESTIONS:
            why = f"the quiz has {len(texts)} questions; expected at most {_MOST_QUESTIONS}"
            raise Mistake(why, *where, "questions")
        for number, text in enumerate(texts):
            if text in texts[:number]:
                why = f"the quiz asks {str(text)[:60]!r} twice"
                raise Mistake(why, *where, "questions", number)
        rounds = part.game.parameters.get("rounds")
        if rounds is not None and part.game.rounds is not None:
            why = "the rounds are given twice, by rounds and as a parameter; leave out one"
            raise Mistake(why, *where, "rounds")
        if isinstance(rounds, int | float) and rounds > _MOST_ROUNDS:
            why = f"the parameter rounds is {rounds:g}; expected at most {_MOST_ROUNDS}"
            raise Mistake(why, *where, "parameters")
