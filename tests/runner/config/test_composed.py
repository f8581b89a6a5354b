"""A config that cannot run is refused in one clear line, exit code 2, and creates no files."""

import sys

import pytest

from tests.table import each_row

NEAR = "did you mean"


def refused(home, *words, plain=False):
    """The complaint about a command that must be refused."""
    done = home.run(*words, plain=plain)
    assert done.code == 2, (done.out, done.err)
    assert not (home.path / "outputs").exists(), "a run folder was created"
    assert "Traceback" not in done.err
    assert "UserWarning" not in done.err
    return done.complaint


MODELS = [
    ("model=gemini/flan-palm-540b", ["flan-palm-540b.yaml:", "never offered", "the nearest choice is model=gemini"]),
    ("model=openai/gpt-4-0314", ["gpt-4-0314.yaml:", "OpenAI no longer serves 'gpt-4-0314'", "retired=null"]),
    ("model=openai/gpt-4-0631", ["model has no choice 'openai/gpt-4-0631'", "did you mean openai/gpt-4-0613"]),
    ("epochs=99999999999", ["epochs: found 99999999999, should be less than or equal to 10000"]),
    ("compare.figures=5", ["compare.figures: found 5, should be a list"]),
    (
        "compare.figures=[{title: a, scores: [b], where: x}]",
        ["compare.figures[0].where: found 'x', should be a mapping"],
    ),
    ("compare.figures=[{title: a, scores: []}]", ["compare.figures", "scores", "at least 1 item"]),
    ("compare.figures=[{title: a, scores: [b], where: {no: [c]}}]", ["compare.figures: no key 'no' in the config"]),
]


@pytest.mark.parametrize(("word", "parts"), MODELS)
def test_unavailable_model_or_figure_is_refused(home, monkeypatch, word, parts):
    for key in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(key, "a key")
    complaint = refused(home, word)
    assert all(part in complaint for part in parts), complaint


@each_row(
    "word, parts",
    [
        ("modle=x", ["command line: modle=x", "no such key", NEAR, "model"]),
        ("agent=askss", ["command line: agent=askss", "agent has no choice 'askss'", "did you mean asks?"]),
        ("agent.tims=3", ["command line: agent.tims=3", "agent.tims: no such key", "did you mean times?"]),
        ("agent=[x", ["command line: agent=[x", "quote"]),
        ("seed=1,2", ["command line: seed=1,2", "needs -m"]),
        ("verifier=null", ["command line: verifier=null", "valid: accept"]),
        ("name=???", ["command line: name=???", "must be given"]),
        ("name=${nope}", ["command line: name=${nope}", "nope"]),
        ("name=${oc.env:NO_SUCH_VARIABLE}", ["the environment variable NO_SUCH_VARIABLE is not set", "export"]),
        ("hydra.run.dir=${nope}", ["command line: hydra.run.dir=${nope}", "nope"]),
        ("agent._target_=os.system", ["os.system is not part of Wardround", "run.allow_targets=[os]"]),
        ("dataset.path=/no/such/file", ["no data file /no/such/file", "download it first"]),
        ("dataset.split=tset", ["dataset.split='tset'", "test"]),
        (
            "profile.radabench.max_steps=3",
            ["the switches of a profile cannot be changed", "profile=code, profile=paper"],
        ),
        (
            "+agent.controls=[final]",
            ["Asks needs a toolset with the controls final", "choose the dataset and the toolset that it is for"],
        ),
    ],
)
def test_config_error_is_one_clear_line(home, word, parts):
    complaint = refused(home, word)
    assert all(part in complaint for part in parts), complaint


