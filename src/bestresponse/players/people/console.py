"""A person at a terminal.

Nonsense is answered with a reason, and the person may try again; nothing is lost.

Beside an answer, `rules` shows the rules again, `history` all that happened, `help` how to answer,
`quit` stops; a game that was stopped goes on from where it was.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.capabilities import put_question
from bestresponse.core.errors import InvalidMove
from bestresponse.core.game import AnyGame, View
from bestresponse.core.numbers import list_readings
from bestresponse.core.player import Decision
from bestresponse.core.told import PrivateProse
from bestresponse.games.capabilities import HasOffers
from bestresponse.telling.course import Narrator
from bestresponse.telling.language import ENGLISH, load_language
from bestresponse.telling.render import list_rounds, word_rules, write_history, write_rules

_SHOWN_LINES = 14


class Left(KeyboardInterrupt):
    """The person has left the table; the game can go on later."""


@dataclass(frozen=True, slots=True)
class ConsolePlayer:
    """Shows the view by `write` and takes the answer from `read`, which is given the prompt.

    `game` tells the rules and asks in words for people, where it has them.
    """

    read: Callable[[str], str]
    write: Callable[[str], None]
    name: str = "me"
    game: AnyGame | None = None

    def decide(self, view: View, ask: Ask) -> Decision:
        """Show what is new and ask until there is an answer that can be played."""
        rounds = list_rounds(view)
        # The last round and the present, or all where a game does not tell them apart.
        parts = (*rounds[0][-1:], rounds[1]) if rounds else (write_history(view),)
        if isinstance(self.game, HasOffers):
            # The rules for people leave out what only one of them knows.
            secrets = [rule.text for rule in view.rules if isinstance(rule, PrivateProse)]
            parts = (*secrets, *parts)
        if news := "\n\n".join(part for part in (*parts, *view.notes) if part):
            self.write(f"\n{news}\n")
        if question := put_question(self.game, ask):
            self.write(load_language(ENGLISH).tell(question))
        if not isinstance(ask, Form):
            return Decision(self._answer(view, ask, ""))
        while True:
            answer = {name: self._answer(view, field, f"{name}: ") for name, field in ask.fields}
            if self._is_confirmed(view, answer):
                return Decision(answer)

    def _is_confirmed(self, view: View, answer: Mapping[str, object]) -> bool:
        """Ask again before an answer that settles something for good."""
        if not isinstance(self.game, HasOffers):
            return True
        settled = self.game.find_settled(view, answer)
        if settled is None:
            return True
        self.write(Narrator(load_language(ENGLISH)).tell(settled))
        return self._answer(view, Choice(("yes", "no")), "are you sure: ") == "yes"

    def _answer(self, view: View, ask: Ask, about: str) -> object:
        """Ask until there is an answer that can be played."""
        while True:
            try:
                text = self.read(f"{view.role}, {about}{how_to_answer(ask)} > ").strip()
            except EOFError:
                raise Left("the input has ended") from None
            match text.casefold():
                case "":
                    continue
                case "quit" | "exit":
                    raise Left("you left the game")
                case "rules":
                    self.write(
                        write_rules(view) if self.game is None else word_rules(self.game, view)
                    )
                case "history":
                    self.write(write_history(view))
                case "help" | "?":
                    number = (
                        " (or its number)" if isinstance(ask, Choice) and _by_number(ask) else ""
                    )
                    words = "Other words: rules, history, help, quit."
                    self.write(f"Type your answer{number}: {how_to_answer(ask)}. {words}")
                case _:
                    try:
                        return _value(ask, text)
                    except InvalidMove as error:
                        self.write(f"That cannot be played: {error}. Type help for how to answer.")


def summarise_rules(text: str) -> str:
    """Return the first paragraphs of the rules, without long tables; short rules as they are."""
    if text.count("\n") < _SHOWN_LINES:
        return text
    kept: list[str] = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        room = _SHOWN_LINES - sum(shown.count("\n") + 1 for shown in kept)
        if len(lines) > room:
            if not lines[0].startswith("|") and room > 0:
                kept.append("\n".join(lines[:room]))
            break
        kept.append(paragraph)
    return "\n\n".join((*kept, "(These are the first of the rules. Type rules for all of them.)"))


def _value(ask: Ask, text: str) -> object:
    if isinstance(ask, Choice) and text.isdecimal() and text not in ask.options:
        named = [option for option in ask.options if re.findall(r"\d+", option) == [text]]
        if len(named) == 1:
            return named[0]
        if _by_number(ask) and 1 <= int(text) <= len(ask.options):
            return ask.options[int(text) - 1]
    if not isinstance(ask, Amount):
        return ask.read(text)
    match list_readings(text):
        case (number,):
            return ask.read(f"{number!r}")
        case (larger, smaller):
            raise InvalidMove(f"{text} can mean {larger:g} or {smaller:g}; type one of them")
    return ask.read(PASS if text.casefold() == PASS else text)


def _by_number(ask: Choice) -> bool:
    """Say whether options can be named by their place.

    They cannot if a number may mean what an option is about.
    """
    return not any(re.search(r"\d", option) for option in ask.options)


def how_to_answer(ask: Ask) -> str:
    """The ask in a few words."""
    match ask:
        case Choice(options, may_pass):
            return "choose " + " / ".join((*options, *((PASS,) if may_pass else ())))
        case Amount(low, high, whole, may_pass):
            kind = "a whole number" if whole else "an amount"
            return f"{kind} from {low:g} to {high:g}" + (f" or {PASS}" if may_pass else "")
        case Words(limit):
            return f"your message, at most {limit} characters"
        case Mixture(options):
            return "probabilities such as " + ", ".join(
                f"{option}: {1 / len(options):.2g}" for option in options
            )
        case Form() | Lottery():
            raise TypeError("a form is asked field by field, and nature draws lotteries")
