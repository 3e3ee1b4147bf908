"""A player whose reasoning is checked.

What logic refutes is put right, and the player is asked again.

    Verified(LlmPlayer(model), Reviewer(RulesTranslator()))

It wraps any player that gives reasons, in any game whose view tells the payoffs (`facts` with
`seat`, `actions` and `payoffs`, as `games.matrix` has them), or of which `subject` says what a view
is about (`moves_of` does so for trees). In other games nothing can be checked and the player is
left alone. It stops when nothing is refuted, or after `attempts` (LELMA: 5). On the command line it
is written `verified:MODEL`.

Second thoughts alone change answers. `again:MODEL` is the same player without the feedback: it is
asked again as often as something is refuted, and is not told what. What feedback does is the
difference between the two.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bestresponse.core.ask import Ask
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import Game, S, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Call, Decision, Player
from bestresponse.formal.claims.review import Reviewer
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.texts import TEXTS
from bestresponse.formal.claims.translation import RulesTranslator
from bestresponse.games.capabilities import HasTree
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.players.llm.beliefs import BELIEFS, Believing
from bestresponse.players.llm.player import PlayerWrapper
from bestresponse.players.llm.texts import TEXTS as RECONSIDER
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.perfection.subgame_perfect import cut_subgame
from bestresponse.theory.trees.tree import Tree

SPELLING = "verified:"
"""What stands before the name of a model whose reasoning is to be checked by the rules:
`verified:MODEL`."""
AGAIN = "again:"
"""What stands before the name of a model that is asked again where the rules refute something, but
is not told what."""
SubjectOf = Callable[[View], Subject | None]
"""What a view is about, as claims see it; None where nothing can be checked."""
MOST_ATTEMPTS = 5
"""How often a verified player reasons at most."""
_LONGEST_QUOTED = 20_000  # characters of the reasoning, which is sent back with the corrections
_LABEL = re.compile(r"([\w.+-]{1,60})=(?=https?://)")


def subject_of(view: View) -> Subject | None:
    """The game as the view tells it; None where it tells no payoffs."""
    facts: JsonMapping = view.facts
    if not {"seat", "actions", "payoffs"} <= set(facts):
        return None
    try:
        actions = []
        for names in facts["actions"]:
            actions.append(tuple(map(str, names)))
        players = tuple(map(str, facts.get("players", ())))
        game = NormalForm(np.asarray(facts["payoffs"]), players, tuple(actions))
        return Subject(game, int(facts["seat"]))
    except (InvalidGame, TypeError, ValueError):
        return None


def moves_of(tree: Tree) -> SubjectOf:
    """Return how to find the game for views of a tree in which nothing is hidden.

    It is the game from the decision on that is asked for.
    """
    nodes = {index: node for node, index in enumerate(tree.infoset.tolist()) if index >= 0}

    @cache
    def at(role: str, label: str) -> Subject | None:
        index = tree.infoset_index.get((role, label))
        if index is None:
            return None
        subgame = cut_subgame(tree, nodes[index])
        return Subject(subgame, tree.players.index(role))

    def find_subject(view: View) -> Subject | None:
        label = str(view.facts.get("infoset"))
        return at(view.role, label)

    return find_subject


def whole_of(tree: Tree) -> SubjectOf:
    """Return how to find the game for views of a tree that hides something.

    It is the whole game, seen from the seat that is asked.
    """
    subjects = {role: Subject(tree, seat) for seat, role in enumerate(tree.players)}
    return lambda view: subjects.get(view.role)


@dataclass(frozen=True, slots=True)
class Verified(PlayerWrapper):
    """`player`, corrected by `reviewer` up to `attempts` - 1 times.

    Without `feedback` only asked again.
    """

    reviewer: Reviewer
    attempts: int = MOST_ATTEMPTS
    subject: SubjectOf = subject_of
    feedback: bool = True

    @property
    def name(self) -> str:
        """The player's name in records."""
        return f"{'verified' if self.feedback else 'again'}({self.player.name})"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Return the last decision with every call and every review on the way.

        The calls are a decision's, then those of its review.
        """
        subject = self.subject(view)
        shown = view
        calls: list[Call] = []
        reviews: list[JsonObject] = []
        for _ in range(max(1, self.attempts)):
            decision = self.player.decide(shown, ask)
            calls += decision.calls
            if subject is None:
                break
            review = self.reviewer.review(decision.reasoning, subject)
            calls += review.calls
            corrections = [correction.text for correction in review.corrections]
            reasons = {"reasoning": decision.reasoning, "choice": decision.action}
            reviews.append({**reasons, **review.to_json(), "corrections": corrections})
            if not corrections:
                break
            quoted = decision.reasoning[:_LONGEST_QUOTED]
            note = RECONSIDER.fill("reconsider", reasoning=quoted)
            if self.feedback:
                sentences = "\n".join(f"- {correction}" for correction in corrections)
                note = TEXTS.fill("feedback", reasoning=quoted, sentences=sentences)
            shown = replace(view, notes=(*view.notes, note))
        return replace(decision, calls=tuple(calls), remarks=tuple(reviews))


def is_verified(name: str) -> bool:
    """Whether a model is to have its reasoning checked, told the result or not."""
    return name.startswith((SPELLING, AGAIN))


def find_spelling(name: str) -> str:
    """Return what is written before a model that does more than answer, such as `verified:`."""
    return next((one for one in (SPELLING, AGAIN, BELIEFS) if name.startswith(one)), "")


def calls_per_answer(name: str) -> int:
    """Count the calls that an answer of a model takes at most."""
    if is_verified(name):
        return MOST_ATTEMPTS
    return 3 if name.startswith(BELIEFS) else 1


@cache
def bare_name(name: str) -> str:
    """Return the name of the model itself.

    It is without `verified:`, `again:` or `beliefs:` and without the label of `LABEL=URL`.

    >>> bare_name("verified:openai/gpt-4o"), bare_name("mine=http://localhost:8000/v1#m")
    ('openai/gpt-4o', 'http://localhost:8000/v1#m')
    """
    return _LABEL.sub("", name.removeprefix(find_spelling(name)))


def make_label(name: str) -> str:
    """Return the name under which a model is reported: the label of `LABEL=URL`, else its name.

    >>> make_label("verified:mine=http://localhost:8000/v1#m"), make_label("openai/gpt-4o")
    ('verified:mine', 'openai/gpt-4o')
    """
    spelling = find_spelling(name)
    labelled = _LABEL.match(name.removeprefix(spelling))
    return spelling + labelled[1] if labelled else name


def with_review(name: str, player: Player, game: Game[S] | None = None) -> Player:
    """`player`, checked by the rules or asked what it expects where the name asks for it.

    In a tree where `game` is given.
    """
    if name.startswith(BELIEFS):
        return Believing(player)
    if not is_verified(name):
        return player
    subject = subject_of
    if isinstance(game, HasTree):
        tree = game.tree
        subject = moves_of(tree) if tree.is_perfect_information else whole_of(tree)
    reviewer = Reviewer(RulesTranslator(), EmbeddedEngine)
    return Verified(
        player,
        reviewer,
        subject=subject,
        feedback=name.startswith(SPELLING),
    )
