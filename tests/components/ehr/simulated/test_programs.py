from ast import literal_eval
from pathlib import Path

import pytest

from components.acting.arguments import action_lines
from components.core.messages import ToolCall
from components.ehr.metadata import metadata
from components.ehr.simulated.queries import plan, program, translate
from components.ehr.tables import Tables
from components.ehr.toolset import EhrState
from components.text.values import strict
from runner.episode.calls import Context
from tests.components.ehr.simulated.chartroom import DATABASES, SIX, questions, toolset
from tests.slow import slow

ALL = [one for split in ("test", "valid", "train") for one in questions(split)]
TOGETHER = 20


def query(sample):
    return translate(sample.metadata["sql"], sample.metadata["sql_dialect"])


def test_most_questions_are_simple_enough():
    assert sum(query(one) is not None for one in ALL) > 0.9 * len(ALL)


@slow
@pytest.mark.parametrize("database", [DATABASES[0], *(pytest.param(one, marks=slow) for one in DATABASES[1:])])
async def test_translated_programs_give_the_answers_of_the_sql(database):
    """All of them in a few cells, each of which is many programs."""
    samples = [one for one in ALL if one.metadata["sql_dialect"] == database and query(one) is not None]
    state = toolset().open(samples[0]).state
    for start in range(0, len(samples), TOGETHER):
        some = samples[start : start + TOGETHER]
        parts = [f"{program(query(one))}\nfound.append(str(answer))" for one in some]
        ran = await state.run("\n".join(["found = []", *parts, "answer = found"]))
        assert ran.status == "ok", ran.error
        values = literal_eval(ran.answer)
        wrong = [
            (one.problem.id, value)
            for one, value in zip(some, values, strict=True)
            if not strict(value, one.target["answer"])
        ]
        assert not wrong
    state.close()


@slow
@pytest.mark.parametrize("database", [DATABASES[0], *(pytest.param(one, marks=slow) for one in DATABASES[1:])])
async def test_planned_actions_give_the_answers_of_the_sql(database):
    tools = {tool.spec.name: tool for tool in SIX}
    samples = [one for one in ALL if one.metadata["sql_dialect"] == database]
    state = toolset().open(samples[0]).state
    tables, n_plans = state.tables, 0
    for one in samples:
        actions = plan(found) if (found := query(one)) is not None else None
        if actions is None:
            continue
        fresh = EhrState(metadata(database), Path(one.files["database"]), tables, lambda: None)
        results, n_plans = (
            _run(actions, tools, Context(fresh, one.problem, None, ToolCall("call", "", ""), "main")),
            n_plans + 1,
        )
        assert len(actions) < 10 and strict(results[-1], one.target["answer"]), (one.problem.id, results)
    assert isinstance(tables, Tables) and n_plans > 20


def _run(actions, tools, context):
    results = []
    for text in actions:
        line = next(action_lines(text))
        argument = line.argument
        for number in range(len(results), 0, -1):
            argument = argument.replace(f"#{number}", results[number - 1])
        tool = tools[line.name]
        seen = tool(context, **{next(iter(tool.spec.parameters["properties"])): argument})
        results.append(str(seen.data.get("value", seen.text)))
    return results


def test_a_question_that_would_require_manual_counting_has_no_plan():
    found = translate("select count( distinct patients.gender ) from patients", "mimic_iii")
    assert plan(found) is None and "len(set(" in program(found)
