"""Tables of leaderboards say what they are over, what is published, and what is not known."""

from dataclasses import replace
from typing import Any

import numpy as np
from tests.analysis.cells import on_boards, scored
from tests.analysis.test_leaderboard import answers, cells, row
from tests.analysis.test_verdicts import MATCHED, labelled

from afrieval.analysis.entries import LeaderboardModel
from afrieval.analysis.leaderboard import Leaderboard
from afrieval.report.boards import (
    average_tables,
    best_sentence,
    best_table,
    model_averages,
    model_table,
    numbers,
    pair_table,
    tasks_table,
    titles,
)
from afrieval.report.html.heat import board_heats
from afrieval.report.table import Table
from afrieval.scoring.metrics import metric


def whole(*own: Any, rows: Any = ()) -> Leaderboard:
    return on_boards([cell for of in own for cell in of], rows)


def suite(board: Leaderboard) -> list[Table]:
    return average_tables(board.averages[0], board.tasks)


def text(table: Table) -> str:
    return " ".join(table.notes)


def test_an_average_lists_its_members_and_says_what_others_lack() -> None:
    """Two languages do not show which model is better in others."""
    main, others = suite(
        whole(cells("a", {"yor": 0.5, "hau": 0.7}), cells("b", {"yor": 0.9, "hau": 0.9}), cells("c", {"yor": 1.0}))
    )
    assert main.heads == ["model", "rank", "mean", "95% CI", "pairs", "n"]
    assert [cells_[:3] + cells_[4:] for cells_ in main.cells()] == [
        ["b", "1-2", "90.0", "2", "100"],
        ["a", "1-2", "60.0", "2", "100"],
    ]
    assert "Tasks: afrixnli. Languages: Hausa and Yoruba." in text(main)
    assert "over the same pairs, all that any row has; 1 row lacks some of them." in text(main)
    assert others.heads == ["model", "mean", "95% CI", "pairs"] and others.cells()[0][::3] == ["c", "1"]
    assert "cannot be compared with those of others" in text(others)


def test_members_are_listed_by_task_where_they_differ() -> None:
    (main,) = suite(whole(cells("a", {"yor": 0.5, "hau": 0.7}), cells("a", {"yor": 0.9}, "afrimmlu")))
    assert "afrimmlu: Yoruba; afrixnli: Hausa and Yoruba." in text(main)


def test_a_model_with_both_kinds_of_prompts_has_two_ranks_and_the_table_says_so() -> None:
    native = cells("a", {"yor": 0.5}, prompt_language="native")
    (both,) = suite(whole(cells("a", {"yor": 0.5}), native, cells("b", {"yor": 0.9})))
    (english,) = suite(whole(cells("a", {"yor": 0.5}), cells("b", {"yor": 0.9})))
    said = "a model with English and native prompts has two of them"
    assert said in text(both) and said not in text(english)


def test_published_rows_are_marked_faint_and_explained() -> None:
    (main,) = suite(whole(cells("a", {"yor": 0.5}), rows=[row("p", {"yor": 90.0})]))
    assert [(line[0], line[2]) for line in main.cells()] == [("p", "published"), ("a", "English")]
    assert list(main.dimmed) == [0]
    assert "with their own prompts" in text(main) and "no mean mixes runs with published scores" in text(main)
    assert "n, the smallest number of documents in a language, differs" in text(main)


def test_what_has_no_known_error_has_no_rank_and_says_so() -> None:
    (main,) = suite(whole(rows=[row("p", {"yor": 90.0}, "sib200"), row("q", {"yor": 10.0}, "sib200")]))
    assert [line[1] for line in main.cells()] == ["", ""]
    assert "how sure their scores are (f1_weighted) is not known" in text(main)


def test_the_best_of_each_language_names_those_that_may_be_as_good() -> None:
    shares = {"a": 0.9, "b": 0.89, "c": 0.88, "d": 0.88, "e": 0.87, "g": 0.87, "f": 0.1}
    board = whole(*(cells(name, {"yor": share}) for name, share in shares.items()))
    (line,) = best_table(list(board.languages.values()), board.tasks).cells()
    assert line[:3] == ["Yoruba", "a", "English"] and line[5:] == ["b, c, d and 2 more", "7", "1"]


