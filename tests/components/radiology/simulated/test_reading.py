from components.core.messages import Message, ToolCall, ToolSpec
from components.radiology.cards import VARIANTS, card, spec
from components.radiology.simulated.reading import Card, Reader
from components.radiology.tasks import AC, AD, BQ, CATEGORIES, DD, DI, IE, MC, OS, PAIRS, RG, TR
from tests.golden.vectors import PAPER

TOOLS = [
    *(card(category, switches=PAPER) for category in (AC, MC, OS, AD, DD, DI, TR)),
    *(card(category, kind, switches=PAPER) for category in (BQ, IE) for kind in ("Organ", "Anomaly")),
    *(card(RG, variant, pair, switches=PAPER) for variant in VARIANTS for pair in (None, PAIRS[0])),
    *(card(category, pair=pair, switches=PAPER) for category in (OS, AD, DD) for pair in PAIRS),
    card(OS, supported=("Left lung", "Liver (right lobe)"), switches=PAPER),
    card(BQ, "Organ", supported=("volume", "size, maximal"), switches=PAPER),
]
SPECS = [spec(one, f"TOOL{n}") for n, one in enumerate(TOOLS, 1)]


def expected(n: int) -> Card:
    one = TOOLS[n]
    kind = one.variant if one.category in (BQ, IE) else None
    pair = None if one.anatomy is None else (one.anatomy, str(one.modality))
    return Card(
        f"TOOL{n + 1}", one.category, kind, pair, one.supported, one.compulsory, one.optional, one.outputs, one.upper
    )


def test_every_card_is_understood_from_text_and_from_a_function():
    text = Message("user", "These are the tools:\n\n" + "\n".join(one.card_text for one in SPECS))
    described, offered = Reader().read([text], ()).cards, Reader().read([], SPECS).cards
    for n in range(len(TOOLS)):
        name = f"TOOL{n + 1}"
        assert described[name] == expected(n)
        assert offered[name] == expected(n)
    assert {one.category for one in described.values()} == set(CATEGORIES)


def test_other_functions_are_not_cards():
    assert Reader().read([], [ToolSpec("add", "Adds numbers.")]).cards == {}


def test_the_memory_is_what_was_shown_last():
    messages = [
        Message("user", 'Memory now: {"$Image$":"x"}\n\nWrite.'),
        Message("tool", '{"$Anatomy$":"Chest","score":0.95}', tool_call_id="1"),
        Message("user", 'Memory now: {"$Image$":"y","$Report$":{"Finding":"a }","Impression":"b"}}'),
        Message("user", 'Broken {"$Image$": and no more}'),
    ]
    found = Reader().read(messages, ()).memory
    assert found == {"$Image$": "y", "$Anatomy$": "Chest", "$Report$": {"Finding": "a }", "Impression": "b"}}


def test_a_plan_is_read_from_the_agents_words_and_not_from_the_prompts_examples():
    plan = "Tool Chain: [*Organ Segmentation Tool* -> *Anomaly Biomarker Quantification Tool*]"
    assert Reader().read([Message("system", plan)], ()).plan == ()
    assert Reader().read([Message("user", plan)], ()).plan == ()
    said = [Message("assistant", plan), Message("assistant", "Plan: Report Generation Tool")]
    assert Reader().read(said, ()).plan == ((OS, None), (BQ, "Anomaly"))
    echo = Message(
        "assistant", 'Known information: {"$Image$":"x"}\nPlan: Organ Segmentation Tool -> Indicator Evaluation Tool'
    )
    assert Reader().read([echo], ()).plan == ((OS, None), (IE, None))


def test_a_call_is_finished_once_its_outputs_are_in_memory():
    before = Message("user", 'Memory now: {"$Image$":"x"}')
    after = Message("user", 'Memory now: {"$Image$":"x","$Anatomy$":"Chest"}')
    for said in (
        Message("assistant", "<Call><Purpose>p</Purpose><Tool> TOOL1 </Tool><Input>[]</Input></Call>"),
        Message("assistant", 'Thought: p\nAction: TOOL1[{"input": []}]'),
        Message("assistant", "", (ToolCall("1", "TOOL1", "{}"),)),
    ):
        assert [c.name for c in Reader().read([before, said, after], SPECS).called] == ["TOOL1"]
        assert Reader().read([before, said, before], SPECS).called == ()
        assert Reader().read([before, said], SPECS).called == ()


def test_marks_tell_the_form_of_the_reply():
    text = "Write <EndCall> or <NoCall>, at the end Answer: <letter>"
    assert Reader().read([Message("user", text)], ()).marks == {"<NoCall>", "<EndCall>"}
    assert Reader().read([Message("assistant", text)], ()).marks == set()


def test_a_tool_is_down_once_a_message_says_so():
    said = [Message("user", "Which?"), Message("user", "TOOL3 is unavailable: the service does not respond.")]
    assert Reader().read(said, ()).down == {"TOOL3"}
    assert Reader().read([*said, Message("user", "Go on.")], ()).down == {"TOOL3"}
    assert Reader().read(said[:1], ()).down == frozenset()


def test_a_dialogue_that_grows_or_is_told_anew_is_read_as_at_once():
    shown = [Message("user", f'Memory now: {{"$Image$":"x","${name}$":"y"}}') for name in ("Anatomy", "Modality")]
    said = Message("assistant", "<Call><Purpose>p</Purpose><Tool>TOOL1</Tool><Input>[]</Input></Call>")
    opening = [Message("user", "Question"), Message("user", "Tools")]
    dialogues = [
        [*opening, shown[1], said, shown[0]],
        [*opening, shown[1], said, shown[1]],
        [*opening, shown[0]],
        opening,
    ]
    grown, reader = [[*opening, shown[1], said, shown[0]][:n] for n in range(6)], Reader()
    for messages in (*grown, *dialogues, *grown):
        assert reader.read(messages, SPECS) == Reader().read(messages, SPECS)
