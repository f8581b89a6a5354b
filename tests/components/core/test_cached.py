from dataclasses import dataclass, field
from random import Random

from components.core.cached import Seeded, cached_property


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


def test_random_numbers_of_a_condition_are_seeded_when_one_is_drawn():
    rng, same = Seeded("1/s/0/condition"), Random("1/s/0/condition")
    assert "_rng" not in vars(rng)
    assert [rng.random(), rng.choice("abc"), rng.getrandbits(64)] == [
        same.random(), same.choice("abc"), same.getrandbits(64)
    ]  # fmt: skip
