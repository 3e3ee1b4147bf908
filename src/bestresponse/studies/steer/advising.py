"""Advice in the middle of a conversation: in which manner to speak next, and what that would earn.

A run leaves a file `adviser.json` with every situation of its solved trees (who speaks, what they
know, what was said) and what the policy advises there; a run of imitation also leaves the network
that it trained. `advise` looks the situation up:

    solved tree     the situation is on record: the probabilities of the policy, and what every
                    manner earns there, the speaker going on by the policy and the partners
                    unguided; exact on these texts
    learnt policy   it is not: the probabilities of the network, and the mean earnings of the ten
                    most similar situations that the network learnt from

In a game of offers without secrets (`haggling`) the advice is a move of subgame-perfect play, and
no run is needed.

Where several recorded games have the same situation (a debate that nobody has opened yet), the
advice is their mean.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from pydantic import TypeAdapter

from bestresponse.analysis.truth import find_truth
from bestresponse.core.capabilities import HasPositions
from bestresponse.core.errors import InvalidGame, StoreError, UsageError
from bestresponse.core.files import read_text_file
from bestresponse.core.game import AnyGame
from bestresponse.core.json import canonical
from bestresponse.core.registry import games
from bestresponse.games.capabilities import HasDeals
from bestresponse.games.dialogue.conceding import ACCEPT, LEAVE
from bestresponse.games.dialogue.domain import Domain, Scenario, load_domain
from bestresponse.games.dialogue.game import Dialogue, DialogueGame, Spoken
from bestresponse.games.dialogue.schemas import read_by_schema, shorten
from bestresponse.games.lookup import find_game
from bestresponse.runs.run import list_manifests
from bestresponse.studies.steer.embedding import Embedding, HashedWords, MiniLM
from bestresponse.studies.steer.imitation import PolicyNetwork, embed_texts
from bestresponse.studies.steer.solving import value_moves
from bestresponse.telling.render import write_rules
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.tree import Policy

FILE = "adviser.json"
_NEAREST = 10
"""Earnings of a situation that was never met are those of so many similar ones."""
_LONGEST = 4000
"""Characters of a message, as in a dialogue."""
_MOST_SITUATIONS = 20_000
"""More are not written down: the file would have hundreds of megabytes."""

Line = str | Mapping[str, str] | Sequence[str]
"""A message: its text, (name, text), or {"text": ...} with "from" and "manner" where they are
known."""
Key = tuple[int, str, tuple[str, ...]]
"""Who speaks, what it knows alone, and the messages so far."""


@dataclass(frozen=True, slots=True)
class Advice:
    """How to speak next: the likeliest manner, all probabilities, and expected earnings.

    `unguided` is what speaking in the neutral manner earns instead; `worth` is what each manner
    earns where the solved tree is known. `games` says of how many recorded games, or of how many
    similar situations, these are the mean.
    """

    speaker: int
    manner: str
    instruction: str
    probabilities: Mapping[str, float]
    earns: float
    unguided: float
    worth: Mapping[str, float]
    source: Literal["solved tree", "nearest situation", "learnt policy", "solved positions"]
    policy: str
    games: int

    def to_json(self) -> dict[str, object]:
        """Return the advice as plain JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Situation:
    """One information set of a solved tree with the policy's advice.

    The speaker is known by its number.
    """

    speaker: int
    private: Mapping[str, object]
    public: Mapping[str, str]
    told: str
    said: tuple[str, ...]
    own: tuple[str, ...]
    probabilities: Mapping[str, float]
    worth: Mapping[str, float]
    unguided: float

    @property
    def earns(self) -> float:
        """What following the policy earns."""
        return sum(chance * self.worth[manner] for manner, chance in self.probabilities.items())

    def fits(self, public: Mapping[str, str] | None, own: Sequence[str]) -> bool:
        """Tell whether what else somebody knows is so here.

        This concerns what is public, and own manners if they are known.
        """
        if public is not None and any(
            self.public.get(part) != text for part, text in public.items()
        ):
            return False
        pairs = zip(self.own, own, strict=False)
        return all(not manner or before.rpartition(" to ")[0] == manner for before, manner in pairs)

    @property
    def key(self) -> Key:
        """What has to be the same for a situation to be known."""
        return self.speaker, canonical(self.private), self.said


