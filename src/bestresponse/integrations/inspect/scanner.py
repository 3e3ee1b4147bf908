"""A scanner for Inspect Scout: what was said about a game, checked against the game.

    scout scan bestresponse/false_claims -S game=prisoners-dilemma -T logs

Transcripts may come from anybody and from any tool that Scout reads. Each claim about a game is
decided by the game alone, so the false ones are the smallest set to withdraw.
"""

from collections.abc import Sequence

from anyio import to_thread
from inspect_ai.model import ChatMessage, ChatMessageAssistant
from inspect_scout import Reference, Result, Scanner, Transcript, scanner

from bestresponse.api.reasoning import verify
from bestresponse.core.errors import UsageError
from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.review import Review
from bestresponse.games.lookup import find_game
from bestresponse.integrations.inspect.tasks import ask_inspect
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree


@scanner(messages=["assistant"])  # type: ignore[untyped-decorator, unused-ignore]
def false_claims(game: str = "", seat: str = "", translate: bool = False) -> Scanner[Transcript]:
    """Count the false claims about a game in what a model said, and correct each.

    Without `game` it is the one that the transcript's metadata name. The player `seat` speaks, the
    first by default. Rules find the claims, or with `translate` the model of the scan.
    """

    async def scan(transcript: Transcript) -> Result:
        known = {**transcript.metadata, **(transcript.metadata.get("sample_metadata") or {})}
        name = game or known.get("game")
        if not isinstance(name, str):
            return _say_nothing("no game is named: give one with -S game=NAME")
        return await to_thread.run_sync(_check_said, transcript.messages, name, seat, translate)

    return scan


def _check_said(
    messages: Sequence[ChatMessage],
    game: str,
    seat: str,
    translate: bool,
) -> Result:
    try:
        loaded = find_game(game, allow_files=False).solvable()
    except UsageError as error:
        return _say_nothing(str(error))
    translator = ask_inspect(None) if translate else None
    corrections: dict[str, str] = {}
    references = []
    costs = []
    sentences = read = claims = 0
    for number, message in enumerate(messages, 1):
        if not isinstance(message, ChatMessageAssistant) or not message.text.strip():
            continue
        review = verify(game, message.text, seat=seat or None, translator=translator)
        claims += len(review.checked)
        read += review.share_read.whole
        sentences += review.share_read.all
        costs += list(_price_claims(review, loaded, seat))
        for refutation in review.refutations:
            cite = f"[M{number}]"
            corrections[str(refutation.claim)] = f"{cite} {refutation.correction}"
            references.append(Reference(type="message", id=message.id or "", cite=cite))
    if not claims:
        return _say_nothing(f"nothing that is said about {game} could be checked")
    return Result(
        value=len(corrections),
        answer="\n".join(corrections) or None,
        explanation="\n".join(corrections.values()) or "nothing refuted",
        references=references,
        metadata={
            "game": game,
            "claims": claims,
            "sentences": sentences,
            "share_read": read / sentences if sentences else None,
            "regret": max(costs, default=None),
        },
    )


def _say_nothing(why: str) -> Result:
    return Result(value=None, explanation=why)


def _price_claims(review: Review, game: NormalForm | Tree, seat: str) -> list[float]:
    """Return what each false best response of the speaker loses, in a table of two players."""
    if not isinstance(game, NormalForm) or len(game.players) != 2:
        return []
    me = game.players.index(seat) if seat else 0
    lost = []
    for checked in review.refuted:
        claim = checked.claim
        if not isinstance(claim, Claim) or claim.form != "best_response" or claim.negated:
            continue
        against = claim["against"]
        if claim["who"] != "you" or len(against) != 1:
            continue
        other = game.actions[1 - me].index(against[0].action)
        earned = game.payoffs[me].take(other, axis=1 - me)
        lost.append(float(earned.max() - earned[game.actions[me].index(claim["action"])]))
    return lost