FLAWS = {
    "++agent.tims=3": "agent.tims: no such key; did you mean times?",
    "+agent.grammar=xml_cal": "agent.grammar: no grammar 'xml_cal'; did you mean xml_call?",
    "model.pace.style=slo": "model.pace.style: found 'slo', did you mean slow?",
    "model.pace.seconds=-1": "model.pace.seconds: found -1, should be greater than or equal to 0",
    "model.retries=x": "model.retries: found 'x', should be a whole number",
    "++limt=3": "limt: no such key; did you mean limit?",
    "limit=abc": "limit: found 'abc', should be a whole number",
    "epochs=0": "epochs: found 0, should be greater than or equal to 1",
    "seed=true": "seed: found True, should be a whole number",
    "budget.run.usd=-1": "budget.run.usd: found -1, should be greater than or equal to 0",
    "budget.sample.tokens=many": "budget.sample.tokens: found 'many', should be a whole number",
    "++budget.run.steps=3": "budget.run.steps: no such key; ",
    "run.max_error_rate=2": "run.max_error_rate: found 2, should be less than or equal to 1",
    "name=../x": "name: found '../x', should match",
}


def test_all_problems_are_reported_together(home):
    done = home.run(*list(FLAWS)[:10])
    lines = [line for line in done.err.splitlines() if line.startswith("config error: ")]
    assert (done.code, len(lines)) == (2, 10), done.err
    lines += home.run(*list(FLAWS)[10:]).err.splitlines()
    for word, text in FLAWS.items():
        assert any(line.startswith(f"config error: command line: {word}: {text}") for line in lines), (word, lines)


@each_row(
    "word, text",
    [
        ("run.shard=5/4", "command line: run.shard=5/4: run.shard='5/4': expected i/n"),
        ("run.journal=off", "run.journal=off names a folder; run.journal=null runs without a journal"),
        ("run.replay=true", "run.replay=true answers from run.journal, which is null"),
        ("run.replay=nowhere", "command line: run.replay=nowhere: run.replay: there is no journal nowhere"),
        ("quixotic.rate=1", "command line: quixotic.rate=1: quixotic: no such key; valid: agent"),
        ("withhold.tools=[x]", "withhold is a choice of condition, whose settings are written condition.tools=[x]"),
        ("react.max_steps=3", "react is a choice of agent, whose settings are written agent.max_steps=3"),
        ("++tracking.urii=x", "command line: ++tracking.urii=x: tracking.urii: no such key; did you mean uri"),
        ("tracking.uri=foo", "command line: tracking.uri=foo: tracking.uri: found 'foo', should match '^((sqlite|http"),
    ],
)
def test_invalid_run_settings_are_refused(home, word, text):
    assert text in refused(home, word)


def test_a_package_must_be_allowed(home):
    done = home.run("run.allow_targets=[]")
    assert done.code == 2
    assert (
        "mine.parts.Asks is not part of Wardround; if you trust the package, allow it: run.allow_targets=[mine]"
        in done.err
    )


@pytest.mark.parametrize("word", ["agent.switches={max_steps: 3}", "++agent.switches.max_steps=3"])
def test_profile_cannot_be_changed_through_a_part_that_refers_to_it(home, word):
    assert "the switches of a profile cannot be changed" in refused(home, "tracking=off", word, plain=True)


def test_run_with_a_custom_profile_succeeds(home):
    home.write("profile/house", "name: house\nradabench: {}")
    assert home.run("profile=house").code == 0


def test_a_profile_is_not_changed_by_an_experiment(home):
    home.write("experiment/bent", "# @package _global_\ndefaults:\n  - own\nprofile: {radabench: {max_steps: 3}}")
    assert "the switches of a profile cannot be changed" in refused(
        home, "--config-dir", "conf", "experiment=bent", plain=True
    )


def test_a_key_in_a_users_file_has_file_and_line(home):
    home.write("agent/mine", "# a comment\n_target_: mine.parts.Asks\n\ntimez: 3")
    assert refused(home, "agent=mine").startswith(
        "conf/agent/mine.yaml:4: agent.timez: no such key; did you mean times?"
    )


def test_a_wrong_value_in_a_users_experiment_has_file_and_line(home):
    home.write("experiment/wrong", "# @package _global_\ndefaults: [own]\nlimit: many\n")
    complaint = refused(home, "--config-dir", "conf", "experiment=wrong", plain=True)
    assert complaint.startswith("conf/experiment/wrong.yaml:3: limit: found 'many'")


