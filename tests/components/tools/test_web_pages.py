from components.tools.web_snapshot import read_page
from tests.table import each_row


@each_row(
    "html, expected",
    [
        ("<p>One <b>two</b>&nbsp;&amp; three</p><p>Four\n five</p>", ("One two & three", "Four five")),
        ("<p>One<p>Two<div>Not this</div><p>Three", ("One", "Two", "Three")),
        ("<p>One<br>two<script>var p = '<p>no</p>';</script> three</p>", ("One two three",)),
        ("<style>p {}</style><p></p><p> </p><noscript><p>No</p></noscript><p>Yes</p>", ("Yes",)),
        ("<ul><li>No</li></ul>", ()),
        ("<p>Not ended", ("Not ended",)),
        ("</p></div></script><p>Still read</p>", ("Still read",)),
        ("<![odd[ x ]]><?xml version='1.0' encoding='latin-1'?><!-- <p>no</p> --><p>ä</p>", ("ä",)),
        ("plain text", ()),
        ("\x00\x01", ()),
        ("<!DOCTYPE html><!-- nothing -->", ()),
        ("%PDF-1.4 \x80\x00" * 9, ()),
        (" ", ()),
        ("", ()),
    ],
)
def test_paragraphs_are_what_browsers_take_for_them(html, expected):
    assert read_page("https://a.org", html).paragraphs == expected


def test_a_page_has_a_known_title_or_its_own_or_its_address():
    html = "<html><head><title> Its\n own </title></head><body><svg><title>x</title></svg><p>x</p></body></html>"
    assert read_page("u", html).title == "Its own"
    assert read_page("u", html, "Known").title == "Known"
    assert read_page("u", "<p>x</p>").title == "u"
