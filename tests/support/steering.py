"""Dialogues with the simulated speaker, for the tests of steering."""

from bestresponse.games.dialogue.domain import load_domain, scenarios, variants
from bestresponse.games.dialogue.game import DialogueGame, RecordedDialogue
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.players.dialogue.speaker import DealReferee, Speaker
from bestresponse.players.llm.player import Sampling
from bestresponse.studies.steer.answers import AnswerStore, Cast
from bestresponse.studies.steer.building import build_dialogue
from bestresponse.studies.steer.config import SteerConfig


def dialogue(name="meeting", *, seed=1, replies=1, types=1, **more):
    domain = load_domain(name)
    first = scenarios(domain, seed, 1)[0]
    return DialogueGame(
        domain, variants(domain, first, seed, types), domain.manners(), replies, **more
    )


def cast_of(model, domain, referee=None):
    return Cast(
        lambda number: Speaker(model, Sampling(0.7, max_tokens=200, replicate=number)),
        referee or DealReferee(model, domain),
    )


def recorded(game, wordings=1, model=None, **more):
    model = model or SimulatedSpeaker(0)
    answers = AnswerStore()
    built = build_dialogue(game, cast_of(model, game.domain), answers, wordings=wordings, **more)
    return RecordedDialogue(game, answers.book, wordings), built


def search_settings(iterations=4, plays=20, candidates=3, oracle="shotgun", meta="nash", seed=0):
    """Settings of a search in prompt space; the games and who speaks are given apart."""
    how = {
        "iterations": iterations,
        "plays": plays,
        "candidates": candidates,
        "oracle": oracle,
        "meta": meta,
    }
    return SteerConfig("meeting", solver="psro", seed=seed, **how)
