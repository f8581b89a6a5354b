"""Logs of inspect_ai: ``.eval`` archives and ``.json`` files, versions 1 and 2 of their schema.

Source: inspect.aisi.org.uk/eval-logs.html, and ``inspect_ai/log/_log.py`` and ``_recorders/eval.py`` of 0.3.285.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.core.messages import Image, Message, ToolCall
from runner.logs.documents import Archive, document
from runner.logs.imported import Entry, Log, calls_of, cluster_in

ATTACHMENT = "attachment://"
HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"


def read_inspect(path: Path, cluster: str | None) -> Log:
    """The log in a file; ``cluster``: the field of the samples' metadata that has it."""
    with path.open("rb") as file:
        zipped = file.read(4) == b"PK\x03\x04"
    samples: Iterator[dict[str, Any]]
    if zipped:
        archive = Archive(path)
        head = archive.read(HEADER if HEADER in archive.infos else START)  # without a header it did not end
        samples = (archive.read(name) for name in archive.infos if name.startswith(SAMPLES))
    else:
        head = document(path)
        samples = iter(head.get("samples") or ())
    if (version := head.get("version", 2)) not in (1, 2):
        raise ConfigError(f"{path} has version {version!r:.40} of inspect_ai's schema; 1 and 2 are read")
    spec, stats = head["eval"], head.get("stats") or {}
    about = spec.get("metadata") or {}  # of a run that was exported here
    model, n_samples = str(spec["model"]), (spec.get("dataset") or {}).get("samples")
    steps = [str(step["solver"]) for step in (head.get("plan") or {}).get("steps") or ()]
    config = {name: value for name, value in (spec.get("model_generate_config") or {}).items() if _is_plain(value)}
    epochs = (spec.get("config") or {}).get("epochs") or 1
    return Log(
        path, "inspect_ai", str(spec["task"]), model, (_entry(one, model, cluster) for one in samples),
        agent=str(spec.get("solver") or "+".join(steps) or "generate"),
        versions={str(name): str(version) for name, version in (spec.get("packages") or {}).items()},
        settings=config,
        complete=head.get("status") == "success",
        n_expected=int(n_samples) * int(epochs) if n_samples else None,
        lower=[str(name) for name in about.get("lower") or ()],
        decides=about.get("decides") and str(about["decides"]),
        start=_time(stats.get("started_at") or spec.get("created")),
        end=_time(stats.get("completed_at")),
    )  # fmt: skip


def _time(stored: str | None) -> str | None:
    """A time of the log; None where it has none. Raises ValueError or TypeError for what is no time."""
    return datetime.fromisoformat(stored).isoformat() if stored else None


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _entry(sample: Mapping[str, Any], model: str, cluster: str | None) -> Entry:
    attached = sample.get("attachments") or {}
    messages = [_message(one, attached) for one in sample.get("messages") or ()]
    used, output = (sample.get("model_usage") or {}).get(model) or {}, sample.get("output") or {}
    scores, explanations = dict[str, Any](), dict[str, str]()
    for name, score in (sample.get("scores") or {}).items():
        value = score["value"]
        several = isinstance(value, Mapping)
        for key, one in value.items() if several else [("", value)]:
            scores[full := f"{name}.{key}" if several else name] = one
            explanations[full] = _resolved(str(score.get("explanation") or ""), attached)
    n = sum(message.role == "assistant" for message in messages)
    error, began = sample.get("error"), sample.get("started_at")
    return Entry(
        str(sample["id"]), int(sample["epoch"]) - 1, messages, scores,
        calls_of(n, used.get("input_tokens"), used.get("output_tokens"), used.get("total_cost")),
        answer=_resolved(str(output.get("completion") or ""), attached),
        error=None if error is None else str(error["message"]) or "error",
        limit=sample.get("limit") is not None,
        explanations=explanations,
        cluster=cluster_in(sample.get("metadata"), cluster, sample["id"]),
        started=datetime.fromisoformat(began).timestamp() if began else 0.0,
        seconds=float(sample.get("total_time") or 0.0),
    )  # fmt: skip


def _resolved(text: str, attached: Mapping[str, str]) -> str:
    """A text, or the attachment that it names."""
    return str(attached.get(text.removeprefix(ATTACHMENT), text)) if text.startswith(ATTACHMENT) else text


def _message(stored: Mapping[str, Any], attached: Mapping[str, str]) -> Message:
    content, reasoning = stored.get("content") or "", ""
    parts = list[str | Image]()
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        value = _resolved(str(part.get(part["type"], "")), attached)
        if part["type"] == "reasoning":
            reasoning += value
        elif part["type"] == "image" and value.startswith(("http", "data:")):
            parts.append(Image(value))
        else:
            parts.append(value if part["type"] == "text" else f"[{part['type']}]")
    texts = [part for part in parts if isinstance(part, str)]
    calls = tuple(
        ToolCall(str(call["id"]), str(call["function"]), orjson.dumps(call.get("arguments") or {}).decode())
        for call in stored.get("tool_calls") or ()
    )
    if (role := stored["role"]) not in ("system", "user", "assistant", "tool"):
        raise ValueError(f"a message has the role {role!r:.40}")
    whole = "\n".join(texts) if len(texts) == len(parts) else tuple(parts)
    answered = stored.get("tool_call_id")
    return Message(role, whole, calls, None if answered is None else str(answered), reasoning=reasoning or None)
