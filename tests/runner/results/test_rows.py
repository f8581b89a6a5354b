"""Which runs form a row, and how rows are named."""

import pytest

from components.core.errors import ConfigError
from runner.results.grid import grid_of
from runner.results.intervals import Mean, Metric
from runner.results.levels import shared_groups
from runner.results.rows import rows_of
from runner.results.runs import Run
from runner.results.sections.means import show_means
from runner.results.versus import compare_rows
from tests.runner.results.folders import CFG, CHOICES, write


@pytest.fixture
def make(tmp_path):
    def made(name, scored, **given):
        return Run.at(write(tmp_path / name, scored, **given))

    return made


def test_one_task_per_job_is_one_row(make):
    a, b = make("a", {"one": ("k", [1, 0])}), make("b", {"two": ("k", [1, 1])}, cfg={"dataset": {"split": "dev"}})
    (row,) = rows_of([a, b])
    assert (row.label, len(row.table)) == ("react openai", 4)


def test_different_settings_make_separate_rows_named_by_them(make):
    critic = {"agent": {"_target_": "mine.Critic", "rounds": 1}}
    runs = [
        make("a", {"one": ("k", [1])}), make("b", {"one": ("k", [1])}, cfg={"verifier": CFG["verifier"] | {"n": 4}}),
        make("c", {"one": ("k", [1])}, cfg=critic, choices=CHOICES | {"agent": "critic"}),
    ]  # fmt: skip
    assert [row.label for row in rows_of(runs)] == ["react n=2", "react n=4", "critic n=2"]


def test_repeated_task_starts_a_new_row_except_for_shards(make):
    first, again = make("a", {"one": ("k", [1])}), make("b", {"one": ("k", [1])})
    assert [row.label for row in rows_of([first, again])] == ["a", "b"]
    shards = [make(f"s{n}", {"one": ("k", [1])}, shard=f"{n}/2") for n in (1, 2)]
    assert len(rows_of(shards)) == 1


def test_rows_of_a_sweep_are_named_by_the_varied_settings(make):
    swept = {"sweep": "s", "swept": ["agent"]}
    runs = [
        make(name, {"one": ("k", [1])}, cfg={"agent": {"_target_": name}, "verifier": {"n": n}}, **swept,
             choices=CHOICES | {"agent": name, "memory": memory}, varied={"agent": name})
        for name, n, memory in (("react", 2, "none"), ("critic", 4, "learnt"))
    ]  # fmt: skip
    assert [row.label for row in rows_of(runs)] == ["react", "critic"]
    again = make("c", {"one": ("k", [1])}, cfg={"verifier": {"n": 9}}, **swept, varied={"agent": "react"})
    assert " n=9" in rows_of([runs[0], again])[1].label, "the varied settings do not distinguish these"


def test_no_label_has_a_part_that_all_labels_have(make):
    def runs(settings, **given):
        return [
            make(f"{agent}{n}", {"one": ("k", [1])}, cfg={"agent": {"_target_": agent, "n": n}, "verifier": {"rate": 2}},
                 choices=CHOICES | {"agent": agent}, **given)
            for agent, n in settings
        ]  # fmt: skip

    def labels(found):
        return [row.label for row in rows_of(found)]

    two, six = [("react", 1), ("react", 2)], [(agent, n) for agent in ("react", "critic", "direct") for n in (1, 2)]
    assert labels(runs(two)) == ["n=1", "n=2"]
    assert labels(runs(six, sweep="s", swept=["agent", "agent.n"])) == [f"{agent} n={n}" for agent, n in six]
    assert labels(runs([("react", 1), ("critic", 5)])) == ["react", "critic"], "settings of another choice do not count"