def list_situations(policy: Policy, unguided: Policy) -> Iterator[Situation]:
    """List the advice at every information set of a recorded dialogue, and what it earns."""
    tree = policy.tree
    worth = value_moves(policy, unguided)
    alone = value_moves(unguided, unguided)
    for index, infoset in enumerate(tree.infosets):
        _, told, _, facts, *_ = json.loads(infoset.key)
        part = slice(int(tree.first_move[index]), int(tree.first_move[index + 1]))
        neutral = unguided.probabilities[part]
        yield Situation(
            speaker=facts["seat"],
            private=facts["private"],
            public=facts["public"],
            told=told,
            said=tuple(text for _, _, text in facts["said"]),
            own=tuple(facts["own"]),
            probabilities=dict(
                zip(infoset.moves, policy.probabilities[part].tolist(), strict=True)
            ),
            worth=dict(zip(infoset.moves, worth[part].tolist(), strict=True)),
            unguided=float(neutral @ alone[part]),
        )


class StoredRun(Protocol):
    """A run, of which only its folder is needed."""

    @property
    def path(self) -> Path:
        """The folder of the run."""


@dataclass(frozen=True, slots=True)
class _AdviserFile:
    """The form of the file."""

    domain: str
    digest: str
    manners: str
    replies: int
    policy: str
    embed: str
    network: list[dict[str, object]] | None
    situations: tuple[Situation, ...]


_FILE_FORM = TypeAdapter(_AdviserFile)


