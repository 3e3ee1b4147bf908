"""Dialogues: domains and speakers, and the parts of which `br.steer` is made."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.games.dialogue.domain import (
        domain_names as list_domains,
        load_domain,
        scenarios as draw_scenarios,
    )
    from bestresponse.games.dialogue.game import (
        DialogueGame,
        RecordedDialogue,
    )
    from bestresponse.players.dialogue.simulated import (
        SimulatedSpeaker,
    )
    from bestresponse.players.dialogue.speaker import (
        DealReferee,
        Guided,
        Speaker,
    )
    from bestresponse.studies.steer.answers import (
        AnswerStore,
        Cast,
    )
    from bestresponse.studies.steer.building import (
        build_dialogue as build,
    )
    from bestresponse.studies.steer.embedding import (
        HashedWords,
    )
    from bestresponse.studies.steer.exporting import (
        export_dialogues as export,
    )
    from bestresponse.studies.steer.fresh import (
        Nearest,
    )
    from bestresponse.studies.steer.session import (
        Author,
    )
    from bestresponse.studies.steer.solving import (
        solve_dialogue as solve,
    )

    __all__ = [
        "AnswerStore",
        "Author",
        "Cast",
        "DealReferee",
        "DialogueGame",
        "Guided",
        "HashedWords",
        "Nearest",
        "RecordedDialogue",
        "SimulatedSpeaker",
        "Speaker",
        "build",
        "draw_scenarios",
        "export",
        "list_domains",
        "load_domain",
        "solve",
    ]
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
