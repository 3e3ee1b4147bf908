"""Two checks without ground truth.

What a story says is tested on the game by rule, and the game is told back in words.

For the first a model reads the story and the names in the game, but not its rules, and lists what
the story says in a closed list of forms: who moves first, who knows what, what luck decides, what
somebody gets, what somebody prefers. Whether the game does so is decided here, without a model;
only the reading of the story is an opinion. For the second the words are made by rule from the
table (`games.logic.game`), so they say what the program does and not what a model believes it does;
the model only compares two texts, and its verdict is recorded as an opinion.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping
from bestresponse.formal.formalize.json_answer import (
    TEXT,
    list_schema,
    object_schema,
    read_exact,
    read_object,
)
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.games.describing import describe_table
from bestresponse.games.isomorphism import plain_name
from bestresponse.logic.programs.game_table import GameTable, Row
from bestresponse.models.base import Finish, Message, Model, Reply, Request, ask
from bestresponse.models.schema import schema_text

LUCK = "luck"
MOST_CLAIMS = 40
MOST_ASKED = 4
"""How often a check is asked for where its answer is cut off, each time with twice the room."""
_LONGEST_DIFFERENCE = 300
_STEPS = list_schema(object_schema(player=TEXT, move=TEXT))
_CLAIM = object_schema(
    words=TEXT,
    kind={
        "type": "string",
        "enum": [
            "moves first",
            "same time",
            "knows",
            "does not know",
            "probability",
            "payoff",
            "prefers",
        ],
    },
    player=TEXT,
    other=TEXT,
    number=TEXT,
    moves=_STEPS,
    rather_than=_STEPS,
)
CLAIMS_SCHEMA = schema_text(object_schema(claims=list_schema(_CLAIM)))


@dataclass(frozen=True, slots=True)
class TestedClaim:
    """The words of the story, and whether the game does as they say.

    Returns None where that cannot be tested.
    """

    words: str
    holds: bool | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """All claims that a model found in a story, tested."""

    claims: tuple[TestedClaim, ...]
    request: Request
    reply: Reply
    problem: str = ""
    """Why the answer cannot be read."""

    @property
    def broken(self) -> tuple[TestedClaim, ...]:
        """What the story says and the game does not do."""
        return tuple(claim for claim in self.claims if claim.holds is False)

    @property
    def held(self) -> int:
        """How many claims hold."""
        return sum(claim.holds is True for claim in self.claims)

    @property
    def agrees(self) -> bool:
        """Whether something was tested, and all of it holds."""
        return self.held > 0 and not self.broken


def check_claims(
    story: str,
    table: GameTable,
    model: Model,
    *,
    max_tokens: int = 1500,
    seed: int | None = None,
) -> ClaimCheck:
    """Ask what the story says, and test it on the game."""
    prompt = TEXTS.fill("claims", story=story.strip(), names=_list_names(table))
    request = Request(
        (Message("system", TEXTS.text("system_claims")), Message("user", prompt)),
        schema=CLAIMS_SCHEMA if model.abilities.schema else None,
        max_tokens=max_tokens,
        temperature=0.0,
        seed=seed,
    )
    request, reply = _ask_until_whole(model, request)
    try:
        return ClaimCheck(tuple(read_claims(reply.text, table)), request, reply)
    except InvalidGame as error:
        return ClaimCheck((), request, reply, str(error))


def _ask_until_whole(model: Model, request: Request) -> tuple[Request, Reply]:
    """Ask again, with twice the room, if an answer is cut off.

    A model that reasons needs room for both the reasoning and the answer.
    """
    reply = model.complete(request)
    for _ in range(MOST_ASKED - 1):
        if reply.finish is not Finish.LENGTH:
            break
        request = replace(request, max_tokens=2 * request.max_tokens)
        reply = model.complete(request)
    return request, reply


def read_claims(answer: str, table: GameTable) -> Iterable[TestedClaim]:
    """Read and test the claims in an answer."""
    claims = read_object(answer).get("claims")
    if not isinstance(claims, list):
        raise InvalidGame("expected a list of claims")
    for claim in claims[:MOST_CLAIMS]:
        if isinstance(claim, dict):
            kind = claim.get("kind")
            said = str(claim.get("words") or kind)
            words = " ".join(said.split())[:300]
            try:
                if kind not in _TESTS:
                    raise InvalidGame(f"there are no claims of the kind {str(kind)[:40]!r}")
                why = _TESTS[kind](_Reading(claim, table))
                yield TestedClaim(words, not why, why)
            except InvalidGame as error:
                yield TestedClaim(words, None, str(error))


_Step = tuple[str, str]
"""Who moves, and the move; a draw is a move of nature."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One claim and the game it is about."""

    claim: JsonMapping
    table: GameTable

    def find_player(self, key: str) -> str:
        """Return the player or luck that a field names."""
        name = str(self.claim.get(key)).strip()
        known = [*self.table.players, *([NATURE] if self.table.chancy else [])]
        wanted = NATURE if name.casefold() in (LUCK, NATURE, "chance") else name
        player = _match_name(wanted, known)
        if player is None:
            raise InvalidGame(f"the game has no {name[:40] or 'player'}")
        return player

    def list_steps(self, key: str) -> list[_Step]:
        """Return the moves and draws of a field, in order.

        Raises InvalidGame where the game has no such move.
        """
        listed = self.claim.get(key)
        steps = (
            [step for step in listed if isinstance(step, dict)] if isinstance(listed, list) else []
        )
        found: list[_Step] = []
        for step in steps:
            player = _Reading(step, self.table).find_player("player")
            written = str(step.get("move")).strip()
            made: list[str] = []
            for row in self.table.rows:
                made += [move for mover, move in row.moves if mover == player]
            move = _match_name(written, made)
            if move is None:
                raise InvalidGame(f"no play has the moves {player}: {written[:40]}")
            found.append((player, move))
        return found

    def find_ends(self, key: str) -> list[Row]:
        """Return the ends in which all the moves of a field are made."""
        made = self.list_steps(key)
        rows = [row for row in self.table.rows if {*made} <= {*row.moves}]
        if not made or not rows:
            listing = ", ".join(f"{player}: {move}" for player, move in made)[:200]
            raise InvalidGame(f"no play has the moves {listing}" if made else "it names no moves")
        return rows

    def list_payoffs(self, rows: Sequence[Row], player: str) -> list[Fraction]:
        """Return what a player gets at these ends, without repetition."""
        seat = self.table.players.index(player)
        return list(dict.fromkeys(row.payoffs[seat] for row in rows))


