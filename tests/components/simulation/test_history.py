from components.core.messages import Message, ToolCall, ToolSpec
from components.prompts import load
from components.simulation.history import Done, call_in, read_history
from components.verifiers.select import Candidate

CARD = ToolSpec("Medrag", "Finds passages.", {"type": "object", "properties": {"query": {"type": "string"}}})
SYSTEM = Message("system", f"Act.\n{CARD.card_text}\n{{'name': broken\n")
TASK = Message("user", "[Execution]\nInstruction:\nWhich?")
LOOKUP = Message("assistant", 'Thought: look.\nAction: Medrag[{"query": "gout"}]')


def asked(name, **values):
    """A verifier's question appended to an observation, as the real verifiers ask it."""
    seen = Message("user", f"Observation: passage\n1. Action: Bait[{{}}]\n\n{load('verify').render(name, **values)}")
    return read_history([SYSTEM, TASK, LOOKUP, seen], ())


def test_tools_stand_on_cards_or_in_the_request():
    assert read_history([SYSTEM, TASK], ()).offered == {"Medrag": ("query",)}
    assert read_history([TASK], [CARD]).offered == {"Medrag": ("query",)}


def test_odd_cards_are_offered_without_parameters_and_those_of_examples_are_not():
    odd = '{"name": "A", "parameters": 3}\n{"name": "B"}\n{"name":\n\n[Example]\n{"name": "C"}'
    assert read_history([Message("system", odd.replace('{"name": ', '{"name":')), TASK], ()).offered.keys() >= {
        "A",
        "B",
    }
    assert "C" not in read_history([Message("system", odd.replace(": ", ":")), TASK], ()).offered


def test_calls_carry_their_results_in_every_grammar():
    tags = '<Call>\n<Purpose>x</Purpose>\n<Tool>Medrag</Tool>\n<Input>{"query": "gout"}</Input>\n</Call>'
    for reply, seen in (
        (LOOKUP, Message("user", "Observation: a passage\nof two lines")),
        (Message("assistant", tags), Message("user", "<Observation>\na passage\nof two lines\n</Observation>\n\nNow")),
        (
            Message("assistant", "", (ToolCall("1", "Medrag", '{"query": "gout"}'),)),
            Message("tool", "a passage\nof two lines", tool_call_id="1"),
        ),
    ):
        (done,) = read_history([TASK, reply, seen], ()).done
        assert done == Done("Medrag", {"query": "gout"}, "a passage\nof two lines")


def test_parallel_calls_get_their_results_in_order_and_an_unanswered_one_none():
    calls = tuple(ToolCall(str(n), "Medrag", '{"query": "x"}') for n in range(3))
    seen = [Message("tool", text, tool_call_id=str(n)) for n, text in enumerate(("one", "two"))]
    done = read_history([TASK, Message("assistant", "", calls), *seen], ()).done
    assert [one.saw for one in done] == ["one", "two", None]


def test_solved_tasks_and_earlier_trials_show_their_actions_and_nothing_else_does():
    example = Message("system", 'x\n[Example]\nInstruction:\nq\nAction: Medrag[{"query": "q"}]\nObservation: y')
    trial = Message("user", "[Previous_Trial]\nAction: UMLS[{}]\nObservation: z\n\n[Execution]\nAction: Bait[{}]")
    later = Message("user", "[Example]\nAction: Bait[{}]")
    assert read_history([example, trial, LOOKUP, later], ()).shown == {"Medrag", "UMLS"}
    assert read_history([SYSTEM, TASK, LOOKUP, later], ()).shown == frozenset()


def test_a_selection_lists_its_candidates_and_the_lessons_on_them():
    saw = "[Review]\nCurrent action: Bait[{}]\n9. Action: Bait[{}]\n1. Action: Bait[{}]"
    shown = [Candidate(None, text, saw) for text in ('Medrag[{"query":"a"}]', "", 'Finish[{"response":"b"}]')]
    read = asked("select", guide={"Medrag": ["ask all"], "Finish": ()}, candidates=shown)
    assert read.candidates == ('Medrag[{"query":"a"}]', "", 'Finish[{"response":"b"}]')
    assert read.guided == {"Medrag"} and read.current is None
    assert read.done[0].saw == "passage\n1. Action: Bait[{}]"


def test_a_refinement_shows_the_current_version_and_how_many_came_before():
    versions = [('Medrag[{"query":"a"}]', "x\ny"), ('Medrag[{"query":"b"}]', "Current action: Bait[{}]")]
    read = asked("refine", guide={"Medrag": ["ask all"]}, versions=versions)
    assert read.current == 'Medrag[{"query":"b"}]' and read.earlier == 1 and read.guided == {"Medrag"}
    assert not read.candidates


def test_an_observation_that_looks_like_a_question_is_not_a_question():
    read = read_history([SYSTEM, TASK, LOOKUP, Message("user", "Observation: 1. Action: X[{}]\nCurrent action: Y")], ())
    assert read.candidates == () and read.current is None


def test_a_call_is_read_up_to_the_end_of_its_object():
    assert call_in('Medrag[{"query": "a ]} b"}]; UMLS[{"query": "c"}]') == Done("Medrag", {"query": "a ]} b"})
    for text in ("", "Medrag", "Medrag[{]", "Medrag[3]", "see Medrag[{}]", 'Medrag[{"a":' * 3, "Action: X[" + "{" * 9):
        assert call_in(text) is None


def test_native_arguments_that_are_not_an_object_are_none():
    for arguments in ("[", "[]", "3", ""):
        (done,) = read_history([TASK, Message("assistant", "", (ToolCall("1", "x", arguments),))], ()).done
        assert done.arguments == {}
