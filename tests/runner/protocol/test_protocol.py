"""``python -m runner.protocol``: a study planned, frozen, run and answered; what deviates, and who looks too early."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from runner import compare, report
from runner.config.catalogue import CONF
from runner.experiment.experiment import facts_of
from runner.job.prepare import prepare_words
from runner.protocol.__main__ import main
from runner.protocol.freeze import plan_of
from runner.protocol.report import LISTS
from runner.results.merge import merge
from runner.storage import disk, manifest
from runner.storage.integrity import digests_of
from runner.study import log
from runner.study.frozen import conform
from runner.study.looks import looks, note_analysis, note_merged, runs_of
from tests.acceptance.command import run_in_process
from tests.runner.results.test_merge import shard
from tests.slow import slow

STUDY = """\
title: Small
question: Is a second look better?
common: [limit=16, tracking=off, dataset.records=12]
arms: {checked: [verifier=reflect], unchecked: [verifier=accept]}
models: {main: simulated}
samples: 16
primary:
  - {name: H1, compare: [checked, unchecked], metric: completion/rate, direction: higher, kind: superiority,
     expected: 0.1, differ: 0.3}
secondary:
  - {name: H2, compare: [checked, unchecked], metric: completion/rate, direction: higher, kind: non-inferiority,
     margin: 0.2, expected: 0.0, differ: 0.3}
  - {name: H3, compare: [unchecked, checked], metric: calls/per_sample, direction: lower, kind: superiority,
     expected: 1.0, sd: 2.0}
