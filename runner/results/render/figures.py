"""Plots as SVG. Colours are classes of the page, which knows whether it is light or dark; a point has its values as a
tooltip, and texts of the data are escaped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, log10

from markupsafe import Markup as Html
from markupsafe import escape

from runner.results.cells import ends, plain
from runner.results.sheets import Value

_WIDE, _TOP, _LEFT, _RIGHT, _BELOW = 680, 34, 70, 110, 56  # pixels: of the space for points, and around it
_LETTER, _TALL, _GAP = 7.0, 16, 8  # pixels of a text: per letter, its height, how far it is from its point
_LINE, _NAME = 24, 44  # pixels for a line of a plot with names on its left; letters of a name that are shown
_SHOWN, _TURNED = 40, 30  # names below an axis at most; degrees by which they are turned where they need it
_COLOURS = 8
_HIGH = 320  # pixels of the space for points, for which names are placed
_SIDES = [f"{up} {across}" for across in ("right", "left") for up in ("top", "bottom")]  # next to error bars
_SIDES += ["middle right", "middle left", "top center", "bottom center"]


@dataclass(frozen=True)
class Mark:
    """A point: where it is (a name on an axis of names), its value with an interval, its ``tip``; ``label`` is written
    on the side ``side``."""

    x: float | str
    value: Value
    tip: str = ""
    label: str = ""
    side: str = "top right"


@dataclass(frozen=True)
class Series:
    """Marks of one colour. ``line``: none, solid, dotted, or dotted steps; ``symbol``: full, hollow or none."""

    name: str
    marks: Sequence[Mark]
    line: str = ""
    symbol: str = "full"


@dataclass(frozen=True)
class _Axis:
    """Values from ``low`` to ``high`` between two places in pixels."""

    start: float
    end: float
    low: float
    high: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Where a value is, in pixels."""
        low, high, value = (log10(n) if self.logarithmic else n for n in (self.low, self.high, value))
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[float]:
        """Round numbers along it."""
        if self.logarithmic:
            powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
            return [n * 10.0**power for power in powers for n in (1, 2, 5) if self.low <= n * 10.0**power <= self.high]
        step = _round_step((self.high - self.low) / 6)
        return [n * step for n in range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1)]


def scatter(series: Sequence[Series], x: str, y: str, height: int = 460, *, logarithmic: bool = False) -> Html:
    """Points and lines between two axes with these titles; x is an axis of names where a point has one."""
    marks = [mark for one in series for mark in one.marks]
    named = any(isinstance(mark.x, str) for mark in marks)
    names = list(dict.fromkeys(str(mark.x) for mark in marks)) if named else []
    numbers = {mark.x: float(names.index(str(mark.x)) if named else mark.x) for mark in marks}
    bottom = height - _below(names)
    across = _axis(_LEFT, _LEFT + _WIDE, [*numbers.values()], logarithmic)
    up = _axis(bottom, _TOP, _reach([mark.value for mark in marks]))
    parts = [*_grid(up), f'<path class="line" d="M{_LEFT} {bottom}H{_LEFT + _WIDE}"/>', *_titles(x, y, height, bottom)]
    places = [(across.at(n), name) for n, name in enumerate(names)]
    parts += _names(places, bottom) if named else _below_ticks(across, bottom)
    for n, one in enumerate(series):
        parts += _lines_of(one, f"c{n % _COLOURS}", [across.at(numbers[mark.x]) for mark in one.marks], up)
    return _svg(height, [*_legend([one.name for one in series]), *parts], y)


def intervals(names: Sequence[str], values: Sequence[Value], title: str) -> Html:
    """A point with its interval for every name, from the bottom up."""
    left = 16 + _LETTER * max((min(len(name), _NAME) for name in names), default=0)
    bottom = 10 + _LINE * len(names)
    along = _axis(left + 12, _LEFT + _WIDE + _RIGHT - 40, _reach(values))
    parts = [f'<path class="line" d="M{along.at(n)} 6V{bottom}"/>' for n in along.ticks] + _below_ticks(along, bottom)
    for n, (name, one) in enumerate(zip(names, values, strict=True)):
        y = bottom - _LINE * (n + 0.5)
        parts += [_text(left, y + 4, name, "end"), *_spread(one, partial(_sideways, along, y))]
        parts.append(_dot(along.at(one.value or 0.0), y, "c0", "full", f"{name}: {_text_of(one)}"))
    parts.append(_text((along.start + along.end) / 2, bottom + 42, title, "middle"))
    return _svg(bottom + 50, parts, title)


