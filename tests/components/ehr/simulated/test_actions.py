from statistics import fmean

from components.core.messages import Message
from components.core.types import Problem, Sample
from components.ehr.simulated.steps import act, choose_actions, module, module_names, whole_plan
from tests.components.ehr.simulated.chartroom import case

SQL = "select patients.gender from patients where patients.subject_id = 7"
FACTS = {"sql": SQL, "sql_dialect": "mimic_iii"}
GOLD = Sample(Problem("g", "Is patient 7 male?"), {"answer": ["m"]}, FACTS)
NONE = Sample(Problem("n", "Where does patient 7 live?"), {"answer": None}, {"sql": None, "sql_dialect": "mimic_iii"})
ACTIONS = "LoadDB[name]: x\nFilterDB[conditions]: x\nGetValue[argument]: x\nSQLInterpreter[sql]: x\nFinish[answer]"
OPENING = (
    Message("system", f"{ACTIONS}\npatients: SUBJECT_ID, GENDER"),
    Message("user", "Question: Is patient 7 male?"),
)
REFUSING = (Message("system", f"{OPENING[0].text}\nRefuse[why it cannot be answered]"), OPENING[1])
STEPS = ["LoadDB[patients]", "FilterDB[SUBJECT_ID=7]", "GetValue[GENDER]"]
SEEDS = range(200)
UNSURE = {"competence": 0.0}


def said(messages, gold=GOLD, **rates):
    return [act(case(messages, gold, n, **rates)).text.partition("Action: ")[2] for n in SEEDS]


def after(*turns, opening=OPENING):
    messages = list(opening)
    for action, saw in turns:
        messages += [Message("assistant", f"Thought: x\nAction: {action}"), Message("user", f"Observation: {saw}")]
    return messages


def test_it_works_step_by_step_or_submits_the_statement():
    found = said(OPENING)
    assert set(found) == {"LoadDB[patients]", f"SQLInterpreter[{SQL}]"}
    assert 0.45 < fmean(text == "LoadDB[patients]" for text in found) < 0.75


def test_the_form_that_the_instructions_name_counts_before_that_of_examples():
    examples = Message("system", f'Action: LoadDB[{{"name": "x"}}]\nFinish[{{"response": "x"}}]\n{OPENING[0].text}')
    instructions = Message("system", f"{examples.text}\nAction: Finish[answer]")
    assert case([examples, OPENING[1]], GOLD, 0).prompt.style == "bracket"
    assert case([instructions, OPENING[1]], GOLD, 0).prompt.style == "line"


def test_it_continues_as_it_began_up_to_the_answer():
    seen = [("LoadDB[patients]", "patients: 3 rows with the columns GENDER."), ("FilterDB[SUBJECT_ID=7]", "The current table is down to 1 row."), ("GetValue[GENDER]", "m")]  # fmt: skip
    assert [set(said(after(*seen[:n]))) for n in (1, 2, 3)] == [{STEPS[1]}, {STEPS[2]}, {"Finish[m]"}]
    assert set(said(after((f"SQLInterpreter[{SQL}]", "[('m',)]")))) == {"Finish[[('m',)]]"}
    assert set(said(after((f"SQLInterpreter[{SQL}]", "[] ... (the first 2 of 9 characters)")))) == {"Finish[[]]"}
    assert set(said(after(seen[0], seen[1], ("GetValue[GENDER]", "(nothing: there is no value)")))) == {"Finish[None]"}


def test_a_failed_action_is_repeated_at_its_position():
    failed = after(
        ("LoadDB[patients]", "patients: 3 rows with the columns GENDER."), ("FilterDB[X=7]", "There is no column `X`.")
    )
    assert set(said(failed)) == {STEPS[1]}
    assert fmean(text == STEPS[1] for text in said(failed, competence=0.5)) < 0.5


