"""An agent: a language model with a persona, a memory and a way of reasoning.

Each of these can be exchanged.

A persona is who an agent is: one of the published five, or a user's own from a TOML file.

    [Alex]
    profession = "..."
    personality = "..."
    background = "..."

Its status is the view it is given. A memory says how much of the past it is shown: it leaves out
events of rounds gone by, and the view of a game without rounds is left as it is. An agent's own
earlier replies are next to the rounds they belong to, as in S. Mao et al., "ALYMPICS", 2024,
equation 1.

    full           every round
    window:N       the last N rounds (5 where no number is given)
    summary:N      the last N rounds (3), and a summary of the earlier ones that the model itself
                   writes

A way of reasoning returns texts that are added to what the model is shown for its answer:

    direct         nothing is added
    step-by-step   an instruction to think first (Wei et al. 2022)
    predict        the model predicts the others, then answers
    reflect        the model looks back at the rounds so far, then answers (Shinn et al. 2023)
    refine         a first answer, its criticism, then the answer (Madaan et al. 2023)
    k-level:K      the model takes the seat of every rival, who in turn reasons at level K - 1, then
                   answers (Stahl & Wilson 1995; Zhang et al. 2024)

A memory is a function of (thinker, view) that returns a view, a way of reasoning one of (thinker,
view, ask) that returns notes; `Thinker` makes the calls of the model and keeps them for the record.
`WithFailurePolicy` says what happens to a seat without an answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Literal

from bestresponse.core.ask import PASS, Amount, Ask, Choice
from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.files import parse_toml, read_toml
from bestresponse.core.game import Role, View
from bestresponse.core.player import Call, Decision, Reading, Status
from bestresponse.core.registry import did_you_mean, find_by_name
from bestresponse.core.told import (
    Chose,
    Event,
    GameEvent,
    Meant,
    Over,
    OwnReasons,
    PlayedRound,
    PrivateProse,
    Round,
    RoundsForgotten,
    RoundsInShort,
    list_public,
    prose,
    split_rounds,
)
from bestresponse.models.base import Message, Model
from bestresponse.players.llm.player import (
    LlmPlayer,
    ModelPlayer,
    PlayerWrapper,
    Sampling,
    Style,
    instruction,
)
from bestresponse.players.llm.texts import TEXTS
from bestresponse.telling.render import list_rounds, write_history, write_rules

_LONGEST = 5000


@dataclass(frozen=True, slots=True)
class Persona:
    """Three sentences or more about one resident."""

    name: str
    profession: str
    personality: str
    background: str

    @property
    def text(self) -> str:
        """What a model is told about itself."""
        return TEXTS.fill(
            "agent_persona",
            who=self.name,
            profession=self.profession,
            personality=self.personality,
            background=self.background,
        )

    def to_json(self) -> dict[str, str]:
        """Return the texts as plain JSON data, of which `make_persona` makes the persona again."""
        return {key: getattr(self, key) for key in _KEYS}


_KEYS = tuple(field.name for field in fields(Persona) if field.name != "name")


@cache
def published_personas() -> Mapping[str, Persona]:
    """The five residents of the published study, in our own words."""
    source = files("bestresponse.players.llm.texts").joinpath("personas.toml")
    return _make_personas(parse_toml(source.read_text("utf-8")), "personas.toml")


def read_personas(path: Path) -> Mapping[str, Persona]:
    """The personas of a TOML file, by name; UsageError with the place where it is wrong."""
    return _make_personas(read_toml(path), str(path))


def _make_personas(tables: Mapping[str, object], where: str) -> Mapping[str, Persona]:
    """Make the personas of tables by name; `where` is for messages."""
    if not tables:
        raise UsageError(
            f"{where} holds no persona; expected a table such as [Alex] with {', '.join(_KEYS)}"
        )
    return {str(name): make_persona(str(name), entry, where) for name, entry in tables.items()}


def make_persona(name: str, entry: object, where: str) -> Persona:
    """Make the persona of that name from its table.

    UsageError with the place (`where`) that is wrong.
    """
    if not isinstance(entry, Mapping):
        raise UsageError(
            f"{where}: {name!r} is outside of a table; expected [name] with {', '.join(_KEYS)}"
        )
    for key in entry:
        if key not in _KEYS:
            hint = did_you_mean(key, list(_KEYS))
            raise UsageError(
                f"{where}: [{name}] has no key {key!r}; known: {', '.join(_KEYS)}.{hint}"
            )
    for key in _KEYS:
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
            raise UsageError(
                f"{where}: [{name}] needs a text of at most {_LONGEST} characters for {key!r}"
            )
    profession, personality, background = (" ".join(entry[key].split()) for key in _KEYS)
    return Persona(name, profession.rstrip("."), personality, background)


Policy = Literal["abstain", "void"]
_DEEPEST = 3  # every level asks the model again for each rival
_LONGEST_MEMORY = 10_000


@dataclass
class Thinker:
    """A model in one seat while it makes up its mind; `calls` are all it has made so far."""

    model: Model
    sampling: Sampling
    system: str
    calls: list[Call] = field(default_factory=list)

    def think(self, view: View, question: str) -> str:
        """Return what the model says to a question about its view."""
        parts = (write_rules(view), write_history(view), *view.notes, question)
        return self.say("\n\n".join(part for part in parts if part))

    def say(self, text: str) -> str:
        """Ask the model, keep the call, and return its answer."""
        reply, call = self.sampling.ask(
            self.model, (Message("system", self.system), Message("user", text))
        )
        self.calls.append(call)
        return reply.text.strip()


Memory = Callable[[Thinker, View], View]
Reasoning = Callable[[Thinker, View, Ask], tuple[str, ...]]


def full(thinker: Thinker, view: View) -> View:
    """Remember everything."""
    return view


def window(size: int, thinker: Thinker, view: View) -> View:
    """Remember the last `size` rounds."""
    forgotten, kept = _split_past(view, size)
    if not forgotten:
        return view
    return replace(view, history=(RoundsForgotten(len(forgotten)), *kept))


def summary(size: int, thinker: Thinker, view: View) -> View:
    """Remember the last `size` rounds, and a summary of those before."""
    forgotten, kept = _split_past(view, size)
    if not forgotten:
        return view
    past, _ = list_rounds(view) or ([], "")
    told = "\n\n".join(past[: len(forgotten)])
    text = thinker.say(TEXTS.fill("agent_summary", past=told))
    return replace(view, history=(RoundsInShort(text), *kept))


def _split_past(view: View, size: int) -> tuple[tuple[PlayedRound, ...], tuple[Event, ...]]:
    """Return the rounds before the last `size` that are gone by, and all events after them."""
    _, rounds = split_rounds(view.history)
    is_over = any(isinstance(event, Over) for event in view.history)
    num_past = len(rounds) if is_over else len(rounds) - 1
    forgotten = rounds[: max(num_past - size, 0)]
    kept: list[Event] = []
    for played in rounds[len(forgotten) :]:
        kept += [Round(played.number), *played.events]
    return forgotten, tuple(kept)


_MEMORIES: dict[str, Memory] = {
    "full": full,
    "window": partial(window, 5),
    "summary": partial(summary, 3),
}


def memory(name: str) -> Memory:
    """Return the memory of that name.

    A number after a colon says how many rounds are kept word by word.
    """
    plain, colon, size = name.partition(":")
    kept = find_by_name(_MEMORIES, name if plain == "full" else plain, "memory")
    if not colon:
        return kept
    if not size.isdecimal() or not 1 <= int(size) <= _LONGEST_MEMORY:
        raise UsageError(
            f"{name!r}: expected a number of rounds after the colon, such as {plain}:5"
        )
    return partial(window if plain == "window" else summary, int(size))


def direct(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Answer at once."""
    return ()