def _match_name(name: str, known: Sequence[str]) -> str | None:
    """Return the name unchanged if the game has it, else the first plainly the same.

    A is not A'.
    """
    alike = (candidate for candidate in known if plain_name(candidate) == plain_name(name))
    return name if name in known else next(alike, None)


def _test_first(reading: _Reading) -> str:
    player = reading.find_player("player")
    first: set[str] = set()
    together: set[str] = set()
    for row in reading.table.rows:
        movers = [mover for mover, _ in row.moves]
        players = [mover for mover in movers if mover != NATURE]
        first.add(players[0] if players else "nobody")
        together.update(movers[: _find_first_block(row)])
    if player in first | together:
        return ""
    return f"{', '.join(sorted(first))} moves first"


def _find_first_block(row: Row) -> int:
    """Return how many moves are made by the end of the first block in which a player moves."""
    start = 0
    for size in row.blocks:
        block = row.moves[start : start + size]
        start += size
        if any(mover != NATURE for mover, _ in block):
            return start
    return start


def _test_same_time(reading: _Reading) -> str:
    player = reading.find_player("player")
    other = reading.find_player("other")
    table = reading.table
    if _choose_together(table, player, other) or _choose_together(table, other, player):
        return ""
    return f"{player} and {other} never choose without knowing something of each other's choice"


def _choose_together(table: GameTable, earlier: str, later: str) -> bool:
    """Whether a player somewhere knows nothing of the last choice of an earlier one.

    The earlier one is listed before, such as in one round.
    """
    options: dict[object, set[str]] = {}
    chosen: dict[object, set[str]] = {}
    possible: dict[object, set[str]] = {}
    for row in table.rows:
        for depth, (mover, move) in enumerate(row.moves):
            if mover == earlier:
                options.setdefault(table.knowledge(row, depth, earlier), set()).add(move)
    for row in table.rows:
        for depth, (mover, _) in enumerate(row.moves):
            before = [number for number in range(depth) if row.moves[number][0] == earlier]
            if mover == later and before:
                position = (table.knowledge(row, depth, later), len(before))
                last = before[-1]
                _, last_move = row.moves[last]
                chosen.setdefault(position, set()).add(last_move)
                choices = options[table.knowledge(row, last, earlier)]
                possible.setdefault(position, set()).update(choices)
    return any(moves == possible[position] for position, moves in chosen.items())


