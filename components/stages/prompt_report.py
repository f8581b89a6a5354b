"""What a person reads of a refinement: each round's critique, numbers and decision, and what to do next."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any
from xml.sax.saxutils import escape

from components.core.usage import usage_lines

_SIZE, _EDGE = 360, 50  # of the plot, in pixels


def number(value: float | None) -> str:
    """A number as it is shown; a dash for none."""
    return "-" if value is None else f"{value:.3g}"


def round_page(entry: Mapping[str, Any], critique: str, failures: Sequence[str]) -> str:
    """A round as Markdown."""
    lines = [f"# Round {entry['round']}", "", f"{_came(entry).capitalize()}: {entry['why']}.", ""]
    wrong = f"{entry['failed']} of {entry['played']} went wrong"
    lines.append(f"- training: {wrong}, mean {entry['metric']} {number(entry['train'])}")
    if "before" in entry:
        lines.append(
            f"- validation: mean {entry['metric']} {number(entry['before'])} before, {number(entry['after'])} after"
        )
        gain = entry["gain"]
        lines.append(
            f"- records: {gain['wins']} won, {gain['ties']} tied, {gain['losses']} lost; t {number(gain['t'])}"
        )
    lines += [f"- refused: {template}: {why}" for template, why in entry["refused"].items()]
    if "candidate" in entry:
        lines.append(f"- what changed: round-{entry['round']}.diff")
    lines += ["", "## Critique", "", critique or "None was asked for.", "", "## Failures that were shown", ""]
    for failure in failures:
        lines += [*(f"    {line}" for line in failure.splitlines()), ""]
    return "\n".join(lines)


def _came(entry: Mapping[str, Any]) -> str:
    """What came of a round."""
    return "kept" if entry["kept"] else "not kept" if "candidate" in entry else "nothing new"


def compared(result: Mapping[str, Any]) -> str:
    """The plain and the refined set on evaluated records, as Markdown."""
    gain, metric = result["gain"], result["metric"]
    lines = [
        "# Plain and refined, per record", "",
        f"Mean {metric} of each record over its questions and {result['trials']} trials. Refined against plain: gain"
        f" {number(gain['gain'])} ({_interval(gain)}), {gain['wins']} won,"
        f" {gain['ties']} tied, {gain['losses']} lost; paired t-test p {number(gain['t_p'])}.", "",
        "![plain against refined](comparison.svg)", "", "| record | plain | refined |", "|---|---|---|",
    ]  # fmt: skip
    lines += [f"| {one['record']} | {number(one['plain'])} | {number(one['refined'])} |" for one in result["records"]]
    return "\n".join(lines) + "\n"


def _interval(gain: Mapping[str, Any]) -> str:
    if gain.get("no_interval"):
        return str(gain["no_interval"])
    return f"{number(gain['ci_low'])} to {number(gain['ci_high'])}"


def page(notes: Mapping[str, Any], name: str, digest: str) -> list[str]:
    """What to say at the end, or at a pause; ``name`` chooses the set, ``digest`` is that of its files now."""
    simulated = " (simulated model)" if notes["model_kind"] == "simulated" else ""
    lines = [f"prompts of {notes['base']}, refined{simulated}"]
    for one in notes["rounds"]:
        edited = ", then edited by hand" if one["edited"] else ""
        wrong = f"{one['failed']} of {one['played']} went wrong"
        lines.append(f"round {one['round']}:    {wrong}; {_came(one)}: {one['why']}{edited}")
        lines += [f"            refused: {template}: {why}" for template, why in one["refused"].items()]
    if (result := notes.get("compared")) is not None:
        gain = result["gain"]
        lines.append(
            f"compared:   {result['metric']} of {len(result['records'])} evaluated records, {result['trials']} trials:"
            f" {gain['wins']} won, {gain['ties']} tied, {gain['losses']} lost, p {number(gain['t_p'])};"
            " see history/comparison.md"
        )
    lines += usage_lines(notes["usage"])
    if notes["status"] == "waiting":
        lines.append(
            f"to resume:  read history/round-{len(notes['rounds'])}.md, edit the .jinja files there if you like,"
        )
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


def scatter(points: Sequence[Mapping[str, Any]], metric: str, better: str) -> str:
    """The points as an SVG: plain along, refined upwards, both from 0 to the same end, and the line y = x.

    ``better``: ``lower`` or ``higher``, which decides on which side of the line refined is better.
    """
    top = _round_end(max([0.0, *(point[side] for point in points for side in ("plain", "refined"))]))
    low, high, inner = _EDGE, _SIZE - _EDGE, _SIZE - 2 * _EDGE
    parts = [
        f'<rect width="{_SIZE}" height="{_SIZE}" fill="#fff"/>',
        f'<rect x="{low}" y="{low}" width="{inner}" height="{inner}" fill="none" stroke="#888"/>',
        f'<line x1="{low}" y1="{high}" x2="{high}" y2="{low}" stroke="#888" stroke-dasharray="4"/>',
    ]
    for share in (0.0, 0.5, 1.0):
        across, up = low + share * inner, high - share * inner
        parts.append(f'<text x="{across}" y="{high + 15}" text-anchor="middle">{share * top:g}</text>')
        parts.append(f'<text x="{low - 6}" y="{up + 4}" text-anchor="end">{share * top:g}</text>')
    for point in points:
        x, y = low + point["plain"] / top * inner, high - point["refined"] / top * inner
        said = escape(f"{point['record']}: plain {point['plain']:.3g}, refined {point['refined']:.3g}")
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#2a6f97" fill-opacity="0.6">'
        parts.append(f"{dot}<title>{said}</title></circle>")
    side, middle = "below" if better == "lower" else "above", _SIZE / 2
    parts += [
        f'<text x="{middle}" y="{low - 12}" text-anchor="middle">{side} the line refined is better</text>',
        f'<text x="{middle}" y="{_SIZE - 10}" text-anchor="middle">plain: mean {escape(metric)}</text>',
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">refined</text>',
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE}" height="{_SIZE}" font-family="sans-serif"'
    return f'{head} font-size="11">{"".join(parts)}</svg>\n'


def _round_end(value: float) -> float:
    """The next of 1, 1.2, 1.6, 2, 3, 4, 6, 8 times a power of ten; 1 for nothing."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(step * unit for step in (1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0) if step * unit >= value)
