"""Episodes to read. On the page: a list to search, each step by step, and two runs of a sample side by side. As a text:
messages by purpose, which tools were called, how it ended; shown as they are, but for characters that a terminal would
obey.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall
from components.core.types import Step
from components.faults.marks import fault_lines
from components.text.words import written_out
from runner.config.errors import nearest
from runner.results.arrays import np
from runner.results.cells import plain
from runner.results.grid import deciding_score
from runner.results.render.formats import asset, render
from runner.results.rows import name_with_arrow, read_metrics
from runner.results.runs import Run
from runner.results.sections.episode_data import (
    Blocks,
    Marker,
    Marks,
    Writer,
    link_keys,
    pack,
    page_line,
    question_of,
    text_of,
)
from runner.results.sections.report import tokens_text
from runner.results.sheets import Markup, Section
from runner.storage.records import read
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader, without_surrogates

LIMIT = 5_000
FAILURES = ("error", "failed", "limit")
_SEARCHED = 2_000  # characters of a question or an answer in the list
_SCRIPTS = ("data.js", "elements.js", "grid.js", "list.js", "episode.js", "compare.js", "main.js")
_INTRO = (
    "Every episode step by step: open one by its sample, j and k go to the next and the one before, Escape closes it. "
    "Two runs can be compared: what they share of a sample up to the first difference, and both ways from there."
)
_INSTEAD = "The episodes are on the HTML page; `python -m runner.report episode SAMPLE FOLDER` prints one."

_INDENT = "    "


def section(runs: Sequence[Run], limit: int = LIMIT) -> Section | None:
    """At most ``limit`` episodes of these runs; None where there is none."""
    chosen = choose_episodes(runs, limit)
    if not (count := sum(map(sum, chosen))):
        return None
    names, found = link_keys(runs), read_metrics(*runs)
    heads = [{"key": key, "label": without_surrogates(one.label)} for key, one in zip(names, found, strict=True)]
    strata = list(dict.fromkeys(name for run in runs for of in run.table.kinds for name in of))
    headlines = [run.headline for run in runs if run.headline is not None]
    scores = list(dict.fromkeys([*headlines, *(name for run in runs for name in run.scores)]))
    writer, marker, rows, marks, episodes = Writer(count), Marker(), list[dict[str, Any]](), list[Marks](), Blocks()
    for number, (run, wanted) in enumerate(zip(runs, chosen, strict=True)):
        reader, decides, questions = TextReader(run.folder), deciding_score(run), list[str]()
        unpacker, first = Unpacker(reader), len(rows)
        for record in read(run.folder, wanted):
            trajectory = unpacker.trajectory({**record, "offered": None})
            offered = reader.lines(offer) if (offer := record.get("offered")) else []
            # Name of a tool -> its stored spec, of lines that begin with all names; else each spec has its name in it.
            tools = orjson.loads(offered[0]) if offered else []
            tools = dict(zip(tools, offered[1:], strict=True)) if isinstance(tools, list) else {}
            episodes.add(writer.episode(record, trajectory, offered, str(run.folder)))
            marks.append(marker.marks(record, trajectory, tools))
            rows.append({"run": number, **_row(record, decides, strata, scores)})
            questions.append(question_of(trajectory))
        for row, question in zip(rows[first:], summaries_of(questions), strict=True):
            row["question"] = question
        del reader, unpacker  # some 60 MB, before the next one's
    texts = writer.texts.blocks
    index = {
        "runs": heads, "strata": strata, "scores": scores, "signed": [name_with_arrow(found, name) for name in scores],
        "rows": rows, "texts": texts.starts, "episodes": episodes.starts,
    }  # fmt: skip
    blocks = {"index": pack(index), "marks": pack(marks)}
    for name, of in (("texts", texts), ("steps", episodes)):
        blocks |= {f"{name}-{n}": one for n, one in enumerate(of.close())}
    privacy = {str((run.manifest.get("dataset") or {}).get("privacy")) for run in runs}
    html = render(
        "episodes.html.jinja", blocks=blocks, shown=len(rows), total=sum(len(run.table) for run in runs),
        searched=_SEARCHED, closed=sorted(privacy & {"credentialed", "phi"}),
    )  # fmt: skip
    script = "\n".join(["(() => {", '"use strict";', *(asset(f"viewer/{name}") for name in _SCRIPTS), "})();"])
    return Section("episodes", "Episodes", _INTRO, [Markup(html, script, asset("viewer/episodes.css"), _INSTEAD)])


def choose_episodes(runs: Sequence[Run], limit: int) -> list[list[bool]]:
    """Which records of each run: failures first, then a seeded choice of samples, the same in all runs so that they can
    be compared."""
    numbers = dict[tuple[Any, ...], int]()  # seed, sample, epoch -> its number
    keys = ((run.manifest.get("seed"), *key) for run in runs for key in run.table.keys)
    drawn = [numbers.setdefault(key, len(numbers)) for key in keys]
    digests = [sha256("/".join(map(str, (*key, "page"))).encode()).digest() for key in numbers]
    ranks = np.argsort(sorted(range(len(digests)), key=digests.__getitem__))[drawn]
    passed = ~np.isin(np.concatenate([run.table["stop"] for run in runs]), FAILURES)
    chosen = np.zeros(len(drawn), dtype=bool)
    chosen[np.lexsort((ranks, passed))[:limit]] = True
    ends = accumulate(len(run.table) for run in runs[:-1])
    return [part.tolist() for part in np.split(chosen, list(ends))]


def _row(
    record: Mapping[str, Any], headline: str | None, strata: Sequence[str], scores: Sequence[str]
) -> dict[str, Any]:
    """What the list says of an episode."""
    used = record["usage"]
    tokens = (used["input_tokens"], used["output_tokens"])
    value, error = record["scores"].get(headline), record["error"] or ""
    kind = record["failure"] or (error.partition(":")[0] if record["stop"] == "error" else "")
    grounds = "; ".join(f"{name}: {ground}" for name, ground in (record["refusal"] or {}).items())
    return {
        "sample": record["sample_id"],
        "epoch": record["epoch"],
        "strata": [record["strata"].get(name) for name in strata],
        "stop": record["stop"],
        "kind": kind[:_SEARCHED],
        "solved": None if value is None else value == (record.get("ceilings") or {}).get(headline, 1),
        "scores": [record["scores"].get(name) for name in scores],
        "calls": used["calls"],
        "tokens": None if None in tokens else sum(tokens),
        "cost": used["cost_usd"],
        "seconds": record["seconds"],
        "answer": (record["answer"] or grounds or error)[:_SEARCHED],
    }


def summaries_of(questions: Sequence[str]) -> Iterator[str]:
    """Prompts of a run as one line each, without the lines that a tenth of them share: what is asked of this sample."""
    split = [list(dict.fromkeys(question.split("\n"))) for question in questions]
    often = Counter(line for lines in map(tuple, {tuple(lines) for lines in split}) for line in lines)
    most = max(len({tuple(lines) for lines in split}) / 10, 2)
    for lines in split:
        own = [line.strip() for line in lines if often[line] <= most] or lines
        line = " ".join(" ".join(own).split())
        yield line if len(line) <= _SEARCHED else f"…{line[-_SEARCHED:]}"


def show_episode(runs: Sequence[Run], sample_id: str, epoch: int | None, prompts: bool) -> None:
    """Print an episode, of every run that has it; the first epoch where none is named. The end of an id is enough where
    one sample alone has it. Raises ConfigError for a sample or an epoch that is in none of them, naming what is
    nearest."""
    ids = dict.fromkeys(str(record["sample_id"]) for run in runs for record in read(run.folder))
    ends = [one for one in ids if one.endswith(sample_id)]
    if sample_id not in ids and len(ends) != 1:
        found = "there is no such sample" if not ends else f"{len(ends)} samples end so"
        raise ConfigError(plain(f"episode {sample_id!r}: {found}; {nearest(sample_id, ends or ids)}"))
    sample_id = sample_id if sample_id in ids else ends[0]
    epochs, printed = set[int](), False
    for run in runs:
        records = {record["epoch"]: record for record in read(run.folder) if record["sample_id"] == sample_id}
        epochs |= records.keys()
        if records and (epoch is None or epoch in records):
            wanted = min(records) if epoch is None else epoch
            print(*transcript(run, records[wanted], prompts), page_line(run, sample_id, wanted), sep="\n", end="\n\n")  # noqa: T201
            printed = True
    if not printed:
        have = ", ".join(map(str, sorted(epochs)))
        raise ConfigError(f"--epoch {epoch}: sample {plain(sample_id)!r} has the epochs {have}")


def transcript(run: Run, record: Record, prompts: bool = False) -> Iterator[str]:
    """The lines of an episode; ``prompts``: with what was asked."""
    trajectory = Unpacker(TextReader(run.folder)).trajectory(record)
    yield f"{plain(str(record['sample_id']))}, epoch {record['epoch']}, of {run.folder}"
    names = [f"{group} {run.choices[group]}" for group in ("agent", "model", "dataset") if group in run.choices]
    yield f"{', '.join(names)} ({run.model})"
    if not prompts and (question := question_of(trajectory)):
        yield from _lines(
            question[-_SEARCHED:], "asked: " if len(question) <= _SEARCHED else "asked (--prompts shows it whole): …"
        )
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
    first, *others = written_out(text).split("\n")
    yield head + first
    yield from (_INDENT + line for line in others)
