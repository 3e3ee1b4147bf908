"""Attempts and runs of checked reasoning as they are stored, put together by hand."""

from bestresponse.core.episode import Record, Submission
from bestresponse.core.player import Decision
from bestresponse.runs.store.folder import StoredPlay


def make_attempt(choice, state="unrefuted", **more):
    return {
        "choice": choice,
        "state": state,
        "reasoning": f"I choose {choice}.",
        "claims": [],
        "unread": None,
        "partly_read": None,
        "not_asserted": None,
        "troubles": {},
        **more,
    }


def store_run(scene, repeat, *attempts, game="prisoners-dilemma", model="m"):
    """A stored run of the reasoner with these attempts."""
    role = scene.game.roles[scene.seat]
    other = scene.game.roles[1 - scene.seat]
    # The other's move comes first, so that the reasoner's has to be looked for.
    submissions = (
        Submission(other, Decision("defect")),
        Submission(role, Decision("defect", remarks=attempts)),
    )
    data = {"repeat": repeat, "model": model, "game": {"name": game}}
    return StoredPlay(f"run {repeat}", data, Record("g", 1, {}, submissions, {}))
