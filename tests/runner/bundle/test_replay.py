"""A bundle replays unchanged elsewhere, and changes in it are reported by member, sample and call."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.bundle.packing import Site, changed, flipped, forged, members
from tests.slow import slow

ROOT = Path(__file__).resolve().parents[3]
DATA = "components/radiology/radabench_mini/test.json"
CALL = re.compile(r"sample '[^']+', epoch 0, branch '[^']+', call \d+ \(\w+\)")


def swap(old: str, new: str):
    return lambda content: content.replace(old.encode(), new.encode(), 1)


def test_bundle_replays_unchanged_in_an_empty_folder(site, elsewhere):
    output = elsewhere.run(f"run.replay={site.bundle('shipped')}", "hydra.run.dir=again")
    assert "the same: 3 records of 1 run(s), and their metrics, are those of" in output
    message = "replayed from a simulated model: these numbers say nothing about any real model"
    assert output.count(message) == 1 and message in (elsewhere.home / "again" / "report.md").read_text()
    assert "18 answered by the journal" in output
    assert not (elsewhere.home / "outputs" / ".journal").exists()


@slow
def test_a_bundle_of_a_sweep_replays_all_its_cells(sweep, elsewhere):
    output = elsewhere.run(f"run.replay={sweep.bundle('sweep')}", "hydra.sweep.dir=again")
    assert "the same: 4 records of 2 run(s), and their metrics, are those of" in output
    assert "answered by the journal, over 2 jobs, last written" in output and ": no model was asked" in output
    assert output.count("simulated model") == 1
    assert {path.parent.name for path in (elsewhere.home / "again").glob("*/metrics.json")} == {"seed-0", "seed-1"}


CHANGES = {
    "a reply in the journal": ("single", "journal.jsonl", swap('"content":"', '"content":" '), CALL),
    "a prompt": ("shipped", "prompts/react/problem.jinja", lambda text: text.replace(b"e", b"a", 1), CALL),
    "a prompt that others include": ("shipped", "_shared/conclude.jinja", lambda text: text + b".", re.compile("no call used it")),
    "the form of the data": ("single", "phrases_no_exclude_test.jsonl", swap("{", "["), re.compile(f"nothing can be run from {CALL.pattern} on")),
    "the data": ("single", "phrases_no_exclude_test.jsonl", swap("man of 41", "man of 47"), CALL),
    "a target in the data": ("single", "phrases_no_exclude_test.jsonl", swap('idx": "A"', 'idx": "B"'), re.compile(r"sample 'medqa-test-\d', epoch 0")),
    "the data other than the samples": ("single", "phrases_no_exclude_test.jsonl", swap('": "A"', '":  "A"'), re.compile("the data differ: their fingerprint was .*; every call and record is the same")),
    "the seed": ("single", "config.yaml", swap("\nseed: 0", "\nseed: 1"), CALL),
    "a record": ("single", "records.jsonl", swap('"role":"assistant","text":"', '"role":"assistant","text":"x'), CALL),
    "a record's score": ("single", "records.jsonl", swap('"score/strict":', '"score/strikt":'), re.compile("sample 'medqa-test-.', epoch 0: scores score/stri")),
    "no record any more": ("single", "records.jsonl", lambda text: b"{" + text, re.compile("damaged record")),
    "a metric": ("single", "metrics.json", swap('"value": ', '"value": 9'), re.compile("metric .* was .*, is ")),
    "a text": ("shipped", "texts-0000.jsonl.gz", lambda text: text[:-1], re.compile("texts-0000.jsonl.gz was changed after it was packed")),
    "a report": ("single", "report.md", swap("a", "b"), re.compile("report.md was changed after it was packed")),
}  # fmt: skip


SLOW = {
    "a prompt that others include",
    "a target in the data",
    "the seed",
    "a record's score",
    "no record any more",
    "a metric",
    "a text",
    "a report",
}  # these rules are also tested below, or in test_differences and test_archive


@slow
@pytest.mark.parametrize("what", [pytest.param(name, marks=slow) if name in SLOW else name for name in CHANGES])
def test_change_is_reported_with_the_first_call_it_affects(site, elsewhere, what):
    name, member, change, wanted = CHANGES[what]
    bundle = changed(site.bundle(name), elsewhere.home / "b.zip", member, change)
    output = elsewhere.run(f"run.replay={bundle}", code=1)
    assert re.search(rf"not the same: \S*{re.escape(member)} was changed after it was packed", output), output
    assert any(wanted.search(line) for line in output.splitlines() if line.startswith("not the same: ")), output


@pytest.mark.parametrize(
    ("name", "member"),
    [("single", "journal.jsonl"), pytest.param("shipped", "react/problem.jinja", marks=slow)],
)
def test_flipped_bit_in_the_zip_is_reported(site, elsewhere, name, member):
    output = elsewhere.run(f"run.replay={flipped(site.bundle(name), elsewhere.home / 'b.zip', member)}", code=1)
    assert re.search(rf"not the same: \S*{member} was changed after it was packed", output), output


FORGED = {
    "a prompt": ("prompts/react/problem.jinja", swap("e", "a"), 1, rf"react/problem.jinja differs here: {CALL.pattern} used it"),
    "what prompts include": ("prompts/_shared/conclude.jinja", swap("e", "a"), 1, "_shared/conclude.jinja differs here"),
    "a reply": ("journal.jsonl", swap('"content":"', '"content":" '), 1, CALL.pattern),
    "a metric by strata": ("metrics.json", lambda text: b"0.99".join(text.rsplit(b"1.0", 1)), 1, "strata differ: strata .* was .*, is "),
    "metrics of another form": ("metrics.json", lambda text: b'{"metrics": [1]}', 1, "metric .* was None, is"),
    "strata that clear the screen": ("metrics.json", swap('"strata": {', '"strata": {"\\u001b[2J": {},'), 1, r"strata \\x1b\[2J was \{\}, is None"),
    "no journal": ("journal.jsonl", lambda text: None, 2, r"b\.zip cannot be replayed: it has no journal\.jsonl"),
}  # fmt: skip


SLOW_FORGED = {"a reply", "what prompts include", "metrics of another form"}  # also tested in test_differences


@slow
@pytest.mark.parametrize("what", [pytest.param(name, marks=slow) if name in SLOW_FORGED else name for name in FORGED])
def test_change_with_a_consistent_digest_list_is_reported(site, elsewhere, what):
    member, change, code, wanted = FORGED[what]

    def forge(contents, head):
        (name,) = (name for name in contents if name.endswith(member))
        if (fresh := change(contents.pop(name))) is not None:
            contents[name] = fresh

    forged(site.bundle("shipped"), elsewhere.home / "b.zip", forge)
    output = elsewhere.run("run.replay=b.zip", code=code)
    assert re.search(wanted, output) and "the same:" not in output.replace("not the same:", ""), output


def test_runs_of_the_same_name_are_refused(site, elsewhere):
    forged(site.bundle("single"), elsewhere.home / "b.zip", lambda contents, head: head["runs"].append(head["runs"][0]))
    assert "two of its runs have the same name" in elsewhere.run("run.replay=b.zip", code=2)


def test_changed_digest_list_is_refused(site, elsewhere):
    bundle = changed(site.bundle("single"), elsewhere.home / "b.zip", "bundle.json", swap('"schema": 1', '"schema": 2'))
    output = elsewhere.run(f"run.replay={bundle}", code=2)
    assert "bundle.json was changed after it was packed" in output and not (elsewhere.home / "outputs").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["seed=1"], "seed: a replay accepts no setting that could change its results"),
        (["-m"], "-m: a bundle is replayed unchanged"),
        (["agent=react"], "agent: a replay accepts no setting"),
        (["tracking=of"], "tracking=of: did you mean off"),
        (["dataset.path=/nowhere"], "/nowhere"),
    ],
)
def test_override_that_could_change_the_result_is_refused(site, elsewhere, words, message):
    output = elsewhere.run(f"run.replay={site.bundle('single')}", *words, code=2)
    assert message in output and not list((elsewhere.home / "outputs").glob("*/*"))


def test_data_left_out_of_the_bundle_must_be_given_and_identical(site, elsewhere):
    code, output = site.pack("single", target=str(elsewhere.home / "b.zip"))
    assert code == 0 and "left out" in output and "dataset.path" in output
    assert not any(name.startswith("data/") for name in members(elsewhere.home / "b.zip"))
    assert "give dataset.path=PATH" in elsewhere.run("run.replay=b.zip", code=2)
    mine = shutil.copytree(site.home / "mine", elsewhere.home / "theirs")
    assert "the same: 4 records" in elsewhere.run("run.replay=b.zip", f"dataset.path={mine}")
    mine = mine.rename(elsewhere.home / "other")
    file = next(mine.rglob("*.jsonl"))
    file.write_text(file.read_text().replace("man of 42", "man of 77"))
    output = elsewhere.run("run.replay=b.zip", f"dataset.path={mine}", code=1)
    assert "the data differ" in output and CALL.search(output)


@slow
def test_clone_with_other_prompts_or_data_reports_the_affected_call(site, tmp_path):
    clone = tmp_path / "clone"
    for part in ("components", "runner", "conf"):
        shutil.copytree(ROOT / part, clone / part, copy_function=os.link)
    env = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}

    def replay(code: int) -> str:
        line = [sys.executable, "-m", "runner", f"run.replay={site.bundle('shipped')}"]
        done = subprocess.run(line, cwd=clone, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    def other(file: str, old: str, new: str) -> Path:
        """Replace a file by a copy with one letter changed: the clone's files are links to the originals."""
        text = (clone / file).read_text()
        (clone / file).unlink()
        (clone / file).write_text(text.replace(old, new, 1))
        return clone / file

    assert "the same: 3 records" in replay(0)
    prompt = other("components/prompts/react/problem.jinja", "e", "a")
    output = replay(1)
    assert re.search(rf"prompts/react/problem.jinja differs here: {CALL.pattern} used it", output)
    shutil.copy(ROOT / "components/prompts/react/problem.jinja", prompt)
    sample = "test-head-and-neck-ct-2"
    age = re.search(rf'"{sample}": {{\s+"case": {{\s+"Information": {{\s+"Age": "\d', (ROOT / DATA).read_text())[0]
    other(DATA, age, age[:-1] + str((int(age[-1]) + 1) % 10))
    output = replay(1)
    assert re.search(rf"sample '{sample}/\S+', epoch 0, branch 'main', call 0", output) and "fingerprint was" in output


@slow
def test_replay_is_an_ordinary_run_folder_that_can_be_packed(site, elsewhere: Site):
    elsewhere.run(f"run.replay={site.bundle('single')}", "hydra.run.dir=again")
    assert elsewhere.pack("again", "--with-data")[0] == 0
    assert "the same: 4 records" in elsewhere.run("run.replay=again.zip", "hydra.run.dir=third")