def test_it_takes_only_actions_the_prompt_names():
    def naming(*names, seed=0):
        listed = "\n".join(f"{name}[x]: x" for name in names)
        return case([Message("system", f"patients: SUBJECT_ID, GENDER\n{listed}"), OPENING[1]], GOLD, seed)

    assert {tuple(choose_actions(naming("LoadDB", "FilterDB", "GetValue", seed=n), ())) for n in SEEDS} == {
        tuple(STEPS)
    }
    assert {tuple(choose_actions(naming("SQLInterpreter", seed=n), ())) for n in SEEDS} == {(f"SQLInterpreter[{SQL}]",)}
    assert choose_actions(naming("LoadDB"), ()) == []
    assert act(naming()).text == whole_plan(naming()) == "It is not said which actions there are."


def test_slips_and_prose_replies():
    assert not {STEPS[0], f"SQLInterpreter[{SQL}]"} & set(said(OPENING, **UNSURE))


def test_wrong_tools_and_omitted_plan_actions_occur_at_their_rates():
    strays, slips = {"wrong_tool": 1.0}, {"planning_slip": 1.0}
    for right, stray in zip(said(OPENING), said(OPENING, **strays), strict=True):
        assert stray.partition("[")[0] != right.partition("[")[0] and stray.partition("[")[2] == right.partition("[")[2]
    first = {module(["LoadDB", "Finish"], 1, case(OPENING, GOLD, n, **strays)) for n in SEEDS}
    assert first == {f"{name}[patients]" for name in ("FilterDB", "GetValue", "SQLInterpreter")}
    plans = {whole_plan(case(OPENING, GOLD, n, **slips)).count("\n") for n in SEEDS}
    assert plans == {3, 4}  # of three actions and the answer one is gone; a single statement stays


def test_a_whole_plan_ends_with_the_last_result_and_has_one_slip_at_most():
    plans = {whole_plan(case(OPENING, GOLD, n)).partition("Plan:\n")[2] for n in SEEDS}
    by_steps = "\n".join(f"{n}. {line}" for n, line in enumerate([*STEPS, "Finish[#3]"], 1))
    assert plans == {by_steps, f"1. SQLInterpreter[{SQL}]\n2. Finish[#1]"}
    slipped = {whole_plan(case(OPENING, GOLD, n, **UNSURE)).partition("Plan:\n")[2] for n in SEEDS}
    assert not slipped & plans and all("Finish[#" in text for text in slipped)


def test_modules_are_named_first_and_filled_in_one_by_one():
    names = {module_names(case(OPENING, GOLD, n)) for n in SEEDS}
    assert names == {"LoadDB, FilterDB, GetValue, Finish", "SQLInterpreter, Finish"}
    order = ["LoadDB", "FilterDB", "GetValue", "Finish"]
    assert [module(order, n, case(OPENING, GOLD, 0)) for n in (1, 2, 3, 4)] == [*STEPS, "Finish[#3]"]
    assert module(["SQLInterpreter", "Finish"], 1, case(OPENING, GOLD, 0)) == f"SQLInterpreter[{SQL}]"
    assert module(["Calendar"], 1, case(OPENING, GOLD, 0)) == "Calendar[patients]"
    assert module(order, 2, case(OPENING, GOLD, 0, **UNSURE)) != STEPS[1]
    short = {module_names(case(OPENING, GOLD, n, planning_slip=1.0)) for n in SEEDS}
    assert "LoadDB, FilterDB, Finish" in short and "LoadDB, FilterDB, GetValue, Finish" not in short


def test_it_refuses_unanswerable_questions_by_competence_if_the_prompt_explains_how():
    why = "Refuse[No table of the database holds what is asked.]"
    assert set(said(REFUSING, NONE)) == {why} and why in whole_plan(case(REFUSING, NONE))
    assert module_names(case(REFUSING, NONE)) == "Refuse" and why in module(["Refuse"], 1, case(REFUSING, NONE))
    for messages, rates in ((OPENING, {}), (REFUSING, UNSURE)):
        assert set(said(messages, NONE, **rates)) == {"SQLInterpreter[select count(*) from patients]"}
