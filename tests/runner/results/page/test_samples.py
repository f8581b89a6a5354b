"""Runs against samples."""

import json

from runner.results.render.formats import page
from runner.results.sections import samples
from runner.results.sections.episodes import section as episodes
from tests.runner.results.page.pages import cells, made, parsed


def run(home, name, values):
    """A run of samples with these scores."""
    found = made(home / name, {"one": ("k", list(values.values()))}, choices={"agent": name})
    lines = [json.loads(line) for line in (found.folder / "records.jsonl").read_text().splitlines()]
    lines = [line | {"sample_id": sample} for line, sample in zip(lines, values, strict=True)]
    (found.folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return found


def test_samples_on_which_runs_disagree_are_first_and_what_is_missing_is_not_zero(tmp_path):
    runs = [
        run(tmp_path, "a", {"same": 0.0, "apart": 1.0, "b/near": 0.5}),
        run(tmp_path, "b", {"same": 0.0, "apart": 0.0, "b/near": 0.25, "own": 1.0}),
    ]
    (sheet,) = samples.section(runs).parts
    rows = cells(sheet)
    assert [(row["sample"], row["spread"]) for row in rows] == [
        ("apart", 0.5), ("b/near", 0.125), ("own", None), ("same", 0.0),
    ]  # fmt: skip
    assert [rows[2][name] and rows[2][name].value for name in ("a", "b")] == [None, 1]
    assert rows[1]["a"].link == "#episode=a/b%2Fnear/0" and sheet.shaded == 2
    tree = parsed(page("t", "", [], [samples.section(runs), episodes(runs)]))
    assert tree.xpath("//section[@id='samples']//tbody/tr[3]/td[position() > 2]/@class") == ["n gone", "n h10"]


def test_an_episode_without_a_score_has_a_link_and_no_value(tmp_path):
    runs = [run(tmp_path, "a", {"s": 1.0, "t": None}), run(tmp_path, "b", {"s": 1.0, "t": 1.0})]
    (row,) = (row for row in cells(samples.section(runs).parts[0]) if row["sample"] == "t")
    assert row["a"].value is None and row["a"].link == "#episode=a/t/0" and row["spread"] is None


def test_one_run_has_nothing_to_disagree_with(tmp_path):
    assert samples.section([run(tmp_path, "a", {"s": 1.0})]) is None and samples.section([]) is None