def bars(names: Sequence[str], series: Mapping[str, Sequence[Value | None]], title: str, below: str) -> Html:
    """Bars with their intervals, one for every series at every name."""
    height = 364 + _below(names)
    bottom, room = height - _below(names), _WIDE / max(len(names), 1)
    wide = room * 0.8 / max(len(series), 1)
    up = _axis(bottom, _TOP, [0.0, *_reach([one for values in series.values() for one in values if one])])
    middles = [_LEFT + room * (n + 0.5) for n in range(len(names))]
    parts = [
        *_grid(up),
        *_titles(below, title, height, bottom),
        *_names(list(zip(middles, names, strict=True)), bottom),
    ]
    for n, (label, values) in enumerate(series.items()):
        for name, middle, one in zip(names, middles, values, strict=True):
            if one is None or one.value is None:
                continue
            left, end, zero = middle + wide * (n - len(series) / 2), up.at(one.value), up.at(0.0)
            tip = escape(plain(f"{name}, {label}: {_text_of(one)}"))
            parts.append(
                f'<rect class="c{n % _COLOURS}" x="{left:.1f}" y="{min(end, zero)}" width="{wide * 0.92:.1f}" '
                f'height="{abs(zero - end):.1f}"><title>{tip}</title></rect>'
            )
            parts += _spread(one, partial(_above, up, left + wide * 0.46))
    return _svg(height, [*_legend(list(series)), *parts], title)


def sides(names: Sequence[str], xs: Sequence[float], ys: Sequence[float]) -> list[str]:
    """On which side of its point each name is, so that names cover each other and other points least. ``xs``, ``ys``:
    places in the plot, each from 0 to 1."""
    points = [(x * _WIDE, y * _HIGH) for x, y in zip(xs, ys, strict=True)]
    occupied = [(x - _GAP, x + _GAP, y - _GAP, y + _GAP) for x, y in points]  # left, right, lower and upper ends
    best_sides = []
    for n, (name, (x, y)) in enumerate(zip(names, points, strict=True)):
        wide, boxes, covered = len(name) * _LETTER, {}, {}
        for side in _SIDES:
            up, across = side.split()
            left = {"right": x + _GAP, "left": x - _GAP - wide, "center": x - wide / 2}[across]
            lower = y + {"top": _TALL, "middle": 0, "bottom": -_TALL}[up] - _TALL / 2
            right, upper = left + wide, lower + _TALL
            boxes[side] = left, right, lower, upper
            covered[side] = _TALL * (max(0.0, right - _WIDE - _RIGHT) + max(0.0, -left))  # not on the picture
            for a, b, c, d in occupied[:n] + occupied[n + 1 :]:
                covered[side] += max(0.0, min(right, b) - max(left, a)) * max(0.0, min(upper, d) - max(lower, c))
        best = min(_SIDES, key=covered.__getitem__)
        occupied.append(boxes[best])
        best_sides.append(best)
    return best_sides


def _lines_of(one: Series, colour: str, xs: Sequence[float], up: _Axis) -> Iterator[str]:
    """The line of a series, then its points with their intervals and labels."""
    ys = [None if mark.value.value is None else up.at(mark.value.value) for mark in one.marks]
    points = [(x, y) for x, y in zip(xs, ys, strict=True) if y is not None]
    if one.line and points:
        steps = one.line == "steps"
        way = "".join(f"H{x}V{y}" if steps else f"L{x} {y}" for x, y in points[1:])
        yield f'<path class="{colour} {one.line}" d="M{points[0][0]} {points[0][1]}{way}"/>'
    for mark, x, y in zip(one.marks, xs, ys, strict=True):
        if y is None or not one.symbol:
            continue
        yield from _spread(mark.value, partial(_above, up, x))
        at = mark.x if isinstance(mark.x, str) else _number(mark.x)
        yield _dot(x, y, colour, one.symbol, f"{mark.tip or one.name}: {at}, {_text_of(mark.value)}")
        if mark.label:
            high, across = mark.side.split()
            left = x + {"right": _GAP, "left": -_GAP, "center": 0}[across]
            anchor = {"right": "start", "left": "end", "center": "middle"}[across]
            yield _text(left, y + 4 + {"top": -_TALL, "middle": 0, "bottom": _TALL}[high], mark.label, anchor)


