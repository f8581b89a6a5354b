from components.ehr.errors import KINDS, EhrError, quote


def test_an_error_has_a_kind_and_a_text():
    error = EhrError("There is no table `x`.", "unknown_table")
    assert error.kind in KINDS and str(error) == "There is no table `x`."


def test_text_quoted_in_errors_is_verbatim_but_short():
    assert quote("DRUG='it is \"so\"'") == "`DRUG='it is \"so\"'`"
    assert quote("x" * 1000) == f"`{'x' * 300}`... (1000 characters)"
