"""A replay takes folders, tracking and paths, each once; code in a bundle runs only with bundle.trust=true."""

import shutil
from pathlib import Path

import pytest
import yaml

from components.core.errors import ConfigError
from components.prompts import __file__ as PROMPTS
from runner.bundle.replay import Request
from runner.bundle.settings import refuse_foreign_code
from runner.config.catalogue import Catalogue
from tests.runner.bundle.packing import forged
from tests.slow import slow
from tests.table import each_row

AGAIN = ["x"]
RUN = {"run": {"allow_targets": []}}


@each_row(
    "cfg, message",
    [
        ({"run": {"allow_targets": ["mine"]}}, "parts of the packages mine"),
        (
            {"scorer": {"r": {"_target_": "components.radiology.scorers.response.RaTEScore", "source": "rm -rf x"}}},
            "scorer.r.source='rm -rf x'",
        ),
        (
            {"sandbox": {"_target_": "components.sandbox.Sandbox", "unsafe_local": True}},
            "sandbox.unsafe_local=True",
        ),
        (
            {"x": [{"_target_": "components.files.folders.keep_documents", "home": "runner"}]},
            "components.files.folders.keep_documents, a function",
        ),
    ],
)
def test_custom_code_is_named_and_refused(cfg, message):
    with pytest.raises(ConfigError, match=r"bundle\.trust=true") as refused:
        refuse_foreign_code({**RUN, **cfg}, own_prompts=False)
    assert message in str(refused.value)


@pytest.mark.parametrize("place", ["prompts/own-1", "data/agent.prompts", "memory/x"])
def test_templates_count_as_code_anywhere_in_a_bundle(tmp_path, place):
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "problem.jinja").write_text("{{ problem.question }}")
    with pytest.raises(ConfigError, match=r"custom prompts.*bundle\.trust=true"):
        refuse_foreign_code({**RUN, "agent": {"prompts": str(tmp_path / place)}}, own_prompts=False)


def test_text_that_is_not_a_folder_name_is_not_a_prompt_set():
    refuse_foreign_code({**RUN, "agent": {"system": "/" * 5000 + "x" * 5000, "other": "a/\0"}}, own_prompts=False)


@pytest.mark.parametrize(
    "cfg",
    [
        {"scorer": {"r": {"_target_": "components.radiology.scorers.response.RaTEScore", "source": "RaTEScore"}}},
        {"sandbox": {"_target_": "components.sandbox.Sandbox", "unsafe_local": False}},
    ],
)
def test_built_in_parts_are_permitted(cfg):
    refuse_foreign_code({**RUN, **cfg}, own_prompts=False)


@each_row("group", ["toolset", "scorer", "agent", "condition"])
def test_every_shipped_choice_is_permitted(group):
    for one in Catalogue().choices(group).values():
        refuse_foreign_code({**RUN, group: one.node}, own_prompts=False)


@slow
def test_custom_prompts_are_packed_and_used_in_a_trusted_bundle(site, elsewhere):
    own = shutil.copytree(PROMPTS.rpartition("/")[0] + "/direct", elsewhere.home / "words" / "mine")
    (own / "problem.jinja").write_text("Say a letter. " + (own / "problem.jinja").read_text())
    elsewhere.run("agent=direct", f"agent.prompts={own}", "limit=2", "hydra.run.dir=own", "tracking=off")
    assert elsewhere.pack("own")[0] == 0
    shutil.rmtree(own)
    output = elsewhere.run("run.replay=own.zip", code=2)
    assert "custom prompts" in output and "bundle.trust=true" in output
    assert "the same: 2 records" in elsewhere.run("run.replay=own.zip", "bundle.trust=true")


