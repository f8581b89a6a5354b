from html.parser import HTMLParser
from pathlib import Path

from runner.rating.sheets import Item, form, read_sheets
from runner.results.runs import Run
from tests.browser import needs_browser, opened
from tests.runner.rating.cases import SMALL, key
from tests.slow import slow

HOSTILE = '</pre></article><script>alert(1)</script><img src=x onerror="alert(2)">"\'&amp;'
ITEM = Item(Run(Path("x"), {}, {}), "s1", 0, "p1", {"Question": HOSTILE, "<b>": "x"}, ['data:image/png;base64,"x'])


# Picks the first option, or two of several, and none on the last item, and saves; returns the file and open items.
FILL = """(async () => {
  let file;
  URL.createObjectURL = blob => { file = blob; return "data:,"; };
  for (const box of document.querySelectorAll("fieldset > label:not(:last-child) input")) box.click();
  document.querySelector("article:last-of-type fieldset:last-of-type label:last-child input").click();
  const note = document.querySelector("textarea");
  note.value = '=1+2 "so"';
  note.dispatchEvent(new Event("change", { bubbles: true }));
  document.querySelector("button").click();
  return [await file.text(), document.querySelector("output").textContent];
})()"""


class Seen(HTMLParser):
    """The elements of a page and the texts in pre."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self._open = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data):
        if self._open == "pre":
            self.texts.append(data)

    def handle_endtag(self, tag):
        self._open = ""


PAGE = form(SMALL, {"abc-001": ITEM, "abc-002": ITEM}, "rater_1.csv")
SEEN = Seen(PAGE)


def test_texts_are_shown_verbatim_and_never_interpreted():
    assert SEEN.texts.count(HOSTILE) == 2
    assert [tag for tag, _ in SEEN.tags].count("script") == 1
    assert not [name for _, attrs in SEEN.tags for name in attrs if name.startswith("on")]
    assert [attrs["src"] for tag, attrs in SEEN.tags if tag == "img"] == ['data:image/png;base64,"x'] * 2


def test_page_is_self_contained_and_runs_only_its_own_script():
    (policy,) = [attrs["content"] for tag, attrs in SEEN.tags if attrs.get("http-equiv")]
    assert policy.startswith("default-src 'none';") and "script-src 'sha256-" in policy
    assert not [attrs for tag, attrs in SEEN.tags if tag in ("link", "iframe") or "http" in str(attrs.get("src"))]


def test_every_category_of_every_field_can_be_picked():
    inputs = [(attrs["type"], attrs["name"], attrs["value"]) for tag, attrs in SEEN.tags if tag == "input"]
    assert [one for one in inputs if one[1] == "abc-001 cause"] == [
        ("radio", "abc-001 cause", "facts"), ("radio", "abc-001 cause", "logic"),
    ]  # fmt: skip
    assert [value for kind, name, value in inputs if name == "abc-002 also" and kind == "checkbox"] == [
        "late",
        "long",
        "none",
    ]


@slow
@needs_browser
async def test_form_filled_in_a_browser_is_saved_as_a_sheet(tmp_path):
    page = tmp_path / "rater_1.html"
    page.write_text(form(key().rubric, dict.fromkeys(key().items, ITEM), "rater_1.csv"), encoding="utf-8")
    async with opened(page, tmp_path / "profile") as tab:
        saved, left = await tab.run(FILL)
        assert left == "all filled" and not tab.thrown
    (tmp_path / "rater_1.csv").write_text(saved, encoding="utf-8", newline="")
    (sheet,) = read_sheets([tmp_path / "rater_1.csv"], key())
    assert sheet.picked["abc123-001"] == {"cause": ("facts",), "also": ("late", "long")}
    assert sheet.picked["abc123-004"] == {"cause": ("facts",), "also": ()}
    assert '"\'=1+2 ""so"""' in saved