def test_what_follows_from_a_choice_is_named_by_it(make):
    def run(profile, **given):
        switches = {"reader": profile, "typing": profile * 30} | given
        cfg = {"profile": {"rada": {"reader": profile, "typing": profile * 30}}, "dataset": {"switches": switches}}
        groups = {group: CFG[group] | {"switches": switches} for group in ("agent", "condition")}
        return make(f"{profile}{given}", {"one": ("k", [1])}, cfg=cfg | groups, choices=CHOICES | {"profile": profile})

    runs = [run("paper"), run("code"), run("code", reader="none")]
    assert [row.label for row in rows_of(runs)] == ["paper", "reader=code code", "reader=none code"]
    assert [column.label for column in grid_of(runs).columns] == [
        "cab paper",
        "cab reader=code code",
        "cab reader=none code",
    ]


def test_labels_are_short_and_no_two_are_equal(make):
    def labels(*given):
        return [row.label for row in rows_of([make(name, {"one": ("k", [1])}, cfg=cfg) for name, cfg in given])]

    few, many = {"limit": 20}, {"limit": 200}
    assert labels(("a", few), ("b", many)) == ["limit=20", "limit=200"]
    assert labels(("a", few), ("b", many), ("c", {"seed": 1})) == ["seed=0 limit=20", "seed=0 limit=200", "seed=1"]
    assert labels(("react", {}), ("mine/react", {}))[1] == "mine/react"
    long = [{"verifier": {f"s{n}": f"{name}{n}" for n in range(40)}} for name in "abc"]
    found = labels(*((f"l{n}", cfg | {"memory": {"last": n // 2}}) for n, cfg in enumerate(long)))
    assert len(set(found)) == 3 and max(map(len, found)) <= 60, found
    data = [{"dataset": {f"s{n}": f"{name}{n}" for n in range(20)} | {"z": z}} for name, z in ("aa", "ab", "ba")]
    runs = [make(f"d{n}", {"one": ("k", [1])}, cfg=cfg) for n, cfg in enumerate(data)]
    assert len({column.label for column in grid_of(runs).columns}) == 3


def test_baseline_is_suggested_by_its_agent_where_labels_are_settings(make):
    runs = [make(name, {"one": ("k", [1])}, cfg={"limit": n}) for n, name in enumerate("ab")]
    with pytest.raises(
        ConfigError, match=r"no method here is 'reakt'; did you mean react\? there are limit=0, limit=1"
    ):
        compare_rows(grid_of(runs), baselines=["reakt"])


def test_choices_within_a_choice_give_rows_their_names(make):
    node = {"_target_": "mine.Both", "first": {"_target_": "mine.Few"}}
    runs = [
        make(name, {"one": ("k", [1])}, cfg={"condition": node | {"then": {"_target_": name, "rate": rate}}},
             choices=CHOICES | {"condition": "both", "condition.first": "few", "condition.then": name})
        for name, rate in (("noisy", 0.1), ("slow", 0.2))
    ]  # fmt: skip
    assert [row.label for row in rows_of(runs)] == ["noisy", "slow"]
    other = make("n", {"one": ("k", [1])}, cfg={"condition": node | {"then": {"_target_": "noisy", "rate": 0.9}}},
                 choices=runs[0].choices)  # fmt: skip
    assert [row.label for row in rows_of([*runs, other])] == ["noisy rate=0.1", "slow", "noisy rate=0.9"]


def test_dataset_wrapper_is_a_setting_and_the_inner_data_are_compared(make):
    plain = make("a", {"one": ("k", [1])})
    changed = make("b", {"one": ("k", [1])}, cfg={"dataset": {"perturb": ["x"], "inner": CFG["dataset"]}},
                   choices=CHOICES | {"dataset": "perturbed", "dataset.inner": "cab"})  # fmt: skip
    assert plain.data == changed.data
    assert [row.label for row in rows_of([plain, changed])] == ["react openai", "perturbed"]


def test_deciding_score(make):
    one = make("a", {"one": ("k", [1])}, decides="score/x")
    assert one.headline == "score/x" == make("b", {"one": ("k", [1])}).headline
    assert make("c", {"one": ("k", [1])}, decides="score/none").headline == "score/x"


def test_comparison_settings_do_not_make_another_row(make):
    runs = [make(name, {name: ("k", [1])}, cfg={"compare": {"baselines": [name]}}) for name in "ab"]
    assert len(rows_of(runs)) == 1


def test_settings_are_read_by_group_or_dotted_key(make):
    run = make("a", {"one": ("k", [1])})
    assert [run.setting(key) for key in ("agent", "verifier.n", "memory", "memory.k", "seed")] == [
        "react",
        2,
        None,
        None,
        0,
    ]


def test_means_are_printed_with_the_total_over_shared_dimensions(make, capsys):
    text = make("a", {"one": ("k", [1, 0]), "two": ("d", [1, 1])})
    whole = make("b", {"one": ("k", [0, 0]), "two": ("d", [1, 0]), "three": ("m", [1, 1])}, cfg={"seed": 1})
    shown_means = show_means([text, whole])["score/x"]
    assert list(shown_means) == ["seed=0", "seed=1"]
    assert shown_means["seed=0"]["total"]["value"] == 0.75 and shown_means["seed=0"]["m"]["value"] is None
    assert shown_means["seed=1"]["total"]["value"] == pytest.approx((0 + 0.5 + 1) / 3)
    assert shown_means["seed=1"]["total, shared: d k"]["value"] == 0.25
    out = capsys.readouterr().out
    assert "total, shared: d k" in out and " -" in out


def test_each_of_several_strata_has_a_table(make, capsys):
    runs = [make(name, {"one": ("k", [1, 0]), "two": ("d", [n, n])}, by={"score/x": ["dimension", "task"]}, levels={},
                 cfg={"seed": n}) for n, name in enumerate("ab")]  # fmt: skip
    shown_means = show_means(runs)
    assert list(shown_means) == ["score/x", "score/x by task"]
    assert [shown_means["score/x by task"][f"seed={n}"]["two"]["value"] for n in (0, 1)] == [0.0, 1.0]
    out = capsys.readouterr().out
    assert "score/x: means per dimension, and all samples" in out and "score/x: means per task, and all samples" in out


def test_other_strata_of_many_rows_are_named_and_not_shown(make, capsys):
    runs = [make(f"r{n}", {"one": ("k", [1, 0]), "two": ("d", [1, 1])}, by={"score/x": ["dimension", "task"]}, levels={},
                 cfg={"seed": n}) for n in range(7)]  # fmt: skip
    assert list(show_means(runs)) == ["score/x", "score/x by task"]
    assert "score/x by task: not shown here for 7 rows" in capsys.readouterr().out


def test_a_score_without_values_has_no_table(make, capsys):
    run = make("a", {"one": ("k", [None]), "two": ("d", [None])}, by={"score/x": ["dimension"]}, levels={})
    assert show_means([run]) == {} and capsys.readouterr().out == ""


def test_shared_groups():
    one, other = ({"a": 1.0, "b": None, "c": 0.0}, {"c": 1.0, "a": 2.0, "b": 3.0})
    means = [{group: Mean(Metric(value)) for group, value in of.items()} for of in (one, other)]
    assert shared_groups(means) == ["a", "c"]
    assert shared_groups([]) == []


def test_record_without_required_fields_is_reported_in_one_line(make):
    run = make("a", {"one": ("k", [1])})
    with (run.folder / "records.jsonl").open("a") as file:
        file.write('{"sample_id": "x", "epoch": 0, "stop": "answered", "cluster": null, "strata": {}, "seconds": 1}\n')
    with pytest.raises(ConfigError, match=r"records.jsonl: the record of 'x' has no scores and no usage; restore"):
        _ = run.table


def test_data_are_identified_by_content_and_not_by_location(tmp_path):
    runs = [
        Run(tmp_path, {"choices": {"dataset": "cab"}, "dataset": noted}, {"dataset": {"path": path, "tasks": ["a"]}})
        for path, noted in (
            ("/here", {"fingerprint": "1"}),
            ("/there", {"fingerprint": "2", "base": "1"}),
            ("/there", {"fingerprint": "3"}),
            ("/here", {}),
            ("/there", {}),
        )
    ]
    first, *others = [run.data for run in runs]
    assert [other == first for other in others] == [True, False, False, False] and len(set(others)) == 4
