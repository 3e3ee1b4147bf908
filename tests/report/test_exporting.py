"""Figures and tables of a run as files for a paper."""

import sample_runs


def test_every_figure_is_written_as_svg_and_pdf_and_every_table_as_latex_and_markdown(tmp_path):
    run = sample_runs.bench_run(tmp_path / "runs")
    written = run.write_figures(tmp_path / "out")
    assert sorted(written) == sorted((tmp_path / "out").iterdir())
    by_ending = {
        ending: {path.stem for path in written if path.suffix == ending}
        for ending in (".tex", ".md", ".svg", ".pdf")
    }
    assert by_ending[".tex"] == by_ending[".md"]
    assert by_ending[".svg"] == by_ending[".pdf"] != set()
    report = run.report()
    sections = [block for section in report.sections for block in section.blocks]
    blocks = [*report.opening, *sections]
    kinds = [type(block).__name__ for block in blocks]
    assert len(by_ending[".tex"]) == kinds.count("Table")
    assert len(by_ending[".pdf"]) == kinds.count("Figure")
    first = tmp_path / "out" / "02-how-far-from-optimal"
    assert first.with_suffix(".tex").read_text().startswith("\\begin{tabular}{llr")
    assert first.with_suffix(".md").read_text().startswith("| player | asked for | exploitability")
    assert all(path.read_bytes()[:5] == b"%PDF-" for path in written if path.suffix == ".pdf")
