"""What a person reads of a refinement: each round's critique, numbers and decision, and what to do next."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from statistics import fmean
from typing import Any
from xml.sax.saxutils import escape

from components.core.usage import usage_lines
from components.stages.prompt_trials import number


def round_page(entry: Mapping[str, Any], critique: str, failures: Sequence[str]) -> str:
    """A round as Markdown."""
    metric, wrong = entry["metric"], f"{entry['failed']} of {entry['played']} went wrong"
    lines = [f"# Round {entry['round']}", "", f"{_result(entry).capitalize()}: {entry['why']}.", ""]
    lines.append(f"- training: {wrong}, mean {metric} {number(entry['train'])}")
    if "before" in entry:
        lines.append(f"- validation: mean {metric} {number(entry['before'])} before, {number(entry['after'])} after")
        lines.append(f"- records: {_counts(entry['gain'])}; t {number(entry['gain']['t'])}")
    lines += [f"- refused: {template}: {why}" for template, why in entry["refused"].items()]
    if "candidate" in entry:
        lines.append(f"- what changed: round-{entry['round']}.diff")
    lines += ["", "## Critique", "", critique or "None was asked for.", "", "## Failures that were shown", ""]
    for failure in failures:
        lines += [*(f"    {line}" for line in failure.splitlines()), ""]
    return "\n".join(lines)


def _result(entry: Mapping[str, Any]) -> str:
    return "kept" if entry["kept"] else "not kept" if "candidate" in entry else "nothing new"


def _counts(gain: Mapping[str, Any]) -> str:
    return f"{gain['wins']} won, {gain['ties']} tied, {gain['losses']} lost"


def comparison_text(result: Mapping[str, Any]) -> str:
    """The plain and the refined set on evaluated records, as Markdown."""
    gain = result["gain"]
    interval = gain.get("no_interval") or f"{number(gain['ci_low'])} to {number(gain['ci_high'])}"
    lines = [
        "# Plain and refined, per record", "",
        f"Mean {result['metric']} of each record over its questions and {result['trials']} trials. Refined against"
        f" plain: gain {number(gain['gain'])} ({interval}), {_counts(gain)}; paired t-test p {number(gain['t_p'])}.",
        "", "![plain against refined](comparison.svg)", "", "| record | plain | refined |", "|---|---|---|",
    ]  # fmt: skip
    lines += [f"| {one['record']} | {number(one['plain'])} | {number(one['refined'])} |" for one in result["records"]]
    return "\n".join(lines) + "\n"


def page(notes: Mapping[str, Any], name: str, digest: str) -> list[str]:
    """What to say at the end, or at a pause; ``name`` chooses the set, ``digest`` is that of its files now."""
    simulated = " (simulated model)" if notes["model_kind"] == "simulated" else ""
    lines = [f"prompts of {notes['base']}, refined{simulated}"]
    for one in notes["rounds"]:
        edited = ", then edited by hand" if one["edited"] else ""
        wrong = f"{one['failed']} of {one['played']} went wrong"
        lines.append(f"round {one['round']}:    {wrong}; {_result(one)}: {one['why']}{edited}")
        lines += [f"            refused: {template}: {why}" for template, why in one["refused"].items()]
    if (result := notes.get("compared")) is not None:
        lines.append(
            f"compared:   {result['metric']} of {len(result['records'])} evaluated records, {result['trials']} trials:"
            f" {_counts(result['gain'])}, p {number(result['gain']['t_p'])}; see history/comparison.md"
        )
    lines += usage_lines(notes["usage"])
    if notes["status"] == "waiting":
        read = f"history/round-{len(notes['rounds'])}.md"
        lines.append(f"to resume:  read {read}, edit the .jinja files there if you like,")
        lines.append("            and give the same command again")
    else:
        edited = "" if digest == notes["digest"] else f" (edited by hand since: it was {notes['digest']})"
        lines.append(f"digest:     {digest}{edited}; choose it by agent.prompts={name}")
    return lines


def figures(notes: Mapping[str, Any]) -> dict[str, list[tuple[int, float]]]:
    """The numbers of the rounds, by round."""
    found: dict[str, list[tuple[int, float]]] = {}
    for one in notes["rounds"]:
        numbers = {"train/failed": one["failed"], f"train/{one['metric']}": one["train"], "round/kept": one["kept"]}
        numbers |= {f"validation/{side}": one[side] for side in ("before", "after") if side in one}
        for name, value in numbers.items():
            if value is not None:
                found.setdefault(name, []).append((one["round"], float(value)))
    for side in ("plain", "refined") if notes.get("compared") else ():
        values = [record[side] for record in notes["compared"]["records"]]
        found[f"compared/{side}"] = [(0, fmean(values))] if values else []
    return found


_PLOT = """\
<svg xmlns="http://www.w3.org/2000/svg" width="360" height="360" font-family="sans-serif" font-size="11">
<rect width="360" height="360" fill="#fff"/>
<rect x="50" y="50" width="260" height="260" fill="none" stroke="#888"/>
<line x1="50" y1="310" x2="310" y2="50" stroke="#888" stroke-dasharray="4"/>
{marks}
<text x="180" y="38" text-anchor="middle">{side} the line refined is better</text>
<text x="180" y="350" text-anchor="middle">plain: mean {metric}</text>
<text x="14" y="180" text-anchor="middle" transform="rotate(-90 14 180)">refined</text>
</svg>
"""


def scatter(points: Sequence[Mapping[str, Any]], metric: str, better: str) -> str:
    """The points as an SVG: plain along, refined upwards, both from 0 to the same end, and the line y = x. ``better``:
    ``lower`` or ``higher``, which decides on which side of the line refined is better."""
    largest = max([0.0, *(point[side] for point in points for side in ("plain", "refined"))])
    unit = 10.0 ** floor(log10(largest)) if largest else 1.0
    top = next(step * unit for step in (1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0) if step * unit >= largest)
    marks = []
    for share in (0.0, 0.5, 1.0):
        marks.append(f'<text x="{50 + 260 * share}" y="325" text-anchor="middle">{share * top:g}</text>')
        marks.append(f'<text x="44" y="{314 - 260 * share}" text-anchor="end">{share * top:g}</text>')
    for one in points:
        said = escape(f"{one['record']}: plain {one['plain']:.3g}, refined {one['refined']:.3g}")
        place = f'cx="{50 + 260 * one["plain"] / top:.1f}" cy="{310 - 260 * one["refined"] / top:.1f}"'
        marks.append(f'<circle {place} r="4" fill="#2a6f97" fill-opacity="0.6"><title>{said}</title></circle>')
    side = "below" if better == "lower" else "above"
    return _PLOT.format(marks="\n".join(marks), side=side, metric=escape(metric))
