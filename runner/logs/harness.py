"""Samples of lm-evaluation-harness: ``samples_TASK_DATE.jsonl`` with its ``results_DATE.json``.

Source: ``lm_eval/loggers/evaluation_tracker.py`` and ``evaluator.py`` of 0.4.13. A metric of a filter is a score
``metric,filter``, as in the tool's results. Metrics that are no number of one sample (of which F1 or perplexity of the
whole task are made) are left out.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.core.messages import Message
from runner.logs.documents import document, lines
from runner.logs.imported import Entry, Log, calls_of, cluster_in

_NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_SETTINGS = ("num_fewshot", "gen_kwargs", "limit", "random_seed")


def is_harness(path: Path) -> bool:
    """Whether a file is called as the tool calls those of samples."""
    return _NAME.fullmatch(path.name) is not None


def read_harness(path: Path, cluster: str | None) -> Log:
    """The log of a task; ``cluster``: the field of the documents that has it. Raises ConfigError."""
    named = _NAME.fullmatch(path.name)
    if named is None or not (results_file := path.with_name(f"results_{named[2]}.json")).is_file():
        raise ConfigError(f"{path}: its results_DATE.json, which has the run's settings, is missing from its folder")
    task, results = named[1], document(results_file)
    config, version = results.get("config") or {}, (results.get("lm_eval_version") or "unknown")
    directions = (results.get("higher_is_better") or {}).get(task) or {}
    n_expected = ((results.get("n-samples") or {}).get(task) or {}).get("effective")
    found = _entries(path, cluster)
    scores = dict.fromkeys(name for entry in found for name in entry.scores)
    return Log(
        path, "lm-evaluation-harness", task, str(results.get("model_name") or config.get("model")), found,
        versions={"lm_eval": str(version)},
        settings={name: str(config[name]) for name in _SETTINGS if config.get(name) is not None},
        n_expected=None if n_expected is None else int(n_expected),
        lower=[name for name in scores if directions.get(name.partition(",")[0]) is False],
    )  # fmt: skip


def _entries(path: Path, cluster: str | None) -> list[Entry]:
    """One per document: the lines of its filters together."""
    found = dict[str, Entry]()
    for line in lines(path):
        name, suffix = str(line["doc_id"]), "" if (of := line.get("filter", "none")) == "none" else f",{of}"
        single = (name for name in line["metrics"] if not isinstance(line[name], list | dict))
        values = {f"{metric}{suffix}": line[metric] for metric in single}
        entry = found[name] if name in found else _entry(name, line, cluster)
        if doubled := entry.scores.keys() & values.keys():
            raise ConfigError(f"{path}: document {name}: {min(doubled)!r:.80} is duplicated")
        found[name] = replace(entry, scores={**entry.scores, **values})
    return list(found.values())


def _entry(name: str, line: Mapping[str, Any], cluster: str | None) -> Entry:
    """A document as its first line has it."""
    asked, replies = line.get("arguments") or {}, line.get("filtered_resps") or []
    requests = list(asked.values() if isinstance(asked, Mapping) else asked)
    prompt = next(iter(requests[0].values() if isinstance(requests[0], Mapping) else requests[0])) if requests else ""
    reply = replies[0] if len(replies) == 1 else replies
    text = reply if isinstance(reply, str) else orjson.dumps(reply).decode()
    prompt = prompt if isinstance(prompt, str) else orjson.dumps(prompt).decode()
    messages = [Message("user", prompt), Message("assistant", text)]
    return Entry(
        name, 0, messages, {}, calls_of(len(requests)), answer=text,
        cluster=cluster_in(line.get("doc"), cluster, name),
    )  # fmt: skip
