"""Recorded runs checked again: our verdicts on their queries, and their corrections put to the test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from bestresponse.formal.claims.checker import Checked, Checker
from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.grammar import parse
from bestresponse.formal.claims.subject import Subject
from bestresponse.logic.engine import LogicEngine, Verdict
from bestresponse.studies.verify.recorded import Attempt, Sample

__all__ = ["Recheck", "corrections_of", "false_corrections"]

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
        self.checkers = {name: Checker(subject, engine) for name, subject in games.items()}
        self._recorded = recorded
        self._known: dict[tuple[str, str], tuple[Checked, ...]] = {}

    def query(self, game: str, query: str) -> tuple[Checked, ...]:
        """Our verdict on a recorded query; several where it states several payoffs."""
        if (game, query) not in self._known:
            checker = self.checkers[game]
            self._known[game, query] = checker.check_all(_strict(query, checker.subject))
        return self._known[game, query]

    def verdict(self, game: str, query: str) -> Verdict:
        """REFUTED where anything it states is refuted, else UNKNOWN where anything is, else PROVED."""
        verdicts = [checked.verdict for checked in self.query(game, query)] or [Verdict.UNKNOWN]
        return next((v for v in (Verdict.REFUTED, Verdict.UNKNOWN) if v in verdicts), Verdict.PROVED)

    def failed(self, game: str, attempt: Attempt) -> tuple[str, ...]:
        """The queries that a closed-world solver does not prove, in order, each once."""
        answers = self._recorded.get(game, {})
        verdicts = {query: self.verdict(game, query) for query in attempt.queries}
        unproved = (query for query, verdict in verdicts.items() if verdict is not Verdict.PROVED)
        return tuple(q for q in unproved if verdicts[q] is Verdict.REFUTED or answers.get(q) != "true")


def _strict(query: str, subject: Subject) -> Iterator[Claim | Malformed]:
    if _VARIABLE.search(_QUOTED.sub("''", query)):
        yield Malformed(query, "it has a variable: a capital letter without quotes")
        return
    names = {*subject.players, *(action for actions in subject.actions for action in actions)}
    for claim in parse(query):
        if isinstance(claim, Claim) and not _list_names(claim.args) <= names:
            yield Malformed(query, "it uses names that the game does not have")
        else:
            yield claim


def _list_names(args: object) -> set[str]:
    """Return every name in the arguments of a claim."""
    if isinstance(args, str):
        return {args}
    return {name for part in args for name in _list_names(part)} if isinstance(args, tuple) else set()


def corrections_of(attempt: Attempt) -> Iterator[tuple[str, str | None]]:
    """The sentences of a recorded feedback, each with the query it states (None: not understood)."""
    for sentence in re.findall("^- (.*)", attempt.feedback, re.MULTILINE):
        stated = ((pattern.match(sentence.strip()), query) for pattern, query in _SENTENCES)
        yield sentence.strip(), next((query.format(*match.groups()) for match, query in stated if match), None)


def false_corrections(samples: Iterable[Sample], recheck: Recheck) -> Counter[tuple[str, str]]:
    """Count, by game, every correction of the original's that its own game refutes; ties are behind most of them."""
    return Counter(
        (sample.game, sentence)
        for sample in samples
        for attempt in sample.attempts
        for sentence, query in corrections_of(attempt)
        if query is not None and recheck.verdict(sample.game, query) is Verdict.REFUTED
    )