def _test_knowledge(reading: _Reading) -> str:
    player = reading.find_player("player")
    other = reading.find_player("other")
    named = [move for mover, move in reading.list_steps("moves") if mover == other]
    knows = _knows(reading.table, player, other, named)
    if knows == (reading.claim["kind"] == "knows"):
        return ""
    return (
        f"{player} knows it when choosing" if knows else f"{player} does not know it when choosing"
    )


class _Decision(NamedTuple):
    """One of the choices or draws of a player: what can result, and its number.

    The number is how many alike came before in the same play.
    """

    options: frozenset[str]
    number: int


def _knows(table: GameTable, player: str, other: str, named: Sequence[str]) -> bool:
    """Return whether a player, choosing after another has moved, can tell that one's moves so far.

    Where the other moves or luck draws several times, `named` says by its outcomes which time is
    meant. InvalidGame where it does not say so, and some of these are known and others are not.
    """
    plays = _list_plays(table)
    meant: dict[_Decision, None] = {}
    for play in plays:
        for (mover, _), decision in zip(play.row.moves, play.decisions, strict=True):
            is_named = not named or decision.options & {*named}
            if mover == other and is_named and len(decision.options) > 1:
                meant[decision] = None
    apart = [_can_tell(table, plays, player, other, {decision}) for decision in meant]
    told = {known for known in apart if known is not None}
    if told == {True, False}:
        raise InvalidGame(
            f"{player} knows some of it when choosing; it does not say which draw or choice is"
            " meant"
        )
    # Each by itself may be told apart while all of them together are not.
    return told == {True} and _can_tell(table, plays, player, other, meant) is True


class _Play(NamedTuple):
    """A play, and the decision behind each of its moves."""

    row: Row
    decisions: list[_Decision]


def _list_plays(table: GameTable) -> list[_Play]:
    options: dict[tuple[_Step, ...], set[str]] = {}
    for row in table.rows:
        for depth, (_, move) in enumerate(row.moves):
            options.setdefault(row.moves[:depth], set()).add(move)
    plays = []
    for row in table.rows:
        decisions = []
        alike: Counter[tuple[str, frozenset[str]]] = Counter()
        for depth, (mover, _) in enumerate(row.moves):
            possible = frozenset(options[row.moves[:depth]])
            decisions.append(_Decision(possible, alike[mover, possible]))
            alike[mover, possible] += 1
        plays.append(_Play(row, decisions))
    return plays


def _can_tell(
    table: GameTable,
    plays: Iterable[_Play],
    player: str,
    other: str,
    meant: Collection[_Decision],
) -> bool | None:
    """Return whether a player who chooses later can tell the results of decisions.

    Returns None where it never chooses later.

    What is chosen at the same time comes neither before nor after.
    """
    seen: dict[object, set[tuple[str, ...]]] = {}
    for row, decisions in plays:
        starts = list(accumulate(row.blocks, initial=0))
        for depth, (chooser, _) in enumerate(row.moves):
            before = max(start for start in starts if start <= depth)
            steps = zip(row.moves[:before], decisions[:before], strict=True)
            done = []
            for (mover, move), decision in steps:
                if mover == other and decision in meant:
                    done.append(move)
            if chooser == player and done:
                known = table.knowledge(row, depth, player)
                seen.setdefault(known, set()).add(tuple(done))
    if not seen:
        return None
    return all(len(histories) == 1 for histories in seen.values())


def _test_probability(reading: _Reading) -> str:
    """Test the probability of the last draw named, after the named moves and draws."""
    wanted = read_exact(reading.claim.get("number"))
    if wanted is None:
        raise InvalidGame("it gives no probability")
    if not reading.table.chancy:
        return "nothing is drawn in the game"
    *given, draw = reading.list_steps("moves") or [("", "")]
    if draw[0] != NATURE:
        raise InvalidGame("it does not say what is drawn")
    draws = _find_draws(reading.table, draw, given)
    if not draws:
        raise InvalidGame(f"{draw[1]} is never drawn after the moves that are named")
    chances = sorted({chance for _, chance, _ in draws})
    if chances == [wanted]:
        return ""
    listing = " or ".join(map(str, chances))
    # How likely a draw is in all depends on the players where they move before it.
    is_played = any(played for *_, played in draws)
    total = None if is_played else sum(before * chance for before, chance, _ in draws)
    if total == wanted and not given:
        return ""
    if total == wanted:
        raise InvalidGame(
            f"{draw[1]} is drawn with probability {listing}, and with all that is named {wanted}"
        )
    if wanted in chances:
        raise InvalidGame(
            f"{draw[1]} is drawn with probability {listing}; it does not say after what"
        )
    return f"{draw[1]} is drawn with probability {listing}"


