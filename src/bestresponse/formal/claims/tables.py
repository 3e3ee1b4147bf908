"""What can be claimed of a table of payoffs.

Gives every form with its words, its rule in logic, and its arithmetic.

Everything is exact: payoffs are whole numbers over a common denominator, so no tolerance decides a
tie. Only what was written with decimals may be rounded: an average, and probabilities of at least
two decimals.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bestresponse.formal.claims.form import Belief, SharedForms, Ungrounded, find_rounding, form
from bestresponse.formal.claims.subject import Subject
from bestresponse.logic.engine import Proof, Verdict
from bestresponse.theory.arrays import Numbers
from bestresponse.theory.equilibria.result import Component
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.dominance import Elimination, find_dominated, iterated_elimination
from bestresponse.theory.games.normal_form import NormalForm

PureProfile = tuple[int, ...]
"""For each player the index of an action."""
_Removed = tuple[tuple[int, int], ...]
"""Choices that are eliminated: the player's number and the action's."""

TABLE_RULES = Path(__file__).with_name("tables.pl").read_text("utf-8")
_MOST_SOLVED = 8
"""Choices of each player in games all of whose equilibria are looked for: more can take minutes."""


class _PayoffSpan(NamedTuple):
    """The least and the most that a player gets in a connected set of equilibria.

    It is `pure` if it is one equilibrium in which everybody has one choice.
    """

    low: Fraction
    high: Fraction
    pure: bool


class TableTheory(SharedForms[PureProfile]):
    """Decides claims about one table by arithmetic on its payoffs."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.cells = subject.cells
        self.num_players = len(self.cells)

    @cached_property
    def own(self) -> tuple[Numbers, ...]:
        """For each player, its payoffs with its own action as the first axis.

        The actions of the others are flattened in order.
        """
        tables = []
        for player, cells in enumerate(self.cells):
            own_first = np.moveaxis(cells, player, 0)
            tables.append(own_first.reshape(len(own_first), -1))
        return tuple(tables)

    @cached_property
    def worst(self) -> tuple[Numbers, ...]:
        """For each player the least that each action can earn."""
        return tuple(payoffs.min(axis=1) for payoffs in self.own)

    @cached_property
    def total(self) -> Numbers:
        """The sum of the players' payoffs in every outcome."""
        return np.asarray(self.cells.sum(axis=0))

    def unscale(self, scaled: float) -> Fraction:
        """Return a payoff as a number."""
        return Fraction(int(scaled), self.subject.scale)

    def pay(self, player: int, outcome: PureProfile) -> Fraction:
        """Return what a player gets in an outcome."""
        return self.unscale(self.cells[(player, *outcome)])

    def bound_payoffs(self, *players: int) -> tuple[Fraction, Fraction]:
        """Return the least and the most that any of these players, all by default, can get."""
        cells = self.cells[list(players)] if players else self.cells
        return self.unscale(cells.min()), self.unscale(cells.max())

    def find_replies(self, player: int, rest: PureProfile) -> Numbers:
        """Return what each action of a player earns if the others choose `rest`, times `scale`."""
        shape = list(self.cells.shape[1:])
        del shape[player]
        column = int(np.ravel_multi_index(rest, shape)) if rest else 0
        return self.own[player][:, column]

    def expect(self, player: int, mixed: Belief) -> list[Fraction]:
        """Return what each action earns on average."""
        weights = _multiply(mixed.rows)
        means = []
        for payoffs in self.own[player].tolist():
            total = _add_weighted(weights, payoffs)
            means.append(total / self.subject.scale)
        return means

    def find_slack(self, mixed: Belief, differences: Iterable[int | Fraction]) -> Fraction:
        """Return how far the average of `differences` (times `scale`) may be off.

        It may be off because probabilities are rounded.
        """
        highest = _multiply(mixed.highest)
        written = _multiply(mixed.rows)
        ranges = [high - low for high, low in zip(highest, written, strict=True)]
        sizes = [max(difference, -difference) for difference in differences]
        return _add_weighted(ranges, sizes) / self.subject.scale

    def find_lead(
        self,
        player: int,
        action: int,
        other: int,
        mixed: Belief,
    ) -> tuple[Fraction, Fraction]:
        """Return how much more one action earns than another on average.

        Also returns how far that may be off.
        """
        values = self.expect(player, mixed)
        payoffs = self.own[player]
        differences = payoffs[action] - payoffs[other]
        slack = self.find_slack(mixed, differences.tolist())
        return values[action] - values[other], slack

    def list_best(self, player: int, mixed: Belief) -> list[int]:
        """List the actions that no other one beats on average."""
        actions = range(len(self.own[player]))
        best = []
        for action in actions:
            leads = [self.find_lead(player, other, action, mixed) for other in actions]
            if all(lead <= slack for lead, slack in leads):
                best.append(action)
        return best

    # What somebody gets.

    @form("the most {who} can get by choosing {action} <is|is not> {value}")
    def highest_individual_payoff_for_choice(
        self,
        value: Fraction,
        action: int,
        who: int,
    ) -> Fraction:
        """Say what is the most that an action can earn."""
        payoffs = self.own[who][action]
        return self.unscale(payoffs.max())

    @form("the least {who} can get by choosing {action} <is|is not> {value}")
    def lowest_individual_payoff_for_choice(
        self,
        value: Fraction,
        action: int,
        who: int,
    ) -> Fraction:
        """Say what is the least that an action can earn."""
        return self.unscale(self.worst[who][action])

    @form("{action} <guarantees|does not guarantee> {who} at least {value}")
    def guaranteed_payoff_for_choice(
        self,
        value: Fraction,
        action: int,
        who: int,
    ) -> bool:
        """Bound what an action earns from below; the bound need not be reached."""
        worst = self.unscale(self.worst[who][action])
        return worst >= value

    @form("{action} <never earns|can earn> {who} more than {value}")
    def limited_payoff_for_choice(self, value: Fraction, action: int, who: int) -> bool:
        """Bound what an action earns from above; the bound need not be reached."""
        most = self.unscale(self.own[who][action].max())
        return most <= value

    @form("<no|some> choice of {whose} has a better worst case than {action}")
    def highest_guaranteed_payoff_choice(self, action: int, who: int) -> bool:
        """Say whether an action has the best worst case."""
        worst = self.worst[who]
        return bool(worst[action] == worst.max())

    @form("{action} <has|does not have> a better worst case for {who} than {other}")
    def higher_guaranteed_payoff(self, action: int, other: int, who: int) -> bool:
        """Compare the worst cases of two actions."""
        worst = self.worst[who]
        return bool(worst[action] > worst[other])

    @form("{action} <has|does not have> a worse worst case for {who} than {other}")
    def lower_guaranteed_payoff(self, action: int, other: int, who: int) -> bool:
        """Compare the worst cases of two actions."""
        worst = self.worst[who]
        return bool(worst[action] < worst[other])

    @form("<no|some> outcome has a higher sum of payoffs than {actions}")
    def highest_mutual_payoff(self, actions: PureProfile) -> bool:
        """Say whether an outcome has the highest sum of payoffs."""
        return bool(self.total[actions] == self.total.max())

    @form("<no|some> outcome has a lower sum of payoffs than {actions}")
    def lowest_mutual_payoff(self, actions: PureProfile) -> bool:
        """Say whether an outcome has the lowest sum of payoffs."""
        return bool(self.total[actions] == self.total.min())

    @form("<no|some> choice of {whose} has a worse worst case than {action}")
    def lowest_guaranteed_payoff_choice(self, action: int, who: int) -> bool:
        """Say whether an action has the worst worst case."""
        worst = self.worst[who]
        return bool(worst[action] == worst.min())

    @form("{action} and {other} <have|do not have> the same worst case for {who}")
    def equal_guaranteed_payoff(self, action: int, other: int, who: int) -> bool:
        """Compare the worst cases of two actions."""
        worst = self.worst[who]
        return bool(worst[action] == worst[other])

    @form("the most {who} can be sure of with a single choice <is|is not> {value}")
    def maximin_payoff(self, value: Fraction, who: int) -> Fraction:
        """Say what a player can be sure of with a single action."""
        return self.unscale(self.worst[who].max())

    @form("the least the others can hold {who} to <is|is not> {value}")
    def minimax_payoff(self, value: Fraction, who: int) -> Fraction:
        """Say to what the others can hold a player down."""
        best_replies = self.own[who].max(axis=0)
        return self.unscale(best_replies.min())

    # Averages and responses.

    @form("{if mixed}{action} <earns|does not earn> {who} {value} on average")
    def expected_payoff(
        self,
        who: int,
        value: Fraction,
        action: int,
        mixed: Belief,
    ) -> Fraction:
        """Say what an action earns on average against a mix."""
        mean = self.expect(who, mixed)[action]
        slack = self._find_slack_around(mean, self.own[who][action].tolist(), mixed)
        return _round_towards(value, mean, slack)

    def _find_slack_around(
        self,
        mean: Fraction,
        payoffs: list[int],
        mixed: Belief,
    ) -> Fraction:
        """Return how far the mean of an action's payoffs (times `scale`) may be off.

        It may be off because probabilities are rounded.
        """
        scaled_mean = mean * self.subject.scale
        return self.find_slack(mixed, [payoff - scaled_mean for payoff in payoffs])

    @form("{if mixes}{who} <get> {value} on average")
    def mixed_payoff(self, who: int, value: Fraction, mixes: Belief) -> Fraction:
        """Say what a player gets on average if everybody mixes.

        This is also the value of an equilibrium that is named.
        """
        mixed = mixes.leave_out(who)
        own = mixes.rows[who]
        highest = mixes.highest[who]
        means = self.expect(who, mixed)
        mean = _add_weighted(own, means)
        slack = Fraction(0)
        for action, payoffs in enumerate(self.own[who].tolist()):
            blur = self._find_slack_around(means[action], payoffs, mixed)
            own_range = highest[action] - own[action]
            slack += own_range * abs(means[action] - mean) + highest[action] * blur
        return _round_towards(value, mean, slack)

    @form("{if against}<no|some> choice earns {who} more than {action}")
    def best_response(self, action: int, against: PureProfile, who: int) -> bool:
        """Say whether nothing earns more against choices of the others."""
        replies = self.find_replies(who, against)
        return bool(replies[action] == replies.max())

    @form("{if against}{action} <earns|does not earn> {who} more than {other}")
    def better_response(
        self,
        action: int,
        other: int,
        against: PureProfile,
        who: int,
    ) -> bool:
        """Compare two actions against choices of the others."""
        replies = self.find_replies(who, against)
        return bool(replies[action] > replies[other])

    @form("{if against}{action} <earns|does not earn> {who} the same as {other}")
    def equal_response(
        self,
        action: int,
        other: int,
        against: PureProfile,
        who: int,
    ) -> bool:
        """Compare two actions against choices of the others."""
        replies = self.find_replies(who, against)
        return bool(replies[action] == replies[other])

    @form("{if mixed}<no|some> choice earns {who} more on average than {action}")
    def best_response_to_mix(self, action: int, mixed: Belief, who: int) -> bool:
        """Say whether nothing earns more on average."""
        return action in self.list_best(who, mixed)

    @form("{if mixed}{action} <earns|does not earn> {who} more on average than {other}")
    def better_response_to_mix(
        self,
        action: int,
        other: int,
        mixed: Belief,
        who: int,
    ) -> bool:
        """Compare what two actions earn on average."""
        lead, slack = self.find_lead(who, action, other, mixed)
        return lead + slack > 0

    @form("{if mixed}{action} <earns|does not earn> {who} the same on average as {other}")
    def equal_response_to_mix(
        self,
        action: int,
        other: int,
        mixed: Belief,
        who: int,
    ) -> bool:
        """Compare what two actions earn on average."""
        lead, slack = self.find_lead(who, action, other, mixed)
        return abs(lead) <= slack

    # From which probability on: what is linear in a probability holds between two ends where it
    # holds at both.

    def _find_least_leads(
        self,
        player: int,
        action: int,
        chosen: int,
        share: Fraction,
        side: int,
    ) -> list[Fraction]:
        """Return how much more an action earns than each other one, at least.

        Wherever the other player chooses something with a probability above (side 1) or below
        (side -1) a share, short of the share itself: below 0 where that earns less at the share.
        """
        edge = share + side * find_rounding(share, 2)
        least = []
        for other in self.own[player]:
            leads = [self.unscale(lead) for lead in self.own[player][action] - other]
            often = leads.pop(chosen)
            # Beyond the edge lies the end at which the choice is certain, or those at which it is
            # not made.
            end = often if side > 0 else min(leads, default=Fraction(1))
            for seldom in leads:
                at_edge = edge * often + (1 - edge) * seldom
                end = min(end, at_edge) if at_edge < 0 else end
            least.append(end)
        return least

    @form(
        "if the probability that {chosen} is above {share}, {action} <earns|need not earn> {who}"
        " more than {other}"
    )
    def better_response_above(
        self,
        share: Fraction,
        action: int,
        other: int,
        chosen: int,
        who: int,
    ) -> bool:
        """Compare two actions where the other player chooses something often enough."""
        return self._find_least_leads(who, action, chosen, share=share, side=1)[other] > 0

    @form(
        "if the probability that {chosen} is below {share}, {action} <earns|need not earn> {who}"
        " more than {other}"
    )
    def better_response_below(
        self,
        share: Fraction,
        action: int,
        other: int,
        chosen: int,
        who: int,
    ) -> bool:
        """Compare two actions where the other player chooses something seldom enough."""
        return self._find_least_leads(who, action, chosen, share=share, side=-1)[other] > 0

    @form(
        "if the probability that {chosen} is above {share}, <no|some> choice <earns|can earn> {who}"
        " more than {action}"
    )
    def best_response_above(
        self,
        share: Fraction,
        action: int,
        chosen: int,
        who: int,
    ) -> bool:
        """Say whether nothing earns more where the other player chooses something often enough."""
        return min(self._find_least_leads(who, action, chosen, share=share, side=1)) >= 0

    @form(
        "if the probability that {chosen} is below {share}, <no|some> choice <earns|can earn> {who}"
        " more than {action}"
    )
    def best_response_below(
        self,
        share: Fraction,
        action: int,
        chosen: int,
        who: int,
    ) -> bool:
        """Say whether nothing earns more where the other player chooses something seldom enough."""
        return min(self._find_least_leads(who, action, chosen, share=share, side=-1)) >= 0

    # Dominance.

    def _compare(
        self,
        player: int,
        action: int,
        other: int,
        removed: _Removed,
    ) -> Numbers:
        """Return how much more one action earns than another in every case left.

        Differences are multiplied by `scale`.
        """
        cells = np.moveaxis(self.cells[player], player, 0)
        difference: Numbers = cells[action] - cells[other]
        opponents = [*range(player), *range(player + 1, len(self.cells))]
        for axis, opponent in enumerate(opponents):
            gone = [index for seat, index in removed if seat == opponent]
            difference = np.delete(difference, gone, axis=axis)
        return difference

    @form("{action} <strictly dominates|does not strictly dominate> {other} for {who}")
    def strictly_dominates(self, action: int, other: int, who: int) -> bool:
        """Say whether one action earns more than another in every case."""
        return self.strictly_dominates_without(action, other, (), who)

    @form("{action} <weakly dominates|does not weakly dominate> {other} for {who}")
    def weakly_dominates(self, action: int, other: int, who: int) -> bool:
        """Say whether one action earns never less than another, and somewhere more."""
        return self.weakly_dominates_without(action, other, (), who)

    @form(
        "once {removed} is gone, {action} <strictly dominates|does not strictly dominate> {other}"
        " for {who}"
    )
    def strictly_dominates_without(
        self,
        action: int,
        other: int,
        removed: _Removed,
        who: int,
    ) -> bool:
        """Say the same of the game that is left when some choices are eliminated."""
        leads = self._compare(who, action, other, removed)
        return bool(np.all(leads > 0))

    @form(
        "once {removed} is gone, {action} <weakly dominates|does not weakly dominate> {other} for"
        " {who}"
    )
    def weakly_dominates_without(
        self,
        action: int,
        other: int,
        removed: _Removed,
        who: int,
    ) -> bool:
        """Say the same of the game that is left when some choices are eliminated."""
        leads = self._compare(who, action, other, removed)
        return bool(np.all(leads >= 0) and np.any(leads > 0))

    def _list_others(self, action: int, player: int) -> list[int]:
        count = len(self.own[player])
        return [*range(action), *range(action + 1, count)]

    @form("{action} <is|is not> strictly dominant for {who}")
    def strictly_dominant(self, action: int, who: int) -> bool:
        """Say whether an action strictly dominates every other one."""
        others = self._list_others(action, who)
        return all(self.strictly_dominates(action, other, who) for other in others)

    @form("{action} <is|is not> weakly dominant for {who}")
    def weakly_dominant(self, action: int, who: int) -> bool:
        """Say whether an action weakly dominates every other one."""
        others = self._list_others(action, who)
        return all(self.weakly_dominates(action, other, who) for other in others)

    @form("{action} <is|is not> strictly dominated by a single choice for {who}")
    def strictly_dominated(self, action: int, who: int) -> bool:
        """Say whether some other action strictly dominates this one."""
        actions = range(len(self.own[who]))
        return any(self.strictly_dominates(other, action, who) for other in actions)

    @form("the mix in which {part} <strictly dominates|does not strictly dominate> {action}")
    def strictly_dominated_by_mix(
        self,
        action: int,
        part: tuple[int, Belief],
        who: int,
    ) -> bool:
        """Say whether a mix of a player's choices earns more than one of them in every case."""
        owner, mixed = part
        if owner != who:
            raise Ungrounded("a choice is dominated by a mix of the same player")
        leads = self.own[who] - self.own[who][action]
        for lead in leads.T.tolist():
            mean = _add_weighted(mixed.rows[0], lead) / self.subject.scale
            if mean + self.find_slack(mixed, lead) <= 0:
                return False
        return True

    @form("some mix <strictly dominates|does not strictly dominate> {action} for {who}")
    def strictly_dominated_by_some_mix(self, action: int, who: int) -> bool:
        """Say whether some mix earns more than an action in every case; it may be pure."""
        for one in find_dominated(self._scaled, strict=True):
            if (one.player, one.action) == (who, action):
                return True
        return False

    @cached_property
    def _scaled(self) -> NormalForm:
        """The game with payoffs times `scale`."""
        return NormalForm(self.cells)

    @cached_property
    def _left(self) -> Elimination:
        """What repeated elimination of strictly dominated actions leaves."""
        return iterated_elimination(self._scaled)

    @form(
        "{action} <survives|does not survive> the repeated elimination of what a choice or a mix"
        " strictly dominates, for {who}"
    )
    def survives_elimination(self, action: int, who: int) -> bool:
        """Say whether an action is left when what is strictly dominated goes, again and again."""
        return action in self._left.kept[who]

    @form(
        "the repeated elimination of what is strictly dominated <leaves|does not leave> only the"
        " outcome in which {outcome}"
    )
    def only_survivor(self, outcome: PureProfile) -> bool:
        """Say whether elimination leaves one action of each player, and which."""
        return self._left.kept == tuple((action,) for action in outcome)

    @form("<no|some> choice of {whose} is dominant")
    def no_dominant_choice(self, who: int) -> bool:
        """Say whether no action weakly dominates every other one."""
        actions = range(len(self.own[who]))
        return not any(self.weakly_dominant(action, who) for action in actions)

    # Equilibria and what is best for all.

    @form("the outcome in which {outcome} <is|is not> a Nash equilibrium")
    def equilibrium(self, outcome: PureProfile) -> bool:
        """Say whether nobody gains by deviating alone."""
        for player, action in enumerate(outcome):
            others = outcome[:player] + outcome[player + 1 :]
            if not self.best_response(action, others, player):
                return False
        return True

    @form("the number of pure Nash equilibria <is|is not> {value}")
    def pure_equilibria(self, value: Fraction) -> Fraction:
        """Count the outcomes that are equilibria."""
        stable = np.ones(self.cells.shape[1:], dtype=bool)
        for player, cells in enumerate(self.cells):
            best_reply = cells.max(axis=player, keepdims=True)
            stable &= np.asarray(cells == best_reply, dtype=bool)
        return Fraction(int(stable.sum()))

    @form("the number of Nash equilibria, pure and mixed, <is|is not> {value}")
    def equilibria(self, value: Fraction) -> Fraction | Proof:
        """Count all equilibria; where some are joined they are more than any number."""
        if self._left.solved:
            return Fraction(1)
        if max(len(one.equilibria) for one in self._components) > 1:
            return Proof(Verdict.REFUTED, "there are infinitely many")
        return Fraction(len(self._components))

    @form("it <is|is not> a Nash equilibrium that {mixes}")
    def mixed_equilibrium(self, mixes: Belief) -> bool:
        """Say whether nobody gains by deviating alone from a mix."""
        for player, row in enumerate(mixes.rows):
            best = self.list_best(player, mixes.leave_out(player))
            chosen = [action for action, weight in enumerate(row) if weight]
            if not set(chosen) <= set(best):
                return False
        return True

    @form("in <some|no> Nash equilibrium {part}")
    def mixed_equilibrium_part(self, part: tuple[int, Belief]) -> bool:
        """Say whether one of two players mixes so in some equilibrium.

        The other one mixes over its best replies. What of these keeps the first one's choices best
        is an interval, whose ends are replies themselves or points at which two choices tie: one of
        these points has to do.
        """
        player, mixed = part
        replies = self.list_best(1 - player, mixed)
        if len(replies) > 2:
            raise Ungrounded("the other player has more than two best replies to that mix")
        first = self.own[player][:, replies[0]].tolist()
        second = self.own[player][:, replies[-1]].tolist()
        chosen = [action for action, weight in enumerate(mixed.rows[0]) if weight]
        for weight in _list_ties(first, second):
            values = [weight * u + (1 - weight) * v for u, v in zip(first, second, strict=True)]
            highest = max(values)
            if all(values[action] == highest for action in chosen):
                return True
        return False

    @form("in equilibrium {who} <get> {value}")
    def equilibrium_payoff(self, who: int, value: Fraction) -> Fraction | Proof:
        """Say what a player gets in equilibrium.

        Open where one equilibrium pays this and another something else.
        """
        return _match_spans(value, list(self._list_spans(who)))

    @form("in the mixed equilibrium {who} <get> {value}")
    def mixed_equilibrium_payoff(self, who: int, value: Fraction) -> Fraction | Proof:
        """Say what a player gets in the mixed equilibrium; open where several pay differently."""
        spans = [span for span in self._list_spans(who) if not span.pure]
        return _match_spans(value, spans) if spans else Proof(Verdict.REFUTED)

    @cached_property
    def _components(self) -> tuple[Component, ...]:
        """All connected sets of equilibria."""
        if len(self.cells) != 2 or max(self.cells.shape) > _MOST_SOLVED:
            raise Ungrounded(
                f"all equilibria are found of two players with at most {_MOST_SOLVED} choices each"
            )
        return nash(self._scaled).components

    def _list_spans(self, who: int) -> Iterator[_PayoffSpan]:
        """Yield what a player gets in every connected set of equilibria, by its ends."""
        for component in self._components:
            ends = []
            for equilibrium in component.equilibria:
                payoffs = equilibrium.exact_payoffs
                if payoffs is None:
                    raise Ungrounded("its equilibria are not known exactly")
                ends.append(payoffs[who] / self.subject.scale)
            is_pure = component.isolated and component.equilibria[0].kind == "pure"
            yield _PayoffSpan(min(ends), max(ends), is_pure)

    @form(
        "<|it is not so that >everybody gets at least as much, and somebody more, if {outcome} than"
        " if {than}"
    )
    def pareto_dominates(self, outcome: PureProfile, than: PureProfile) -> bool:
        """Say whether one outcome is as good as another for all, and better for somebody."""
        leads = [cells[outcome] - cells[than] for cells in self.cells]
        return bool(min(leads) >= 0 and max(leads) > 0)

    @form(
        "<no|some> outcome is at least as good for everybody, and better for somebody, than that in"
        " which {outcome}"
    )
    def pareto_optimal(self, outcome: PureProfile) -> bool:
        """Say whether no outcome Pareto-dominates this one."""
        outcomes = np.ndindex(self.cells.shape[1:])
        return not any(self.pareto_dominates(better, outcome) for better in outcomes)


