"""Cost against quality."""

from runner.results.rows import read_metrics
from runner.results.sections.frontier import Point, cost_of, front
from runner.results.sections.frontier import frontier as section
from runner.results.sheets import Sheet, Value
from tests.runner.results.page.pages import cells, grid, made, tips, written_on
from tests.runner.results.records import change_records
from tests.table import each_row

POINTS = {"cheap": (1, 0.2), "good": (3, 0.9), "dear": (4, 0.9), "bad": (2, 0.1), "equal": (3, 0.9)}


@each_row("way, wanted", [("higher", {"cheap", "good", "equal"}), ("lower", {"cheap", "bad"}), ("", set())])
def test_front_has_the_undominated_runs(way, wanted):
    points = [Point(name, cost, Value(quality)) for name, (cost, quality) in POINTS.items()]
    assert {point.one for point in front(points, way) if point.front} == wanted


def test_cost_is_in_tokens_where_the_price_is_zero(tmp_path):
    runs = grid(tmp_path, {(a, c): [1, 0] for a in ("react", "cot") for c in ("intact", "withheld")})
    assert cost_of(read_metrics(*runs)) == ("tokens", [2.0] * 4)
    for run in runs:
        change_records(run, lambda _, record: record["usage"].update(cost_usd=0.5))
    assert cost_of(read_metrics(*runs)) == ("USD", [0.5] * 4)
    change_records(runs[0], lambda n, record: record["usage"].update(cost_usd=0.5 if n else None))
    assert cost_of(read_metrics(*runs))[0] == "tokens", "one price that is not known"
    (sheet,) = (part for part in section(runs).parts if isinstance(part, Sheet))
    assert {row["on the front"] for row in cells(sheet)} == {"yes"} and "prices are not known" in sheet.notes[0]


def test_single_run_has_no_front(tmp_path):
    assert section([made(tmp_path / "a", {"one": ("k", [1])})]) is None


def test_plot_labels_omit_the_dataset_in_the_title(tmp_path):
    runs = [
        made(tmp_path / f"{agent}-{data}", {"one": ("k", [value])}, dataset={"name": data},
             choices={"agent": agent, "dataset": data}, varied={"agent": agent, "dataset": data},
             swept=["agent", "dataset"], sweep="s")
        for agent, value in (("react", 1), ("cot", 0)) for data in ("d1", "d2")
    ]  # fmt: skip
    first, _, second, _ = section(runs).parts
    for plot, data in ((first, "d1"), (second, "d2")):
        assert data in plot.title
        assert sorted(tip.partition(":")[0] for tip in tips(plot)) == ["cot", "react"]


def test_coinciding_runs_share_a_label(tmp_path):
    runs = grid(tmp_path, {(a, c): [1, 0] for a in ("react", "cot") for c in ("intact", "withheld")})
    plot = section(runs).parts[0]
    assert len({tip.partition(":")[0] for tip in tips(plot)}) == 4
    assert [text for text in written_on(plot) if "intact" in text] == ["react intact +3"]


def test_runs_in_about_one_place_share_the_label_of_the_first_on_the_front(tmp_path):
    pairs = [(agent, condition) for agent in ("react", "cot") for condition in ("intact", "withheld")]
    runs = grid(tmp_path, {pair: [1, 0] for pair in pairs})
    for run, usd in zip(runs, (1.01, 1.0, 5.0, 9.0), strict=True):
        change_records(run, lambda _, record, usd=usd: record["usage"].update(cost_usd=usd))
    labels = [text for text in written_on(section(runs).parts[0]) if text.startswith(("react", "cot"))]
    assert labels == ["react withheld +1", "cot intact", "cot withheld"]
