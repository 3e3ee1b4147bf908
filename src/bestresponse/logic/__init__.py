"""Games as logic programs: read, gated, run within limits, and taken out as tables.

Names are imported when first used, so that `import bestresponse.logic` costs nothing. Classes of
results that nobody builds by hand are in the modules of the functions that return them.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.logic.embedded.engine import (
        EmbeddedEngine as EmbeddedEngine,
    )
    from bestresponse.logic.engine import (
        Limits as Limits,
        LogicEngine as LogicEngine,
        Proof as Proof,
        Verdict as Verdict,
        open_engine as open_engine,
    )
    from bestresponse.logic.gate.check import (
        check_source as check_source,
    )
    from bestresponse.logic.language.terms import (
        Atom as Atom,
        Struct as Struct,
        Var as Var,
        write as write,
    )
    from bestresponse.logic.programs.strategies import (
        StrategyReader as StrategyReader,
        strategy_table as strategy_table,
    )
    from bestresponse.logic.programs.table import (
        extract as extract,
    )
    from bestresponse.logic.programs.validate import (
        feedback as feedback,
        validate as validate,
        validate_strategy as validate_strategy,
    )
    from bestresponse.logic.settings import settings as logic_settings  # noqa: F401
    from bestresponse.logic.swi.engine import (
        SwiEngine as SwiEngine,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
