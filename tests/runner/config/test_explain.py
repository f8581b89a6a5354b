"""Unreadable config files are refused by name, without delay."""

import time

import pytest
from hydra.errors import ConfigCompositionException, MissingConfigException

from components.core.errors import ConfigError
from runner.config.catalogue import Catalogue
from runner.config.errors import nearest
from runner.config.explain import explain, refuse_flags, refuse_misspelled
from tests.table import each_row

BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 9))]
)
FILES = {
    "dataset/latin": ("_target_: mine.parts.Numbers\n# Gr\xfc\xdfe".encode("latin-1"), "conf/dataset/latin.yaml:2: not UTF-8: found the byte 0xfc"),
    "dataset/bomb": (BOMB.encode(), "conf/dataset/bomb.yaml: its aliases expand to more than 20,000 values"),
    "dataset/self": (b"a: &a [*a]", "conf/dataset/self.yaml: its aliases expand to more than 20,000 values, or to themselves"),
    "dataset/kinds": (b"defaults: [table, _self_]\npath: q.csv\ncolumns: {strata: {a: b}}", "In 'dataset/kinds': ConfigTypeError raised while composing config: Cannot merge DictConfig with ListConfig"),
    "dataset/loop": (b"defaults: [loop]", "a YAML is nested too deep, or lists itself in its defaults; check those of: "),
}  # fmt: skip


@pytest.mark.parametrize("flag", [[], ["-m"]], ids=["run", "sweep"])
@pytest.mark.parametrize("name", FILES)
def test_unreadable_file_is_refused_in_one_line(home, name, flag):
    text, message = FILES[name]
    home.write(name, "").write_bytes(text)
    begun = time.monotonic()
    done = home.run(*flag, f"dataset={name.partition('/')[2]}", *(["seed=0,1"] if flag else []))
    assert (done.code, time.monotonic() - begun < 10) == (2, True)
    assert message in done.complaint
    assert not (home.path / "outputs").exists()


def test_small_yaml_aliases_are_accepted(home):
    home.write("dataset/few", "_target_: mine.parts.Numbers\nn: &n 4\nprivacy: open\npath: null\nsplit: test\n")
    home.write("agent/few", "_target_: mine.parts.Asks\ntimes: &x 1\ncontrols: []\n# *x\n")
    assert home.run("dataset=few", "agent=few").code == 0


def test_undecodable_file_is_ignored_unless_chosen(home):
    home.write("dataset/latin", "").write_bytes(FILES["dataset/latin"][0])
    assert home.run("dataset=numbers").code == 0
    assert "conf/experiment/own.yaml" not in home.run("agent=nope").complaint
    assert home.run("--config-dir", "conf", "--info", "choices", "dataset", plain=True).code == 0


@pytest.mark.parametrize("value", ["[[counts]]", "[{a:1}]", "[null]", "[1]"])
@pytest.mark.parametrize(("flags", "more"), [([], ""), (["-m"], ",[counts]")], ids=["run", "sweep"])
def test_defaults_list_with_other_items_than_names_is_refused(home, flags, more, value):
    done = home.run(*flags, f"scorer={value}{more}")
    assert done.code == 2
    assert f"command line: scorer={value}{more}: a list of choices holds names only; " in done.complaint


GLOBAL, DEFAULTS = "# @package _global_\n", "defaults: [own, {override /agent: asks}]\n"
SWEEPS = GLOBAL + DEFAULTS + "hydra:\n  mode: MULTIRUN\n  sweeper:\n    params: {seed: '0,1', %s}"
OF_FILES = {  # text of an experiment -> where it is wrong, and what would be right
    "defaults: [{override /agent: asks}]": "y.yaml: sets keys of other groups, which needs '# @package _global_'",
    "limit: 1": "y.yaml:1: sets keys of other groups, which needs '# @package _global_' as its first line",
    GLOBAL + "defaults: [own]\nparms: 1": "y.yaml:3: parms: no such key; did you mean",
    GLOBAL + "defaults:\n  - /agent: asks": "y.yaml:3: agent is chosen already; write - override /agent: asks",
    GLOBAL + "defaults: [own]\nhydra:\n  mode: MULTIRUN\n  sweeper:\n    parms: {}":
        "y.yaml:6: hydra.sweeper.parms: no such key; did you mean params? valid: max_batch_size, params, skip",
    SWEEPS % "agnt: asks": "y.yaml:6: agnt: no such key; did you mean agent?",
    SWEEPS % "agent: nosuch": "y.yaml:6: agent has no choice 'nosuch'",
    SWEEPS % "limit: -1": "y.yaml:6: limit: found -1",
}  # fmt: skip