@dataclass(frozen=True, eq=False)
class Adviser:
    """Everything that a run knows about how to speak in one domain.

    `manners` names the set of actions, `replies` is how many messages each speaker writes, `policy`
    whose advice it is.
    """

    domain: Domain
    manners: str
    replies: int
    policy: str
    situations: tuple[Situation, ...]
    network: PolicyNetwork | None = None
    embed: str = "words"

    @cached_property
    def _known(self) -> dict[Key, list[Situation]]:
        known: dict[Key, list[Situation]] = {}
        for situation in self.situations:
            known.setdefault(situation.key, []).append(situation)
        return known

    def to_json(self) -> dict[str, object]:
        """Return the adviser as plain JSON data, the domain by its digest."""
        return {
            "domain": self.domain.name,
            "digest": self.domain.digest,
            "manners": self.manners,
            "replies": self.replies,
            "policy": self.policy,
            "embed": self.embed,
            "network": None if self.network is None else self.network.to_json(),
            "situations": [asdict(situation) for situation in self.situations],
        }

    @classmethod
    def from_text(cls, text: str, domain: Domain) -> Adviser:
        """Return the adviser that was written as JSON.

        Raises UsageError where it is one for another domain.
        """
        stored = _FILE_FORM.validate_json(text)
        if stored.domain != domain.name or stored.digest != domain.digest:
            other = "another version of it" if stored.domain == domain.name else stored.domain
            raise UsageError(f"it is for {other}, not for {domain.name}")
        return cls(
            domain=domain,
            manners=stored.manners,
            replies=stored.replies,
            policy=stored.policy,
            situations=stored.situations,
            network=None if stored.network is None else PolicyNetwork.from_json(stored.network),
            embed=stored.embed,
        )

    def advise(
        self,
        transcript: Sequence[Line],
        private: Mapping[str, object],
        *,
        names: Sequence[str] = (),
        public: Mapping[str, str] | None = None,
    ) -> Advice:
        """Say how the next speaker should speak; see `advise`."""
        lines = [_read_line(line, number) for number, line in enumerate(transcript, 1)]
        names = self._check_names(lines, names)
        self._check_length(lines)
        speaker = len(lines) % self.domain.players
        known_alone = self._read_private(private)
        heard = tuple(text for _, text, _ in lines)
        found = self._known.get((speaker, canonical(known_alone), heard), [])
        own = [manner for _, _, manner in lines[speaker :: self.domain.players]]
        found = [one for one in found if one.fits(public, own)]
        if found:
            return self._combine(speaker, found)
        told = self._tell(speaker, lines, names, known_alone, public or {})
        row = embed_texts([told], ["\n".join(reversed(heard))], self._embedding)
        similar = self._find_similar((speaker, len(heard)), row[0])
        if self.network is not None:
            if row.shape[1] != self.network.width:
                raise StoreError(
                    f"the learnt policy reads {self.network.width} numbers, the embedding has"
                    f" {row.shape[1]}"
                )
            options = self.domain.manners(self.manners).options
            probabilities = dict(zip(options, self.network(row)[0].tolist(), strict=True))
            manner, instruction = self._put_in_words(probabilities)
            # What it earns is the mean of similar situations.
            return replace(
                self._combine(speaker, similar[:_NEAREST]),
                manner=manner,
                instruction=instruction,
                probabilities=probabilities,
                worth={},
                source="learnt policy",
            )
        alike = [one for one in similar if canonical(one.private) == canonical(known_alone)]
        nearest = self._combine(speaker, (alike or similar)[:1])
        return replace(nearest, source="nearest situation")

    def _check_names(
        self,
        lines: Sequence[tuple[str, str, str]],
        names: Sequence[str],
    ) -> tuple[str, ...]:
        """Return the names of the speakers in their order.

        Raises UsageError where the transcript is out of turn.
        """
        players = self.domain.players
        if names and len(names) != players:
            raise UsageError(f"{self.domain.name} has {players} speakers, got {len(names)} names")
        known: list[str] = list(names) or [""] * players
        for number, (name, _, _) in enumerate(lines):
            seat = number % players
            if name and known[seat] and name != known[seat]:
                raise UsageError(
                    f"message {number + 1} is by {name}; it is the turn of {known[seat]}"
                )
            if name and name in known[:seat] + known[seat + 1 :]:
                raise UsageError(
                    f"message {number + 1} is by {name}, who is not on turn: speakers take turns"
                )
            known[seat] = known[seat] or name
        drawn = iter(name for name in self.domain.generate["names"] if name not in known)
        return tuple(name or next(drawn) for name in known)

    def _check_length(self, lines: Sequence[object]) -> None:
        """Refuse a talk that is over."""
        most = (self.replies + self.domain.deal.sealed) * self.domain.players
        if len(lines) >= most:
            raise UsageError(
                f"the transcript has {len(lines)} messages; "
                f"a {self.domain.name} dialogue of this run is over after {most}"
            )

    def _read_private(self, private: Mapping[str, object]) -> Mapping[str, object]:
        schema = self.domain.deal.private_schema(self.domain.generate)
        try:
            read: Mapping[str, object] = read_by_schema(private, schema, "private")
        except InvalidGame as error:
            raise UsageError(f"this does not fit {self.domain.name}: {error}") from None
        return read

    def _tell(
        self,
        speaker: int,
        lines: Sequence[tuple[str, str, str]],
        names: tuple[str, ...],
        private: Mapping[str, object],
        public: Mapping[str, str],
    ) -> str:
        """Write what a speaker in this situation is told."""
        if "topic" in self.domain.deal.public and "topic" not in public:
            raise UsageError(f"the topic of the {self.domain.name} is missing: give it in `public`")
        # Only the speaker's own private information is told to it.
        scenario = Scenario(names, dict(public), (private,) * self.domain.players)
        manners = self.domain.manners(self.manners)
        game = DialogueGame(self.domain, (scenario,), manners, self.replies)
        players = self.domain.players
        said = tuple(
            Spoken(number % players, manners.neutral, (number + 1) % players, text)
            for number, (_, text, _) in enumerate(lines)
        )
        return write_rules(game.view(Dialogue(0, said), game.roles[speaker]))

    def _combine(self, speaker: int, found: Sequence[Situation]) -> Advice:
        """Average what is known of the same situation in several games."""
        probabilities = _average([one.probabilities for one in found])
        manner, instruction = self._put_in_words(probabilities)
        return Advice(
            speaker=speaker,
            manner=manner,
            instruction=instruction,
            probabilities=probabilities,
            earns=float(np.mean([one.earns for one in found])),
            unguided=float(np.mean([one.unguided for one in found])),
            worth=_average([one.worth for one in found]),
            source="solved tree",
            policy=self.policy,
            games=len(found),
        )

    def _find_similar(self, place: tuple[int, int], row: Array) -> list[Situation]:
        """List the situations of whoever speaks after as many messages, the most similar first."""
        here = self._places.get(place, [])
        if not here:
            raise UsageError(
                f"no dialogue of the run has a situation after {place[1]} messages; expected a"
                " run with as many replies"
            )
        if place not in self._vectors:
            told = [one.told for one in here]
            said = ["\n".join(reversed(one.said)) for one in here]
            self._vectors[place] = embed_texts(told, said, self._embedding)
        nearest = np.argsort(-(self._vectors[place] @ row), kind="stable")
        return [here[index] for index in nearest.tolist()]

    def _put_in_words(self, probabilities: Mapping[str, float]) -> tuple[str, str]:
        """Return the likeliest manner and what a writer is told of it."""
        manner = max(probabilities, key=lambda name: probabilities[name])
        plain = manner.partition(", to ")[0]
        return manner, self.domain.manners(self.manners).texts[plain]

    @cached_property
    def _embedding(self) -> Embedding:
        return MiniLM() if self.embed == "minilm" else HashedWords()

    @cached_property
    def _vectors(self) -> dict[tuple[int, int], Array]:
        """The numbers of all situations of a place, made when they are first needed."""
        return {}

    @cached_property
    def _places(self) -> dict[tuple[int, int], list[Situation]]:
        """All situations, by who speaks after how many messages."""
        places: dict[tuple[int, int], list[Situation]] = {}
        for one in self.situations:
            places.setdefault((one.speaker, len(one.said)), []).append(one)
        return places


