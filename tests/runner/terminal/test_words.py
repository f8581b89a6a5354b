"""Words of the command line, put as Hydra reads them."""

import pytest

from runner.terminal.words import by_group, flags_first

GROUPS = ["condition", "agent", "verifier", "memory", "experiment", "scorer"]


def test_flags_stand_first_with_what_belongs_to_them():
    assert flags_first(["limit=9", "-m", "seed=0,1", "-cd", "mine"]) == ["-m", "-cd", "mine", "limit=9", "seed=0,1"]


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("condition=withhold withhold.tools=[a]", "condition=withhold condition.tools=[a]"),
        ("+noisy.rate=0.5 condition=noisy", "+condition.rate=0.5 condition=noisy"),
        ("withhold.tools=[a]", "withhold.tools=[a]"),
        ("condition=withhold,noisy noisy.rate=1", "condition=withhold,noisy noisy.rate=1"),
        ("agent=refine verifier=refine refine.n=1", "agent=refine verifier=refine refine.n=1"),
        ("name=run run.journal=null", "name=run run.journal=null"),
        ("experiment=hello hello.limit=3", "experiment=hello hello.limit=3"),
        ("scorer=faults faults.right_from=0.5", "scorer=faults scorer.faults.right_from=0.5"),
        ("memory=solved agent=memory memory.k=2", "memory=solved agent=memory memory.k=2"),
    ],
)
def test_settings_under_a_choice_that_is_made_are_those_of_its_group(words, read):
    assert by_group(words.split(), GROUPS) == read.split()
