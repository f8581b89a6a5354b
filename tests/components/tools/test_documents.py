import pytest

from components.core.errors import ToolError
from components.tools.long_doc_rag import Document, index_documents, read_documents, windows
from tests.table import each_row


@each_row(
    "n_words, size, overlap, expected",
    [
        (0, 10, 3, []),
        (10, 10, 3, [(1, 10)]),
        (11, 10, 3, [(1, 10), (8, 11)]),
        (24, 10, 3, [(1, 10), (8, 17), (15, 24)]),
        (20, 10, 0, [(1, 10), (11, 20)]),
    ],
)
def test_windows_overlap_and_end_with_the_document(n_words, size, overlap, expected):
    text = "\n ".join(f"w{n}" for n in range(1, n_words + 1))
    found = windows(Document("a.txt", text), size, overlap)
    assert [(one.first, one.last) for one in found] == expected
    assert all(one.text == text[one.start : one.end] and one.n_words == n_words for one in found)
    assert all(one.text.split() == [f"w{n}" for n in range(one.first, one.last + 1)] for one in found)


def test_documents_are_read_in_the_order_of_their_numbers(tmp_path):
    for name in ("note_10.txt", "note_2.txt", "b/old.txt", "skip.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert [one.name for one in read_documents(tmp_path)] == ["b/old.txt", "note_2.txt", "note_10.txt"]
    assert read_documents(tmp_path / "skip.csv") == (Document("skip.csv", "skip.csv"),)


def test_texts_are_utf_8_or_windows_1252(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffÖdem".encode())
    (tmp_path / "b.txt").write_bytes("Ödem – 5 µg".encode("cp1252"))
    assert [one.text for one in read_documents(tmp_path)] == ["Ödem", "Ödem – 5 µg"]


def test_a_folder_without_texts_is_reported(tmp_path):
    with pytest.raises(ToolError) as caught:
        read_documents(tmp_path)
    assert caught.value.label == "not_found" and str(tmp_path.parent) not in str(caught.value)


def test_an_index_is_made_once_for_the_same_texts():
    documents = (Document("a.txt", "fever and cough"), Document("b.txt", "a rash with fever and fever again"))
    index = index_documents(documents, 10, 2)
    again = index_documents(tuple(Document(one.name, str(one.text)) for one in documents), 10, 2)
    assert again is index and index_documents(documents[:1], 10, 2) is not index
    (hit, *_) = index[1].search("rash", 3)
    assert index[0][int(hit.id)].document == "b.txt" and hit.score > 0


def test_ties_are_in_the_documents_order():
    parts, bm25 = index_documents(tuple(Document(f"{n}.txt", "fever") for n in range(12)), 10, 2)
    assert [parts[int(hit.id)].document for hit in bm25.search("fever", 3)] == ["0.txt", "1.txt", "2.txt"]
