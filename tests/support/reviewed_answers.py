"""The figures in worked answers, decided by the rules of `verify`."""

import numpy as np

from bestresponse.formal.claims.review import Review, Reviewer
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import RulesTranslator
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.studies.improve.answers import _join_names, _weigh_actions
from bestresponse.studies.improve.examples import make_task_game
from bestresponse.studies.improve.rows import GameTask


def review_reasons(task: GameTask, answer: str) -> Review:
    """Have the figures in the reasons of a worked answer decided by the rules of `verify`.

    What is got in an equilibrium is what a best reply to the other's mix brings, and verify is told
    it so.
    """
    game = make_task_game(task)
    seat = task["seat"]
    rival = game.roles[1 - seat]
    shares = zip(game.form.actions[1 - seat], task["opponent"], strict=True)
    mix = _join_names([f"{name} with probability {share:g}" for name, share in shares])
    brought = _weigh_actions(np.asarray(task["payoffs"]), seat, np.asarray(task["opponent"]))
    best = game.form.actions[seat][int(np.argmax(brought))]
    said = {"reply": ("Here", "")}.get(task["kind"], ("I get", f" {best} brings"))
    reasons = answer.splitlines()[-2]
    reasons = reasons.replace(said[0], f"If {rival} chooses {mix},{said[1]}", 1)
    return Reviewer(RulesTranslator(), EmbeddedEngine).review(reasons, Subject(game.form, seat))
