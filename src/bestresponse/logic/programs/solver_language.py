"""The solver language: what every game shares, as a logic program both engines load unchanged.

A game is told in the situation calculus (Mensfelt, Stathis and Trencsenyi, "Autoformalizing and
Simulating Game-Theoretic Scenarios using LLM-augmented Agents", 2024, section 3.2; the axioms of
effect and inertia are Reiter's): a situation is the initial one or `do(Move, Situation)`; `holds/2`
says what is true in it, `game/2` leads to the final ones. A game program adds `initial/1`,
`initially/2`, `legal/2`, `effect/3`, `abnormal/3`, `final/1` and `finally/2`; a strategy adds
`select/4`.

`SOLVER` follows the papers: programs may call these predicates but never define them. `EXTRACTION`
is how a table is taken out of a game (see `table`), which is asked about a program, never in it.
Both are trusted text. Some predicates are built into the embedded engine (`embedded.builtins`),
which counts and foresees more than the text says.
"""

from pathlib import Path

SOLVER = Path(__file__).with_name("solver.pl").read_text("utf-8")

EXTRACTION = Path(__file__).with_name("extraction.pl").read_text("utf-8")

TRUSTED = SOLVER + EXTRACTION
"""Everything an engine loads beside a game."""

REQUIRED = ("initial/1", "initially/2", "legal/2", "final/1", "finally/2")
"""What a game must define. Without `effect/3` or `abnormal/3` it is a game nobody's move changes,
but a game."""
