"""Prompt sets: files, nothing undefined, what differs has another digest."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from components import prompts as prompts_module
from components.core.errors import ConfigError
from components.core.messages import Image
from components.core.types import Problem
from components.prompts import load

ROOT = Path(prompts_module.__file__).parent


def folder(tmp_path, **templates):
    for name, text in templates.items():
        (tmp_path / f"{name}.jinja").write_text(text)
    return str(tmp_path)


def test_a_message_names_the_file_it_was_rendered_from(tmp_path):
    prompts = load(folder(tmp_path, ask="Hello {{ name }}."))
    message = prompts.user("ask", name="Ada")
    assert (message.role, message.text, message.source) == ("user", "Hello Ada.", f"{tmp_path}/ask.jinja")
    assert prompts.user("ask", (Image("data:x"),), name="Ada").content == ("Hello Ada.", Image("data:x"))


def test_data_are_never_treated_as_a_template(tmp_path):
    prompts = load(folder(tmp_path, ask="{{ name }}"))
    assert prompts.render("ask", name="{{ 7 * 7 }} ${oc.env:HOME} <b>") == "{{ 7 * 7 }} ${oc.env:HOME} <b>"


def test_a_value_that_is_not_given_is_named(tmp_path):
    prompts = load(folder(tmp_path, ask="{{ nmae }}"))
    with pytest.raises(ConfigError, match=r"ask\.jinja: 'nmae' is undefined"):
        prompts.render("ask", name="Ada")
    with pytest.raises(ConfigError, match=r"has no tell\.jinja; it has ask"):
        prompts.render("tell")


def test_a_set_that_is_not_there_or_does_not_parse_is_refused(tmp_path):
    with pytest.raises(
        ConfigError, match=r"no prompt set 'radagnt'; did you mean radagent or .*[?] there are .*radagent"
    ):
        load("radagnt")
    with pytest.raises(ConfigError, match=r"no prompt set '\./nope': the path does not exist"):
        load("./nope")
    with pytest.raises(ConfigError, match=r"/ask\.jinja, line 2: "):
        load(folder(tmp_path, ask="Why?\n{% if %}"))
    (tmp_path / "ask.jinja").write_bytes(b"ab\xff")
    load.cache_clear()
    with pytest.raises(ConfigError, match=r"/ask\.jinja: byte 2 is not UTF-8"):
        load(str(tmp_path))
    (tmp_path / "ask.jinja").unlink()
    (tmp_path / "ask.jinja").mkdir()
    with pytest.raises(ConfigError, match=r"/ask\.jinja: Is a directory"):
        load(str(tmp_path))


def test_the_digest_is_of_the_texts(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for path, text in ((one, "a"), (two, "b")):
        path.mkdir()
        folder(path, ask=text)
    assert load(str(one)).digest != load(str(two)).digest
    (two / "ask.jinja").write_text("a")
    load.cache_clear()
    assert load(str(one)).digest == load(str(two)).digest


def test_an_included_text_uses_the_current_values_and_is_part_of_the_digest(tmp_path):
    shared = (ROOT / "_shared" / "conclude.jinja").read_text()
    sets = {
        "included": 'Well.\n{% include "_shared/conclude.jinja" %}\n',
        "written": f"Well.\n{shared}",
        "without": "Well.",
    }
    for name, text in sets.items():
        (tmp_path / name).mkdir()
        folder(tmp_path / name, end=text)
    included, written, without = (load(str(tmp_path / name)) for name in sets)
    given = {"problem": Problem("p", "Which?", {"A": "one"}), "held": ""}
    assert included.render("end", **given) == written.render("end", **given) != without.render("end")
    assert included.digest not in (written.digest, without.digest)
    assert included.digest != sha256(f"end\0{sets['included']}".encode()).hexdigest()[:16], "it covers what is included"


def test_a_file_of_the_machine_is_not_included(tmp_path):
    secret = tmp_path / "key.txt"
    secret.write_text("sk-1")
    up = "../" * 40 + str(secret).lstrip("/")
    for named in (f"'{secret}'", f"'_shared/{up}'", f"['_shared/conclude.jinja', '{secret}']", f"'./{up}'"):
        for tag in ("include", "import"):
            with pytest.raises(ConfigError, match="which is not shared"):
                load(folder(tmp_path, ask=f"{{% {tag} {named} {'as x ' * (tag == 'import')}%}}"))


@pytest.mark.parametrize("named", ["'_shared/nope.jinja'", "which"])
def test_a_missing_include_is_refused(tmp_path, named):
    with pytest.raises(ConfigError, match=r"which is not shared; shared are _shared/attempt\.jinja, _shared/conclude"):
        load(folder(tmp_path, ask="{% include " + named + " %}"))


def test_short_messages_are_made_once_and_long_ones_are_not_kept(tmp_path):
    prompts = load(folder(tmp_path, ask="{{ name }}"))
    assert prompts.user("ask", name="x") is prompts.user("ask", name="x")
    assert prompts.system("ask", name="x") is not prompts.user("ask", name="x")
    assert prompts.user("ask", name="y" * 5000) is not prompts.user("ask", name="y" * 5000)


def test_data_next_to_the_templates_are_read_and_are_part_of_the_digest(tmp_path):
    for name, text in (("none", None), ("one", "- 1"), ("two", "- 2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ask.jinja").write_text("?")
        if text is not None:
            (tmp_path / name / "facts.yaml").write_text(text)
    none, one, two = (load(str(tmp_path / name)) for name in ("none", "one", "two"))
    assert len({none.digest, one.digest, two.digest}) == 3 and one.data("facts") == [1]
    assert none.digest == sha256(b"ask\0?").hexdigest()[:16]
    with pytest.raises(ConfigError, match=r"has no facts\.yaml"):
        none.data("facts")


def test_data_that_are_not_yaml_are_refused_in_one_line(tmp_path):
    (tmp_path / "facts.yaml").write_text("a: [1")
    with pytest.raises(ConfigError, match=r"facts\.yaml: while parsing [^\n]*$"):
        load(str(tmp_path)).data("facts")


@pytest.mark.parametrize(
    "hostile",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ name.__init__.__globals__ }}",
        "{% set x = name.append(1) %}{{ x }}",
    ],
)
def test_a_custom_prompt_folder_is_rendered_in_the_sandbox(tmp_path, hostile):
    prompts = load(folder(tmp_path, ask=hostile))
    with pytest.raises(ConfigError, match=r"ask\.jinja: "):
        prompts.render("ask", name=["Ada"])


@pytest.mark.parametrize(
    "endless",
    [
        "{% for n in range(10 ** 9) %}x{% endfor %}",
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
        "{{ 'x' * 10 ** 17 }}",
        "{{ " + "(" * 9000 + "1" + ")" * 9000 + " }}",
    ],
)
def test_a_custom_prompt_without_an_end_is_refused(tmp_path, endless):
    with pytest.raises(ConfigError, match=r"ask\.jinja: [^\n]*(range|recursion|MemoryError|too deep)"):
        load(folder(tmp_path, ask=endless)).render("ask", name="Ada")


def written(tmp_path, text, rules="ask: {names: [name], needs: [Chain]}"):
    (tmp_path / "written.yaml").write_text(rules)
    return folder(tmp_path, ask=text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Chain {{ name }} {% if name %}x{% endif %}", r"'{% if name %}x{% endif %}' is more than a name"),
        ("Chain {{ name }} {{ other }}", r"{{ other }} is not known here; known are name"),
        ("Chain", r"{{ name }} is lost"),
        ("{{ name }}", r"'Chain' is lost, by which replies are read"),
    ],
)
def test_model_written_text_is_refused_unless_it_is_plain(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load(written(tmp_path, text))


def test_plain_model_written_text_renders(tmp_path):
    prompts = load(written(tmp_path, "Chain of {{ name }}"))
    assert prompts.render("ask", name="{{ 7 * 7 }}") == "Chain of {{ 7 * 7 }}"


@pytest.mark.parametrize("rules", ["- 1", "ask: 1", "lost: {names: [], needs: []}"])
def test_rules_on_model_written_text_must_be_complete(tmp_path, rules):
    with pytest.raises(ConfigError):
        load(written(tmp_path, "Chain of {{ name }}", rules))


def test_a_custom_prompt_set_has_a_name_and_cannot_hide_a_built_in_set(tmp_path, monkeypatch):
    monkeypatch.setenv(prompts_module.OWN, str(tmp_path))
    for name in ("mine", "radagent"):
        (tmp_path / name).mkdir()
        folder(tmp_path / name, ask="Mine.")
    load.cache_clear()
    assert load("mine").render("ask") == "Mine." and load("radagent").name == "radagent"
    assert "tools" in load("radagent").texts and prompts_module.place_of("mine") == tmp_path / "mine"
    with pytest.raises(ConfigError, match=r"there are .*mine"):
        load("yours")
    load.cache_clear()


def test_a_template_is_plain_where_it_only_shows_what_it_is_given(tmp_path):
    texts = {
        "slot": "Hello {{ name }}.",
        "unasked": "Hello.",
        "loop": "{% for x in (1, 2) %}\n- {{ x }}\n{% endfor %}\n{{ name }}",
        "branch": "{% if name %}a{% endif %}",
        "filtered": "{{ name | upper }} {% if more %}x{% endif %}",
        "switched": "{{ name }}: {{ 'two' if more else 'one' }}{% if more %}{{ more }}{% endif %}",
        "shared": '{{ name }} {% include "_shared/radagent_calls.jinja" %}',
        "open": '{% include "_shared/conclude.jinja" %}',
    }
    place = folder(tmp_path, **texts)
    (Path(place) / "switches.yaml").write_text("{values: [more], templates: [unasked]}")
    prompts = load(place)
    shared = (ROOT / "_shared" / "radagent_calls.jinja").read_text().strip()
    assert {name: prompts.plain(name) for name in texts} == {
        "slot": "Hello {{ name }}.", "loop": "- 1\n- 2\n{{ name }}", "branch": None, "filtered": None,
        "unasked": None,
        "switched": "{{ name }}: one", "shared": f"{{{{ name }}}} {shared}", "open": None,
    }  # fmt: skip


def test_a_template_s_names_are_those_of_what_it_includes_too(tmp_path):
    prompts = load(folder(tmp_path, ask='{{ who }} {% include "_shared/refused_action.jinja" %}', tell="{{ what }}"))
    assert prompts.names("tell") == {"what"} and prompts.names("ask") > {"who"}


def test_a_named_pipe_instead_of_a_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "tasks.yaml")
    with pytest.raises(ConfigError, match=r"tasks\.yaml: must be a file"):
        load(str(tmp_path))
