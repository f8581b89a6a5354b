import json

import pytest

from tests.runner.rating.cases import fill, table


def test_filled_sheets_give_shares_agreement_and_the_judge(rated):
    home = rated.path / "home"
    rated.report("annotate", "agreement", rated.one, "--raters", 3, "--n", 5, "--out", home)
    place = home / "ratings" / "agreement"
    filled = []
    for n in (1, 2, 3):
        odd = "part" if n == 1 else "same"
        sheet = place / "sheets" / f"rater_{n}.csv"
        filled.append(fill(sheet, rated.path / f"{n}.csv", lambda item, _, odd=odd: odd if item[-1] == "1" else "same"))
    code, out, err = rated.report("ratings", rated.one, "--sheets", *filled, "--out", home)
    assert code == 0, err
    for text in (
        "verdict/same",
        "(Fleiss' kappa)",
        "agreement of the model's grades with 2",
        "raters differ on 1 value,",
        "the model: a model's grades of those of the items",
    ):
        assert text in out
    kept = json.loads((place / "ratings.json").read_text())
    assert kept["raters"] == ["1", "2", "3"] and kept["n"] == 5 and kept["judge"]["2"]["verdict"]["n"] == 5
    assert sum(kept["grades"][f"verdict/{one}"]["value"] for one in ("same", "part", "other")) == pytest.approx(1)
    assert kept["shares"]["verdict/part"]["all"]["value"] == pytest.approx(1 / 15)
    assert table(place / "disagreements.csv")[0] == ["item", "field", "1", "2", "3", "judge", "decided"]
    assert "## agreement of the raters (Fleiss' kappa)" in (place / "ratings.md").read_text()


def test_an_unfinished_sheet_is_refused_with_its_lines(rated):
    rated.report("annotate", "agreement", rated.one, "--n", 2, "--out", ".")
    code, _, err = rated.report("ratings", rated.one, "--sheets", "ratings/agreement/sheets/rater_1.csv", "--out", ".")
    assert code == 2 and "rater_1.csv:2: verdict of item" in err and "has no value; valid: same, part, other" in err


def test_draw_is_found_by_the_codes_in_the_sheets(rated):
    for name in ("agreement", "mine.yaml"):
        rated.report("annotate", name, rated.two, "--n", 2, "--out", ".")
    filled = fill(rated.path / "ratings/agreement/sheets/rater_1.csv", rated.path / "a.csv", lambda *_: "same")
    assert rated.report("ratings", rated.two, "--sheets", filled, "--out", ".")[0] == 0
    (rated.path / "b.csv").write_text("item,verdict\n")
    code, _, err = rated.report("ratings", rated.two, "--sheets", "b.csv", "--out", ".")
    assert code == 2 and "no key.json of these sheets" in err


def test_private_data_and_too_few_items_are_reported(rated):
    code, out, _ = rated.report("annotate", "mine.yaml", rated.changed(privacy="credentialed"), "--n", 50)
    assert code == 0 and "note: the sheets hold credentialed data" in out and "note: 4 of 50 items" in out
    assert (rated.path / "changed" / "ratings" / "mine" / "key.json").is_file()


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["annotate", "agreement", "--n", "0"], "at least one item and one rater"),
        (["annotate", "agreements"], "no rubric 'agreements'; did you mean agreement"),
        (["ratings", "--sheets", "a.csv"], "no key.json of these sheets"),
        (["ratings"], "the following arguments are required: --sheets"),
    ],
)
def test_incompatible_options_are_refused(rated, words, wrong):
    places = {"annotate": 2, "ratings": 1}
    code, _, err = rated.report(*words[: places[words[0]]], rated.one, *words[places[words[0]] :])
    assert code == 2 and wrong in err and err.count("\n") == 1