def _list_ties(first: list[int], second: list[int]) -> set[Fraction]:
    """Return 0, 1, and the weights of the first of two replies at which actions tie.

    The actions earn `first` and `second` against the two replies.
    """
    weights = {Fraction(0), Fraction(1)}
    for action, other in combinations(range(len(first)), 2):
        lead_on_first = first[action] - first[other]
        lead_on_second = second[action] - second[other]
        if lead_on_first * lead_on_second < 0:
            weights.add(Fraction(lead_on_second, lead_on_second - lead_on_first))
    return weights


def _round_towards(value: Fraction, mean: Fraction, slack: Fraction) -> Fraction:
    """Return the value that was written for a mean if it may be the mean rounded, else the mean."""
    allowed = find_rounding(value) + slack
    return value if abs(mean - value) <= allowed else mean


def _add_weighted(weights: Iterable[Fraction], values: Iterable[int | Fraction]) -> Fraction:
    """Return the sum of values times their weights."""
    total = Fraction(0)
    for weight, value in zip(weights, values, strict=True):
        if weight:
            total += weight * value
    return total


def _match_spans(value: Fraction, spans: Sequence[_PayoffSpan]) -> Fraction | Proof:
    """Return the only payoff there is, refute a value that no equilibrium has, or leave it open."""
    error = find_rounding(value)
    low = min(span.low for span in spans)
    high = max(span.high for span in spans)
    if low == high:
        return value if abs(low - value) <= error else low
    for span in spans:
        if span.low - error <= value <= span.high + error:
            why = "equilibria pay differently, and it is not said which one is meant"
            return Proof(Verdict.UNKNOWN, why)
    return Proof(Verdict.REFUTED)


def _multiply(rows: tuple[tuple[Fraction, ...], ...]) -> list[Fraction]:
    """Return the probability of every joint choice of players who mix."""
    weights = [Fraction(1)]
    for row in rows:
        weights = [w * p for w in weights for p in row]
    return weights
