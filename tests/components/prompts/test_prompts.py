"""Prompt sets: files, nothing undefined, what differs has another digest."""

import pytest

from components.errors import ConfigError
from components.messages import Image
from components.prompts import load


def folder(tmp_path, **templates):
    for name, text in templates.items():
        (tmp_path / f"{name}.jinja").write_text(text)
    return str(tmp_path)


def test_a_message_names_the_file_it_was_rendered_from(tmp_path):
    prompts = load(folder(tmp_path, ask="Hello {{ name }}."))
    message = prompts.user("ask", name="Ada")
    assert (message.role, message.text, message.source) == ("user", "Hello Ada.", f"{tmp_path}/ask.jinja")
    assert prompts.user("ask", (Image("data:x"),), name="Ada").content == ("Hello Ada.", Image("data:x"))


def test_what_the_data_says_is_never_a_template(tmp_path):
    prompts = load(folder(tmp_path, ask="{{ name }}"))
    assert prompts.render("ask", name="{{ 7 * 7 }} ${oc.env:HOME} <b>") == "{{ 7 * 7 }} ${oc.env:HOME} <b>"


def test_a_value_that_is_not_given_is_named(tmp_path):
    prompts = load(folder(tmp_path, ask="{{ nmae }}"))
    with pytest.raises(ConfigError, match=r"ask\.jinja: 'nmae' is undefined"):
        prompts.render("ask", name="Ada")
    with pytest.raises(ConfigError, match=r"has no tell\.jinja; it has ask"):
        prompts.render("tell")


def test_a_set_that_is_not_there_or_does_not_parse_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"no prompt set 'radagnt'; there are .*radagent"):
        load("radagnt")
    with pytest.raises(ConfigError, match="line 1"):
        load(folder(tmp_path, ask="{% if %}"))


def test_the_digest_is_of_the_texts(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for path, text in ((one, "a"), (two, "b")):
        path.mkdir()
        folder(path, ask=text)
    assert load(str(one)).digest != load(str(two)).digest
    (two / "ask.jinja").write_text("a")
    load.cache_clear()
    assert load(str(one)).digest == load(str(two)).digest


def test_short_messages_are_made_once_and_long_ones_are_not_kept(tmp_path):
    prompts = load(folder(tmp_path, ask="{{ name }}"))
    assert prompts.user("ask", name="x") is prompts.user("ask", name="x")
    assert prompts.system("ask", name="x") is not prompts.user("ask", name="x")
    assert prompts.user("ask", name="y" * 5000) is not prompts.user("ask", name="y" * 5000)
