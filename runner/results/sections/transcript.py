"""One episode as a text to read: messages by purpose, which tools were called, how it ended.

The texts of models and data are shown as they are, but for characters that a terminal would obey.
"""

from collections.abc import Iterator, Sequence

from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall
from components.core.types import Step
from components.faults.marks import fault_lines
from runner.config.errors import nearest
from runner.results.runs import Run
from runner.results.sections.episode_data import text_of
from runner.results.sections.report import tokens_text
from runner.results.table import plain
from runner.storage.records import read
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

_INDENT = "    "


def show_episode(runs: Sequence[Run], sample_id: str, epoch: int | None, prompts: bool) -> None:
    """Print an episode, of every run that has it; the first epoch where none is named.

    Raises ConfigError for a sample or an epoch that is in none of them, naming what is nearest.
    """
    ids, epochs, shown = dict[str, None](), set[int](), False
    for run in runs:
        records = {}
        for record in read(run.folder):
            ids[record["sample_id"]] = None
            if record["sample_id"] == sample_id:
                epochs.add(record["epoch"])
                records[record["epoch"]] = record
        if records and (epoch is None or epoch in records):
            print(*transcript(run, records[min(records) if epoch is None else epoch], prompts), sep="\n", end="\n\n")  # noqa: T201
            shown = True
    if epochs and not shown:
        have = ", ".join(map(str, sorted(epochs)))
        raise ConfigError(f"--epoch {epoch}: sample {plain(sample_id)!r} has the epochs {have}")
    if not shown:
        raise ConfigError(plain(f"episode {sample_id!r}: there is no such sample; {nearest(sample_id, ids)}"))


def transcript(run: Run, record: Record, prompts: bool = False) -> Iterator[str]:
    """The lines of an episode; ``prompts``: with what was asked."""
    trajectory = Unpacker(TextReader(run.folder)).trajectory(record)
    yield f"{plain(str(record['sample_id']))}, epoch {record['epoch']}, of {run.folder}"
    names = [f"{group} {run.choices[group]}" for group in ("agent", "model", "dataset") if group in run.choices]
    yield f"{', '.join(names)} ({run.model})"
    for number, step in enumerate(trajectory.steps, 1):
        yield ""
        yield from _step(number, step, prompts)
    yield ""
    yield f"ended: {trajectory.stop}"
    if trajectory.answer is not None:
        yield from _lines(trajectory.answer, "answer: ")
    for name, ground in trajectory.refusal.grounds.items() if trajectory.refusal else ():
        yield from _lines(str(ground), f"refused, {plain(name)}: ")
    for why in filter(None, (trajectory.failure, trajectory.error)):
        yield from _lines(why, "why: ")
    for name, value in record["scores"].items():  # with the scorers' own words
        why = record.get("explanations", {}).get(name, "")
        yield from _lines(f"{'unscored' if value is None else f'{value:.4g}'}{why and f' ({why})'}", f"{plain(name)}: ")
    used = record["usage"]
    cost = "cost not known" if used["cost_usd"] is None else f"${used['cost_usd']:.4g}"
    tokens = tokens_text(used["input_tokens"], used["output_tokens"])
    yield f"usage: {used['calls']:,} calls, {tokens}, {cost}, {record['seconds']:.1f} s"


def _step(number: int, step: Step, prompts: bool) -> Iterator[str]:
    label = plain(str(step.remarks.get("label", "")))
    aside = "" if step.committed else ", not chosen"
    finish = "" if step.finish == "stop" else f", ended by {plain(step.finish)}"
    who = plain(step.branch) if step.role == "main" else f"{plain(step.branch)} ({plain(step.role)})"
    yield f"[{number}] {who}, {step.purpose}{aside}{finish}{label and f': {label}'}"
    if prompts:
        if step.kept:
            yield f"  asked, after the {step.kept} messages before:"
        for message in step.asked:
            yield f"  {message.role}:"
            yield from _lines(_text(message))
        if step.reply.reasoning:
            yield "  thought:"
            yield from _lines(step.reply.reasoning)
        yield "  said:"
    yield from _lines(_text(step.reply) or "(no text)")
    if step.verdict:
        yield from _lines(str(step.verdict), "  verdict: ")
    if step.action is not None and step.action.error:
        yield from _lines(step.action.error_text or step.action.error, "  unreadable: ")
    observed = [("control" if one.control else "called", one) for one in step.observed]
    for how, one in [*(("tried", one) for one in step.tried), *observed]:
        yield from _lines(_call(one.call), f"  {how}: ")
        pictures = "".join("\n[an image]" for _ in one.observation.images)
        yield from _lines(one.observation.text + pictures, f"  {one.error}: " if one.error else "  observed: ")
        for fault in fault_lines(one):
            yield from _lines(fault, "  fault: ")
    done = [one.call for one in (*step.tried, *step.observed)]
    for call in step.action.calls if step.action is not None else ():
        if call not in done:
            yield from _lines(_call(call), "  not run: ")


def _text(message: Message) -> str:
    """The text of a message, images and native calls by name."""
    return "\n".join([*filter(None, [text_of(message)]), *(f"-> {_call(call)}" for call in message.tool_calls)])


def _call(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}".strip()


def _lines(text: str, head: str = _INDENT) -> Iterator[str]:
    """A text's lines behind a head, without what a terminal would obey."""
    first, *others = text.split("\n")
    yield head + _tame(first)
    yield from (_INDENT + _tame(line) for line in others)


def _tame(line: str) -> str:
    """A line with its control characters written out; whatever is white is a blank."""
    line = line.replace("\t", "    ").rstrip()
    return "".join(" " if c.isspace() else c if c.isprintable() else repr(c)[1:-1] for c in line)
