"""A folder in which a set is written so that a kill is not an edit and an edit is not lost."""

import json
from shutil import rmtree

import pytest

from components.core.errors import ConfigError
from components.files.folders import MadeFolder
from components.prompts import load, place_of
from components.stages.prompt_folder import COMPLETE, SETS, WAITING, PromptHome, Rules, Version, diff, read_version
from tests.stage_bench import CAREFUL, base_set


def test_plain_templates_with_known_names_can_be_rewritten(tmp_path):
    rules = Rules(base_set(tmp_path / "base"))
    assert rules.of == {"ask": (["question"], [])}
    assert rules.flaw("ask", "x") and rules.flaw("ask", CAREFUL) is None
    with pytest.raises(ConfigError, match=r"'x' of .* cannot be rewritten"):
        Rules(rules.base, ["x"]).of  # noqa: B018


@pytest.mark.parametrize("base", ["radagent", "radagent_refined"])
def test_ours_name_what_readers_of_replies_need(base):
    rules = Rules(base).of
    assert rules["plan"] == ([], ["Known Info: [", "Tool Chain: ["]) and rules["tools"] == (["instructions"], [])
    assert "query" not in rules and "<VALID>" in rules["validate"][1]
    for name, (_, needs) in rules.items():
        assert all(text in (load(base).plain(name) or "") for text in needs), "what is needed is there today"


def test_a_version_is_kept_under_the_digest_that_loading_it_gives(tmp_path):
    rules = Rules(base_set(tmp_path / "base"))
    changed = rules.changed(rules.first, {"ask": CAREFUL})
    folder = changed.save(tmp_path / "sets")
    assert folder.name == load(str(folder)).digest and changed.save(tmp_path / "sets") == folder
    assert read_version(folder) == changed and rules.texts(changed) == {"ask": CAREFUL}
    assert [path.name for path in (tmp_path / "sets").iterdir()] == [folder.name]


def test_a_saved_version_is_checked_whenever_it_is_read(tmp_path):
    rules = Rules(base_set(tmp_path / "base"))
    folder = rules.changed(rules.first, {"ask": CAREFUL}).save(tmp_path / "sets")
    (folder / "ask.jinja").write_text("{{ question }} {{ other }}")
    with pytest.raises(ConfigError, match="is not known here"):
        read_version(folder)


def test_a_refined_set_can_be_refined_again(tmp_path):
    rules = Rules(base_set(tmp_path / "base", other="Say {{ name }}."))
    once = rules.changed(rules.first, {"ask": CAREFUL})
    again = Rules(str(once.save(tmp_path / "sets")))
    twice = again.changed(again.first, {"other": "Please say {{ name }}."})
    read = load(str(twice.save(tmp_path / "sets")))
    assert set(read.data("written")) == {"ask", "other"} and read.render("other", name="x") == "Please say x."


def test_a_diff_is_of_the_templates_by_their_names():
    assert diff({"a": "x\ny"}, {"a": "x\ny\n"}) == ""
    assert diff({"a": "x"}, {"a": "x", "b": "z"}).splitlines()[:2] == ["--- old/b.jinja", "+++ new/b.jinja"]
    assert set(read_version(place_of("direct")).templates) == {"problem"}


@pytest.fixture
def rules(tmp_path):
    return Rules(base_set(tmp_path / "base"))


@pytest.fixture
def made(tmp_path, rules):
    """A home whose first round is done, at a pause."""
    home = PromptHome(MadeFolder(tmp_path / "made"), {})
    (tmp_path / "made").mkdir()
    home.begin({"begun": "x"})
    home.notes["rounds"].append({"edited": False})
    home.write(rules.first, WAITING)
    return home


def again(home):
    """The home as another process finds it."""
    return PromptHome(home.home, json.loads((home.home.path / "manifest.json").read_text()))


def test_a_version_is_kept_by_its_digest_and_written_where_it_is_read(made, rules):
    assert (made.home.path / SETS / made.notes["digest"] / "ask.jinja").is_file()
    assert again(made).notes == made.notes and made.notes["status"] == WAITING and "then" not in made.notes
    assert not again(made).settle() and again(made).version(rules) == rules.first
    assert not again(made).notes["rounds"][0]["edited"]


