"""The picture of RadABench's records: with an embedding of the library's interface, and without the extra."""

import csv
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from components.core.errors import ConfigError
from components.radiology.dataset import RadABench
from components.radiology.embedding import PICTURE, POINTS, Embedding, EmbedRecords, SentenceEmbedding
from tests.sentences import installed
from tests.slow import slow


def test_a_model_is_loaded_by_its_name_and_gives_a_vector_of_length_1_per_text(tmp_path, monkeypatch):
    with installed(tmp_path, monkeypatch):
        one = SentenceEmbedding()
        assert isinstance(one, Embedding) and one.missing == "" and one.name == "FremyCompany/BioLORD-2023"
        found = np.asarray(one.embed(["a lung", "a lung", "the spine"]))
        assert np.allclose(np.linalg.norm(found, axis=1), 1.0)
        assert (found[0] == found[1]).all() and not np.allclose(found[0], found[2])


def test_a_model_that_is_not_there_is_one_line(tmp_path, monkeypatch):
    with (
        installed(tmp_path, monkeypatch),
        pytest.raises(
            ConfigError, match=r"^the embedding model 'none/here' cannot be loaded: none/here is not a local folder$"
        ),
    ):
        SentenceEmbedding("none/here").embed(["x"])


def test_without_the_extra_a_line_names_it(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    assert SentenceEmbedding().missing == (
        "the sentence embedding needs the optional extra 'embedding': pip install 'wardround[embedding]'"
    )


@dataclass
class Desk:
    """The part of a bench that the stage needs."""

    evaluated: list = field(default_factory=lambda: [*RadABench(shipped="radabench_mini").load("test")])
    seed: int = 0
    begun: str = "settings"
    facts: dict = field(default_factory=lambda: {"model_kind": "simulated"})


@dataclass(frozen=True)
class Regions:
    """Vectors that say which of two words a text holds."""

    name: str = "two words"
    missing: str = ""

    def embed(self, texts):
        noise = np.random.default_rng(0).normal(scale=0.01, size=(len(texts), 4))
        return noise + np.array(
            [[10.0 * ("breast" in text.lower()), 10.0 * ("vertebra" in text.lower()), 0, 0] for text in texts]
        )


@pytest.fixture
def library(tmp_path, monkeypatch):
    with installed(tmp_path, monkeypatch):
        yield


def table(place):
    return [*csv.DictReader((place / POINTS).read_text().splitlines())]


@slow
async def test_a_point_per_record_coloured_by_anatomy(tmp_path, library):
    stage = EmbedRecords(SentenceEmbedding(), folder=str(tmp_path / "map"))
    bench = Desk()
    bench.evaluated = bench.evaluated[: 22 * 11]  # one record of each pair
    stage.check(bench)
    made = await stage.make(bench)
    assert not made.empty and "22 records, report by FremyCompany/BioLORD-2023" in made.lines[0]
    points, picture = table(stage.place), (stage.place / PICTURE).read_text()
    assert len({row["record"] for row in points}) == 22 and len(Counter(row["anatomy"] for row in points)) == 6
    assert all(0 <= float(row[axis]) <= 1 for row in points for axis in "xy")
    assert picture.count("<title>") == 22 and len(set(re.findall(r'fill="(#\w+)"', picture))) == 6
    notes = json.loads((stage.place / "manifest.json").read_text())
    assert (notes["status"], notes["embedding"], notes["records"]) == ("complete", "FremyCompany/BioLORD-2023", 22)
    again = EmbedRecords(SentenceEmbedding(), folder=str(tmp_path / "again"))
    await again.make(bench)
    assert table(again.place) == points


@slow
async def test_texts_that_are_alike_are_near(tmp_path):
    bench = Desk()
    bench.evaluated = [one for one in bench.evaluated if one.strata["anatomy"] in ("Breast", "Spine")]
    stage = EmbedRecords(Regions(), folder=str(tmp_path / "map"), perplexity=5)
    await stage.make(bench)
    rows = table(stage.place)
    texts = {one.cluster: " ".join(one.metadata["record"]["Report"].values()).lower() for one in bench.evaluated}
    places = np.array([[float(row["x"]), float(row["y"])] for row in rows])
    groups = np.array(["breast" in texts[row["record"]] for row in rows])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(len(rows)) * 9
    assert 3 <= groups.sum() <= len(rows) - 3 and (groups[apart.argmin(axis=1)] == groups).mean() > 0.9


async def test_without_the_extra_it_is_skipped_with_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [])  # where nothing is installed, nothing is found
    monkeypatch.setattr(sys, "path_importer_cache", {})
    sys.modules.pop("sentence_transformers", None)
    stage = EmbedRecords(SentenceEmbedding(), folder=str(tmp_path / "map"))
    made = await stage.make(Desk())
    assert not made.empty and [*made.lines] == [
        "skipped:    the sentence embedding needs the optional extra 'embedding': pip install 'wardround[embedding]'"
    ]
    assert not (stage.place / PICTURE).exists()
    stage.check(Desk(begun="other settings"))  # a skipped one may be begun with others


def test_too_few_records_are_refused():
    bench = Desk()
    with pytest.raises(ConfigError, match="at least 5 records of RadABench, the dataset has 2"):
        EmbedRecords(SentenceEmbedding()).check(Desk(bench.evaluated[:22]))