def _spread(one: Value, at: Callable[[float], tuple[float, float]]) -> list[str]:
    """The interval of a value, if it has one. ``at``: where an end is."""
    if one.low is None or one.high is None:
        return []
    (x, y), (to_x, to_y) = at(one.low), at(one.high)
    return [f'<path class="spread" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>']


def _sideways(along: _Axis, y: float, end: float) -> tuple[float, float]:
    return along.at(end), y


def _above(up: _Axis, x: float, end: float) -> tuple[float, float]:
    return x, up.at(end)


def _dot(x: float, y: float, colour: str, symbol: str, tip: str) -> str:
    return f'<circle class="{colour} {symbol}" cx="{x}" cy="{y}" r="5"><title>{escape(plain(tip))}</title></circle>'


def _text_of(one: Value) -> str:
    interval = ends(one)
    return f"{one.value:.4g}" + (f" ({interval})" if interval else "") + (f", n = {one.n:,}" if one.n else "")


def _reach(values: Sequence[Value]) -> list[float]:
    return [end for one in values for end in (one.value, one.low, one.high) if end is not None]


def _axis(start: float, end: float, values: Sequence[float], logarithmic: bool = False) -> _Axis:
    """An axis on which all of these values have room."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if logarithmic:
        return _Axis(start, end, low / 1.3, high * 1.3, True)
    spare = (high - low) * 0.05 or abs(high) * 0.1 or 0.5
    return _Axis(start, end, low if low == 0 else low - spare, high + spare)


def _round_step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= least)


def _grid(up: _Axis) -> Iterator[str]:
    for n in up.ticks:
        yield f'<path class="line" d="M{_LEFT} {up.at(n)}H{_LEFT + _WIDE}"/>'
        yield _text(_LEFT - 8, up.at(n) + 4, _number(n), "end")


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"


def _below_ticks(along: _Axis, bottom: float) -> list[str]:
    """Numbers below an axis, without those that would touch the one before."""
    shown, last = [], float("-inf")
    for n in along.ticks:
        if along.at(n) - last > 42:
            last = along.at(n)
            shown.append(_text(last, bottom + 18, _number(n), "middle"))
    return shown


def _below(names: Sequence[str]) -> int:
    """Pixels below the space for points."""
    longest = max((min(len(name), _SHOWN) for name in names), default=0)
    return _BELOW + (int(longest * _LETTER * 0.5) if _are_turned(names) else 0)


def _are_turned(names: Sequence[str]) -> bool:
    return max(map(len, names), default=0) * _LETTER * len(names) > _WIDE


def _names(places: Sequence[tuple[float, str]], bottom: float) -> Iterator[str]:
    turned, every = _are_turned([name for _, name in places]), max(1, ceil(len(places) / _SHOWN))
    for x, name in places[::every]:
        if turned:
            place = f"translate({x:.1f} {bottom + 14:.1f}) rotate(-{_TURNED})"
            yield f'<g transform="{place}">{_text(0, 0, name, "end")}</g>'
        else:
            yield _text(x, bottom + 18, name, "middle")


def _titles(x: str, y: str, height: float, bottom: float) -> list[str]:
    middle = (_TOP + bottom) / 2
    turned = f'<g transform="translate(16 {middle}) rotate(-90)">{_text(0, 0, y, "middle", 60)}</g>'
    return [_text(_LEFT + _WIDE / 2, height - 8, x, "middle", 90), turned]


def _legend(names: Sequence[str]) -> Iterator[str]:
    """The names of several series in their colours, as far as a line has room."""
    at = float(_LEFT)
    for n, name in enumerate(names if len(names) > 1 else []):
        if at + 20 + len(name) * _LETTER > _LEFT + _WIDE + _RIGHT:
            yield _text(at, 18, "…")
            return
        yield f'<circle class="c{n % _COLOURS} full" cx="{at + 6:.1f}" cy="14" r="5"/>{_text(at + 15, 18, name)}'
        at += 30 + len(name) * _LETTER


def _text(x: float, y: float, text: str, anchor: str = "start", room: int = _NAME) -> str:
    text, short = plain(text), plain(text)[: room - 1] + "…" if len(plain(text)) > room else ""
    title = f"<title>{escape(text)}</title>" if short else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(short or text)}{title}</text>'


def _svg(height: float, parts: Sequence[str], title: str) -> Html:
    box, label = f"0 0 {_LEFT + _WIDE + _RIGHT} {height:.0f}", escape(plain(title))
    return Html(f'<svg viewBox="{box}" role="img" aria-label="{label}">{"".join(parts)}</svg>')