def step_by_step(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Ask for reasoning step by step."""
    return (TEXTS.text("agent_step_by_step"),)


def predict(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Predict the others' moves first."""
    rivals = ", ".join(view.facts.get("rivals", ())) or "the others"
    return (
        TEXTS.fill(
            "agent_predicted",
            thought=thinker.think(view, TEXTS.fill("agent_predict", rivals=rivals)),
        ),
    )


def reflect(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Reflect on the past first."""
    past, _ = list_rounds(view) or ([], "")
    if not past:
        return ()
    return (
        TEXTS.fill("agent_reflected", thought=thinker.think(view, TEXTS.text("agent_reflect"))),
    )


def refine(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Draft an answer and criticise it first."""
    draft = thinker.think(view, instruction(ask, "line"))
    critique = thinker.think(view, TEXTS.fill("agent_criticise", draft=draft))
    return (TEXTS.fill("agent_refined", draft=draft, critique=critique),)


def k_level(level: int, thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Think through what the others expect, `level` steps deep."""
    rivals = tuple(view.facts.get("rivals", ()))
    if not rivals:
        return ()
    # The others know neither what this player alone knows nor who it is made to be.
    rules = tuple(rule for rule in view.rules if not isinstance(rule, PrivateProse))
    public = replace(view, rules=rules, history=list_public(view.history), notes=())
    outsider = Thinker(
        thinker.model,
        thinker.sampling,
        TEXTS.text("system"),
        thinker.calls,
    )
    return (TEXTS.fill("agent_k_level", expected=_expect(level, outsider, public, rivals)),)


def _expect(level: int, thinker: Thinker, view: View, rivals: tuple[str, ...]) -> str:
    """Expect something of every rival, a line each.

    At levels above 1 every rival expects something of the others.
    """
    lines = []
    for rival in rivals:
        deeper = ""
        if level > 1:
            others = (view.role, *(other for other in rivals if other != rival))
            expected = _expect(level - 1, thinker, view, others).replace("\n", "; ")
            deeper = TEXTS.fill("agent_rival_deeper", rival=rival, expected=expected)
        text = "agent_self" if rival == view.role else "agent_rival"
        lines.append(
            f"{rival}: {thinker.think(view, TEXTS.fill(text, rival=rival, deeper=deeper))}"
        )
    return "\n".join(lines)


_REASONINGS: dict[str, Reasoning] = {
    "direct": direct,
    "step-by-step": step_by_step,
    "predict": predict,
    "reflect": reflect,
    "refine": refine,
    "k-level": partial(k_level, 1),
}


def reasoning(name: str) -> Reasoning:
    """Return the way of reasoning of that name.

    `k-level:2` simulates rivals who simulate theirs.
    """
    plain, colon, depth = name.partition(":")
    if plain != "k-level" or not colon:
        return find_by_name(_REASONINGS, name, "reasoning")
    if not depth.isdecimal() or not 1 <= int(depth) <= _DEEPEST:
        raise UsageError(f"{name!r}: expected a level from 1 to {_DEEPEST} after the colon")
    return partial(k_level, int(depth))


@dataclass(frozen=True)
class Agent(ModelPlayer):
    """A model in a seat.

    With `explains` it gives its reasons before its answer; `replies` are its own earlier words in
    this play, one a decision, which it is shown again (a list that grows with the play).
    `about_others` is what it is told of the other players, after the rules; `question` puts the ask
    in the words of the game, as people are asked. A refused or unreadable answer is explained to
    the model `attempts - 1` times.
    """

    persona: Persona | None = None
    memory: Memory = full
    reasoning: Reasoning = direct
    sampling: Sampling = field(default_factory=Sampling)
    style: Style = "line"
    attempts: int = 3
    explains: bool = False
    replies: Sequence[str] = ()
    about_others: str = ""
    question: Callable[[Ask], str] | None = None

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        system = self.persona.text if self.persona else TEXTS.text("system")
        thinker = Thinker(self.model, self.sampling, system)
        view = replace(view, rules=(*view.rules, *prose(self.about_others)))
        recalled = self.memory(thinker, _add_own_words(view, self.replies))
        notes = (*recalled.notes, *self.reasoning(thinker, recalled, ask))
        if self.question is not None:
            notes = (*notes, self.question(ask))
        style = self.style
        if self.explains and style == "json":
            style = "reasoned"
        elif self.explains:
            notes = (*notes, TEXTS.text("agent_explain"))
        player = LlmPlayer(self.model, self.sampling, style, self.attempts, system)
        decision = player.decide(replace(recalled, notes=notes), ask)
        return replace(decision, calls=(*thinker.calls, *decision.calls))


def _add_own_words(view: View, replies: Sequence[str]) -> View:
    """Put what an agent said in each round gone by below that round.

    Where rounds do not tell which reply belongs to which, below all it is shown.
    """
    if not any(replies):
        return view
    before, rounds = split_rounds(view.history)
    waiting = list(replies)
    history = list(before)
    for played in rounds:
        history += [Round(played.number), *played.events]
        count = sum(_is_own_decision(event, view.role) for event in played.events)
        said = waiting[:count]
        waiting = waiting[count:]
        history += [OwnReasons(words) for words in said if words]
    if waiting:
        lines = "\n".join(f"- {words}" for words in replies if words)
        return replace(view, notes=(*view.notes, TEXTS.fill("agent_said", words=lines)))
    return replace(view, history=tuple(history))


def _is_own_decision(event: Event, role: Role) -> bool:
    """Say whether an event is what came of one answer of a role."""
    if isinstance(event, GameEvent):
        return event.is_decision_of(role)
    return isinstance(event, Chose | Meant) and event.who == role


@dataclass(frozen=True, slots=True)
class WithFailurePolicy(PlayerWrapper):
    """Wrap a player with a policy for answers that cannot be used.

    `abstain` passes in its place, and the record says why; `void` leaves the decision without an
    action, which ends the play without a result. A model that cannot be reached counts as no answer
    under `abstain`.
    """

    policy: Policy

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if self.policy == "void":
            return self.player.decide(view, ask)
        if not isinstance(ask, Amount | Choice) or not ask.may_pass:
            raise UsageError("a seat can only abstain where the game lets it pass")
        try:
            decision = self.player.decide(view, ask)
        except ModelUnavailable as error:
            decision = Decision(
                None,
                "",
                Reading(Status.REFUSED, f"the model could not be reached: {error}"),
            )
        return (
            decision
            if decision.action is not None
            else replace(decision, action=PASS, stand_in="abstain")
        )


def lets_pass(asks: Mapping[Role, Ask]) -> bool:
    """Say whether everybody who is asked may pass."""
    return bool(asks) and all(
        isinstance(ask, Amount | Choice) and ask.may_pass for ask in asks.values()
    )
