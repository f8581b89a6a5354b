import sys

import numpy as np
import pytest

from components.core.errors import ConfigError
from components.stages.embedding import Embedding, SentenceEmbedding
from tests.sentences import installed


def test_a_model_is_loaded_by_its_name_and_gives_a_vector_of_length_1_per_text(tmp_path, monkeypatch):
    with installed(tmp_path, monkeypatch):
        one = SentenceEmbedding()
        assert isinstance(one, Embedding) and one.missing is None and one.name == "FremyCompany/BioLORD-2023"
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
        "sentence embeddings need the optional extra 'embedding': pip install 'wardround[embedding]'"
    )
