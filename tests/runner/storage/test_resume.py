"""Which folder a run is resumed in, and what may have changed in between."""

import json
import os
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser

from components.core.errors import ConfigError
from components.core.redaction import redact
from runner.storage import manifest
from runner.storage.manifest import command_line
from runner.storage.resume import (
    config_text,
    differences,
    folder_for,
    is_complete,
    make_unused,
    quote_path,
    refuse_changes,
    refuse_in_sweep,
)
from tests.table import each_row

CFG = {
    "name": "x", "seed": 0, "limit": None,
    "model": {"_target_": "a.B", "name": "m", "temperature": 0.0, "max_connections": 10, "api_base": None, "price": None},
    "models": {"judge": {"name": "j", "retries": 3}},
    "budget": {"sample": {"calls": 5}, "run": {"usd": None}},
    "run": {"resume": None, "shard": None}, "tracking": {"uri": None}, "scorer": {},
}  # fmt: skip


def changed(**values):
    """CFG with dotted keys (``__`` for the dot) changed."""
    new = yaml.safe_load(yaml.safe_dump(CFG))
    for key, value in values.items():
        *path, last = key.split("__")
        node = new
        for step in path:
            node = node[step]
        node[last] = value
    return new


def begin_run(folder, cfg=CFG):
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(cfg))
    return folder


@each_row(
    "values",
    [
        {"run__shard": "1/2"}, {"tracking__uri": "x"}, {"budget__run__usd": 3}, {"model__max_connections": 1},
        {"model__api_base": "http://x"}, {"models__judge__retries": 9}, {"model__api_key_env": "X"},
    ],
)  # fmt: skip
def test_settings_that_cannot_change_a_score_may_differ(values):
    assert differences(CFG, changed(**values)) == []


def test_comparison_settings_may_differ():
    assert differences(CFG, CFG | {"compare": {"baselines": ["direct"]}}) == []


@each_row(
    "values, named",
    [
        ({"seed": 1}, "seed was 0, now is 1"),
        ({"model__name": "n"}, 'model.name was "m", now is "n"'),
        ({"model__temperature": 0.5}, "model.temperature was 0.0, now is 0.5"),
        ({"budget__sample__calls": 6}, "budget.sample.calls was 5, now is 6"),
        ({"models__judge__name": "k"}, 'models.judge.name was "j", now is "k"'),
        ({"model__price": {"input": 1}}, "model.price was null, now is not there"),
        ({"scorer": {"a": {"_target_": "x"}}}, 'scorer._target_ was not there, now is "x"'),
    ],
)
def test_settings_that_can_change_a_score_are_named(values, named):
    assert any(named.split(" was")[0].split(".")[0] in line for line in differences(CFG, changed(**values)))
    if "scorer" not in values:
        assert named in differences(CFG, changed(**values))


def test_a_new_run_gets_a_folder_without_a_run(tmp_path):
    wanted = tmp_path / "stamp"
    assert folder_for(CFG, wanted, named=False) == wanted
    assert folder_for(CFG, wanted, named=False) == tmp_path / "stamp-2", "the first name is taken"
    assert make_unused(wanted) == tmp_path / "stamp-3" and (tmp_path / "stamp-3").is_dir()


