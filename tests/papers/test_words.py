"""The papers' own words find the page of the paper in the search of the site, and from the command
line.

The search splits pages and questions into words (letters, digits and underscores) and looks up each
word, also as a part of a longer one; a page is found where all words of a question are.
"""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bestresponse.cli.app import app

PAPERS = Path(__file__).parents[2] / "docs" / "papers"
WORDS = {
    "autoformalization": (
        "autoformalization, autoformalisation, select/4, holds/2, clones, clones mode, round robin,"
        " target payoff, max_attempts, syntactic correctness, functional correctness, semantic"
        " correctness, validity constraints, in-context learning, solver query, GDL"
    ),
    "lelma": (
        "LELMA, reasoner, translator, solver queries, instruction prompt, Fleiss kappa, false alarm"
    ),
    "steering": (
        "infostate, CFR gain, NashConv, NB, CCE, PSRO, num_llm_seeds, num_max_replies, ChatGames,"
        " imitation learning, replicator dynamics, termination prompt, reward model, payoff tensor,"
        " held-out model, tone, observations summary prefix postfix, MCCFR, figure 3, figure 4, table 1"
    ),
    "alympics": (
        "p_n, RSR_S, RSR_E, RSR, No-Water Days, Sandbox Playground, Reasoning Plugin, Memory Cache,"
        " persona, Water Allocation Challenge, survival rate, Resource Abundance, Agent Player,"
        " tool utilization"
    ),
    "nash-gap-benchmark": (
        "Nash gap, gap ratio, LLM value, BR value, dummy LLM, LLMInterface, evaluate_games,"
        " benchmark_summary, median_nash_gap, GamePromptFormatter, best response value"
    ),
}
QUESTIONS = [(page, words) for page, listed in WORDS.items() for words in listed.split(", ")]


@pytest.mark.parametrize(("page", "question"), QUESTIONS)
def test_the_words_of_a_paper_find_its_page(page, question):
    text = (PAPERS / f"{page}.md").read_text("utf-8")
    known = set(re.findall(r"\w+", text.casefold()))
    for word in re.findall(r"\w+", question.casefold()):
        # Plurals are one word for the search, which knows the stems of English words.
        stem = word.removesuffix("s").removesuffix("ie")
        assert any(stem in other for other in known), word


def test_the_command_line_names_the_papers_and_where_their_pages_are():
    shown = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    for name in ("Nash-gap benchmark", "steering", "autoformalization", "LELMA", "Alympics"):
        assert name in shown
    assert "docs/papers" in shown


def test_the_index_of_papers_links_every_page():
    index = (PAPERS / "index.md").read_text("utf-8")
    for page in WORDS:
        assert f"({page}.md)" in index
