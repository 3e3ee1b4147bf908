"""Dialogues: domains and speakers, and the parts of which `br.steer` is made."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.games.dialogue.domain import (
        domain_names as list_domains,  # noqa: F401
        load_domain as load_domain,
        scenarios as draw_scenarios,  # noqa: F401
    )
    from bestresponse.games.dialogue.game import (
        DialogueGame as DialogueGame,
        RecordedDialogue as RecordedDialogue,
    )
    from bestresponse.players.dialogue.simulated import (
        SimulatedSpeaker as SimulatedSpeaker,
    )
    from bestresponse.players.dialogue.speaker import (
        DealReferee as DealReferee,
        Guided as Guided,
        Speaker as Speaker,
    )
    from bestresponse.studies.steer.answers import (
        AnswerStore as AnswerStore,
        Cast as Cast,
    )
    from bestresponse.studies.steer.building import (
        build_dialogue as build,  # noqa: F401
    )
    from bestresponse.studies.steer.embedding import (
        HashedWords as HashedWords,
    )
    from bestresponse.studies.steer.exporting import (
        export_dialogues as export,  # noqa: F401
    )
    from bestresponse.studies.steer.fresh import (
        Nearest as Nearest,
    )
    from bestresponse.studies.steer.session import (
        Author as Author,
    )
    from bestresponse.studies.steer.solving import (
        solve_dialogue as solve,  # noqa: F401
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
