import pytest

from components.cab.datasets.pubtator import Mention, documents
from components.core.errors import ConfigError

TEXT = "1|t|Gene X | in mice\n1|a|It matters.\n1\t0\t6\tGene X\tT116,T123\tUMLS:C01\n\n\n2|t|Other\n2|a|\n"


def test_documents_are_parted_by_empty_lines():
    first, second = documents(TEXT.splitlines(keepends=True), "f")
    assert (first.pmid, first.title, first.abstract) == ("1", "Gene X | in mice", "It matters.")
    assert first.mentions == [Mention(0, 6, "Gene X", "T116,T123", "C01")]
    assert (second.pmid, second.abstract, second.mentions) == ("2", "", [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1|a|x\n", "f:1: must be 'PMID|t|text'"),
        ("1|t|x\n", "f:1: a document must have a title and an abstract of the same PMID"),
        ("1|t|x\n2|a|y\n", "f:1: a document must have a title"),
        ("1|t|x\n1|a|y\n1\t0\t1\tx\tT1\n", "f:3: must be 'PMID start end mention types concept'"),
        ("1|t|x\n1|a|y\n2\t0\t1\tx\tT1\tC1\n", "f:3: must be"),
        ("1|t|x\n1|a|y\n1\ta\t1\tx\tT1\tC1\n", "f:3: must be"),
    ],
)
def test_line_of_another_form_is_refused(text, told):
    with pytest.raises(ConfigError) as caught:
        list(documents(text.splitlines(), "f"))
    assert told in str(caught.value)