def test_a_nested_value_in_a_users_file_has_its_own_line(home):
    home.write("model/slow", "_target_: mine.parts.Echo\npace:\n  seconds: 1\n  style: fast")
    assert refused(home, "model=slow").startswith("conf/model/slow.yaml:4: model.pace.style: found 'fast'")


def test_a_missing_argument_names_the_file(home):
    home.write("model/less", "_target_: components.models.gateway.Gateway\nprovider: openai")
    complaint = refused(home, "model=less")
    assert complaint.startswith("conf/model/less.yaml:1: model.name: is missing")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [("times: 1\ntimes: 2", 2, "times"), ("_target_: a: b", 1, "mapping values"), ("a: [1", 2, "not valid YAML")],
)
def test_unreadable_yaml_is_refused(home, text, line, message):
    home.write("agent/torn", text)
    complaint = refused(home, "agent=torn")
    assert f"conf/agent/torn.yaml:{line}: " in complaint
    assert message in complaint


def test_recursive_or_too_deep_yaml_is_refused(home):
    home.write("agent/loop", "defaults: [loop]")
    home.write("agent/deep", "a: " + "[" * 3_000 + "]" * 3_000)
    for word in ("agent=loop", "agent=deep"):
        complaint = refused(home, word)
        assert "nested too deep, or lists itself in its defaults" in complaint and word in complaint


def test_unclosed_interpolation_is_refused(home):
    home.write("agent/torn", "_target_: mine.parts.Asks\ntimes: ${a.b")
    assert "conf/agent/torn.yaml:2" in refused(home, "agent=torn")


def test_unresolved_interpolation_is_reported_with_file_and_line(home):
    home.write("agent/torn", "_target_: mine.parts.Asks\ntimes: ${a.b}")
    assert refused(home, "agent=torn").startswith("conf/agent/torn.yaml:2: agent.times")


def test_unknown_choice_in_a_user_file_is_reported_with_that_file(home):
    home.write("experiment/far", "# @package _global_\ndefaults:\n  - override /agent: askss\n")
    complaint = refused(home, "--config-dir", "conf", "experiment=far", plain=True)
    assert "conf/experiment/far.yaml:3" in complaint
    assert "did you mean asks?" in complaint


def test_user_file_shadowed_by_a_shipped_one_is_refused(home):
    home.write("agent/react", "_target_: mine.parts.Asks")
    assert "conf/agent/react.yaml:1: a file of the project has the same name" in refused(home)


def test_list_as_a_group_file_is_refused(home):
    home.write("agent/list", "- a\n- b")
    assert "agent" in refused(home, "agent=list")


def test_unset_data_folder_is_reported_with_its_variable(home):
    complaint = refused(home, "dataset=medqa", "tracking=off", plain=True)
    assert "CLINICAL_DATA_DIR is not set; set it: export CLINICAL_DATA_DIR=/path/to/your/data" in complaint
    assert "conf/dataset/medqa.yaml:" in complaint


def test_unset_api_key_is_reported_with_its_variable(home):
    complaint = refused(home, "model=openai", "tracking=off", plain=True)
    assert "OPENAI_API_KEY is not set" in complaint


def test_replay_needs_no_api_key(home):
    """No request is sent, so the error is about the journal."""
    (home.path / "journal").mkdir()
    done = home.run("model=openai", "tracking=off", "run.replay=journal", "limit=1", plain=True)
    assert done.code == 2 and "the journal folder 'journal' is empty" in done.err


def test_missing_config_folder_is_refused(home):
    assert "there is no folder 'cnof'; did you mean conf?" in refused(home, "--config-dir", "cnof", plain=True)


def test_refusal_imports_no_heavy_libraries(home):
    for name in ("mlflow", "litellm", "pandas", "aiohttp", "numpy"):
        home.monkeypatch.delitem(sys.modules, name, raising=False)
    refused(home, "limit=abc")
    assert not {"mlflow", "litellm", "pandas", "aiohttp", "numpy"} & set(sys.modules)
