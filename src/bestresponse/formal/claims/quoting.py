"""Whether a claim is in its quote: who translates may not put right what was said.

A model that translates "I get 4" as "payoff 3", which is true, would have a false sentence proved.
So a claim counts only if its words say it:

- every number is in the quote, as digits, a word, a fraction, per cent or a sum that is written
  out, next to the choices and the player that the claim has with it;
- every choice is named there, and no other choice of the same player instead;
- the player whom the claim is about is spoken of, or nobody is;
- a denial has its word, and a word of denial makes one;
- "more" and "less", "strictly" and "weakly", and the two sides of a comparison are not exchanged;
- a form of theory has its own term: "Nash" is not "Pareto", and a payoff is no equilibrium.

What the quote does not say may be in the sentence before it or in the heading above. This is a
check of words, not of grammar: it refuses some good translations, and those have no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

from bestresponse.formal.claims.claim import FORMS, Claim
from bestresponse.formal.claims.english.vocabulary import Vocabulary, load_english, split_words
from bestresponse.formal.claims.form import Move, Sort, number_text
from bestresponse.formal.claims.subject import Subject

Choices = frozenset[tuple[int, str]]
"""Choices with the players whose they are."""


class _Amount(NamedTuple):
    """A number at its place; `lost` if its words say that it is lost."""

    place: int
    value: Fraction
    lost: bool = False


class _Named(NamedTuple):
    """A choice that is named at a place: whose it may be, and which it may be."""

    place: int
    choices: Choices

    @property
    def owners(self) -> frozenset[int]:
        """The players whose choice it may be."""
        return frozenset(player for player, _ in self.choices)


class _Person(NamedTuple):
    """The players who are spoken of at a place."""

    place: int
    players: frozenset[int]


T = TypeVar("T", _Amount, _Named, _Person)


def _pick(listed: Iterable[T], start: int, end: int) -> list[T]:
    """Pick what stands from one place up to, not including, another one."""
    return [one for one in listed if start <= one.place < end]


class Said:
    """What the words of a passage name, each at its place."""

    def __init__(self, text: str, known: Vocabulary) -> None:
        self.known = known
        self.written = split_words(text)
        self.words = [word.lower() for word in self.written]
        self.tokens = list(known.find_known(text))
        self.everybody = frozenset(range(len(known.subject.players)))

    @property
    def is_table(self) -> bool:
        """Whether numbers belong to rows and columns, or to items of a list."""
        return "|" in self.words or self.words.count(":") > 2

    def find(self, kind: str, start: int = 0, end: int | None = None) -> list[int]:
        """Return the places of words of a list under "quoting"; "*" stands for any ending."""
        listed = load_english().lists["quoting"][kind]
        stems = tuple(word[:-1] for word in listed if word.endswith("*"))
        found = []
        for place in range(len(self.words))[max(0, start) : end]:
            word = self.words[place] if place not in self.taken else ""
            if word in listed or (stems and word.startswith(stems)):
                found.append(place)
        return found

    def find_part(self, place: int) -> tuple[int, int]:
        """Return where the part of the sentence begins and ends that has a place."""
        ends = self.find("parts")
        start = max((end for end in ends if end <= place), default=0)
        return start, min((end for end in ends if end > place), default=len(self.words))

    @cached_property
    def facing(self) -> set[int]:
        """The places of words behind which the choice of another player stands."""
        replies = self.find("replies")
        to = [place for place in replies if self.words[place + 1 : place + 2] == ["to"]]
        return {*self.find("facing"), *(place + 1 for place in to)}

    @cached_property
    def clauses(self) -> list[tuple[int, bool]]:
        """By place, the number of its clause, and whether that sets a case ("if she defects")."""
        facing = self.facing
        starts = {*self.find("cases"), *facing}
        ends = set(self.find("ends"))
        links = set(self.find("links"))
        people = {person.place for person in self.people}
        moves = {place for group in self.groups for place, _ in group}
        found = []
        number = 0
        in_case = has_move = is_facing = False
        for place in range(len(self.words)):
            goes_on = place in links and place - 1 in ends and in_case
            is_new = in_case and has_move and place in people and place - 1 not in links
            is_new = is_new or (is_facing and has_move and place not in moves)
            is_told = bool(self.find("yields", place, place + 1))
            is_new = is_new or (in_case and has_move and is_told)
            is_end = place in ends and place + 1 not in links
            if place in starts or is_end or is_new:
                number += 1
                in_case = place in starts
                is_facing = place in facing
                has_move = False
            has_move = has_move or place in moves
            found.append((number, in_case or goes_on))
        return found

    @cached_property
    def amounts(self) -> list[_Amount]:
        """Every number, and sums that are written out."""
        found = []
        for token in self.tokens:
            place = token.start_pos or 0
            is_pronoun = self.words[place] == "one" and not self.find("units", place, place + 2)
            counts_players = self.words[place].isalpha() and place + 1 in self.taken
            is_number = token.type in ("NUMBER", "SHARE")
            if is_number and not (is_pronoun or counts_players):
                value = Fraction(str(token))
                found.append(self._read_amount(place, value))
        for place in self.find("halves"):
            found.append(_Amount(place, Fraction(1, 2)))
        found.sort()
        for first, second in pairwise(found):
            if self.words[first.place + 1 : second.place] == ["+"]:
                found.append(_Amount(second.place, first.value + second.value))
        return found

    def _read_amount(self, place: int, value: Fraction) -> _Amount:
        if self.words[place + 1 : place + 2] == ["percent"]:
            value /= 100
        losses = self.find("losses", place - 5, place)
        return _Amount(place, value, bool(losses))

    @cached_property
    def people(self) -> list[_Person]:
        """Everybody who is spoken of."""
        rest = self.everybody - {0}
        found = []
        for token in self.tokens:
            place = token.start_pos or 0
            match token.type:
                case "PLAYER" | "POSSESSIVE" if self.words[place].startswith("you"):
                    # Who says "I" too speaks to somebody else.
                    found.append(_Person(place, rest if self.find("writer") else self.everybody))
                case "PLAYER" | "POSSESSIVE" | "THEY":
                    found.append(_Person(place, frozenset({int(token)})))
                case "EVERYBODY" if self.words[place - 1 : place + 1] == ["of", "all"]:
                    continue  # "the best of all"
                case "WE" | "EVERYBODY":
                    found.append(_Person(place, self.everybody))
                case "OTHERS":
                    found.append(_Person(place, rest))
        meant = {"everybody": self.everybody, "somebody": frozenset(), "others": rest}
        for kind, players in meant.items():
            for place in self.find(kind):
                found.append(_Person(place, players))
        for place in self.find("pronouns") if len(self.everybody) > 2 else []:
            earlier = _pick(found, 0, place)
            named = [one for one in earlier if len(one.players - {0}) == 1]
            found += [_Person(place, max(named).players)] if named else []
        return sorted(found, key=lambda person: (person.place, len(person.players)))

    @cached_property
    def taken(self) -> set[int]:
        """The places of all words of choices: they mean nothing else."""
        taken: set[int] = set()
        for place in range(len(self.words)):
            for length in range(1, 5):
                if self._find_moves(place, length):
                    taken |= set(range(place, place + length))
        return taken

    @cached_property
    def groups(self) -> list[list[tuple[int, set[tuple[int, int]]]]]:
        """The choices that are named, those listed with nothing but signs between them together."""
        groups: list[list[tuple[int, set[tuple[int, int]]]]] = []
        place = end = 0
        while place < len(self.words):
            length = next((n for n in range(4, 0, -1) if self._find_moves(place, n)), 0)
            if length:
                if not groups or self.words[end:place] not in ([","], ["/"]):
                    groups.append([])
                groups[-1].append((place, self._find_moves(place, length)))
                end = place + length
            place += length or 1
        return groups

    def _find_moves(self, place: int, length: int) -> set[tuple[int, int]]:
        """Return whose choices some words may name."""
        words = tuple(self.written[place : place + length])
        if len(words) < length:
            return set()
        is_letter = length == 1 and len(words[0]) == 1
        return self.known.forms.get(words if is_letter else tuple(map(str.lower, words)), set())

    @cached_property
    def named(self) -> list[_Named]:
        """Every choice that is named, with those whose it may be."""
        found: list[_Named] = []
        for group in self.groups:
            is_outcome = self._is_outcome(group)
            for number, (place, moves) in enumerate(group):
                owners = self._find_owners(place, found)
                if is_outcome:
                    owners = frozenset({self.known.subject.order.index(number)})
                choices = self._read_choices(place, moves)
                own = frozenset((who, move) for who, move in choices if who in owners)
                found.append(_Named(place, own or choices))
        return found

    def is_shared(self, named: _Named) -> bool:
        """Return whether all are said to make a choice."""
        before = _pick(self.people, 0, named.place)
        return bool(before) and before[-1].players == self.everybody == named.owners

    @cached_property
    def outcomes(self) -> list[Choices]:
        """The outcomes that are listed, as in "(R, B)"."""
        places = {one.place: one.choices for one in self.named}
        listed = [group for group in self.groups if self._is_outcome(group)]
        return [frozenset().union(*(places[place] for place, _ in group)) for group in listed]

    def _is_outcome(self, group: list[tuple[int, set[tuple[int, int]]]]) -> bool:
        first, last = group[0][0], group[-1][0]
        around = {*self.words[max(0, first - 1) : first], *self.words[last + 1 : last + 3]}
        is_listed = bool(around & {"(", ")", "->", "→", "=", "=>", ":"})
        return is_listed and len(group) == len(self.everybody)

    def _read_choices(self, place: int, moves: set[tuple[int, int]]) -> Choices:
        """Return the choices that are meant: where there are two, not doing one is the other."""
        actions = self.known.subject.actions
        choices = frozenset((player, actions[player][index]) for player, index in moves)
        if not (self.clauses[place][1] and self.find("denials", place - 4, place)):
            return choices
        meant = set()
        for player, denied in choices:
            if len(actions[player]) == 2:
                meant |= {(player, action) for action in actions[player] if action != denied}
        return frozenset(meant)

    def _find_owners(self, place: int, before: list[_Named]) -> frozenset[int]:
        """Return whose choice is named at a place: of whoever stands before it in its clause."""
        start = before[-1].place + 1 if before else 0
        if self.words[place - 1 : place] == [":"]:
            labels = [person.players for person in self.people if person.place == place - 2]
            if labels:
                return labels[0]
        while self.clauses[start][0] != self.clauses[place][0]:
            start += 1
        objects = set(self.find("objects"))
        near = _pick(self.people, start, place)
        if self.words[place].endswith("ing"):
            objects.discard(place - 1)  # "with me waiting"
        near = [person for person in near if person.place not in objects]
        names = [move.lower() for moves in self.known.subject.actions for move in moves]
        is_agent = self.words[place].endswith(("or", "er", "ors", "ers"))
        is_agent = is_agent and self.words[place] not in names
        if is_agent and self.words[place - 1] in ("two", "both"):
            return self.everybody
        if not near and (is_agent or self.facing & set(range(start, place))):
            facing = [one.players for one in _pick(self.people, 0, place) if one.players]
            is_known = facing and len(facing[-1]) == 1 and not is_agent
            return self.everybody - (facing[-1] if is_known else {0})
        if before and not near:
            is_joined = self.find("joins", start, place)
            if is_joined or self.words[start:place] == ["to"]:
                return before[-1].owners
        owners: frozenset[int] = frozenset()
        for person in near[-1:-3:-1]:
            if not owners or "and" in self.words[person.place : near[-1].place]:
                owners |= person.players
        return owners or self.everybody


class QuoteCheck:
    """Compares claims about one game with their quotes."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.words = Vocabulary(subject, 0)
        self.beside: set[Claim] = set()
        """All claims of the text, of which some count only together."""

    def find_fault(self, claim: Claim, sentence: str, clause: str, before: str) -> str:
        """Return what a claim has that the words of its quote do not; "" if there is nothing.

        They are those of its whole sentence, of its clause where a denial counts, and of what
        stands before it.
        """
        said = Said(sentence, self.words)
        earlier = Said(before, self.words)
        return (
            self._find_number(claim, said, earlier)
            or self._find_share(claim, said)
            or self._find_choice(claim, said, earlier)
            or self._find_player(claim, said)
            or self._find_sides(claim, said)
            or _find_denial(claim, Said(clause, self.words))
            or _find_direction(claim, said)
            or _find_term(claim, said, earlier)
        )

    def list_unused(self, sentence: str, claims: Iterable[Claim]) -> Iterator[str]:
        """Yield the numbers of a sentence that no claim uses."""
        used: Counter[Fraction] = Counter()
        for claim in claims:
            used.update(_list_arguments(claim, Sort.NUMBER))
            for mix in chain.from_iterable(_list_arguments(claim, Sort.MIXES)):
                used.update(share for _, share in mix.weights)
        for one in Said(sentence, self.words).amounts:
            for number in (one.value, -one.value):
                if used[number]:
                    used[number] -= 1
                    break
            else:
                yield number_text(one.value)

    def _find_number(self, claim: Claim, said: Said, earlier: Said) -> str:
        """Say which number of a claim is not said, or not of its player and its choices."""
        wanted = [] if _is_counted(claim, said) else list(_list_arguments(claim, Sort.NUMBER))
        used = [one for one in said.amounts if any(_is_said(n, one, claim) for n in wanted)]
        for value in wanted:
            own = [one for one in used if _is_said(value, one, claim)]
            told = any(_is_said(value, one, claim) for one in earlier.amounts)
            if not own and (len(used) < len(said.amounts) or not told):
                return f"the number {value} is not in its words"
            if said.is_table:
                return "a table is not read by its words"
            has_place = own and "value" in FORMS[claim.form].names
            if has_place and not any(self._is_of(claim, one.place, said) for one in own):
                return f"its words say {value} of another player or another choice"
        return ""

    def _find_share(self, claim: Claim, said: Said) -> str:
        """Say which mix is not said; one of its probabilities may be what the others leave."""
        for mix in chain.from_iterable(_list_arguments(claim, Sort.MIXES)):
            player = self.subject.players.index(mix.who)
            shares = dict(mix.weights)
            heard = [one for one in said.amounts if one.value in shares.values()]
            near = self._pair_shares(heard, said, player)
            given: dict[_Named, Fraction] = {}
            for amount, one in zip(heard, near, strict=True):
                if one and given.setdefault(one, amount.value) != amount.value:
                    return f"its words give one choice of {mix.who} two probabilities"
            told = 0
            for action, share in shares.items():
                places = [one for one in given if given[one] == share]
                told += any((player, action) in one.choices for one in places)
            if told < len(shares) - 1 and len(set(shares.values())) > 1:
                return f"its words do not say how {mix.who} mix"
        return ""

    def _pair_shares(
        self, shares: list[_Amount], said: Said, player: int
    ) -> Sequence[_Named | None]:
        """Return the choice of each probability: listed apart from them, they have their order."""
        listed = [one for one in said.named if player in one.owners]
        if shares and len(listed) == len(shares):
            first, last = shares[0].place, shares[-1].place
            if listed[-1].place < first or last < listed[0].place:
                return listed
        return [_find_near(said, one.place, player) for one in shares]

    def _is_of(self, claim: Claim, place: int, said: Said) -> bool:
        """Return whether a number is next to the player and the choices of its claim."""
        names = FORMS[claim.form].names
        who = self._find_who(claim)
        receivers = self._find_receivers(said, place)
        if who is not None and who not in (receivers or {0}):
            return False
        if "than" in names:
            return True
        if claim.form == "payoff" and said.find("aside", place - 2, place):
            return False
        return self._fits(claim, place, said)

    def _fits(self, claim: Claim, place: int, said: Said, but: int | None = None) -> bool:
        """Return whether the choices next to a place are those of a claim, but for one player's."""
        wanted = {*self._list_choices(claim)} - self._list_implied(claim, said)
        for player in {player for player, _ in wanted} - {but}:
            near = _find_near(said, place, player)
            if near is not None and not near.choices & wanted:
                return False
        return True

    def _find_receivers(self, said: Said, place: int) -> frozenset[int] | None:
        """Return who gets a number: by its place in a list, by "for" or "to", by who is named."""
        places = [one.place for one in said.amounts]
        run = [place]
        signs = {at for at, word in enumerate(said.words) if word in (",", "/")}
        while run[0] - 2 in places and run[0] - 1 in signs:
            run.insert(0, run[0] - 2)
        while run[-1] + 2 in places and run[-1] + 1 in signs:
            run.append(run[-1] + 2)
        if len(run) == len(said.everybody):
            return frozenset({self.subject.order.index(run.index(place))})
        if said.find("everybody", place + 1, place + 4):
            return said.everybody
        for giving in said.find("giving", place + 1, place + 4):
            named = _pick(said.people, giving + 1, giving + 3)
            if named:
                return named[0].players
        clause = said.clauses[place]
        same = _pick(said.people, 0, place)
        main = [one for one in same if said.clauses[one.place] == clause]
        main = main or [one for one in same if not said.clauses[one.place][1]]
        if len(main) > 1 and said.words[main[-2].place + 1 : main[-1].place] == ["and"]:
            return main[-2].players | main[-1].players
        return main[-1].players if main else None

    def _find_who(self, claim: Claim) -> int | None:
        if "who" not in FORMS[claim.form].names:
            return None
        return self.subject.players.index(claim["who"])

    def _list_choices(self, claim: Claim) -> Iterator[tuple[int, str]]:
        """Yield every choice of a claim with the player whose it is."""
        players = self.subject.players
        for action in _list_arguments(claim, Sort.ACTION):
            yield self._find_who(claim) or 0, action
        for actions in _list_arguments(claim, Sort.JOINT):
            yield from enumerate(actions)
        for name, action in chain.from_iterable(_list_arguments(claim, Sort.CHAIN)):
            if name in players:
                yield players.index(name), action

    def _find_choice(self, claim: Claim, said: Said, earlier: Said) -> str:
        """Say which choice of a claim is not named, or instead of which another one is."""
        players = self.subject.players
        wanted = {*self._list_choices(claim)} - self._list_implied(claim, said)
        own_player = self._find_who(claim) or 0
        if claim.form.startswith("equal_") and len(self.subject.actions[own_player]) == 2:
            # "I am indifferent" between the two that there are.
            wanted = {(player, action) for player, action in wanted if player != own_player}
        elif "other" in FORMS[claim.form].names and len(self.subject.actions[own_player]) == 2:
            # "Kit would switch to singing" from the other one that there is.
            turns = said.find("less") or said.find("denials")
            turns = turns or {"from", "than", "over", "instead", "compared"} & {*said.words}
            wanted -= set() if turns else {(own_player, claim["other"])}
        for player, action in sorted(wanted):
            named = [one for one in said.named if (player, action) in one.choices]
            others = [one for one in said.named if one.owners == {player}]
            told = any((player, action) in one.choices for one in earlier.named)
            told |= self._is_left(player, action, said)
            told |= self._is_any(claim, player, said)
            is_other = others and set(others).isdisjoint(named)
            if is_other or not (named or told):
                return f"its words do not say {action} of {players[player]}"
        names = FORMS[claim.form].names
        for name in ("outcome", "than"):
            if name in names and said.outcomes:
                meant = frozenset((players.index(who), action) for who, action in claim[name])
                if meant not in said.outcomes:
                    return "its words list other outcomes"
            elif name in names and said.named and all(map(said.is_shared, said.named)):
                actions = {action for _, action in claim[name]}
                if len(actions) > 1:
                    return "its words say the same of everybody"
        if "action" not in names or "value" in names:
            return ""
        own = (self._find_who(claim) or 0, claim["action"])
        places = [one.place for one in said.named if own in one.choices]
        fitting = [place for place in places if self._fits(claim, place, said, own[0])]
        if places and not fitting:
            return f"its words say {claim['action']} in another case"
        if "other" in names:
            return ""
        return self._find_key(own, said, "plays" if claim.form == "will_play" else "keys")

    def _list_implied(self, claim: Claim, said: Said) -> set[tuple[int, str]]:
        """Return the moves of a claim behind which alone a later one that is named can be made."""
        if self.subject.tree is None:
            return set()
        moves: list[Move] = []
        for name in {"outcome", "after"} & set(FORMS[claim.form].names):
            moves += claim[name]
        if "action" in FORMS[claim.form].names:
            moves.append(Move(claim["who"], claim["action"]))
        everywhere: list[str] = []
        for infoset in self.subject.tree.infosets:
            everywhere += infoset.moves
        told = {action for one in said.named for _, action in one.choices}
        implied = set()
        before: list[tuple[int, str]] = []
        for who, action in moves:
            if action in told and everywhere.count(action) == 1:
                implied.update(before)
            if who in self.subject.players:
                before.append((self.subject.players.index(who), action))
        return implied

    def _is_any(self, claim: Claim, player: int, said: Said) -> bool:
        """Return whether a payoff is said, and claimed, whatever a player does."""
        named = [one for one in said.named if player in one.owners]
        if claim.form != "payoff" or named or not said.find("any"):
            return False
        for action in self.subject.actions[player]:
            outcome = []
            for who, move in claim["outcome"]:
                is_own = who == self.subject.players[player]
                outcome.append(Move(who, action if is_own else move))
            if claim.change(outcome=tuple(outcome)) not in self.beside:
                return False
        return True

    def _is_left(self, player: int, action: str, said: Said) -> bool:
        """Return whether a choice is left to a player where only another one does something."""
        moves = self.subject.actions[player]
        for one in said.named:
            done = {move for _, move in one.choices}
            is_alone = said.find("alone", one.place - 3, one.place) and player not in one.owners
            if is_alone and len(moves) == 2 and action not in done:
                return True
        return False

    def _find_key(self, own: tuple[int, str], said: Said, keys: str) -> str:
        """Say whether what a choice is said to be is said of another one."""
        told = []
        for place in said.find(keys):
            start, stop = said.find_part(place)
            mine = [one for one in said.named if own[0] in one.owners]
            near = _pick(mine, start, stop) or _pick(mine, 0, place)[-1:]
            # "Dig and seed both survive": the sentence is cut between them.
            is_joined = "both" in said.words[start:place] and said.words[start] == "and"
            near += [one for one in mine if is_joined and one.place == start - 1]
            if near:
                told.append(any(own in one.choices for one in near))
        return "" if any(told) or not told else "its words say so of another choice"

    def _find_player(self, claim: Claim, said: Said) -> str:
        """Say whether a claim is about a player whom its words do not speak of."""
        who = self._find_who(claim)
        plain = [one.players for one in said.people if not said.clauses[one.place][1]]
        spoken = {player for players in plain for player in players}
        if who is None or who in spoken:
            return ""
        is_placed = "value" in FORMS[claim.form].names and not _is_counted(claim, said)
        action = claim["action"] if "action" in FORMS[claim.form].names else None
        owners = [actions for actions in self.subject.actions if action in actions]
        if (who == 0 and not spoken) or is_placed or (len(owners) == 1 and not spoken):
            return ""
        return f"its words do not speak of {claim['who']}"

    def _find_sides(self, claim: Claim, said: Said) -> str:
        """Say whether the two sides of a comparison are exchanged."""
        names = FORMS[claim.form].names
        if "than" in names:
            first, second = ({*map(tuple, claim[name])} for name in ("outcome", "than"))
        elif "other" in names:
            first, second = ({(claim["who"], claim[name])} for name in ("action", "other"))
        elif claim.form in ("best_response", "will_play"):
            moves = self.subject.actions[self._find_who(claim) or 0]
            first = {(claim["who"], claim["action"])}
            second = {(claim["who"], move) for move in moves} - first
        else:
            return ""
        if first == second:
            return "its words compare no choice with itself"
        sides = (first - second, second - first)
        for place in said.find("over"):
            word = said.words[place]
            passive = word == "by" and bool(said.find("passive", place - 1, place))
            before = self._list_sides(sides, said.named[::-1], range(place))
            after = self._list_sides(sides, said.named, range(place + 1, len(said.words)))
            is_beside = word in ("compared", "relative")
            if not (after and (before or is_beside)) or (word == "by" and not passive):
                continue
            less = {said.words[one] for one in said.find("less", place - 3, place)} - {"worst"}
            moved = word == "to" and "from" in said.words[:place]
            is_lost = is_beside and any(one.lost for one in said.amounts)
            turned = passive or bool(less) or moved or is_lost
            if (after[0] == 0) == (turned != claim.form.startswith("lower")):
                return ""
            return "its words compare the other way round"
        return ""

    def _list_sides(
        self, sides: tuple[set[tuple[str, str]], ...], named: list[_Named], places: range
    ) -> list[int]:
        """List on which side of a comparison the choices at some places are."""
        found = []
        for one in named:
            own = {(self.subject.players[player], action) for player, action in one.choices}
            on = [bool(own & side) for side in sides]
            if one.place in places and on[0] != on[1]:
                found.append(on.index(True))
        return found


