"""Plots as SVG, in two widths, of which the page shows one. Colours are classes of the page, which knows whether it is
light or dark; a point has its values as a tooltip, and texts of the data are escaped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, log10

from markupsafe import Markup as Html
from markupsafe import escape

from runner.results.cells import ends, plain
from runner.results.sheets import Value

_WIDTHS = {"broad": (680, 110), "narrow": (325, 15)}  # pixels: of the space for points, and on its right
_TOP, _LEFT, _BELOW = 12, 60, 34  # pixels around the space for points
_LETTER, _TALL, _GAP = 7.8, 16, 8  # pixels of a text: per letter, its height, how far it is from its point
_LINE, _NAME = 24, 44  # pixels for a line of a plot with names on its left; letters of a name that are shown
_SHOWN, _TURNED = 40, 45  # names below an axis at most; degrees by which they are turned where they need it
_SLOPE = 0.71  # of a turned name's length, to the left and down
_COLOURS = 8
_SIDES = [f"{up} {across}" for across in ("right", "left") for up in ("top", "bottom")]  # next to error bars
_SIDES += ["middle right", "middle left", "top center", "bottom center"]
_ABOVE = {"top": -_TALL, "middle": 0, "bottom": _TALL}  # where a name is, in pixels below its point


@dataclass(frozen=True)
class Mark:
    """A point: where it is (a name on an axis of names), its value with an interval, its ``tip`` and its ``label``."""

    x: float | str
    value: Value
    tip: str = ""
    label: str = ""


@dataclass(frozen=True)
class Series:
    """Marks of one colour. ``line``: none, solid, dotted, or dotted steps; ``symbol``: full, hollow or none; ``shift``:
    to the right, on the axis, so that intervals are next to each other."""

    name: str
    marks: Sequence[Mark]
    line: str = ""
    symbol: str = "full"
    shift: float = 0.0


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
    return _draw(partial(_scatter, series, y, height, logarithmic), x, y, [(one.name, one.symbol) for one in series])


def _scatter(series: Sequence[Series], y: str, height: int, logarithmic: bool, width: str) -> Html:
    (wide, _), marks = _WIDTHS[width], [mark for one in series for mark in one.marks]
    named = any(isinstance(mark.x, str) for mark in marks)
    names = list(dict.fromkeys(str(mark.x) for mark in marks)) if named else []
    numbers = {mark.x: float(names.index(str(mark.x)) if named else mark.x) for mark in marks}
    bottom = height - _below(names, wide)
    across = _axis(_LEFT, _LEFT + wide, [*numbers.values()], logarithmic)
    up = _axis(bottom, _TOP, _reach([mark.value for mark in marks]))
    parts = [*_grid(up, wide), f'<path class="line" d="M{_LEFT} {bottom}H{_LEFT + wide}"/>']
    places = [(across.at(n), name) for n, name in enumerate(names)]
    parts += _names(places, bottom, wide) if named else _below_ticks(across, bottom)
    for n, one in reversed([*enumerate(series)]):  # the first is above the others
        parts += _lines_of(one, f"c{n % _COLOURS}", [across.at(numbers[mark.x] + one.shift) for mark in one.marks], up)
    labelled = [mark for mark in marks if mark.label and mark.value.value is not None]
    points = [(across.at(numbers[mark.x]), up.at(mark.value.value or 0.0)) for mark in labelled]
    end = _LEFT + sum(_WIDTHS[width])
    room = min(_NAME, int((end - _LEFT) / 2 / _LETTER) - 1)  # so that one side of a point has it
    placed = sides([mark.label for mark in labelled], points, end, room)
    parts += [_label(one.label, *point, side, room) for one, point, side in zip(labelled, points, placed, strict=True)]
    return _svg(width, height, parts, y)


def intervals(names: Sequence[str], values: Sequence[Value], title: str) -> Html:
    """A point with its interval for every name, from the bottom up."""
    return _draw(partial(_intervals, names, values, title), title)


def _intervals(names: Sequence[str], values: Sequence[Value], title: str, width: str) -> Html:
    wide, right = _WIDTHS[width]
    above = width == "narrow"  # names are above their lines
    left = 0 if above else 16 + _LETTER * max((min(len(name), _NAME) for name in names), default=0)
    line = _LINE * (2 if above else 1)
    bottom = 10 + line * len(names)
    along = _axis(left + 12, _LEFT + wide + right - (12 if above else 40), _reach(values))
    parts = [f'<path class="line" d="M{along.at(n)} 6V{bottom}"/>' for n in along.ticks] + _below_ticks(along, bottom)
    for n, (name, one) in enumerate(zip(names, values, strict=True)):
        y = bottom - line * n - _LINE / 2
        parts.append(_text(0, y - 15, name) if above else _text(left, y + 4, name, "end"))
        parts += _spread(one, partial(_sideways, along, y))
        parts.append(_dot(along.at(one.value or 0.0), y, "c0", "full", f"{name}: {_text_of(one)}"))
    return _svg(width, bottom + _BELOW - 8, parts, title)


def bars(names: Sequence[str], series: Mapping[str, Sequence[Value | None]], title: str, below: str) -> Html:
    """Bars with their intervals, one for every series at every name."""
    return _draw(partial(_bars, names, series, title), below, title, [(name, "full") for name in series])


def _bars(names: Sequence[str], series: Mapping[str, Sequence[Value | None]], title: str, width: str) -> Html:
    wide, _ = _WIDTHS[width]
    height = 386 + _below(names, wide)
    bottom, room = height - _below(names, wide), wide / max(len(names), 1)
    thick = room * 0.8 / max(len(series), 1)
    up = _axis(bottom, _TOP, [0.0, *_reach([one for values in series.values() for one in values if one])])
    middles = [_LEFT + room * (n + 0.5) for n in range(len(names))]
    parts = [*_grid(up, wide), *_names(list(zip(middles, names, strict=True)), bottom, wide)]
    for n, (label, values) in enumerate(series.items()):
        for name, middle, one in zip(names, middles, values, strict=True):
            if one is None or one.value is None:
                continue
            left, end, zero = middle + thick * (n - len(series) / 2), up.at(one.value), up.at(0.0)
            tip = escape(plain(f"{name}, {label}: {_text_of(one)}"))
            parts.append(
                f'<rect class="c{n % _COLOURS}" x="{left:.1f}" y="{min(end, zero)}" width="{thick * 0.92:.1f}" '
                f'height="{abs(zero - end):.1f}"><title>{tip}</title></rect>'
            )
            parts += _spread(one, partial(_above, up, left + thick * 0.46))
    return _svg(width, height, parts, title)


def sides(names: Sequence[str], points: Sequence[tuple[float, float]], end: float, room: int = _NAME) -> list[str]:
    """On which side of its point (pixels from the left and the top) each name is, so that names cover each other and
    other points least. ``end``: of the picture, on the right; ``room``: letters of a name at most."""
    occupied = [(x - _GAP, x + _GAP, y - _GAP, y + _GAP) for x, y in points]  # left, right, upper and lower ends
    best_sides = []
    for n, (name, (x, y)) in enumerate(zip(names, points, strict=True)):
        wide, boxes, covered = min(len(name), room) * _LETTER, {}, {}
        for side in _SIDES:
            up, across = side.split()
            left = {"right": x + _GAP, "left": x - _GAP - wide, "center": x - wide / 2}[across]
            upper = y + _ABOVE[up] - _TALL / 2
            right, lower = left + wide, upper + _TALL
            boxes[side] = left, right, upper, lower
            covered[side] = _TALL * (max(0.0, right - end) + max(0.0, _LEFT - left))  # not on the picture
            for a, b, c, d in occupied[:n] + occupied[n + 1 :]:
                covered[side] += max(0.0, min(right, b) - max(left, a)) * max(0.0, min(lower, d) - max(upper, c))
        best = min(_SIDES, key=covered.__getitem__)
        occupied.append(boxes[best])
        best_sides.append(best)
    return best_sides


def _label(text: str, x: float, y: float, side: str, room: int) -> str:
    up, across = side.split()
    left = x + {"right": _GAP, "left": -_GAP, "center": 0}[across]
    return _text(left, y + 4 + _ABOVE[up], text, {"right": "start", "left": "end", "center": "middle"}[across], room)


def _lines_of(one: Series, colour: str, xs: Sequence[float], up: _Axis) -> Iterator[str]:
    """The line of a series, then its points with their intervals."""
    ys = [None if mark.value.value is None else up.at(mark.value.value) for mark in one.marks]
    points = [(x, y) for x, y in zip(xs, ys, strict=True) if y is not None]
    if one.line and points:
        steps = one.line == "steps"
        way = "".join(f"H{x}V{y}" if steps else f"L{x} {y}" for x, y in points[1:])
        yield f'<path class="{colour} {one.line}" d="M{points[0][0]} {points[0][1]}{way}"/>'
    for mark, x, y in zip(one.marks, xs, ys, strict=True):
        if y is None or not one.symbol:
            continue
        yield from _spread(mark.value, partial(_above, up, x), f" {colour}")
        at = mark.x if isinstance(mark.x, str) else _number(mark.x)
        yield _dot(x, y, colour, one.symbol, f"{mark.tip or one.name}: {at}, {_text_of(mark.value)}")


def _spread(one: Value, at: Callable[[float], tuple[float, float]], colour: str = "") -> list[str]:
    """The interval of a value, if it has one. ``at``: where an end is; ``colour``: of its series."""
    if one.low is None or one.high is None or one.without:
        return []
    (x, y), (to_x, to_y) = at(one.low), at(one.high)
    return [f'<path class="spread{colour}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>']


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


def _grid(up: _Axis, wide: float) -> Iterator[str]:
    for n in up.ticks:
        yield f'<path class="line" d="M{_LEFT} {up.at(n)}H{_LEFT + wide}"/>'
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


def _below(names: Sequence[str], wide: float) -> int:
    """Pixels below the space for points."""
    longest = max((min(len(name), _SHOWN) for name in names), default=0)
    return _BELOW + (int(longest * _LETTER * _SLOPE) if _are_turned(names, wide) else 0)


def _are_turned(names: Sequence[str], wide: float) -> bool:
    return max(map(len, names), default=0) * _LETTER * len(names) > wide


def _names(places: Sequence[tuple[float, str]], bottom: float, wide: float) -> Iterator[str]:
    """Names below an axis; turned ones as far as there is room on their left."""
    turned, every = _are_turned([name for _, name in places], wide), max(1, ceil(len(places) / _SHOWN))
    for x, name in places[::every]:
        if turned:
            place, room = f"translate({x:.1f} {bottom + 14:.1f}) rotate(-{_TURNED})", int((x - _GAP) / _LETTER / _SLOPE)
            yield f'<g transform="{place}">{_text(0, 0, name, "end", min(room, _SHOWN))}</g>'
        else:
            yield _text(x, bottom + 18, name, "middle")


def _text(x: float, y: float, text: str, anchor: str = "start", room: int = _NAME) -> str:
    text, short = plain(text), plain(text)[: room - 1] + "…" if len(plain(text)) > room else ""
    title = f"<title>{escape(text)}</title>" if short else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(short or text)}{title}</text>'


def _draw(draw: Callable[[str], Html], x: str, y: str = "", series: Sequence[tuple[str, str]] = ()) -> Html:
    """A plot in every width between the titles of its axes, which are text of the page and wrap there; above it the
    names of its series with their colours and symbols, where there are several."""
    legend = [
        f'<span class="c{n % _COLOURS} {symbol}">{escape(plain(name))}</span>'
        for n, (name, symbol) in enumerate(series)
    ]
    above = f'<p class="legend">{"".join(legend)}</p>' if len(series) > 1 else ""
    up, across = (f'<p class="axis">{escape(plain(title))}</p>' if title else "" for title in (y, x))
    return Html(f"<div>{above}{up}{''.join(map(draw, _WIDTHS))}{across}</div>")


def _svg(width: str, height: float, parts: Sequence[str], title: str) -> Html:
    box, label = f"0 0 {_LEFT + sum(_WIDTHS[width])} {height:.0f}", escape(plain(title))
    return Html(f'<svg class="{width}" viewBox="{box}" role="img" aria-label="{label}">{"".join(parts)}</svg>')
