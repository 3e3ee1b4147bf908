"""Recorded runs checked again: our verdicts on their queries, and their corrections put to the test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from bestresponse.formal.claims.checker import Checked, Checker
from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.grammar import parse
from bestresponse.formal.claims.subject import Subject
from bestresponse.logic.engine import LogicEngine, Verdict
from bestresponse.studies.verify.recorded import Attempt, Sample

__all__ = ["Mistake", "Recheck", "as_recorded", "corrections_of", "false_corrections"]

_QUOTED: Final = re.compile(r"'[^']*'")
_VARIABLE: Final = re.compile(r"(?<!\w)[A-Z_]\w*")
_NUMBER = r"(-?[\d.]+?)"
_SENTENCES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), query)
    for pattern, query in (
        (rf"payoff {_NUMBER} is higher than payoff {_NUMBER}$", "higher({0}, {1})"),
        (rf"payoff {_NUMBER} is lower than payoff {_NUMBER}$", "lower({0}, {1})"),
        (
            rf"payoff {_NUMBER} is your (highest|lowest) possible individual payoff$",
            "{1}_possible_individual_payoff({0})",
        ),
        (
            rf"payoff {_NUMBER} is your (highest|lowest) individual outcome for choice (\w+)$",
            "{1}_individual_payoff_for_choice({0}, '{2}')",
        ),
        (r"choice (\w+) gives you the highest guaranteed .*payoff$", "highest_guaranteed_payoff_choice('{0}')"),
        (
            r"choice (\w+) gives you (higher|lower) guaranteed .*payoff than choice (\w+)$",
            "{1}_guaranteed_payoff('{0}', '{2}')",
        ),
        (r"choices (\w+) and (\w+) give you the (highest|lowest) mutual payoff$", "{2}_mutual_payoff('{0}', '{1}')"),
        (
            rf"(\w+) choosing (\w+) and (\w+) choosing (\w+) results in payoff {_NUMBER} for (\w+)$",
            "finally(goal({5}, {4}), do(choice({0}, '{1}'), do(choice({2}, '{3}'), s0)))",
        ),
    )
)
"""How the original words its corrections, and which query each states."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A correction of the original's that is not true of the game."""

    sample: str
    game: str
    sentence: str


class Recheck:
    """Puts recorded queries to our checkers, one program per game, every query decided once.

    Recorded queries are taken as strictly as the original took them: a capital without quotes is a variable there, and
    names must be the game's own. Such a query is ill-formed here; what `recorded` says of it stands.
    """

    def __init__(
        self,
        games: Mapping[str, Subject],
        engine: LogicEngine,
        recorded: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        self._recorded = recorded
        self._checkers = {name: Checker(subject, engine) for name, subject in games.items()}
        self._known: dict[tuple[str, str], tuple[Checked, ...]] = {}

    def subject(self, game: str) -> Subject:
        """Return what the claims of a game are about."""
        return self._checkers[game].subject

    def knows(self, game: str) -> bool:
        """Whether the payoffs of a game are known."""
        return game in self._checkers

    def checker(self, game: str) -> Checker:
        """Return the checker of a game."""
        return self._checkers[game]

    def query(self, game: str, query: str) -> tuple[Checked, ...]:
        """Our verdict on a recorded query; several where it states several payoffs."""
        key = (game, query)
        if key not in self._known:
            subject = self._checkers[game].subject
            self._known[key] = self._checkers[game].check_all(_strict(query, subject))
        return self._known[key]

    def verdict(self, game: str, query: str) -> Verdict:
        """REFUTED where anything it states is refuted, else UNKNOWN where anything is, else PROVED."""
        found = [checked.verdict for checked in self.query(game, query)]
        for verdict in (Verdict.REFUTED, Verdict.UNKNOWN):
            if verdict in found:
                return verdict
        return Verdict.PROVED if found else Verdict.UNKNOWN

    def failed(self, game: str, attempt: Attempt) -> tuple[str, ...]:
        """The queries that a closed-world solver does not prove, in order, each once."""
        return tuple(query for query in dict.fromkeys(attempt.queries) if self._fails(game, query))

    def _fails(self, game: str, query: str) -> bool:
        verdict = self.verdict(game, query)
        if verdict is Verdict.UNKNOWN:
            return self._recorded.get(game, {}).get(query) != "true"
        return verdict is Verdict.REFUTED


def _strict(query: str, subject: Subject) -> Iterator[Claim | Malformed]:
    if _VARIABLE.search(_QUOTED.sub("''", query)):
        yield Malformed(query, "it has a variable: a capital letter without quotes")
        return
    for claim in parse(query):
        if isinstance(claim, Claim) and not _names(claim.args) <= _spoken(subject):
            yield Malformed(query, "it uses names that the game does not have")
        else:
            yield claim


def _names(args: object) -> set[str]:
    """Every name in the arguments of a claim."""
    if isinstance(args, str):
        return {args}
    return {name for one in args for name in _names(one)} if isinstance(args, tuple) else set()


def _spoken(subject: Subject) -> set[str]:
    return {*subject.players, *(action for own in subject.actions for action in own)}


def as_recorded(verdict: Verdict) -> str:
    """The word the records use."""
    return {Verdict.PROVED: "true", Verdict.REFUTED: "false", Verdict.UNKNOWN: "error"}[verdict]


def corrections_of(attempt: Attempt) -> Iterator[tuple[str, str | None]]:
    """The sentences of a recorded feedback, each with the query it states (None: not understood)."""
    for line in attempt.feedback.splitlines():
        if line.startswith("- "):
            sentence = line[2:].strip()
            yield sentence, _stated(sentence)


def _stated(sentence: str) -> str | None:
    for pattern, query in _SENTENCES:
        if match := pattern.match(sentence):
            return query.format(*match.groups())
    return None


def false_corrections(samples: Iterable[Sample], recheck: Recheck) -> tuple[Mistake, ...]:
    """Every correction of the original's that its own game refutes; ties are behind most of them."""
    return tuple(
        Mistake(sample.id, sample.game, sentence)
        for sample in samples
        for attempt in sample.attempts
        for sentence, query in corrections_of(attempt)
        if query is not None and recheck.verdict(sample.game, query) is Verdict.REFUTED
    )