def test_given_folder_may_hold_other_files_but_not_a_run(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    assert folder_for(CFG, tmp_path, named=True) == tmp_path
    (tmp_path / "records.jsonl").write_text("")
    with pytest.raises(ConfigError, match=r"contains a run already; resume it with run\.resume="):
        folder_for(CFG, tmp_path, named=True)


def test_last_is_the_run_started_last(tmp_path):
    for n, name in enumerate(("b", "a", "c")):
        os.utime(begin_run(tmp_path / name) / "config.yaml", (n, n))
    (tmp_path / "z").mkdir()

    def last():
        return folder_for(changed(run__resume="last"), tmp_path / "new", named=False).name

    assert last() == "c"
    for name, finished, expected in (("c", 3, "c"), ("c", 0, "a"), ("a", 0, "b"), ("b", 0, "c")):
        notes = manifest.read(tmp_path / name) | {"status": "refused", "counts": {"finished": finished}}
        manifest.write(tmp_path / name, notes)
        assert last() == expected, "one that was refused before it began is not the last, unless there is no other"


def test_nothing_to_resume_is_reported(tmp_path):
    with pytest.raises(ConfigError, match="there is no run folder below"):
        folder_for(changed(run__resume="last"), tmp_path / "none" / "new", named=False)
    with pytest.raises(ConfigError, match="there is no run folder nowhere"):
        folder_for(changed(run__resume="nowhere"), tmp_path / "new", named=False)


def test_another_config_is_refused_with_its_differences(tmp_path):
    folder = begin_run(tmp_path / "run")
    with pytest.raises(
        ConfigError, match="was started with another config: limit was null, now is 3; seed was 0, now is 1"
    ):
        folder_for(changed(run__resume=str(folder), seed=1, limit=3), tmp_path / "new", named=False)


def test_folder_that_is_not_a_run_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not a run folder"):
        folder_for(changed(run__resume=str(tmp_path)), tmp_path / "new", named=False)


def test_folder_killed_before_its_config_was_written_is_resumed(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    assert folder_for(changed(run__resume=str(tmp_path)), tmp_path / "new", named=False) == tmp_path


@pytest.mark.parametrize(
    ("manifest", "complete"),
    [
        (None, False),
        ('{"status": "running"}', False),
        ('{"status": "complete", "counts": {"finished": 0, "errored": 0}}', True),
        ('{"status": "complete", "counts": {"finished": 0, "errored": 2}}', False),
        ('{"status": "budget"}', False),
    ],
)
def test_a_run_with_errored_samples_is_not_complete(tmp_path, manifest, complete):
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    assert is_complete(tmp_path) is complete


def test_new_key_with_a_neutral_default_is_not_a_difference():
    new = {
        **CFG,
        "agent": {"shots": 0},
        "dataset": {"records": None},
        "profile": {"name": "paper", "radabench": {"a": 1}},
    }
    old = {**CFG, "profile": {"name": "paper"}}
    assert differences(old, new) == []
    assert differences(old, new | {"agent": {"shots": 1}}) == ["agent.shots was not there, now is 1"]
    assert differences(old | {"agent": {"shots": 1}}, new) == ["agent.shots was 1, now is 0"]
    assert differences({**old, "profile": {"name": "code"}}, new) == ['profile.name was "code", now is "paper"']


def test_paths_are_resolved_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert quote_path(tmp_path / "a-b+c.d") == "a-b+c.d"
    assert quote_path(tmp_path / "a=b,c") == '"a=b,c"'


@pytest.mark.parametrize(
    "name",
    [
        "5a8799c0d1e2f3a4b5c6d7e8f90a1b2c3d4e5f60", "Mein Ordner äöß", "n" * 180, "a=b, 'c' {d}", 'say "x"',
        "token=abcdefghi",
    ],
)  # fmt: skip
def test_printed_command_can_be_pasted_into_a_shell(name, monkeypatch):
    folder = Path("/data", name, "outputs", "run")
    monkeypatch.setattr(
        "sys.argv", ["runner/__main__.py", "limit=2", f"run.journal={quote_path(folder)}", "run.resume=x"]
    )
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    program, _, module, *words = shlex.split(command_line(f"run.resume={quote_path(folder)}"))
    parse = OverridesParser.create().parse_override
    assert (program, module) == ("python", "runner")
    assert [parse(word).value() for word in words] == [2, str(folder), str(folder)]


SECRETS = {
    "tracking.uri=http://me:pa55word@host:5000": "WARDROUND_TRACKING_URI",
    "+model.extra.token='hunter2hunter2 b,c'": "WARDROUND_MODEL_EXTRA_TOKEN",
    "api_key=sk-proj-0123456789abc": "WARDROUND_API_KEY",
    "model.headers={X-Team: 'hunter2 hunter2'}": "WARDROUND_MODEL_HEADERS",
    "+2.é-ß $(x)'token=hunter2hunter2": "WARDROUND_2___SS___X__TOKEN",
}


@pytest.mark.parametrize("earlier", [False, True])
@each_row("word, variable", SECRETS.items())
def test_printed_command_reads_what_is_hidden_from_a_variable(tmp_path, monkeypatch, word, variable, earlier):
    monkeypatch.setattr("sys.argv", [str(show := tmp_path / "show"), "limit=2", word])
    show.write_text('#!/bin/sh\nprintf "%s\\n" "$@"')
    show.chmod(0o755)
    line = command_line("run.resume=x")
    if earlier:  # of a folder whose manifest has the words
        (tmp_path / "manifest.json").write_text(json.dumps({"command": command_line().replace("show", str(show), 1)}))
        (tmp_path / "config.yaml").write_text("damaged")
        with pytest.raises(ConfigError) as refused:
            folder_for(changed(run__resume=str(tmp_path)), tmp_path / "new", named=False)
        line = redact(str(refused.value).partition("; to resume ")[2].partition(": ")[2])
    value = word.partition("=")[2]
    assert value not in line
    shell = partial(subprocess.run, ["sh", "-c", line], capture_output=True, text=True)
    done = shell(env={"PATH": os.environ["PATH"], variable: value})
    assert done.stdout.splitlines()[:2] == ["limit=2", word] and done.returncode == 0
    unset = shell(env={"PATH": os.environ["PATH"]})
    assert unset.returncode and f"{variable}: set it to the value that is not shown here" in unset.stderr


@pytest.mark.parametrize("words", [["runner/__main__.py"], ["/opt/my tools/wardround"]])
def test_printed_command_has_the_full_path_of_a_program_not_on_path(words, monkeypatch):
    monkeypatch.setattr("sys.argv", words)
    monkeypatch.setenv("PATH", "")
    program = shlex.split(command_line("run.resume=x"))[0]
    assert program == (sys.executable if words[0].endswith(".py") else words[0])
    assert shlex.split(command_line())[0] == ("python" if words[0].endswith(".py") else "wardround")


def test_printed_command_names_its_module(monkeypatch):
    names = {"/runner/runner/__main__.py": "python -m runner x", "/a/runner/drift/__main__.py": "python -m runner.drift x",
             "/a/runner/report.py": "python -m runner.report x", "/bin/wardround": "wardround x"}  # fmt: skip
    for path, line in names.items():
        monkeypatch.setattr("sys.argv", [path, "x"])
        assert command_line() == line


def test_a_written_config_hides_secrets_and_can_be_read_again():
    cfg = changed(model__name="sk-0123456789abcdef") | {
        "extra": {"key_optional": True, "api_key_env": "OPENAI_API_KEY", "password": "hunter2hunter2", "secret": "correcthorse", "keys": ["sk-proj-0123456789abcdef"]},
    }  # fmt: skip
    text = config_text(cfg)
    assert not any(secret in text for secret in ("0123456789", "hunter2", "correct"))
    again = yaml.safe_load(text)
    assert again["extra"]["key_optional"] is True
    assert again["extra"]["api_key_env"] == "OPENAI_API_KEY"
    assert differences(again, cfg) == []


def test_damaged_config_is_reported_as_damaged(tmp_path):
    (tmp_path / "config.yaml").write_text("model:\n  [hidden]: true\n")
    with pytest.raises(ConfigError, match=r"config\.yaml is damaged"):
        folder_for(changed(run__resume=str(tmp_path)), tmp_path / "new", named=False)


@pytest.mark.parametrize(
    "change", [lambda text: "", lambda text: text[: len(text) // 2], lambda text: text.replace("seed: 0", "seed: 1")],
    ids=["emptied", "cut", "swapped"],
)  # fmt: skip
def test_config_not_written_by_the_run_is_named(tmp_path, change):
    cfg = {"seed": 0, "limit": 1}
    path, text = tmp_path / "config.yaml", config_text(cfg)
    manifest.begin(tmp_path, {}, text)
    path.write_text(change(text))
    with pytest.raises(ConfigError, match=r"config\.yaml was changed after the run \(manifest\.json has its digest\)"):
        refuse_changes(tmp_path, cfg)
    path.write_text(text)
    manifest.begin(tmp_path, {}, config_text(cfg | {"run": {}}))
    refuse_changes(tmp_path, cfg)  # killed before the new file replaced the old one


def test_an_emptied_config_of_a_folder_without_a_digest_is_damaged(tmp_path):
    (tmp_path / "config.yaml").write_text("")
    with pytest.raises(ConfigError, match=r"config\.yaml is damaged.*it holds no config"):
        refuse_changes(tmp_path, {})


def test_the_commit_of_a_checkout_is_known():
    git = manifest.git_state()
    assert (git["commit"] is None) is not (Path(manifest.__file__).parents[2] / ".git").exists()


def test_refused_resume_names_the_line_that_resumes_the_run(tmp_path):
    folder = begin_run(tmp_path / "out" / "run")
    notes = {"command": "python -m runner limit=2 run.resume=x 'name=a b'"}
    (folder / "manifest.json").write_text(json.dumps(notes))
    line = re.escape(f"to resume {folder}: python -m runner limit=2 'name=a b' run.resume={folder}")
    with pytest.raises(ConfigError, match=rf"now is 3; {line}$"):
        folder_for(changed(run__resume="last", limit=3), folder.with_name("new"), named=False)
    with pytest.raises(ConfigError, match=rf"there is no run folder below .*; {line}$"):
        folder_for(changed(run__resume="last"), tmp_path / "none" / "new", named=False)


def test_sweep_is_resumed_by_a_line_of_its_own(tmp_path):
    below = tmp_path / "out"
    for n, job in enumerate(("run", "sweep/a", "sweep/b")):
        os.utime(begin_run(below / job) / "config.yaml", (n, n))
        notes = {"command": "python -m runner -m seed=0,1 run.resume=x", "sweep": "sweep" if "/" in job else None}
        manifest.write(below / job, notes)
    line = re.escape(f"; to resume {below / 'sweep'}: python -m runner -m seed=0,1 hydra.sweep.dir={below / 'sweep'}")
    with pytest.raises(ConfigError, match=rf"the newest folder below {below} is a sweep{line}$"):
        folder_for(changed(run__resume="last"), below / "new", named=False)
    for resume in ("last", str(below / "sweep")):
        with pytest.raises(ConfigError, match=rf"^run\.resume is for a single run{line}$"):
            refuse_in_sweep(resume, below / "new")
    with pytest.raises(ConfigError, match=r"a sweep resumes when hydra\.sweep\.dir is that of the earlier one"):
        refuse_in_sweep("last", tmp_path / "none" / "new")
    os.utime(below / "run" / "config.yaml", (9, 9))
    assert folder_for(changed(run__resume="last"), below / "new", named=False) == below / "run"
    refuse_in_sweep(None, below / "new")
