"""Claims about a game: read from text or JSON, decided by logic and by theory, corrected in sentences that are true.

After LELMA (Mensfelt, Stathis and Trencsenyi, "Logic-Enhanced Language Model Agents for Trustworthy Social
Simulations", 2024), made general: any number of players and actions, any numbers, three-valued verdicts.
Names are imported when first used.
"""

from bestresponse.core.lazy import lazy

_EXPORTS = {
    "FORMS": "claim",
    "Checked": "checker",
    "Checker": "checker",
    "Claim": "claim",
    "LogicCheck": "by_logic",
    "Malformed": "claim",
    "Mix": "claim",
    "ModelTranslator": "translator_model",
    "Move": "claim",
    "Review": "review",
    "Reviewer": "review",
    "RulesTranslator": "translator_rules",
    "Sentence": "feedback",
    "State": "review",
    "Subject": "subject",
    "TheoryCheck": "by_theory",
    "Translation": "translation",
    "claims_schema": "grammar_json",
    "corrections": "feedback",
    "ground": "grounding",
    "parse": "grammar",
    "parse_json": "grammar_json",
    "parse_queries": "grammar",
    "say": "wording",
}

__all__ = sorted(_EXPORTS)  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy(__name__, _EXPORTS)
