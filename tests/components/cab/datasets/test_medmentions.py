import gzip
import shutil

import pytest

from components.cab.datasets.extraction import MedMentions, documents
from components.core.errors import ConfigError
from tests.components.cab_files import DATA, needs, refused, write
from tests.table import each_row

TEXT = (
    "1|t|Gene X in mice\n1|a|It matters.\n1\t0\t6\tGene X\tT116\tC01\n\n2|t|Other\n2|a|Text\n2\t0\t5\tOther\tT1\tC2\n"
)


def mentions(folder, text=TEXT, listed="1\n", corpus="full", **arguments):
    data = folder / corpus / "data"
    data.mkdir(parents=True, exist_ok=True)
    (data / "corpus_pubtator.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    write(folder / "full" / "data" / "corpus_pubtator_pmids_test.txt", listed)
    return MedMentions(str(folder), corpus=corpus, **arguments)


def test_abstract_is_the_context_and_mentions_are_the_answer(tmp_path):
    (sample,) = mentions(tmp_path).load("test")
    assert (sample.problem.id, sample.problem.context) == ("medmentions-1", "Gene X in mice\nIt matters.")
    assert "square brackets" in sample.problem.question
    assert sample.target == {
        "answer": [{"entity_name": "Gene X", "concept": "C01", "types": "T116", "start": 0, "end": 6}]
    }
    assert sample.metadata == {"task": "medmentions", "pmid": "1"}
    assert len(list(mentions(tmp_path, listed="2\n1\n", corpus="st21pv").load("test"))) == 2


def test_document_that_is_listed_but_not_there_is_refused(tmp_path):
    assert "corpus_pubtator_pmids_test.txt: 9: there is no such document in" in refused(
        mentions(tmp_path, listed="1\n9\n")
    )


def test_file_that_is_cut_off_or_malformed_is_refused(tmp_path):
    assert "corpus_pubtator.txt.gz:3: must be 'PMID start end" in refused(mentions(tmp_path, TEXT.replace("\tC01", "")))
    dataset = mentions(tmp_path)
    file = tmp_path / "full" / "data" / "corpus_pubtator.txt.gz"
    file.write_bytes(file.read_bytes()[:-12])
    assert "not a whole gzip file" in refused(dataset)


def test_missing_files_and_splits_are_named(tmp_path):
    assert "full/data/corpus_pubtator.txt.gz; take full/data" in refused(MedMentions(str(tmp_path)))
    assert "pmids_dev.txt; take full/data" in refused(mentions(tmp_path), "dev")
    assert "MedMentions has test, dev, train; found 'valid'" in refused(mentions(tmp_path), "valid")


def test_fingerprint_names_the_corpus(tmp_path):
    prints = {mentions(tmp_path, corpus=corpus).fingerprint for corpus in ("full", "st21pv")}
    assert len(prints | {mentions(tmp_path, listed="2\n").fingerprint}) == 3


@needs("medmentions")
@pytest.mark.parametrize("split", ["test", "dev", "train"])
def test_published_example_is_read(tmp_path, split):
    lists = DATA / "medmentions" / "full" / "data"
    shutil.copytree(lists, tmp_path / "full" / "data")
    corpus = tmp_path / "full" / "data" / "corpus_pubtator.txt.gz"
    if not corpus.exists():
        shutil.copy(DATA / "medmentions" / "format_example" / "corpus_pubtator.txt.gz", corpus)
        file = next(tmp_path.glob(f"full/data/*_{'trng' if split == 'train' else split}.txt"))
        assert len(file.read_text().split()) in (879, 878, 2635)
        file.write_text("25763772\n")
        (sample,) = MedMentions(str(tmp_path)).load(split)
        names = [one["entity_name"] for one in sample.target["answer"]]
        assert names[:3] == ["DCTN4", "chronic Pseudomonas aeruginosa infection", "cystic fibrosis"]


PUBTATOR = "1|t|Gene X | in mice\n1|a|It matters.\n1\t0\t6\tGene X\tT116,T123\tUMLS:C01\n\n\n2|t|Other\n2|a|\n"


def test_documents_are_parted_by_empty_lines():
    first, second = documents(PUBTATOR.splitlines(keepends=True), "f")
    assert (first.pmid, first.title, first.abstract) == ("1", "Gene X | in mice", "It matters.")
    assert first.mentions == [{"entity_name": "Gene X", "concept": "C01", "types": "T116,T123", "start": 0, "end": 6}]
    assert (second.pmid, second.abstract, second.mentions) == ("2", "", [])


@each_row(
    "text, message",
    [
        ("1|a|x\n", "f:1: must be 'PMID|t|text'"),
        ("1|t|x\n", "f:1: a document must have a title and an abstract of the same PMID"),
        ("1|t|x\n2|a|y\n", "f:1: a document must have a title"),
        ("1|t|x\n1|a|y\n1\t0\t1\tx\tT1\n", "f:3: must be 'PMID start end mention types concept'"),
        ("1|t|x\n1|a|y\n2\t0\t1\tx\tT1\tC1\n", "f:3: must be"),
        ("1|t|x\n1|a|y\n1\ta\t1\tx\tT1\tC1\n", "f:3: must be"),
    ],
)
def test_line_of_another_form_is_refused(text, message):
    with pytest.raises(ConfigError) as caught:
        list(documents(text.splitlines(), "f"))
    assert message in str(caught.value)
