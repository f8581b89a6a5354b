"""Other libraries that make the same calls, each as its users run it. They run in `.venv-peers`, without ours.

Each warms up with one conversation, so that imports and the first connection belong to the start-up.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from benchmarks.conversations import Messages, Prompts, converse, observation
from benchmarks.processes import Usage, measured, resident_mb

_KEY = "not-needed"
_MAX_TOKENS = 512


def versions(names: Sequence[str]) -> dict[str, str]:
    """The version of each of these distributions that is installed here."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def openai(url: str, prompts: str, connections: int) -> dict[str, float]:
    """A loop over ``openai.AsyncOpenAI`` on uvloop."""
    library = importlib.import_module("openai")
    asked, base = Prompts.load(prompts), resident_mb()

    async def main() -> Usage:
        async with library.AsyncOpenAI(base_url=url, api_key=_KEY) as client:

            async def chat(messages: Messages) -> str:
                reply = await client.chat.completions.create(
                    model="bench", messages=messages, temperature=0.0, max_tokens=_MAX_TOKENS
                )
                return str(reply.choices[0].message.content)

            return await converse(chat, asked, connections)

    run = importlib.import_module("uvloop").run if find_spec("uvloop") else asyncio.run
    usage: Usage = run(main())
    return usage.figures(base)


def inspect_ai(url: str, prompts: str, connections: int) -> dict[str, float]:
    """``inspect_ai.eval`` with a solver that generates and observes in turn, its OpenAI-compatible provider and log."""
    os.environ |= {"BENCH_API_KEY": _KEY, "BENCH_BASE_URL": url, "INSPECT_DISPLAY": "none"}
    library, data, model, scoring, solving = (
        importlib.import_module(f"inspect_ai{part}") for part in ("", ".dataset", ".model", ".scorer", ".solver")
    )
    asked, base = Prompts.load(prompts), resident_mb()

    @solving.solver  # type: ignore[untyped-decorator]  # a library that is not installed here
    def stepper() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            for n in range(asked.calls):
                if n:
                    state.messages.append(model.ChatMessageUser(content=observation(n - 1)))
                state = await generate(state)
            return state

        return solve

    def evaluate(questions: Sequence[str], folder: str) -> None:
        rows = [data.Sample(input=question, target=asked.replies[-1]) for question in questions]
        solver = [solving.system_message(asked.system.replace("{", "{{").replace("}", "}}")), stepper()]
        task = library.Task(dataset=data.MemoryDataset(rows), solver=solver, scorer=scoring.exact())
        [log] = library.eval(
            task, model="openai-api/bench/bench", max_connections=connections, max_samples=connections,
            max_tokens=_MAX_TOKENS, temperature=0.0, log_dir=folder,
        )  # fmt: skip
        assert log.status == "success", log.error
        assert log.results.scores[0].metrics["mean"].value == 1.0, "another reply than the server's last"

    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        evaluate(asked.questions[:1], folder)
        with measured() as usage:
            evaluate(asked.questions, folder)
    return usage.figures(base)


def lm_eval(url: str, prompts: str, connections: int) -> dict[str, float]:
    """``lm_eval.simple_evaluate`` with `local-chat-completions`: as many calls, every one a sample of one turn."""
    library = importlib.import_module("lm_eval")
    tasks, data = importlib.import_module("lm_eval.api.task"), importlib.import_module("datasets")
    manager = importlib.import_module("lm_eval.tasks").TaskManager(include_defaults=False)  # else 14,000 YAML files
    asked, base = Prompts.load(prompts), resident_mb()

    class Dialogues(tasks.ConfigurableTask):  # type: ignore[misc,name-defined]  # as above
        """The task: a dialogue so far, and the reply to it."""

        def fewshot_context(self, doc: Mapping[str, Any], *_: Any, chat_template: Any, **__: Any) -> Any:
            """The dialogue itself in place of a template of one turn."""
            return chat_template(doc["messages"])

    def evaluate(rows: Sequence[Mapping[str, Any]]) -> None:
        config = {
            "task": "dialogues", "custom_dataset": lambda **_: {"test": data.Dataset.from_list([*rows])},
            "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{reply}}",
            "doc_to_target": "{{reply}}", "generation_kwargs": {"until": [], "max_gen_toks": _MAX_TOKENS},
            "metric_list": [{"metric": "exact_match"}], "num_fewshot": 0,
        }  # fmt: skip
        arguments = {
            "model": "bench", "base_url": f"{url}/chat/completions", "num_concurrent": connections,
            "tokenizer_backend": None,
        }  # fmt: skip
        found = library.simple_evaluate(
            model="local-chat-completions", model_args=arguments, tasks=[Dialogues(config=config)],
            apply_chat_template=True, task_manager=manager,
        )  # fmt: skip
        assert found["results"]["dialogues"]["exact_match,none"] == 1.0, "other replies than the server's"

    rows = [{"messages": messages, "reply": reply} for messages, reply in asked.dialogues()]
    evaluate(rows[: asked.calls])
    with measured() as usage:
        evaluate(rows)
    return usage.figures(base)
