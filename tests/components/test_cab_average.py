import csv
from collections import defaultdict
from pathlib import Path

import pytest

from components.cab_average import dimension_means, total
from components.cab_tasks import DIMENSIONS, TASKS
from components.errors import ConfigError

PUBLISHED = Path(__file__).resolve().parents[2] / "conf" / "papers" / "reflectool.csv"
TOLERANCE = 0.0101


def rows():
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["source_table"], (row["group"], row["backbone"], row["method"]), row


def published(table):
    """Method -> scope or task -> value of one table."""
    found = defaultdict(dict)
    for source, method, row in rows():
        if source == table:
            name = row["task"] or row["dimension"] or row["scope"]
            found[method][row["scope"], name] = float(row["value"]) if row["value"] else None
    return found


TABLE_5 = published("table5")


def test_all_methods_are_there():
    assert len(TABLE_5) == 24


@pytest.mark.parametrize("method", TABLE_5, ids="/".join)
def test_published_means_and_totals_recompute(method):
    values = TABLE_5[method]
    scores = {name: value for (scope, name), value in values.items() if scope == "task"}
    assert set(scores) == set(TASKS)
    means = dimension_means(scores)
    for dimension in DIMENSIONS:
        assert means[dimension] == (
            None
            if values["dimension_avg", dimension] is None
            else pytest.approx(values["dimension_avg", dimension], abs=TOLERANCE)
        )
    printed = [value for (scope, _), value in values.items() if scope == "dimension_avg" and value is not None]
    assert total(scores) == pytest.approx(sum(printed) / len(printed), abs=TOLERANCE)


# The article's own slips: its Table 2 does not follow from its Table 5.
UNLIKE = {
    ("mllm", "HuatuoGPT-Vision-7B", "zero_shot"),
    ("mllm", "GPT-4o-mini", "zero_shot"),
    ("agent", "Qwen2-7B", "react"),
}
TABLE_2 = published("table2")


@pytest.mark.parametrize("method", TABLE_2, ids="/".join)
def test_published_totals_are_the_means_of_the_tasks_but_for_three_slips(method):
    scores = {name: value for (scope, name), value in TABLE_5[method].items() if scope == "task"}
    assert (total(scores) == pytest.approx(TABLE_2[method]["total", "total"], abs=TOLERANCE)) is (method not in UNLIKE)


def test_published_sizes_recompute():
    sizes = {
        dimension: sum(task.size for task in TASKS.values() if task.dimension == dimension) for dimension in DIMENSIONS
    }
    n_all = sum(sizes.values())
    assert n_all == 14_879
    assert [round(100 * size / n_all, 2) for size in sizes.values()] == [23.39, 16.88, 24.03, 13.97, 21.72]


def test_total_over_the_dimensions_that_two_models_share():
    scores = {"medqa": 60.0, "mmlu": 80.0, "vqarad": 90.0, "medcalc": 10.0, "ehrsql": None}
    assert dimension_means(scores) == {"knowledge": 70, "multimodal": 90, "numerical": 10, "data": None, "trust": None}
    assert total(scores) == pytest.approx((70 + 90 + 10) / 3)
    assert total(scores, ["knowledge", "numerical", "data"]) == 40
    assert total({}) is None and total(scores, ["trust"]) is None


def test_task_of_no_benchmark_is_refused():
    with pytest.raises(ConfigError, match="medmcqa"):
        dimension_means({"medmcqa": 50.0})