def test_a_clear_best_and_a_single_model() -> None:
    board = whole(cells("a", {"yor": 0.9, "hau": 0.5}), cells("b", {"yor": 0.1}))
    table = best_table(list(board.languages.values()), board.tasks)
    assert {line[0]: line[5] for line in table.cells()} == {"Yoruba": "none", "Hausa": ""}


def test_a_sentence_says_who_is_best_and_how_sure_that_is() -> None:
    board = whole(
        cells("a", {"yor": 0.9}), cells("a", {"yor": 0.5}, prompt_language="native"), cells("b", {"yor": 0.9})
    )
    (task,) = board.tasks
    said = best_sentence(board.pairs["afrixnli", "yor"], task)
    assert said == "afrixnli: a with English prompts is best, 82.6-94.5; b cannot be told apart from it."
    assert best_table([board.languages["yor"]], board.tasks).records()[0]["entrants"] == 2, "models, not rows"
    low = whole(rows=[row("p", {"yor": 34.0}), row("q", {"yor": 33.0})])
    said = best_sentence(low.pairs["afrixnli", "yor"], low.tasks[0])
    assert said == "afrixnli: no model is above chance (33.3)."
    golds, knows = np.arange(300) % 3, (np.arange(300) % 10 < 7).astype(float)[:, None]
    constant: Any = {"measures": {"acc": (golds == 0).astype(float)[:, None], "acc_matched": knows}, **MATCHED}
    reads = whole([labelled(np.zeros(300), golds, model=name, **constant) for name in "ab"])
    said = best_sentence(reads.pairs["afrixnli", "yor"], reads.tasks[0])
    assert said == "afrixnli: no model is above chance (33.3), except by acc_matched."


def test_the_tables_of_a_model_have_all_its_scores_and_averages() -> None:
    board = whole(
        cells("a", {"yor": 0.5, "hau": 0.7}),
        cells("a", {"yor": 0.6}, prompt_language="native"),
        cells("b", {"yor": 0.1, "hau": 0.1}),
    )
    of_languages = {code: board.pairs["afrixnli", code] for code in ("hau", "yor")}
    table = model_table(board.tasks[0], "a", of_languages)
    assert [line[:4] for line in table.cells()] == [
        ["Hausa", "English", "1", "2"], ["Yoruba", "native", "1", "3"], ["Yoruba", "English", "2", "3"],
    ]  # fmt: skip
    averages = model_averages(board.averages, "a")
    assert averages is not None
    assert [line[:4] for line in averages.cells()][:2] == [
        ["Average: tasks and African languages", "English", "1-2", "2"],
        ["Average: tasks and African languages", "native", "", ""],
    ]
    assert model_averages(board.averages, "none") is None


def test_the_best_model_of_a_language_is_named_with_its_shots() -> None:
    board = whole(cells("a", {"yor": 0.3}, shots=0), cells("a", {"yor": 0.8}, shots=5))
    table = best_table(list(board.languages.values()), board.tasks)
    assert table.cells()[0][:5] == ["Yoruba", "a", "English", "5 shots", "80.0"]


def test_known_defects_are_said_where_the_language_is_shown_and_where_it_is_not() -> None:
    board = whole(cells("a", {"yor": 0.5, "lin": 0.9}, declared={"defective": {"lin": "wrong rows"}}))
    left_out = "Left out, for known defects of their data: afrixnli: Lingala (wrong rows)."
    included = "Included, in spite of known defects of their data: afrixnli: Lingala (wrong rows)."
    assert left_out in text(suite(board)[0]) and included not in text(suite(board)[0])
    (afrobench,) = average_tables(board.averages[1], board.tasks)
    assert included in text(afrobench) and left_out not in text(afrobench)
    assert included in text(best_table(list(board.languages.values()), board.tasks))
    shown = pair_table(board.pairs["afrixnli", "lin"], board.tasks[0], "lin")
    assert "has a known defect: wrong rows. It is in AfroBench's average, but in no other one." in text(shown)


