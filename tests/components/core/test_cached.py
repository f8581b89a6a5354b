import tracemalloc
from dataclasses import dataclass, field

import pytest

from components.core.cached import cached_property, cached_short
from components.radiology.memory import read_inputs
from components.text import overlap
from components.text.tokens import words


@dataclass(frozen=True)
class Counted:
    calls: list[str] = field(default_factory=list)

    @cached_property
    def value(self) -> int:
        """What is computed."""
        self.calls.append("computed")
        return len(self.calls)


def test_a_value_is_computed_once_for_each_object():
    one, other = Counted(), Counted()
    assert (one.value, one.value, other.value) == (1, 1, 1)
    assert one.calls == ["computed"]


def test_the_class_shows_the_property_and_its_documentation():
    assert isinstance(Counted.value, cached_property) and Counted.value.__doc__ == "What is computed."


def test_a_text_longer_than_the_bound_is_computed_each_time_and_not_kept():
    computed = []
    measure = cached_short(4, longest=3)(lambda text: computed.append(text) or len(text))
    assert [measure(text) for text in ("abc", "abc", "abcd", "abcd")] == [3, 3, 4, 4]
    assert computed == ["abc", "abcd", "abcd"]


@pytest.mark.parametrize("read", [read_inputs, words, overlap._split, lambda text: overlap.rouge_l("a", text)])
def test_long_texts_do_not_stay_in_memory(read):
    read("it's warm-up, [b].")
    tracemalloc.start()
    for n in range(3):
        read(f"{n}!" * 10_000)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 20_000
