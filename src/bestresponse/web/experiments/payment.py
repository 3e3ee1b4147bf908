"""What an experiment file says about money: what is paid, and the codes people take away."""

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator
from pydantic.dataclasses import dataclass

from bestresponse.web.experiments.items import TABLE

StandIns = Literal["none", "half", "count"]
Outcome = Literal["finished", "unfinished", "no consent", "screened out", "full", "seat lost"]
"""How a person leaves: `full` found every seat taken, `seat lost` was away until somebody else took
the seat."""
STAND_INS: dict[StandIns, float] = {"none": 0.0, "half": 0.5, "count": 1.0}
"""What a round counts in which a stand-in answered."""
Money = Annotated[Decimal, Field(ge=0, le=10**12)]
Code = Annotated[str, Field(max_length=100)]


@dataclass(frozen=True, config=TABLE)
class Payment:
    """What participants are paid: `show_up`, and `rate` for every point.

    At least `least`, at most `most`.

    `stand_ins` says what a round counts in which a stand-in or bot answered. `paid` are all games
    and rounds, one game drawn for each person, or one round of each game; `unfinished`
    says what a game counts that was closed.
    """

    currency: Annotated[str, Field(min_length=1, max_length=12)]
    show_up: Money = Decimal(0)
    rate: Money = Decimal(0)
    least: Money = Decimal(0)
    most: Money | None = None
    stand_ins: StandIns = "none"
    paid: Literal["all", "random game", "random round"] = "all"
    unfinished: Literal["none", "so far"] = "none"

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.most is not None and self.most < max(self.least, self.show_up):
            raise ValueError(
                f"most is {self.most}; expected at least what everybody gets (show_up, least)"
            )
        return self

    def settle(self, earned: Decimal) -> Decimal:
        """Return what is paid in all where the games bring `earned`, rounded to a hundredth.

        >>> Payment("EUR", Decimal("2.50")).settle(Decimal("1.995"))
        Decimal('4.50')
        """
        total = max(self.show_up + earned, self.least)
        return (total if self.most is None else min(total, self.most)).quantize(
            Decimal("0.01"), ROUND_HALF_UP
        )

    def weigh_stand_ins(self) -> float:
        """Return what of a round counts for a person for whom a stand-in answered in it.

        >>> Payment("EUR").weigh_stand_ins(), Payment("EUR", stand_ins="half").weigh_stand_ins()
        (0.0, 0.5)
        """
        return STAND_INS[self.stand_ins]


def _check_link(link: str) -> str:
    if link and (urlsplit(link).scheme not in ("https", "http") or not urlsplit(link).netloc):
        raise ValueError(f"link is {link[:60]!r}; expected an address that begins with https://")
    for place in _PLACE.findall(link):
        if place not in _LINK_PLACES:
            raise ValueError(
                f"{{{place}}} in the link stands for nothing; expected {{code}}, {{participant}} or"
                " {label}"
            )
    return link


_PLACE = re.compile(r"{([^{}]*)}")
_LINK_PLACES = ("code", "participant", "label")


@dataclass(frozen=True, config=TABLE)
class Completion:
    """What participants take away: a code, and a link back to where they came from.

    Whoever did not finish, did not agree, was screened out or found every seat taken gets another
    code, where there is one.

    `{code}`, `{participant}` and `{label}` in the link stand for the code, for the participant's
    own code and for the label of the participant's link.
    """

    code: Code = ""
    unfinished: Code = ""
    no_consent: Code = ""
    screened_out: Code = ""
    full: Code = ""
    link: Annotated[str, Field(max_length=2000), AfterValidator(_check_link)] = ""

    @model_validator(mode="after")
    def _check_code(self) -> Self:
        if "{code}" in self.link and not self.code:
            raise ValueError("the link has the place {code}, and there is no code; set code")
        return self

    def find_code(self, outcome: Outcome) -> str:
        """Return the code for whoever leaves in that way, empty where there is none."""
        codes: dict[Outcome, str] = {
            "finished": self.code,
            "unfinished": self.unfinished or self.code,
            "no consent": self.no_consent,
            "screened out": self.screened_out,
            "full": self.full,
        }
        return codes.get(outcome, "")
