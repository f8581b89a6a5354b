"""The right answer of a training sample in words, for the stages that learn from it."""

from collections.abc import Mapping, Sequence

from components.core.types import Sample


def gold_text(sample: Sample) -> str:
    """The right answer of a training task in words; of a choice the letter and the option's text."""
    target, choices = sample.target, sample.problem.choices
    if isinstance(target, str):
        return f"{target}. {choices[target]}" if target in choices else target
    if isinstance(target, Mapping):
        target = target.get("answer", target.get("accepted", "No result"))
    return str(target)


def gold_answer(sample: Sample) -> str:
    """The right answer as a model would write it behind ``Answer:``. Of a choice the letter alone, of accepted wordings
    the first, of several values all of them, of named entities their names in square brackets."""
    target = sample.target
    if isinstance(target, str) and target in sample.problem.choices:
        return target
    if isinstance(target, Mapping):
        if "answer" not in target and target.get("accepted"):
            return str(target["accepted"][0])
        target = target.get("answer", "No result")
    if not isinstance(target, Sequence) or isinstance(target, str):
        return str(target)
    named = [one["entity_name"] for one in target if isinstance(one, Mapping) and "entity_name" in one]
    return f"[{', '.join(named)}]" if named else ", ".join(map(str, target))
