"""A replay takes folders, tracking and paths, each once."""

from pathlib import Path

import pytest

from components.core.errors import ConfigError
from runner.bundle.words import Words


def test_what_may_be_given_is_read():
    given = Words.of(
        ["run.replay='a b.zip'", "hydra.run.dir=there", "tracking=mlflow", "tracking.traces=none", "dataset.path=/d", "bundle.trust=true"]
    )  # fmt: skip
    assert (given.bundle, given.folder, given.trusted) == (Path("a b.zip"), Path("there"), True)
    assert given.tracking["traces"] == "none" and str(given.tracking["uri"]).startswith("sqlite:")
    assert given.paths == {"dataset.path": "/d"} and Words.of(["run.replay=a.zip"]).tracking["uri"] is None


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("-m", "replayed as it is"),
        ("~memory", "replayed as it is"),
        ("+x=1", "replayed as it is"),
        ("run.replay=b.zip", "given twice"),
        ("bundle.trust=maybe", "it should be true or false"),
        ("hydra.sweep.dir=x", "give one of"),
    ],
)
def test_what_may_not_be_given_is_refused(word, said):
    with pytest.raises(ConfigError, match=said):
        Words.of(["run.replay=a.zip", "hydra.run.dir=x", word])
