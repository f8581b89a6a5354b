import pytest

from components.core.errors import ConfigError
from components.prompts import load, place_of
from components.stages.prompt_versions import Rules, diff, read_version
from tests.stage_bench import CAREFUL, base_set


def test_what_can_be_written_anew_is_what_is_plain_with_the_names_it_shows(tmp_path):
    rules = Rules(base_set(tmp_path / "base"))
    assert rules.of == {"ask": (["question"], [])}
    assert rules.flaw("ask", "x") and rules.flaw("ask", CAREFUL) is None
    with pytest.raises(ConfigError, match=r"'x' of .* cannot be written anew"):
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
