"""The view that says how to cite."""

from pathlib import Path

from tests.report.html.small_runs import two_models

from afrieval.report.html.report import cite


def test_benchmarks_have_licence_citation_and_bibtex(tmp_path: Path) -> None:
    page = cite(two_models(tmp_path))
    assert "We evaluated first and second with afrieval 0.1.0." in page
    assert "IrokoBench: A New Benchmark" in page
    assert "@misc{adelani2024irokobench" in page
    assert "Licence of the data: Apache-2.0" in page
    assert 'data-task="afrixnli"' in page
