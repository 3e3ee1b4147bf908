"""What a model is told in a game: one seeded play as text, by which a game is reviewed.

It shows what a model reads, how it is asked the first time, which moves are legal and what each
loses against best play, and what the play pays. Whoever changes a rule or a sentence sees the
difference in `golden.txt` in the folder of the game, which a test holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bestresponse.analysis.truth import find_truth
from bestresponse.core.ask import Ask, Choice
from bestresponse.core.conformance import any_legal_action
from bestresponse.core.episode import Episode
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Role
from bestresponse.core.player import Decision
from bestresponse.core.registry import games
from bestresponse.games.lookup import find_game
from bestresponse.players.llm.player import instruction
from bestresponse.runs.reporting.steps import format_action
from bestresponse.telling.render import write_history, write_rules

_MOST_STEPS = 8
"""A longer play is cut: what comes later is told as what came before."""
_MOST_TOLD = 4
"""After these, only what is chosen is listed."""
_MOST_PRICED = 20
"""Of more options only the one that is chosen is priced."""


def write_prompts(name: str, seed: int = 0) -> str:
    """Write one seeded play of a game, given by its name or in a file, as models read it.

    >>> print(write_prompts("trust").splitlines()[0])
    # trust, version 2
    """
    game = games.make(name) if name in games.names() else find_game(name).playable()
    return "\n".join([f"# {name}, version {game.version}", *_list_lines(game, Random(seed)), ""])


def _list_lines(game: AnyGame, rng: Random) -> Iterator[str]:
    episode = Episode(game)
    for role in game.roles[:1]:
        yield f"\n## The rules, for {role}\n\n{write_rules(game.view(episode.state, role))}"
    for step in range(_MOST_STEPS):
        if episode.over:
            break
        chosen = {role: any_legal_action(ask, rng) for role, ask in episode.pending.items()}
        told, *others = episode.pending.items()
        if step < _MOST_TOLD:
            yield from _describe_decision(game, episode, *told, chosen[told[0]])
        else:
            others = [told, *others]
        for role, _ in others:
            yield f"{role} chooses {format_action(chosen[role])}"
        for role, action in chosen.items():
            episode.submit(role, Decision(action))
    yield "\n## The end" if episode.over else "\n## So far (the play goes on)"
    for role in game.roles[:1]:
        yield f"\n{write_history(game.view(episode.state, role))}"
    earned = game.payoffs(episode.state)
    yield f"\npayoffs: {', '.join(f'{role} {earned[role]:g}' for role in game.roles)}"


def _describe_decision(
    game: AnyGame, episode: Episode[object], role: Role, ask: Ask, action: object
) -> Iterator[str]:
    if role in (NATURE, REFEREE):
        yield f"\n## {role}: {format_action(action)}"
        return
    yield f"\n## {role} decides\n"
    history = write_history(game.view(episode.state, role))
    options = ask.options if isinstance(ask, Choice) else ()
    asked = [*(options if len(options) <= _MOST_PRICED else ()), action]
    truth = find_truth(game)
    values = truth.values(episode.state, role, action) if truth and truth.judges_moves else None
    is_new = not options or not episode.counts[role]
    asking = instruction(ask, "line") if is_new else ""
    yield "\n\n".join(filter(None, (history, asking)))
    if values is not None:
        losses = {format_action(answer): values.lose(answer).least for answer in asked}
        known = [f"{answer} {loss:.6g}" for answer, loss in losses.items()]
        yield f"\nloses against best play: {', '.join(known)}"
    elif not is_new:
        yield f"\nlegal moves: {', '.join(options)}"
    yield f"\nchosen: {format_action(action)}"
