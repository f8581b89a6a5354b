"""An installed spaCy pipeline, small and made here."""

import sys
from pathlib import Path

import pytest

PIPELINE = "tests_small_pipeline"


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory):
    """The name of a package, found as pip would install one, whose pipeline knows two names and one disease."""
    spacy = pytest.importorskip("spacy", reason="needs the extra text")
    root = Path(tmp_path_factory.mktemp("site"))
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": "Ada Quill"},
            {"label": "GPE", "pattern": "Norwich"},
            {"label": "ENTITY", "pattern": "gout"},
        ]
    )
    (root / PIPELINE).mkdir()
    nlp.to_disk(root / PIPELINE / "data")
    load = "import spacy\nfrom pathlib import Path\n\n\ndef load(**rest):\n    return spacy.load(Path(__file__).parent / 'data', **rest)\n"
    (root / PIPELINE / "__init__.py").write_text(load)
    meta = root / f"{PIPELINE}-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PIPELINE}\nVersion: 1.0\n")
    sys.path.insert(0, str(root))
    yield PIPELINE
    sys.path.remove(str(root))
