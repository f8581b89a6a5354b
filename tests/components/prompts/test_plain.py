"""What a model wrote is text with known names in it, and no template code."""

import jinja2
import pytest

from components.prompts.plain import LONGEST, flaw_in, is_plain, rules_of, slots, visible
from tests.table import each_row

HOSTILE = [
    "{% for x in range(9) %}a{% endfor %}",
    "{%- set x = 1 -%}",
    "{% raw %}a{% endraw %}",
    "{% include '_shared/conclude.jinja' %}",
    "{# a remark #}",
    "{{ question.__class__ }}",
    "{{ question | upper }}",
    "{{ question() }}",
    "{{ 7 * 7 }}",
    "{{ '' }}",
    "{{ }}",
    "{{question}}{{ ''.__class__.__mro__ }}",
    "{{{question}}}",
    "{{ question }}}{{{ question }}",
    "{ {{ {'a': question} }} }",
    "{{\nquestion\n}}",
    "{{ question",
    "{{- question -}}",
    "{{ question if question }}",
]


def test_more_than_a_name_in_braces_is_refused():
    assert [text for text in HOSTILE if not flaw_in(text + " {{ question }}", ["question"])] == []


@pytest.mark.parametrize("name", ["self", "other"])
def test_a_name_that_is_not_given_is_refused(name):
    flaw = flaw_in(f"{{{{ question }}}} {{{{ {name} }}}}", ["question"])
    assert flaw == f"line 1: {{{{ {name} }}}} is not known here; known are question"


@each_row(
    "text, message",
    [
        ("{{ question }}\n\n{% if x %}\nyes", "line 3: '{% if x %}' is more than a name in braces"),
        ("{{ question }}\n{{ other }}", "line 2: {{ other }} is not known here"),
        ("{{ question }}\nred \x1b[31m", "line 2: the control character U+001B cannot stand in a prompt"),
        ("\u202e{{ question }}", "line 1: the control character U+202E cannot stand in a prompt"),
        ("{{ question }}\x00", "line 1: the control character U+0000 cannot stand in a prompt"),
    ],
)
def test_an_error_is_reported_with_its_line(text, message):
    assert flaw_in(text, ["question"]).startswith(message)


@each_row(
    "text",
    [
        "Answer {{ question }}.",
        "{{question}} and again {{ question }}",
        'Write {"a": {"b": 1}} for {{ question }}',
        "{ {{ question }} } $Image$ <VALID> 50 % }}",
    ],
)
def test_accepted_text_renders_unchanged(text):
    assert flaw_in(text, ["question"]) is None
    shown = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render(question="{{ 7 * 7 }}")
    assert shown == text.replace("{{ question }}", "{{ 7 * 7 }}").replace("{{question}}", "{{ 7 * 7 }}")


def test_required_names_must_be_kept():
    assert flaw_in("Answer.", ["question"]) == "{{ question }} is lost, through which the prompt gets what it needs"
    assert flaw_in("Answer.", [], ["Tool Chain: ["]) == "'Tool Chain: [' is lost, by which replies are read"
    assert flaw_in("  \n", []) == "it is empty"
    assert "20000 are the most" in flaw_in("x" * (LONGEST + 1), [])
    assert flaw_in("{{ a }}" * 4, ["a"]) == "{{ a }} stands 4 times; 3 are the most"
    assert is_plain("{{ a }}" * 4) and not is_plain("{{ a.b }}")
    assert slots("{{ a }} {{b}} { c }") == ["a", "b"]


@each_row("rules", [[], {"ask": []}, {"ask": {"names": ["a"]}}, {"ask": {"names": [1], "needs": []}}])
def test_invalid_rules_are_refused(rules):
    with pytest.raises(ValueError):
        rules_of(rules)
    assert rules_of({"ask": {"names": ["a"], "needs": []}}) == {"ask": (["a"], [])}


def test_invisible_characters_are_shown_as_question_marks():
    assert visible("a\tb\n\x1b[31m\u202e\x00 é") == "a\tb\n?[31m?? é"