strata: [complexity]
power: 0.01
"""
RUN = ("protocol=study.yaml", "limit=16", "tracking=off", "dataset.records=12", "seed=0")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A frozen study, and one with its runs."""
    home = tmp_path_factory.mktemp("protocol")
    (home / "study.yaml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert main(["freeze", "study.yaml"]) == 0
    shutil.copytree(home, home / "whole")
    for verifier in ("accept", "reflect"):
        words = (*RUN, f"verifier={verifier}", f"hydra.run.dir={verifier}")
        done = run_in_process(home / "whole", *words, own=False)
        assert done.code == 0, done.err
        assert "completion/rate" not in done.out and "runner.protocol report" in done.out  # nobody looks yet
    return home


@pytest.fixture
def frozen(made, tmp_path, monkeypatch):
    """A frozen study without any run, in the working folder."""
    shutil.copytree(made, tmp_path / "home", ignore=lambda *_: ["whole"])
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def whole(made, tmp_path, monkeypatch):
    """The study with its runs, in the working folder; they are where the log does not know."""
    shutil.copytree(made / "whole", tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def run(home, *words):
    return run_in_process(home, *RUN, *words, own=False)


def events(home, kind):
    return [event for event in log.events(home / "study.yaml") if event["event"] == kind]


def text_of(home):
    return (home / "study.report/report.md").read_text()


@slow
def test_the_shipped_study_is_planned_frozen_run_and_answered(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine/study.yaml"]) == 0
    assert main(["check", "mine/study.yaml"]) == 0
    assert "can be run as planned" in capsys.readouterr().out
    assert main(["freeze", "mine/study.yaml"]) == 0
    words = ("-m", "experiment=protocol", "protocol=mine/study.yaml", "tracking=off")
    assert run_in_process(tmp_path, *words, own=False).code == 0
    assert main(["report", "mine/study.yaml"]) == 0
    text = (tmp_path / "mine/study.report/report.md").read_text()
    assert text.count("| shown |") == 2 and text.count("None.") == 2
    wanted = {
        part.partition(":")[0] if not part.startswith("Exploratory") else part for name in LISTS for part in parts(name)
    }
    assert {"Protocol", "Hypotheses", "Samples and runs", "Exploratory: Datasets"} <= wanted
    assert [one for one in wanted if f"## {one}\n" not in text] == []  # every item is answered where it says


def parts(name):
    with (CONF / "checklists" / f"{name}.csv").open(newline="") as file:
        cells = [row["answered"] for row in csv.DictReader(file)]
    return [part for cell in cells for part in cell.split("; ") if part and not part.endswith("by the authors")]


def test_new_does_not_replace_a_study(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "study.yaml"]) == 0
    assert main(["new", "study.yaml"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["new", "study.txt"]) == 2


def test_frozen_form_has_settings_data_prompts_code_and_power(frozen):
    found = json.loads((frozen / "study.frozen.json").read_text())
    checked, unchecked = found["runs"]
    assert checked["planned"]["verifier._target_"] != unchecked["planned"]["verifier._target_"]
    assert {"data.fingerprint", "data.ids", "models.main", "identities.main", "budget.run.usd", "seed"} <= checked[
        "planned"
    ].keys()
    assert any(key.startswith("prompts.") for key in checked["planned"])
    assert re.fullmatch("[0-9a-f]{64}", found["code"]) and found["git"].keys() == {"commit", "dirty"}
    assert [one["hypothesis"] for one in found["power"]] == ["H1", "H2", "H3"]
    assert [one["alpha"] for one in found["power"]] == [0.05, 0.025, 0.025]


@slow
def test_a_study_is_frozen_once_and_changed_only_by_an_amendment(frozen, capsys):
    (frozen / "study.yaml").write_text(STUDY.replace("margin: 0.2", "margin: 0.3"))
    assert main(["freeze", "study.yaml"]) == 2
    assert "an amendment needs --amend REASON" in capsys.readouterr().err
    assert main(["check", "study.yaml"]) == 1
    assert "study.yaml was " in capsys.readouterr().out
    assert main(["freeze", "study.yaml", "--amend", "the margin was agreed on"]) == 0
    assert main(["check", "study.yaml"]) == 0
    assert (frozen / "study.frozen.1.json").exists() and len(events(frozen, "frozen")) == 2


def test_words_that_are_not_utf_8_are_no_reason_and_do_not_stop_the_log(frozen, capsys):
    before = (frozen / "study.frozen.json").read_bytes()
    assert main(["freeze", "study.yaml", "--amend", "caf\udce9"]) == 2
    assert "--amend 'caf\\udce9' is not UTF-8: state" in capsys.readouterr().err
    log.add(frozen / "study.yaml", {"event": "look", "command": "caf\udce9", "n": {"x": 0}})
    assert events(frozen, "look")[0]["command"] == "caf?" and (frozen / "study.frozen.json").read_bytes() == before


PLANS = {
    "a_part": ("limit=16,", "limit=32, run.shard=1/2,", "run.shard=1/2: a study plans whole runs"),
    "too_few_samples": ("samples: 16", "samples: 17", "17 are planned; its settings select 16"),
    "another_model": ("main: simulated", "main: gpt", "models: found {'main': 'simulated'}"),
    "unknown_metric": ("metric: completion/rate", "metric: completion/rat", "did you mean completion/rate"),
    "wrong_direction": ("direction: higher", "direction: lower", "completion/rate is better higher, not lower"),
    "unknown_stratum": ("[complexity]", "[complexty]", "did you mean complexity"),
    "unknown_choice": ("verifier=reflect", "verifier=reflekt", "did you mean reflect"),
    "same_arms": ("checked: [verifier=reflect]", "checked: [verifier=accept]", "unchecked, seed 0: arms: it is identical to checked"),
    "not_0_or_1": ("expected: 1.0, sd: 2.0", "expected: 0.1, differ: 0.3", "H3: differ: calls/per_sample is a number, not 0 or 1: give sd"),
    "too_weak": ("power: 0.01", "power: 0.9", "is below 0.9; .* samples would reach it"),
    "other_data": ("[verifier=accept]", "[dataset.split=train]", "data.fingerprint|its data.split is not that of the first arm"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(PLANS))
def test_a_plan_that_cannot_be_run_as_it_says_is_not_frozen(case, tmp_path, monkeypatch, capsys):
    before, after, why = PLANS[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY.replace(before, after))
    assert main(["freeze", "study.yaml"]) == 2
    assert re.search(why, capsys.readouterr().err)
    assert not (tmp_path / "study.frozen.json").exists()


def test_what_deviates_is_refused_and_nothing_is_run(frozen):
    done = run(frozen, "limit=12", "hydra.run.dir=other")
    assert done.code == 2 and not (frozen / "other").exists()
    assert "nearest is unchecked with seed 0" in done.err and "limit was 16, now is 12" in done.err
    assert 'run.deviation="reason"' in done.err
    assert events(frozen, "run") == []
    (frozen / "study.frozen.json").unlink()
    done = run(frozen)
    assert done.code == 2 and "study.frozen.json is not what study.log.jsonl says was frozen: restore it" in done.err
    (frozen / "study.log.jsonl").unlink()
    done = run(frozen)
    assert done.code == 2 and "is not frozen: python -m runner.protocol freeze study.yaml" in done.err


@slow
def test_a_deviation_with_a_reason_is_recorded_and_reported(whole, capsys):
    words = ("model.competence=0.5", 'run.deviation="the model was retired"', "hydra.run.dir=other")
    done = run(whole, *words)
    assert done.code == 0 and "note: deviates from study.yaml (the model was retired): " in done.err
    facts = json.loads((whole / "other/manifest.json").read_text())["protocol"]
    assert facts["arm"] == "unchecked" and any("model.competence was" in one for one in facts["deviations"])
    assert events(whole, "run")[-1]["reason"] == "the model was retired"
    assert main(["report", "study.yaml", "accept", "reflect"]) == 0
    text = text_of(whole)
    assert "model.competence was 0.85, now is 0.5" in text and "the model was retired" in text
    assert f"started under the protocol, not analysed: {whole / 'other'}" in text


def test_report_answers_what_was_asked_in_that_order_and_marks_the_rest(whole, capsys):
    assert main(["report", "study.yaml", "accept", "reflect"]) == 0
    out = capsys.readouterr().out
    assert "not all planned" not in out
    text = text_of(whole)
    order = ["## Hypotheses", "### Primary hypotheses", "### Secondary hypotheses", "### Planned strata", "## Protocol",
             "## Samples and runs", "## Deviations and looks", "## Reporting guidelines",
             "## Exploratory: "]  # fmt: skip
    places = [text.index(one) for one in order]
    assert places == sorted(places)
    titles = re.findall(r"^## (.+)$", text, re.M)
    assert all(title.startswith("Exploratory: ") for title in titles[5:]) and len(titles) > 8
    assert re.findall(r"^\| (H\d) \| (?:un)?checked", text, re.M) == ["H1", "H2", "H3"]
    assert "non-inferiority: gain \\> -0.2" in text
    assert re.search(
        r"^H2 \(checked is less than 0.2 worse than unchecked, by completion/rate\): (not )?shown$", text, re.M
    )
    assert "must not exceed 0.025, which" in text and "| SHA-256 of the code | " in text
    assert text.count("None.") == 2 and events(whole, "look") == [] and len(events(whole, "analysis")) == 1
    assert "by the authors" in text and "| 14c |" in text and (whole / "study.report/report.html").is_file()


@slow
def test_the_first_whole_run_counts_whatever_came_later(whole, capsys):
    assert run(whole, "verifier=accept", "hydra.run.dir=again", "run.journal=null").code == 0
    assert main(["report", "study.yaml", "accept", "reflect", "again"]) == 0
    assert "not analysed: again" in text_of(whole) and "| again |" not in text_of(whole)


@slow
def test_looks_before_all_was_run_are_recorded(frozen, capsys, monkeypatch):
    assert run(frozen, "verifier=accept", "hydra.run.dir=first").code == 0
    for look in (
        lambda: report.main(["table", "first"]),
        lambda: report.main(["page", "first"]),
        lambda: compare.main(["first", "first"]),  # refused, after the look
        lambda: main(["report", "study.yaml"]),
    ):
        before = len(events(frozen, "look"))
        look()
        assert len(events(frozen, "look")) == before + 1
    assert report.main(["verify", "first"]) == 0 and len(events(frozen, "look")) == 4
    assert events(frozen, "look")[0]["n"] == {"checked, seed 0": 0, "unchecked, seed 0": 16}
    text = text_of(frozen)
    assert "not planned" in text and "not all planned samples were run, nothing is decided: checked" in text
    assert "| not decided |" in text and "| shown |" not in text


def test_planned_looks_are_not_held_against_a_study(frozen, monkeypatch):
    path = frozen / "study.yaml"
    path.write_text(STUDY + "looks: [10, 15]\n")
    assert main(["freeze", "study.yaml", "--amend", "looks"]) == 0
    for n in (5, 10, 11, 11, 14, 15, 15):
        log.add(path, {"event": "look", "command": "x", "n": {"a": 40, "b": n}})
    assert [planned for _, planned in looks(path)] == [False, True, False, False, False, True, True]


def test_a_look_counts_samples_that_can_be_analysed(frozen):
    study = frozen / "study.yaml"
    study.write_text(STUDY + "exclusions: [{reason: damaged, ids: [q9]}]\n")
    assert main(["freeze", "study.yaml", "--amend", "exclusions"]) == 0
    facts = {"study": str(study), "arm": "checked", "seed": 0, "deviations": [], "reason": None}
    folder = shard(frozen / "a", None, ("q1", 0), ("q1", 1), ("q9", 0), id="a", resumed=[], protocol=facts)
    with (folder / "records.jsonl").open("a") as file:
        file.write(json.dumps({"sample_id": "q2", "epoch": 0, "stop": "error"}) + "\n")
    log.note_begin(folder, manifest.read(folder))
    note_analysis(study, [])
    assert [event["n"] for event in events(frozen, "look")] == [{"checked, seed 0": 1, "unchecked, seed 0": 0}]


@slow
def test_a_run_that_was_not_begun_under_the_protocol_cannot_be_resumed_under_it(frozen):
    words = (*RUN[1:], "verifier=accept")
    assert run_in_process(frozen, *words, "hydra.run.dir=free", own=False).code == 0
    done = run_in_process(frozen, *words, "protocol=study.yaml", "run.resume=free", own=False)
    assert done.code == 2 and "protocol was null, now is" in done.err


@slow
def test_replies_from_before_the_freeze_do_not_answer(frozen):
    words = (*RUN[1:], "verifier=accept")
    assert run_in_process(frozen, *words, "hydra.run.dir=free", own=False).code == 0
    assert run(frozen, "verifier=accept", "hydra.run.dir=first").code == 0
    calls = json.loads((frozen / "first/manifest.json").read_text())["calls"]
    assert calls["sent"] and not calls["from_journal"] and (frozen / "study.journal").is_dir()


def test_a_log_that_was_changed_is_refused(whole, capsys):
    path = whole / "study.log.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    for changed in (
        lines[1:],
        [*lines[:1], *lines[2:]],
        [lines[0], lines[1].replace("unchecked", "checked"), lines[2]],
    ):
        path.write_text("".join(changed))
        assert main(["report", "study.yaml"]) == 2
        assert "does not follow the line before" in capsys.readouterr().err
    path.write_text("".join(lines)[:-9])
    assert main(["report", "study.yaml"]) == 2
    assert "study.log.jsonl:3: it is cut off" in capsys.readouterr().err


def test_a_named_run_of_which_the_log_has_no_line_is_refused(whole, capsys):
    path = whole / "study.log.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert main(["report", "study.yaml", "accept", "reflect"]) == 2
    message = "accept began under study.yaml, and study.log.jsonl has no line of it: restore the log"
    assert message in capsys.readouterr().err and len(path.read_text().splitlines()) == 1


def test_edited_records_are_no_answer(whole, capsys):
    path = whole / "accept/records.jsonl"
    path.write_text(path.read_text().replace('"completion/rate":0.0', '"completion/rate":1.0'))
    assert main(["report", "study.yaml", "accept", "reflect"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: accept/records.jsonl was changed: it has another SHA-256") and err.count("\n") == 1
    assert not (whole / "study.report").exists() and not events(whole, "analysis")


@slow
def test_last_lines_that_a_run_saw_are_missed(whole, capsys):
    path = whole / "study.log.jsonl"
    begun = path.read_text()
    log.add(whole / "study.yaml", {"event": "look", "command": "x", "n": {"unchecked, seed 0": 16}})
    assert run(whole, "verifier=reflect", "run.resume=reflect").code == 0
    for lines, lost in ((path.read_text(), 0), (begun, 1)):
        path.write_text(lines)
        assert main(["report", "study.yaml", "accept", "reflect"]) == 0
        text = text_of(whole)
        assert text.count("the study's log lacks lines that it had when this run began or ended") == lost
        assert ("shown, with deviations" in text) == bool(lost)
    assert run(whole, "verifier=reflect", "run.resume=reflect").code == 0
    assert main(["report", "study.yaml", "accept", "reflect"]) == 0 and "lacks lines" in text_of(whole)


def test_a_frozen_form_that_was_changed_is_refused_wherever_it_is_read(whole, capsys):
    path = whole / "study.frozen.json"
    path.write_text(path.read_text().replace('"margin": 0.2', '"margin": 0.9'))
    for command in (
        lambda: main(["report", "study.yaml"]),
        lambda: main(["check", "study.yaml"]),
        lambda: run(whole, "verifier=accept", 'run.deviation="why not"', "hydra.run.dir=other").code,
    ):
        assert command() == 2
    err = capsys.readouterr().err
    assert err.count("study.frozen.json is not what study.log.jsonl says was frozen") == 2
    assert not (whole / "other").exists()


def test_a_freeze_before_its_log_says_how_to_go_on(frozen, capsys):
    (frozen / "study.log.jsonl").unlink()
    done = run(frozen)
    assert done.code == 2 and "or: python -m runner.protocol freeze study.yaml\n" in done.err


def test_a_frozen_form_that_was_removed_does_not_make_the_study_new(whole, capsys):
    (whole / "study.frozen.json").unlink()
    assert main(["freeze", "study.yaml"]) == 2
    assert "an amendment needs --amend REASON" in capsys.readouterr().err


def test_a_freeze_that_was_broken_off_is_done_again(frozen):
    """The log's line is the last to be written."""
    (frozen / "study.log.jsonl").unlink()
    assert main(["freeze", "study.yaml"]) == 0 and main(["check", "study.yaml"]) == 0


def test_a_study_of_one_hypothesis_is_frozen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY[: STUDY.index("secondary")] + "power: 0.01\n")
    assert main(["check", "study.yaml"]) == 0


def test_two_cannot_freeze_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    with disk.exclusive(tmp_path):
        assert main(["freeze", "study.yaml"]) == 2
    assert "is in use by another process" in capsys.readouterr().err
    assert not (tmp_path / "study.frozen.json").exists()


def test_a_run_that_was_deleted_is_missed_and_its_successor_does_not_count_in_silence(whole, capsys):
    lines = (whole / "study.log.jsonl").read_text().splitlines()
    first = json.loads(lines[1])
    log.add(whole / "study.yaml", {"event": "run", "id": "0" * 32, "folder": str(whole / "bad"), "arm": first["arm"],
                                   "seed": 0, "deviations": [], "reason": None})  # fmt: skip
    assert main(["report", "study.yaml", "accept", "reflect"]) == 0
    out = capsys.readouterr().out
    assert "runs were moved or deleted:" in out and f"a run is missing: {whole / 'bad'}" in text_of(whole)
    assert "shown, with deviations |" in text_of(whole)


def test_a_run_whose_begin_was_not_logged_counts_once_it_is_resumed(frozen):
    for name, event in (("a", "resumed"), ("b", "run"), ("b", "resumed")):
        log.add(frozen / "study.yaml", {"event": event, "id": name, "folder": name, "arm": "checked", "seed": 0})
    assert [one.folder.name for one in runs_of(frozen / "study.yaml")] == ["a", "b"]


def test_parts_of_every_seed_are_planned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY.replace("samples: 16", "samples: 16\nseeds: [0, 1]"))
    assert main(["freeze", "study.yaml"]) == 0
    words = [*RUN, "verifier=accept", "run.shard=2/2"]
    for seed in (0, 1):
        experiment = prepare_words([*words, f"seed={seed}"])
        facts = conform(experiment.cfg, facts_of(experiment))["protocol"]
        assert (facts["arm"], facts["seed"], facts["deviations"]) == ("unchecked", seed, [])
    with pytest.raises(ConfigError, match=r"nearest is unchecked with seed 1: limit was 16, now is 15\. "):
        prepare_words([*words, "seed=1", "limit=15"])


def test_parts_are_one_run_once_they_are_merged(frozen, capsys):
    study, parts = frozen / "study.yaml", []
    for n, deviations in enumerate([[], ["late"]]):
        facts = {"study": str(study), "arm": "checked", "seed": 0, "deviations": deviations, "reason": None}
        parts.append(shard(frozen / str(n), f"{n + 1}/2", (f"q{n}", 0), id=str(n), resumed=[], protocol=facts))
        log.note_begin(parts[-1], manifest.read(parts[-1]))
    assert runs_of(study) == []
    merge(parts, frozen / "fresh")
    note_merged(merge(parts, frozen / "job"))
    shutil.rmtree(parts[0])
    assert [(one.folder.name, one.n) for one in runs_of(study)] == [("job", 2)]
    assert [event["n"]["checked, seed 0"] for event in events(frozen, "look")] == [2]
    assert [event["deviations"] for event in events(frozen, "run")] == [["late"]]
    assert manifest.read(frozen / "fresh")["id"] == manifest.read(frozen / "job")["id"]  # made again after a crash
    study.unlink()
    note_merged(frozen / "job")
    assert "is missing: " in capsys.readouterr().err and len(events(frozen, "run")) == 1


def test_pairs_that_errors_took_are_deviations(whole, capsys):
    path = whole / "accept/records.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    path.write_text(json.dumps(json.loads(first) | {"stop": "error"}) + "\n" + "".join(rest))
    manifest.write(path.parent, manifest.read(path.parent) | {"files": digests_of(path.parent)})
    assert main(["report", "study.yaml", "accept", "reflect"]) == 0
    text = text_of(whole)
    assert "H1: 1 pairs are not analysed: ended in an error" in text and text.count("shown, with deviations |") == 3


def test_a_sample_of_two_seeds_counts_once_for_the_power(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = STUDY.replace("limit=16", "limit=100").replace("samples: 16", "samples: 100\nseeds: [0, 1]")
    (tmp_path / "study.yaml").write_text(text)
    assert 100 < plan_of(Path("study.yaml")).power[0]["samples"] < 200


def test_a_clock_that_was_set_back_is_a_deviation(whole, monkeypatch):
    monkeypatch.setattr("runner.storage.manifest.now", lambda: "2001-01-01T00:00:00.000+00:00")
    log.add(whole / "study.yaml", {"event": "look", "command": "x", "n": {"a": 1}})
    monkeypatch.undo()
    monkeypatch.chdir(whole)
    assert main(["report", "study.yaml", "accept", "reflect"]) == 0
    assert "| 2001-01-01T00:00:00 | the clock was set back" in text_of(whole)


@slow
def test_exclusions_leave_samples_out_of_the_analysis(whole, capsys):
    text = STUDY.replace("samples: 16", "samples: N").replace(
        "strata: [complexity]", "exclusions: [{reason: too simple, strata: {complexity: simple}}]"
    )
    records = [json.loads(line) for line in (whole / "accept/records.jsonl").read_text().splitlines()]
    n = sum(one["strata"]["complexity"] != "simple" for one in records)
    assert 0 < n < 16
    (whole / "study.yaml").write_text(text.replace("samples: N", f"samples: {n}"))
    assert main(["freeze", "study.yaml", "--amend", "exclusions"]) == 0
    assert main(["report", "study.yaml", "accept", "reflect"]) == 0
    found = text_of(whole)
    assert f"| 16 | {16 - n} | 0 | {n} |" in found and "excluded: too simple" in found
    assert "started before the last amendment" in found


@slow
def test_a_sweep_under_a_protocol_is_refused_as_a_run_is_and_tells_no_result_early(frozen):
    done = run(frozen, "-m", "verifier=accept,refine", "hydra.sweep.dir=sweep")
    assert done.code == 2 and "job verifier-refine" in done.err
    done = run(frozen, "-m", "verifier=accept,reflect", "hydra.sweep.dir=sweep")
    assert done.code == 0 and events(frozen, "look") == []


@slow
def test_a_sweep_in_parts_is_a_planned_run_once_it_is_merged(frozen):
    words = ("-m", *RUN, "verifier=accept,reflect")
    assert run_in_process(frozen, *words, "run.shards=2", "hydra.sweep.dir=sweep", own=False).code == 0
    shutil.rmtree(frozen / "sweep/verifier-accept/parts")
    assert main(["report", "study.yaml"]) == 0 and compare.main(["sweep"]) == 0
    found = text_of(frozen)
    assert re.search(r"^\| H1 \| .* \| 16 \| .*shown \|$", found, re.M) and events(frozen, "look") == []
    assert "not analysed: " not in found


@slow
def test_seeds_are_pooled_each_paired_with_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = STUDY.replace("limit=16", "limit=8").replace("samples: 16", "samples: 8\nseeds: [0, 1]")
    (tmp_path / "study.yaml").write_text(text)
    assert main(["freeze", "study.yaml"]) == 0
    words = ("-m", *RUN[:1], "limit=8", *RUN[2:4], "seed=0,1", "verifier=accept,reflect")
    assert run_in_process(tmp_path, *words, "hydra.sweep.dir=sweep", own=False).code == 0
    assert main(["report", "study.yaml"]) == 0
    found = text_of(tmp_path)
    assert (
        re.search(r"^\| H1 \| checked \| unchecked \|.* \| 16 \| ", found, re.M)
        and "| unchecked | 1 | 8 | 8 |" in found
    )
