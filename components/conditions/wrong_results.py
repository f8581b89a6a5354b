"""Tools that answer, but wrongly: with numbers that are off, out of date, or in disagreement with another tool. Where
tools write named values to a shared memory (``ValueMemory``), these are wrong, else the numbers of the text."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le

from components.core.types import Observation
from components.faults.marks import ValueMemory, add_mark, change_values, memory_behind, shift_numbers
from components.faults.wrapping import Striking, Struck

_EARLIER = (0.2, 0.4)  # share of itself by which an earlier value differs
_LONGEST = 400  # characters of a second answer in full; of longer ones the line that differs first


@dataclass(frozen=True)
class Noisy(Striking):
    """Every number of a struck call's result is off by ``amount`` of itself (0.2: a fifth), up or down by chance.
    Dates, times and identifiers stay; a result without a number is as it is and counts as not struck."""

    amount: Annotated[float, Gt(0), Le(1)] = 0.2
    kind: ClassVar[str] = "noisy"

    async def strike(self, call: Struck) -> Observation:
        """Change the numbers. Raises ToolError as the tool does."""

        def off(_: str, value: Any) -> str | None:
            found = shift_numbers(str(value), self.amount, call.rng)
            return found.text if found.n else None

        seen = await call.run()
        if (memory := memory_behind(seen, call.context.state)) is not None:
            return change_values(self.kind, seen, memory, off, amount=self.amount)
        found = shift_numbers(seen.text, self.amount, call.rng)
        if not found.n:
            return seen
        return add_mark(seen._replace(text=found.text), self.kind, numbers=found.n, amount=self.amount)


@dataclass(frozen=True)
class Stale(Striking):
    """A struck call returns an outdated result.

    That is what the same tool returned to this line's last call of other arguments; the call is not made then, and
    nothing else of the sample changes. Where there is none, the answer has the numbers of an earlier time, made here:
    off by a fifth to two fifths of themselves; one without numbers is not struck then. Tools that write to a memory
    write what an earlier study might have shown.
    """

    kind: ClassVar[str] = "stale"

    async def strike(self, call: Struck) -> Observation:
        """Answer from before. Raises ToolError as the tool does."""
        if not isinstance(call.context.state, ValueMemory):
            now, past = call.context.call.parsed, call.context.past
            answered = [one for one in past if one.error is None and one.call.parsed != now]
            if answered:
                before = answered[-1].observation
                return add_mark(Observation(before.text, {}, before.images), self.kind, call=past.index(answered[-1]))
        seen = await call.run()
        if (memory := memory_behind(seen, call.context.state)) is not None:
            return change_values(self.kind, seen, memory, lambda name, _: memory.plausible(name, {}, call.rng))
        found = shift_numbers(seen.text, call.rng.uniform(*_EARLIER), call.rng)
        return add_mark(seen._replace(text=found.text), self.kind, numbers=found.n) if found.n else seen


@dataclass(frozen=True)
class Contradictory(Striking):
    """A struck call returns two answers, the tool's own and one attributed to another offered tool. The other answer is
    made here: other numbers, or, where there are none, that nothing confirms the first. In a memory of values both are
    kept, in a random order, each with its tool. Nothing says which one is right."""

    kind: ClassVar[str] = "contradictory"

    async def strike(self, call: Struck) -> Observation:
        """Add the answer that disagrees. Raises ToolError as the tool does."""
        other = call.rng.choice(call.others) if call.others else f"a second run of {call.name}"
        seen = await call.run()
        if (memory := memory_behind(seen, call.context.state)) is not None:
            return self._values(call, seen, memory, other)
        found = shift_numbers(seen.text, 0.5, call.rng)
        second = found.text
        if len(second) > _LONGEST:
            pairs = zip(seen.text.split("\n"), second.split("\n"), strict=True)
            second = next((after for before, after in pairs if before != after), "")[:_LONGEST]
        says = f"answers: {second}" if found.n else "does not confirm this."
        return add_mark(seen._replace(text=f"{seen.text}\n\n{other}, asked the same, {says}"), self.kind, other=other)

    def _values(self, call: Struck, seen: Observation, memory: ValueMemory, other: str) -> Observation:
        seconds = dict[str, Any]()

        def both(name: str, value: Any) -> str | None:
            second = seconds[name] = memory.plausible(name, {}, call.rng)
            if second == value:
                return None
            answers = [f"{value} ({call.name})", f"{second} ({other})"]
            call.rng.shuffle(answers)
            return "; ".join(answers)

        return change_values(self.kind, seen, memory, both, seconds, other=other)
