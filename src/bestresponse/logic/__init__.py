"""Games as logic programs: read, gated, run within limits, and taken out as tables.

Names are imported when first used, so that `import bestresponse.logic` costs nothing. Classes of
results that nobody builds by hand are in the modules of the functions that return them.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.logic.embedded.engine import (
        EmbeddedEngine,
    )
    from bestresponse.logic.engine import (
        Limits,
        LogicEngine,
        Proof,
        Verdict,
        open_engine,
    )
    from bestresponse.logic.gate.check import (
        check_source,
    )
    from bestresponse.logic.language.terms import (
        Atom,
        Struct,
        Var,
        write,
    )
    from bestresponse.logic.programs.strategies import (
        StrategyReader,
        strategy_table,
    )
    from bestresponse.logic.programs.table import (
        extract,
    )
    from bestresponse.logic.programs.validate import (
        feedback,
        validate,
        validate_strategy,
    )
    from bestresponse.logic.settings import settings as logic_settings
    from bestresponse.logic.swi.engine import (
        SwiEngine,
    )

    __all__ = [
        "Atom",
        "EmbeddedEngine",
        "Limits",
        "LogicEngine",
        "Proof",
        "StrategyReader",
        "Struct",
        "SwiEngine",
        "Var",
        "Verdict",
        "check_source",
        "extract",
        "feedback",
        "logic_settings",
        "open_engine",
        "strategy_table",
        "validate",
        "validate_strategy",
        "write",
    ]
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