def _list_arguments(claim: Claim, sort: Sort) -> Iterator[Any]:
    """Yield the arguments of a claim that are of a sort."""
    for (_, own), argument in zip(FORMS[claim.form].parameters, claim.args, strict=True):
        if own is sort:
            yield argument


def _is_counted(claim: Claim, said: Said) -> bool:
    """Return whether a number of equilibria or of times is said without one."""
    words = load_english().lists["quoting"]["counts"].get(claim.form, {})
    return bool(words) and str(claim["value"]) in map(words.get, said.words)


def _is_said(value: Fraction, amount: _Amount, claim: Claim) -> bool:
    signed = -amount.value if amount.lost else amount.value
    return value == signed or (value == amount.value and "than" in FORMS[claim.form].names)


def _find_near(said: Said, place: int, player: int) -> _Named | None:
    """Return the choice of a player that a number speaks of."""
    start, stop = said.find_part(place)
    own = [one for one in said.named if player in one.owners and one.place != place]
    near = _pick(own, start, stop) or _pick(own, 0, place)
    return near[-1] if near else None


_ABSORBING = ("no_dominant_choice", "guaranteed", "limited", "equal", "pure_equilibria")


def _find_denial(claim: Claim, said: Said) -> str:
    """Say what is wrong with the denial of a claim, or with its absence."""
    told: list[_Amount | _Named] = [*said.amounts, *said.named]
    places = [one.place for one in told] + said.find("keys")
    speaking = {said.clauses[place] for place in places}
    denials = [place for place in said.find("denials") if not said.clauses[place][1]]
    # "It isn't close, 5 beats 3": the first clause says nothing of the game.
    denials = [place for place in denials if not speaking or said.clauses[place] in speaking]
    names = FORMS[claim.form].names
    compares = {"other", "than", "first"} & set(names)
    plain = []
    for place in denials:
        stop = min(said.find("keys", place + 1), default=len(said.words))
        idioms = said.find("stays", place + 1, min(stop, place + 8))
        if not compares:
            idioms += said.find("measures", place + 1, min(stop, place + 6))
        if not idioms:
            plain.append(place)
    absorbs = claim.form.startswith(_ABSORBING)
    if claim.form == "no_dominant_choice" and not said.find("denials") + said.find("antonyms"):
        return "its words deny nothing"
    term = _find_own_term(claim)
    parts = {said.find_part(place) for place in said.find(term)} if term else set()
    if claim.negated and term != "without" and len(parts) == 1:
        # "Bonds are never bad, being dominated by stocks": that denial is about something else.
        start, stop = parts.pop()
        plain = [place for place in plain if start <= place < stop]
    if claim.negated and "except" in said.words:
        plain = [place for place in plain if place > said.words.index("except")]
    if claim.negated:
        return "" if len(plain) > absorbs or said.find("antonyms") else "its words deny nothing"
    return "its words deny something" if plain and not absorbs else ""


