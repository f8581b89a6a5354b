from hashlib import sha256

import pytest

from components.core.errors import ConfigError
from components.core.messages import Image
from components.core.types import Problem, Sample
from components.stages.optimize import Collect

LETTERS = {"A": "gout", "B": "scurvy"}


def sample(name: str, task: str = "t", choices=LETTERS, **more) -> Sample:
    return Sample(
        Problem(name, f"Which is {name}?", choices, **more), "B" if choices else {"answer": ["3"]}, {"task": task}
    )


async def collected(samples, **values):
    return (await Collect(**values).run(None, samples))["examples.json"]


async def test_a_few_of_each_task_and_number_of_options_whatever_their_order():
    samples = [sample(f"s{n}") for n in range(9)] + [sample("one", "u"), sample("open", choices={}, context="A note.")]
    found = await collected(samples, n=2)
    assert [one["task"] for one in found] == ["t", "t", "u", "t"] and found == await collected(samples, n=2)
    again = await collected(samples[::-1], n=2)
    assert {one["id"] for one in again} == {one["id"] for one in found}
    assert found[0] == {"id": found[0]["id"], "question": f"Which is {found[0]['id']}?", "answer": "B", "choices": LETTERS,
                        "context": "", "rationale": None, "task": "t"}  # fmt: skip
    assert found[3]["answer"] == "3" and found[3]["context"] == "A note."


async def test_the_stratum_names_the_task_where_the_metadata_do_not():
    (one,) = await collected([Sample(Problem("p", "?"), "x", strata={"task": "plan"})])
    assert one["task"] == "plan"


async def test_questions_with_a_rationale_come_first_and_images_are_left_out(tmp_path):
    digest = sha256(b"Which is s7?").hexdigest()[:16]
    (tmp_path / "rationales.yaml").write_text(f"- question: '{digest}'\n  rationale: It is.\n")
    samples = [*(sample(f"s{n}") for n in range(9)), sample("seen", images=(Image("data:x"),), task="v")]
    found = await collected(samples, n=3, prompts=str(tmp_path))
    assert len(found) == 3 and found[0]["id"] == "s7" and found[0]["rationale"] == "It is."
    assert [one["rationale"] for one in found[1:]] == [None, None]


async def test_a_prompt_set_without_rationales_is_refused():
    with pytest.raises(ConfigError, match=r"prompt set 'direct' has no rationales\.yaml"):
        await Collect(prompts="direct").run(None, [])
