from pathlib import Path
from shutil import copytree

import pytest
import yaml

import components.prompts
from components.acting.arguments import reflection_in
from components.core.errors import ConfigError
from components.core.messages import Message
from components.core.tools import Offer
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.radiology.dataset import RadABench
from components.radiology.plan import chain_names
from components.radiology.shots import Shots, reply, shots_of
from components.radiology.tasks import ABILITIES, REFUSAL_FIELDS
from tests.table import each_row

OWN = "radagent_examples"


class Desk:
    """The part of an episode that examples need: an offer, and the grammar in use."""

    def __init__(self, grammar, may_refuse=True):
        self.offer = Offer({}, refusal_fields=REFUSAL_FIELDS if may_refuse else {})
        self._grammar = grammar

    def parse(self, message):
        from components.core.errors import ActionError
        from components.core.types import Action

        try:
            return self._grammar.parse(message, self.offer)
        except ActionError as error:
            return Action(message, error=error.label)


def test_two_plans_four_replies_and_an_answer_are_shown():
    shots = shots_of(OWN)
    assert shots.plans(False, False, False).count("Tool Chain: [") == 2
    assert shots.plans(True, False, False).count('"Tool Chain": [') == 2
    for refuses in (False, True):
        assert shots.replies(Desk(XmlCall(), refuses), False).count("Reply:") == 4
    assert shots.answers(()).count("Answer:") == 1


def test_the_example_of_an_answer_has_the_support_that_the_prompts_in_use_ask_for():
    one, alone = shots_of(OWN).conclusion[0], shots_of(OWN).answers(())
    assert alone.endswith(f"Answer: {one['answer']}")
    supported = shots_of(OWN).answers(("evidence", "alignment"))
    assert supported.endswith(f"Answer: {one['answer']} {one['evidence']} {one['alignment']}")
    plain = Shots(OWN, (), (), (), [{key: one[key] for key in ("question", "memory", "answer")}])
    assert plain.answers(("evidence",)) == alone  # examples written before there was support


def test_the_three_kinds_of_refusal_are_shown_only_where_refusal_is_allowed():
    text = shots_of(OWN).replies(Desk(XmlCall()), False)
    assert all(text.count(f"<Ability>{one}</Ability>") == 1 for one in ABILITIES) and text.count("<Call>") == 1
    text = shots_of(OWN).replies(Desk(XmlCall(), may_refuse=False), False)
    assert "NoCall" not in text and (text.count("<Call>"), text.count("<EndCall>")) == (3, 1)


@each_row("reflects", [False, True])
@each_row("grammar", [XmlCall(), BracketJson()])
def test_the_grammar_in_use_reads_every_reply_that_is_shown(grammar, reflects):
    shots, desk = shots_of(OWN), Desk(grammar)
    for one in (*shots.calls, *shots.refusals):
        text = reply(one, desk, reflects)
        action = desk.parse(Message("assistant", text))
        assert action.error is None and bool(reflection_in(text)) is reflects
        if "grounds" in one:
            assert action.refusal.grounds == one["grounds"]
        else:
            assert action.calls[0].name == one["tool"] and all(v in action.calls[0].arguments for v in one["input"])


def test_native_calls_are_shown_as_functions_with_their_arguments():
    shots, desk = shots_of(OWN), Desk(NativeTools())
    assert reply(shots.calls[0], desk, False).startswith('TOOL6({"purpose":')
    assert reply(shots.refusals[0], desk, True).splitlines()[-1].startswith('refuse({"purpose":')


def test_plans_use_the_names_that_the_prompts_use():
    assert "*Organ Biomarker Quantification Tool*" in shots_of(OWN).plans(False, False, one_quantifier=False)
    text = shots_of(OWN).plans(False, True, one_quantifier=True)
    assert "Organ Biomarker" not in text and text.count("*Biomarker Quantification Tool*") == 2
    assert "Self-Reflection: " in text and chain_names(text)[-1] == "Disease Diagnosis Tool"


def test_the_records_are_of_the_split_to_learn_from_and_of_no_evaluated_one():
    patients = shots_of(OWN).patients
    split = {name: [*RadABench(shipped="radabench_mini").load(name)] for name in ("train", "test")}
    for patient in patients:
        alike = [one for one in split["train"] if one.problem.context.startswith(patient)]
        assert len(alike) == 11 and not [one for one in split["test"] if one.problem.context.startswith(patient)]
    asked = {one.problem.question for one in split["train"]}
    shots = shots_of(OWN)
    assert all(one["question"] in asked for one in (*shots.planning, *shots.conclusion))


def test_incomplete_examples_are_refused_by_name(tmp_path):
    folder = tmp_path / "mine"
    copytree(Path(components.prompts.__file__).parent / OWN, folder)
    file = folder / "examples.yaml"
    data = yaml.safe_load(file.read_text())
    del data["execution"]["calls"][1]["tool"]
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(ConfigError, match=r"examples.yaml: calls 2 has no 'tool'"):
        shots_of(str(folder))
    other = tmp_path / "other"
    copytree(Path(components.prompts.__file__).parent / OWN, other)
    (other / "examples.yaml").write_text("planning: []")
    with pytest.raises(ConfigError, match="it has no list 'planning'"):
        shots_of(str(other))


@pytest.mark.parametrize(
    ("part", "key", "value", "message"),
    [
        (
            "planning",
            "chain",
            "Anatomy Classification Tool",
            "planning 1: chain is 'Anatomy.*', should be a list of names",
        ),
        ("planning", "known", None, "planning 1: known is None, should be a list of names"),
        ("conclusion", "patient", 47, "conclusion 1: patient is 47, should be a text"),
        ("conclusion", "patient", " ", "conclusion 1: patient is ' ', should be a text"),
        ("calls", "input", ["$Image$", 5], "calls 1: input is .*, should be a list of names"),
        ("refusals", "grounds", {"purpose": "none"}, "should be purpose, category, anatomy, modality, ability"),
    ],
)
def test_examples_that_could_not_be_shown_or_known_again_are_refused(tmp_path, part, key, value, message):
    folder = tmp_path / "mine"
    copytree(Path(components.prompts.__file__).parent / OWN, folder)
    data = yaml.safe_load((folder / "examples.yaml").read_text())
    rows = data[part] if part in data else data["execution"][part]
    rows[0][key] = value
    (folder / "examples.yaml").write_text(yaml.safe_dump(data))
    with pytest.raises(ConfigError, match=message):
        shots_of(str(folder))
