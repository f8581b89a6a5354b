from dataclasses import dataclass, field

from components.core.cached import cached_property


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
