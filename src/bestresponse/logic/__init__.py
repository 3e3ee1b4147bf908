"""Games as logic programs: read, gated, run within limits, and taken out as tables.

Names are imported when first used, so that `import bestresponse.logic` costs nothing.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.logic.embedded.engine import EmbeddedEngine as EmbeddedEngine
    from bestresponse.logic.engine import (
        Answer as Answer,
        Limits as Limits,
        LogicEngine as LogicEngine,
        Program as Program,
        Proof as Proof,
        RuntimeFault as RuntimeFault,
        Verdict as Verdict,
        open_engine as open_engine,
    )
    from bestresponse.logic.gate.check import GatedProgram as GatedProgram, check as check
    from bestresponse.logic.language.diagnostics import (
        Diagnostic as Diagnostic,
        Severity as Severity,
        Stage as Stage,
        numbered as numbered,
    )
    from bestresponse.logic.language.reader import Clause as Clause, read as read
    from bestresponse.logic.language.terms import (
        Atom as Atom,
        Struct as Struct,
        Term as Term,
        Var as Var,
        write as write,
    )
    from bestresponse.logic.programs.game_table import Decision as Decision, End as End, tree as tree
    from bestresponse.logic.programs.strategies import (
        StrategyReader as StrategyReader,
        StrategyTable as StrategyTable,
        strategy_table as strategy_table,
    )
    from bestresponse.logic.programs.table import (
        Extraction as Extraction,
        GameTable as GameTable,
        Row as Row,
        extract as extract,
        published_cells as published_cells,
    )
    from bestresponse.logic.programs.validate import (
        Report as Report,
        feedback as feedback,
        validate_strategy as validate_strategy,
    )
    from bestresponse.logic.swi.engine import SwiEngine as SwiEngine
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