def test_tasks_that_are_not_averaged_say_why() -> None:
    board = whole(cells("a", {"yor": 0.5}), [scored(answers(0.5), "texts", of="loss", model="a")])
    table = tasks_table(board.tasks)
    assert [line[-1] for line in table.cells()] == ["yes", "no"]
    assert "Not averaged, having no score of quality between 0 and a maximum: texts." in text(table)
    (average,) = average_tables(board.averages[0], board.tasks)
    assert "a maximum: texts." in text(average)
    (alone,) = average_tables(board.averages[0], board.tasks[:1])
    assert "Not averaged" not in text(alone)


def test_names_have_what_varies() -> None:
    models = [
        LeaderboardModel("a", "suite", "eng", 0, "text"),
        LeaderboardModel("a", "suite", "native", 5, "text"),
        LeaderboardModel("b", "published", "native", None, ""),
    ]
    assert list(titles(models).values()) == ["a, English, 0 shots", "a, native, 5 shots", "b, published, native"]
    assert list(titles(models[:1]).values()) == ["a"]


def test_prompts_are_shown_in_short() -> None:
    assert numbers(["1", "2", "3", "5"]) == "1-3,5"
    assert numbers(["paper1", "2"]) == "2 paper1"
    assert numbers([]) == ""


def test_unparsed_answers_are_named_and_ranks_allow_for_them() -> None:
    read, unread = cells("a", {"yor": 0.9}), cells("b", {"yor": 0.0})
    unread = [
        replace(c, metrics={**c.metrics, "unparsed": metric("unparsed")}, measures={**c.measures, "unparsed": ones})
        for c in unread
        for ones in [np.ones((c.n, 1))]
    ]
    board = whole(read, unread)
    (main,) = suite(board)
    assert [line[:2] for line in main.cells()] == [["a", "1-2"], ["b", "1-2"]]
    of_model = model_table(board.tasks[0], "b", {"yor": board.pairs["afrixnli", "yor"]})
    for table in (main, best_table([board.languages["yor"]], board.tasks), of_model):
        assert "Unparsed answers, which count as wrong: b (Yoruba 100.0%)." in text(table)
    assert "a is best, 82.6-94.5; b cannot be told apart from it" in best_sentence(
        board.pairs["afrixnli", "yor"], board.tasks[0]
    )
    low = whole(unread, [replace(c, model="c") for c in unread])
    said = best_sentence(low.pairs["afrixnli", "yor"], low.tasks[0])
    assert "no model is above chance (25.0), as unparsed answers count as wrong." in said
    page = board_heats("x", {"yor": low.pairs["afrixnli", "yor"]}, low.order, (0.0, 100.0), {"language": {}})
    assert 'class="sign"' not in page and "Unparsed answers" in page


def test_prompts_that_nobody_has_reviewed_have_a_star() -> None:
    declared: Any = {"unreviewed": {"yor": "machine"}}
    native = cells("a", {"yor": 0.9}, prompt_language="native", declared=declared)
    mixed, alone = whole(cells("a", {"yor": 0.5}), native, cells("b", {"yor": 0.1})), whole(native)
    (main,) = suite(mixed)
    assert main.cells()[0][:3] == ["a", "1", "native*"] and "machine-written" in text(main)
    of_model = model_table(alone.tasks[0], "a", {"yor": alone.pairs["afrixnli", "yor"]})
    tables = [*suite(alone), best_table([mixed.languages["yor"]], mixed.tasks), of_model]
    assert all("*" in str(table.cells()) and "machine-written" in text(table) for table in tables)
    page = board_heats("x", {"yor": alone.pairs["afrixnli", "yor"]}, alone.order, (0.0, 100.0), {"language": {}})
    assert "a*" in page and "machine-written" in page
    (english,) = suite(whole(cells("a", {"yor": 0.5})))
    assert "*" not in text(english)
