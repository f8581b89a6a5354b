"""Run folders by name."""

from pathlib import Path

import pytest

from components.core.errors import ConfigError
from runner.results.folders import folder_of, run_folders
from runner.results.runs import Run, config_of, warnings_of
from tests.runner.results.folders import write


def test_sweep_lists_its_runs_in_start_order(tmp_path):
    later, first = (
        write(tmp_path / name, {"t": ("k", [1])}, start=day) for name, day in (("a", "2026-2"), ("b", "2026-1"))
    )
    assert run_folders(tmp_path) == [first, later] and run_folders(later) == [later]


def test_jobs_are_listed_in_the_order_of_the_sweep(tmp_path):
    second, first, old = (
        write(tmp_path / name, {"t": ("k", [1])}, start="2026-1", number=number)
        for name, number in (("a", 10), ("b", 9), ("c", None))
    )
    assert run_folders(tmp_path) == [first, second, old]


def test_jobs_in_deeper_folders_are_listed_where_they_are_of_the_sweep(tmp_path):
    shared = {"sweep": "s", "start": "2026-1"}
    jobs = [write(tmp_path / "s" / "a" / str(n) / "b", {"t": ("k", [1])}, number=n, **shared) for n in (1, 0)]
    write(tmp_path / "s" / "x" / "y", {"t": ("k", [1])}, sweep="other")
    write(jobs[0] / "parts" / "0", {"t": ("k", [1])}, **shared)
    assert run_folders(tmp_path / "s") == jobs[::-1]
    assert folder_of([Run.at(job) for job in jobs]) == tmp_path / "s"


def test_run_without_records_is_named_and_left_out(tmp_path, capsys):
    finished, begun = (write(tmp_path / name, {"t": ("k", [1])}) for name in "ab")
    (begun / "records.jsonl").unlink()
    assert run_folders(tmp_path) == [finished]
    assert capsys.readouterr().err.startswith(f"note: {begun} has no records.jsonl and is left out")


@pytest.mark.parametrize("missing", ["manifest.json", "config.yaml", "records.jsonl"])
def test_folder_without_run_files_is_not_a_run(tmp_path, missing):
    folder = write(tmp_path / "a", {"t": ("k", [1])})
    (folder / missing).unlink()
    with pytest.raises(ConfigError, match=f"is not a run folder: it has no {missing}"):
        run_folders(folder)


def test_folder_of_sweeps_suggests_one_of_its_runs(tmp_path):
    write(tmp_path / "name" / "2026", {"t": ("k", [1])})
    with pytest.raises(
        ConfigError, match=r"it has no records\.jsonl, but holds those of runs: name one, .*/name/2026$"
    ):
        run_folders(tmp_path)


def test_runs_of_others_further_below_are_named(tmp_path, capsys):
    deep = write(tmp_path / "nest" / "a" / "b" / "sweep" / "0", {"t": ("k", [1])}, sweep="sweep")
    with pytest.raises(ConfigError, match=f"nest is not a run folder: .*, but holds those of runs: .*{deep}$"):
        run_folders(tmp_path / "nest")
    copy = write(tmp_path / "nest" / "copy", {"t": ("k", [1])})
    assert run_folders(tmp_path / "nest") == [copy]
    note = f"note: left out, runs in subfolders (1); name them too, such as {deep}\n"
    assert capsys.readouterr().err == note


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "cannot be read: while parsing"),
        ("- a", "it holds list, not"),
        ("a: &a [*a]", "cannot be read: Circular reference"),
    ],
)
def test_damaged_config_is_reported_in_one_line(tmp_path, text, message):
    folder = write(tmp_path / "a", {"t": ("k", [1])})
    (folder / "config.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        config_of(folder)
    assert "\n" not in str(caught.value)


def test_invalid_folder_name_is_refused():
    with pytest.raises(ConfigError, match="cannot be read as a folder"):
        run_folders(Path("x" * 5_000))


def test_config_whose_comparison_is_not_a_mapping_is_refused(tmp_path):
    folder = write(tmp_path / "a", {"t": ("k", [1])})
    (folder / "config.yaml").write_text("compare: x\n")
    with pytest.raises(ConfigError, match=r"config\.yaml is not the config of a run: compare is 'x'"):
        config_of(folder)


def test_a_note_names_the_agents_or_where_some_of_their_runs_lack_it_what_varies(tmp_path):
    def runs(*notes):
        facts = [{"choices": {"agent": "twice"}, "swept": ["agent.prompts"], "varied": {"agent.prompts": name},
                  "notes": of} for name, of in zip(("bad", "good"), notes, strict=True)]  # fmt: skip
        return [Run.read(write(tmp_path / f"{notes}{n}", {"t": ("k", [1])}, **of)) for n, of in enumerate(facts)]

    assert "note: no options (twice)" in warnings_of(runs(["no options"], ["no options"]))
    assert "note: no options (agent.prompts=bad)" in warnings_of(runs(["no options"], []))