@pytest.mark.parametrize(("then", "stops"), [(WAITING, True), (COMPLETE, True), ("begun", False)])
def test_an_interrupted_write_is_completed_and_is_not_an_edit(made, rules, then, stops):
    other = Version({**rules.first.files, "ask.jinja": "Else. {{ question }}\n"})
    made._note(other, "writing", {"then": then})
    (made.home.path / "branch.jinja").write_text("torn")
    home = again(made)
    assert home.settle() == stops and home.notes["status"] == then
    assert (home.home.path / "ask.jinja").read_text() == "Else. {{ question }}\n"
    assert (home.home.path / "branch.jinja").read_text() == rules.first.files["branch.jinja"]
    assert home.version(rules) == other and not home.notes["rounds"][0]["edited"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "ask",
            "One.\nAsk {{ qestion }}.",
            r"prompt made/ask\.jinja, line 2: 'qestion' is not known here; known are q",
        ),
        ("ask", None, r"prompt made/ask\.jinja: the file is missing"),
        ("branch", "{% if question %}", r"prompt made/branch\.jinja, line 1: "),
        ("needs.yaml", "ask: [", r"prompt set 'made': needs\.yaml: "),
    ],
)
def test_an_edit_that_cannot_be_run_is_refused_at_once_and_can_be_repaired(made, rules, name, text, message):
    path = made.home.path / (name if "." in name else f"{name}.jinja")
    path.unlink(missing_ok=True)
    if text is not None:
        path.write_text(text)
    for _ in range(2):
        with pytest.raises(ConfigError, match=message):
            again(made).version(rules)
    if path.suffix == ".yaml":
        path.unlink()
        path = made.home.path / "ask.jinja"
    path.write_text("By hand: {{ question }}\r\n", newline="")
    home = again(made)
    assert home.version(rules).files[path.name] == "By hand: {{ question }}\n"
    assert (
        home.notes["rounds"][0]["edited"]
        and "+By hand" in (home.home.path / "history/edited-after-round-1.diff").read_text()
    )
    home.write(rules.first, "begun")
    assert path.read_text() == rules.first.files[path.name]


def test_an_edit_during_a_round_is_not_overwritten(made, rules):
    home = again(made)
    home.version(rules)
    path = made.home.path / "ask.jinja"
    path.write_text("Late. {{ question }}\n")
    with pytest.raises(ConfigError, match=r"made/ask\.jinja was edited while a round was running"):
        home.write(Version({**rules.first.files, "ask.jinja": "Model's. {{ question }}\n"}), WAITING)
    assert again(made).version(rules).files["ask.jinja"] == path.read_text() == "Late. {{ question }}\n"


def test_an_edit_where_none_is_read_is_refused_until_it_is_put_aside(made, rules):
    made.write(rules.first, "begun")
    path = made.home.path / "ask.jinja"
    path.write_bytes(b"By hand \xff")
    with pytest.raises(ConfigError, match=r"made/ask\.jinja was edited while a round was running"):
        again(made).version(rules)
    path.unlink()
    home = again(made)
    assert home.version(rules) == rules.first
    home.write(rules.first, COMPLETE)
    assert path.is_file()


def test_a_changed_kept_version_is_not_an_edit(made, rules):
    kept = made.home.path / SETS / made.notes["digest"] / "ask.jinja"
    kept.write_text("Else. {{ question }}\n")
    with pytest.raises(ConfigError, match=r"is not the version that was kept: .* delete .*made to begin again"):
        again(made).version(rules)
    rmtree(made.home.path / SETS)
    with pytest.raises(ConfigError, match="is not the version that was kept"):
        again(made).version(rules)


def test_a_manifest_that_lost_its_rounds_is_damaged(made):
    del made.notes["rounds"]
    with pytest.raises(ConfigError, match=r"made/manifest\.json is damaged; delete .*made, or choose another"):
        PromptHome(made.home, made.notes)