_CAUTIOUS = ("guaranteed_payoff_for", "guaranteed", "maximin", "minimax", "limited")
_TERMS = (
    *(*_CAUTIOUS, "perfect", "credible", "equilibri", "pareto_opt", "pareto", "surviv"),
    *("dominated_by", "without", "dominated", "dominant", "domina", "total", "respon", "average"),
    "knows",
)
_OTHER_NAMES = {
    "continuation": "perfect",
    "mutual": "total",
    "expected": "average",
    "mixed": "average",
    "highest": "more",
    "lowest": "less",
}
"""What forms are named after that need a word of their own; the first that fits counts."""


def _find_own_term(claim: Claim) -> str:
    named = next((term for term in (*_TERMS, *_OTHER_NAMES) if term in claim.form), "")
    return _OTHER_NAMES.get(named, named)


def _find_term(claim: Claim, said: Said, earlier: Said) -> str:
    """Say whether the word that a form needs is not said."""
    own = _find_own_term(claim)
    if not own or _is_counted(claim, said):
        return ""
    places = set(said.find(own))
    if claim.form.startswith("better"):
        places.update(said.find("more"), said.find("less"))
    if claim.form == "continuation_payoff":
        places.update(said.find("keys"))  # "with best play"
    if own == "limited":
        # "The most" is reached, "at most" need not be.
        places -= {place for place in said.find("extremes") if said.words[place - 1] == "the"}
    if own == "dominated":
        # Of "the elimination of dominated actions" none is named.
        places -= {place for place in places if "of" in said.words[place - 2 : place]}
    is_other = own == "pareto_opt" and said.find("dominated") and not said.find("denials")
    direction = _OTHER_NAMES.get(claim.form.partition("_")[0])
    if own == "total" and direction and not said.find(direction):
        return "its words use another term"
    is_said = bool(places or earlier.find(own)) and not is_other
    return "" if is_said else "its words use another term"


