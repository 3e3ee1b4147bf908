"""Games as logic programs: read, gated, run within limits, and taken out as tables.

Names are imported when first used, so that `import bestresponse.logic` costs nothing.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.logic.embedded.engine import (
        EmbeddedEngine as EmbeddedEngine,
    )
    from bestresponse.logic.engine import (
        Answer as Answer,
    )
    from bestresponse.logic.engine import (
        Limits as Limits,
    )
    from bestresponse.logic.engine import (
        LogicEngine as LogicEngine,
    )
    from bestresponse.logic.engine import (
        Program as Program,
    )
    from bestresponse.logic.engine import (
        Proof as Proof,
    )
    from bestresponse.logic.engine import (
        RuntimeFault as RuntimeFault,
    )
    from bestresponse.logic.engine import (
        Verdict as Verdict,
    )
    from bestresponse.logic.engine import (
        open_engine as open_engine,
    )
    from bestresponse.logic.gate.check import (
        GatedProgram as GatedProgram,
    )
    from bestresponse.logic.gate.check import (
        check as check,
    )
    from bestresponse.logic.language.diagnostics import (
        Diagnostic as Diagnostic,
    )
    from bestresponse.logic.language.diagnostics import (
        Severity as Severity,
    )
    from bestresponse.logic.language.diagnostics import (
        Stage as Stage,
    )
    from bestresponse.logic.language.diagnostics import (
        numbered as numbered,
    )
    from bestresponse.logic.language.reader import (
        Clause as Clause,
    )
    from bestresponse.logic.language.reader import (
        read as read,
    )
    from bestresponse.logic.language.terms import (
        Atom as Atom,
    )
    from bestresponse.logic.language.terms import (
        Struct as Struct,
    )
    from bestresponse.logic.language.terms import (
        Term as Term,
    )
    from bestresponse.logic.language.terms import (
        Var as Var,
    )
    from bestresponse.logic.language.terms import (
        write as write,
    )
    from bestresponse.logic.programs.game_table import (
        Decision as Decision,
    )
    from bestresponse.logic.programs.game_table import (
        End as End,
    )
    from bestresponse.logic.programs.game_table import (
        tree as tree,
    )
    from bestresponse.logic.programs.strategies import (
        StrategyReader as StrategyReader,
    )
    from bestresponse.logic.programs.strategies import (
        StrategyTable as StrategyTable,
    )
    from bestresponse.logic.programs.strategies import (
        strategy_table as strategy_table,
    )
    from bestresponse.logic.programs.table import (
        Extraction as Extraction,
    )
    from bestresponse.logic.programs.table import (
        GameTable as GameTable,
    )
    from bestresponse.logic.programs.table import (
        Row as Row,
    )
    from bestresponse.logic.programs.table import (
        extract as extract,
    )
    from bestresponse.logic.programs.table import (
        published_cells as published_cells,
    )
    from bestresponse.logic.programs.validate import (
        Expectation as Expectation,
    )
    from bestresponse.logic.programs.validate import (
        Report as Report,
    )
    from bestresponse.logic.programs.validate import (
        feedback as feedback,
    )
    from bestresponse.logic.programs.validate import (
        validate_strategy as validate_strategy,
    )
    from bestresponse.logic.swi.engine import (
        SwiEngine as SwiEngine,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