@each_row("text", OF_FILES)
def test_error_in_a_file_names_the_file_and_what_would_be_right(home, text):
    home.write("experiment/x", text)  # as wrong, but not chosen
    home.write("experiment/y", text)
    done = home.run("--config-dir", "conf", "experiment=y", plain=True)
    assert done.code == 2 and f"conf/experiment/{OF_FILES[text]}" in done.complaint


def test_value_of_the_command_line_is_not_attributed_to_a_file(home):
    home.write("experiment/y", SWEEPS % "limit: 3")
    assert (
        "command line: limit=-1" in home.run("--config-dir", "conf", "experiment=y", "limit=-1", plain=True).complaint
    )


@each_row(
    "word, message",
    [
        ("search.trials=5", "search: no such key; search.* needs hydra/sweeper=optuna"),
        ("hydra.sweeper.n_trials=3", "with hydra/sweeper=optuna it is search.trials"),
        ("+agent=asks", "command line: +agent=asks: agent is chosen already; write agent=asks"),
        ("dataset.path=x", "data of your own: dataset=radabench dataset.path=... or dataset=table"),
        ("dataset=cab_mini", "choose dataset=radabench_mini toolset=radiology, or an agent that needs none"),
    ],
)
def test_refused_word_names_what_would_be_right(home, word, message):
    assert message in home.run("--config-dir", "conf", word, plain=True).complaint


def test_partial_name_is_suggested():
    assert nearest("gpt4o", ["openai/gpt-4o-2024-08-06", "ollama"]).startswith("did you mean openai/gpt-4o-2024-08-06?")


def test_missing_config_suggests_the_nearest_name():
    finding = explain(MissingConfigException("", "confg"), [], Catalogue())
    assert str(finding).endswith("--config-name: there is no config 'confg'; did you mean config? valid: config")


@each_row("word", ["agent=1.5", "agent=1", "agent=true", "agent=nan", "dataset@models.x=1.5"])
def test_choice_that_is_no_name_is_refused_by_its_word(word):
    error = ConfigCompositionException("Config group override must be a string or a list. Got float")
    finding = str(explain(error, ["agent=direct", "seed=1", word], Catalogue()))
    assert finding.startswith(f"command line: {word}: a choice is a name, found ") and "; valid: " in finding


def test_colon_instead_of_equals_sign_suggests_the_correction():
    with pytest.raises(ConfigError, match=r"limit:3: put = between key and value: limit=3$"):
        refuse_misspelled(["--config-dir", "a:b", "limit:3"], ["--config-dir"])


def test_blank_instead_of_equals_sign_suggests_the_correction():
    with pytest.raises(ConfigError, match=r"agent react: did you mean agent=react\?$"):
        refuse_misspelled(["limit=3", "agent", "react"], [])
    refuse_misspelled(["--config-dir", "agent", "limit=3"], ["--config-dir"])


@pytest.mark.parametrize("word", ["hydra.run.dir=", 'hydra.sweep.dir=""'])
def test_folder_without_a_name_is_refused(word):
    with pytest.raises(ConfigError, match="names no folder"):
        refuse_misspelled([word], [])


def test_misspelled_info_option_suggests_the_nearest():
    with pytest.raises(ConfigError, match=r"^command line: --info choises: did you mean choices\? valid: all, choices"):
        refuse_flags(["--info", "choises"])