def _find_direction(claim: Claim, said: Said) -> str:
    """Say what is wrong with the direction of a comparison."""
    more, less = said.find("more"), said.find("less")
    form = claim.form
    if form.startswith(("highest", "limited")) and less and not more:
        return "its words speak of the least"
    if form.startswith(("lowest", "guaranteed")) and more and not less:
        return "its words speak of the most"
    if form.startswith("weakly") and said.find("strict"):
        return "its words say strictly"
    if form.startswith("strictly") and said.find("weak"):
        return "its words say weakly"
    same = said.find("same")
    if form.startswith("equal") and (more or less) and not same:
        return "its words compare"
    if form.startswith(("better", "best")) and same and not (more or less):
        return "its words say the same of both"
    if form == "payoff" and said.find("averages"):
        return "its words speak of an average"
    if form in ("equilibrium", "equilibria", "pure_equilibria"):
        return _find_kind(claim, said)
    if form in ("higher", "lower", "equal"):
        return _compare_numbers(claim, said)
    return ""


def _find_kind(claim: Claim, said: Said) -> str:
    """Say whether equilibria of another kind are meant: pure ones, or mixed ones too."""
    if claim.form == "equilibria":
        numbers = [one.place for one in said.amounts if one.value == claim["value"]]
        start, stop = said.find_part(numbers[0]) if numbers else (0, len(said.words))
        following = [one.place for one in said.amounts if one.place > (numbers or [stop])[0]]
        counted = said.words[start : min((stop, *following))]
        is_other = "pure" in counted and "mixed" not in counted
    else:
        is_other = "mixed" in said.words and "pure" not in said.words and not said.outcomes
    return "its words speak of equilibria of another kind" if is_other else ""


def _compare_numbers(claim: Claim, said: Said) -> str:
    first = [one.place for one in said.amounts if _is_said(claim["first"], one, claim)]
    second = [one.place for one in said.amounts if _is_said(claim["second"], one, claim)]
    if claim["first"] == claim["second"] and len(first) < 2:
        return "its words compare no number with itself"
    if not (first and second) or claim.form == "equal":
        return ""
    ends = sorted((min(first), max(second)))
    more, less = said.find("more", *ends), said.find("less", *ends)
    if not (more or less):
        more, less = said.find("more"), said.find("less")
    if bool(more) == bool(less):
        return "its words do not say which is more"
    upward = bool(more) == (claim.form == "higher")
    if (min(first) < max(second)) != upward:
        return "its words compare the other way round"
    return ""
