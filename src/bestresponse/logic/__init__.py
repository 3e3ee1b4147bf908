"""Games as logic programs: read, gated, run within limits, and taken out as tables.

Names are imported when first used, so that `import bestresponse.logic` costs nothing.
"""

from bestresponse.core.lazy import lazy

_EXPORTS = {
    "Answer": "engine",
    "Atom": "terms",
    "Clause": "reader",
    "Decision": "views",
    "Diagnostic": "diagnostics",
    "EmbeddedEngine": "embedded",
    "End": "views",
    "Expectation": "validate",
    "Extraction": "table",
    "GameTable": "table",
    "GatedProgram": "gate",
    "Limits": "engine",
    "LogicEngine": "engine",
    "NormalFormView": "views",
    "Program": "engine",
    "Proof": "engine",
    "Report": "validate",
    "Row": "table",
    "RuntimeFault": "engine",
    "Severity": "diagnostics",
    "Stage": "diagnostics",
    "StrategyTable": "strategies",
    "Struct": "terms",
    "SwiEngine": "swi",
    "Term": "terms",
    "Var": "terms",
    "Verdict": "engine",
    "check": "gate",
    "extract": "table",
    "feedback": "validate",
    "normal_form": "views",
    "numbered": "diagnostics",
    "open_engine": "engine",
    "published_cells": "table",
    "read": "reader",
    "strategy_table": "strategies",
    "tree": "views",
    "validate_strategy": "validate",
    "write": "terms",
}

__all__ = sorted(_EXPORTS)  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy(__name__, _EXPORTS)