def _read_line(line: object, number: int) -> tuple[str, str, str]:
    """Return name, text and manner of a message; UsageError where it is none."""
    match line:
        case str():
            name = ""
            text = line
            manner = ""
        case {"text": str(text), **more}:
            name = str(more.get("from", ""))
            manner = str(more.get("manner", ""))
        case (str(name), str(text)):
            manner = ""
        case _:
            raise UsageError(
                f"message {number} is {shorten(line)}, expected a text, a name with a text, or an"
                " object with `text`"
            )
    if not text.strip() or len(text) > _LONGEST:
        raise UsageError(
            f"message {number} has {len(text.strip())} characters, expected 1 to {_LONGEST}"
        )
    return name.strip(), text.strip(), manner.strip()


def _average(tables: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average numbers by name; a name that is missing counts as 0."""
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: float(np.mean([table.get(name, 0.0) for table in tables])) for name in names}


def write_adviser(adviser: Adviser) -> str:
    """Return the text of the file that a run leaves; empty where there are too many situations."""
    if len(adviser.situations) > _MOST_SITUATIONS:
        return ""
    return json.dumps(adviser.to_json(), ensure_ascii=False) + "\n"


@lru_cache(maxsize=8)
def _load_adviser(path: Path, changed: int, source: str) -> Adviser:
    domain = load_domain(source)
    try:
        return Adviser.from_text(read_text_file(path), domain)
    except UsageError as error:
        raise UsageError(f"{path.parent} has no advice: {error}") from None
    except (OSError, ValueError) as error:  # pydantic's errors are ValueErrors
        first = " ".join(str(error).split())[:200]
        raise StoreError(f"{path} cannot be read as advice ({first})") from None


def open_adviser(domain: str | Path, run: str | Path | StoredRun = "results") -> Adviser:
    """Open the advice of a run, or of the newest run of that domain below a folder."""
    path = Path(run) if isinstance(run, str | Path) else run.path
    if (path / "manifest.json").exists():
        if not (path / FILE).exists():
            raise UsageError(
                f"{path} has no advice: no solved tree was written there; expected a finished run"
                " of steer by cfr or imitation, without `observe` summary"
            )
        return _load_adviser(path / FILE, (path / FILE).stat().st_mtime_ns, str(domain))
    load_domain(domain)  # one that does not exist is told before runs are looked for
    files = (manifest.with_name(FILE) for manifest in list_manifests(path))
    for file in files:
        if not file.exists():
            continue
        try:
            return _load_adviser(file, file.stat().st_mtime_ns, str(domain))
        except UsageError:  # a run of another domain
            continue
    command = f"bestresponse steer {domain} --model M --output-dir {path}"
    raise UsageError(f"there is no solved dialogue of {domain} below {path}; `{command}` makes one")


def advise_offer(game: AnyGame, offers: Sequence[Line]) -> Advice:
    """Say what to offer or answer after these offers, and how much more than accepting it earns.

    `unguided` is what accepting earns, NaN where there is nothing to accept.
    """
    state = game.start()
    for number, line in enumerate(offers, 1):
        _, text, _ = _read_line(line, number)
        ((role, ask),) = game.asks(state).items() or (("", None),)
        if ask is None:
            raise UsageError(f"message {number} is {shorten(text)}, but the talk is over")
        state = game.apply(state, {role: ask.read(text)})
    asked = list(game.asks(state))
    if not asked:
        raise UsageError("the talk is over; there is nothing to advise")
    truth = find_truth(game)
    values = None if truth is None else truth.values(state, asked[0])
    if values is None:
        raise UsageError(f"what offers are worth in {game.name} is not known")
    worth = values.by_answer
    best = max(worth, key=worth.__getitem__)
    accepted = worth.get(ACCEPT, math.nan)
    instruction = best if best in (ACCEPT, LEAVE) else f"offer {best}"
    if best != ACCEPT and ACCEPT in worth:
        instruction += f": worth {worth[best] - accepted:.3g} more than accepting"
    return Advice(
        speaker=game.roles.index(asked[0]),
        manner=best,
        instruction=instruction,
        probabilities={best: 1.0},
        earns=worth[best],
        unguided=accepted,
        worth=worth,
        source="solved positions",
        policy="subgame-perfect",
        games=1,
    )


def advise(
    domain: str | Path,
    transcript: Sequence[Line],
    private: Mapping[str, object] | None = None,
    *,
    run: str | Path | StoredRun = "results",
    names: Sequence[str] = (),
    public: Mapping[str, str] | None = None,
) -> Advice:
    """Say in which manner to speak next in a conversation, and what that would earn.

    In `haggling`, say what to offer or answer; `transcript` are the offers so far, and nothing else
    is needed. Otherwise `transcript` are the messages so far, in turn, and `private` is what the
    next speaker alone knows, in the form of the domain: `{"values": {"Monday": 8, "Friday": 3}}`
    for a meeting.
    `public` is what everybody knows (the topic of a debate), `names` are those of the speakers in
    their order. `run` is a run of `steer`, its folder, or a folder of runs, of which the newest for
    this domain is taken.
    """
    if isinstance(transcript, str) or not isinstance(transcript, Sequence):
        raise UsageError(f"the transcript is {shorten(transcript)}, expected a list of messages")
    if str(domain).partition("(")[0] in games.names():
        game = find_game(str(domain), allow_files=False).playable()
        if not isinstance(game, HasPositions) or not isinstance(game, HasDeals):
            raise UsageError(f"{domain} is no game of offers without secrets; `haggling` is one")
        return advise_offer(game, transcript)
    if private is None:
        raise UsageError("`private` is missing: what the next speaker alone knows")
    return open_adviser(domain, run).advise(
        transcript,
        private,
        names=names,
        public=public,
    )