@slow
def test_hidden_custom_prompts_are_not_run(site, elsewhere):
    own = elsewhere.home / "words" / "mine"
    shutil.copytree(PROMPTS.rpartition("/")[0] + "/direct", own)
    elsewhere.run("agent=direct", f"agent.prompts={own}", "limit=1", "hydra.run.dir=own", "tracking=off")
    assert elsewhere.pack("own")[0] == 0

    def hide(contents, head):
        head["runs"][0]["own"] = {}
        (name,) = (name for name in contents if name.endswith("/problem.jinja") and "/own-" in name)
        contents[name] += b"{{ cycler.__init__.__globals__.os.system('touch ran') }}"

    forged(elsewhere.bundle("own"), elsewhere.home / "b.zip", hide)
    assert "custom prompts" in elsewhere.run("run.replay=b.zip", code=2)
    assert not (elsewhere.home / "ran").exists()


@pytest.mark.parametrize("name", ["journal/0.segment", "more"])
def test_unexpected_member_is_refused_even_if_listed(site, elsewhere, name):
    forged(site.bundle("single"), elsewhere.home / "b.zip", lambda contents, head: contents.update({name: b"x"}))
    assert "is not part of a bundle" in elsewhere.run("run.replay=b.zip", code=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": {"path": "/etc"}}, "names a path of this machine"),
        ({"dataset": {"path": "{bundle}/../../x"}}, "leads out of it"),
        ({"dataset": {"_target_": "os.system"}}, "os.system is not part of Wardround"),
        ({"run": {"allow_targets": ["os"]}}, "parts of the packages os"),
        ({"run": None}, "cannot be read"),
        ({"dataset": {"again": AGAIN, "more": AGAIN}}, "it has aliases"),
        ({"dataset": {"split": "deep"}}, "cannot be read"),
    ],
)
def test_config_with_forbidden_keys_is_refused_despite_valid_digests(site, elsewhere, change, message):
    def reach(contents, head):
        cfg = yaml.safe_load(contents["runs/single/config.yaml"])
        for group, fields in change.items():
            cfg[group] = fields if fields is None else {**cfg[group], **fields}
        text = yaml.safe_dump(cfg).replace("split: deep", f"split: {'[' * 500}{']' * 500}")
        contents["runs/single/config.yaml"] = text.encode()

    forged(site.bundle("single"), elsewhere.home / "b.zip", reach)
    output = elsewhere.run("run.replay=b.zip", code=2)
    assert message in output and len(output.strip().splitlines()) <= 2, output
    assert not list((elsewhere.home / "outputs").glob("*/*"))


def test_config_that_is_not_yaml_is_refused_in_one_line(site, elsewhere):
    forged(
        site.bundle("single"),
        elsewhere.home / "b.zip",
        lambda contents, head: contents.update({"runs/single/config.yaml": b"a:\n  b: 1\n  c"}),
    )
    output = elsewhere.run("run.replay=b.zip", code=2)
    assert "the config of single cannot be read" in output and "could not find expected ':'" in output.splitlines()[-1]


def test_permitted_overrides_are_read():
    given = Request.parse(
        ["run.replay='a b.zip'", "hydra.run.dir=there", "tracking=mlflow", "tracking.traces=none", "dataset.path=/d", "bundle.trust=true"]
    )  # fmt: skip
    assert (given.bundle, given.folder, given.trusted) == (Path("a b.zip"), Path("there"), True)
    assert given.tracking["traces"] == "none" and str(given.tracking["uri"]).startswith("sqlite:")
    assert given.paths == {"dataset.path": "/d"} and Request.parse(["run.replay=a.zip"]).tracking["uri"] is None


@each_row(
    "word, message",
    [
        ("-m", "replayed unchanged"),
        ("~memory", "replayed unchanged"),
        ("+x=1", "replayed unchanged"),
        ("run.replay=b.zip", "given twice"),
        ("bundle.trust=maybe", "it should be true or false"),
        ("hydra.sweep.dir=x", "give one of"),
    ],
)
def test_forbidden_overrides_are_refused(word, message):
    with pytest.raises(ConfigError, match=message):
        Request.parse(["run.replay=a.zip", "hydra.run.dir=x", word])
