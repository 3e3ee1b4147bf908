"""Claims about a game: read from text or JSON, decided by logic and by theory, corrected in sentences that are true.

After LELMA (Mensfelt, Stathis and Trencsenyi, "Logic-Enhanced Language Model Agents for Trustworthy Social
Simulations", 2024), made general: any number of players and actions, any numbers, three-valued verdicts.
Names are imported when first used.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.formal.claims.checker import (
        Checked as Checked,
        Checker as Checker,
        LogicCheck as LogicCheck,
        TheoryCheck as TheoryCheck,
    )
    from bestresponse.formal.claims.claim import FORMS as FORMS, Claim as Claim, Malformed as Malformed
    from bestresponse.formal.claims.feedback import Correction as Correction, Sentence as Sentence, correct as correct
    from bestresponse.formal.claims.form import Mix as Mix, Move as Move
    from bestresponse.formal.claims.grammar import (
        claims_schema as claims_schema,
        parse as parse,
        parse_json as parse_json,
    )
    from bestresponse.formal.claims.grounding import ground as ground
    from bestresponse.formal.claims.review import (
        Refutation as Refutation,
        Review as Review,
        Reviewer as Reviewer,
        State as State,
    )
    from bestresponse.formal.claims.subject import Subject as Subject
    from bestresponse.formal.claims.translators.model import ModelTranslator as ModelTranslator
    from bestresponse.formal.claims.translators.rules import RulesTranslator as RulesTranslator
    from bestresponse.formal.claims.translators.translation import (
        Passage as Passage,
        Reading as Reading,
        Translation as Translation,
    )
    from bestresponse.formal.claims.wording import say as say
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