class _Draw(NamedTuple):
    """How likely a draw is, and how likely luck alone makes what comes before it.

    Also says whether players move before.
    """

    before: Fraction
    chance: Fraction
    played: bool


def _find_draws(table: GameTable, draw: _Step, given: Sequence[_Step]) -> list[_Draw]:
    """Return every position at which something is drawn after the given moves and draws."""
    found: dict[tuple[_Step, ...], _Draw] = {}
    for row in table.rows:
        before = Fraction(1)
        for depth, (step, chance) in enumerate(zip(row.moves, row.chances, strict=True)):
            earlier = row.moves[:depth]
            if step == draw and chance is not None and {*given} <= {*earlier}:
                played = any(mover != NATURE for mover, _ in earlier)
                found[earlier] = _Draw(before, chance, played)
            before *= 1 if chance is None else chance
    return list(found.values())


def _test_payoff(reading: _Reading) -> str:
    wanted = read_exact(reading.claim.get("number"))
    player = reading.find_player("player")
    if wanted is None or player == NATURE:
        raise InvalidGame("it gives no number")
    got = reading.list_payoffs(reading.find_ends("moves"), player)
    return "" if got == [wanted] else f"{player} gets {' or '.join(map(str, got))}"


def _test_preference(reading: _Reading) -> str:
    player = reading.find_player("player")
    if player == NATURE:
        raise InvalidGame("luck prefers nothing")
    better = reading.list_payoffs(reading.find_ends("moves"), player)
    worse = reading.list_payoffs(reading.find_ends("rather_than"), player)
    return (
        ""
        if min(better) > max(worse)
        else f"{player} gets {min(better)} there and {max(worse)} in the other case"
    )


_TESTS: dict[str, Callable[[_Reading], str]] = {
    "moves first": _test_first,
    "same time": _test_same_time,
    "knows": _test_knowledge,
    "does not know": _test_knowledge,
    "probability": _test_probability,
    "payoff": _test_payoff,
    "prefers": _test_preference,
}


def _list_names(table: GameTable) -> str:
    lines = []
    for player, moves in zip(table.players, table.moves, strict=True):
        lines.append(f"{player}: {', '.join(moves)}")
    drawn: dict[str, None] = {}
    for row in table.rows:
        drawn |= dict.fromkeys(move for mover, move in row.moves if mover == NATURE)
    return "\n".join([*lines, *([f"{LUCK}: {', '.join(drawn)}"] if drawn else [])])


# In capitals anywhere, or alone at the beginning of a line: "the rules do not agree" is no
# agreement.
_VERDICT = re.compile(
    r"\b(?:AGREES|DIFFERS)\b|^[^A-Za-z\n]{0,20}(?i:AGREES?|DIFFERS?)(?=[*_ \t]{0,10}(?:[.:;(-]|$))",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class BackCheck:
    """What the model says: `agrees` is None where its answer could not be read."""

    agrees: bool | None
    why: str
    request: Request
    reply: Reply


def compare_with_story(
    story: str,
    table: GameTable,
    model: Model,
    *,
    max_tokens: int = 1500,
    seed: int | None = None,
) -> BackCheck:
    """Ask `model` whether the game is that of the story."""
    plain = ask(
        TEXTS.fill("compare", story=story.strip(), game=describe_table(table)),
        max_tokens=max_tokens,
    )
    request = Request(plain.messages, max_tokens=max_tokens, temperature=0.0, seed=seed)
    request, reply = _ask_until_whole(model, request)
    verdicts = list(_VERDICT.finditer(reply.text))
    difference = next((verdict for verdict in verdicts if "DIFFER" in verdict[0].upper()), None)
    if difference is not None:
        line, _, _ = reply.text[difference.end() :].partition("\n")
        words = line.lstrip(" \t:.*-").rstrip()
        return BackCheck(False, words[:_LONGEST_DIFFERENCE], request, reply)
    if reply.finish is Finish.LENGTH:
        why = f"the answer was cut off after {request.max_tokens:,} tokens; raise max_tokens"
        return BackCheck(None, why, request, reply)
    if not verdicts:
        return BackCheck(
            None,
            "the answer is neither AGREES nor DIFFERS",
            request,
            reply,
        )
    return BackCheck(True, "", request, reply)
