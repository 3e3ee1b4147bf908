"""Claims about a game: read from text or JSON, decided and corrected.

They are decided by logic and by theory, and corrected in sentences that are true.

After LELMA (Mensfelt, Stathis and Trencsenyi, "Logic-Enhanced Language Model Agents for Trustworthy
Social Simulations", 2024), made general: any number of players and actions, any numbers,
three-valued verdicts. Names are imported when first used.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.formal.claims.checker import (
        Checked as Checked,
        Checker as Checker,
        TheoryCheck as TheoryCheck,
    )
    from bestresponse.formal.claims.claim import (
        Claim as Claim,
        Malformed as Malformed,
        parse as parse,
        parse_json as parse_json,
    )
    from bestresponse.formal.claims.feedback import (
        say as say,
    )
    from bestresponse.formal.claims.form import (
        add_form as add_form,
    )
    from bestresponse.formal.claims.grounding import Grounded as Grounded
    from bestresponse.formal.claims.review import (
        Review as Review,
        Reviewer as Reviewer,
        State as State,
    )
    from bestresponse.formal.claims.subject import (
        Subject as Subject,
    )
    from bestresponse.formal.claims.tables import (
        PureProfile as PureProfile,
        TableTheory as TableTheory,
    )
    from bestresponse.formal.claims.translation import (
        ModelTranslator as ModelTranslator,
        RulesTranslator as RulesTranslator,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
