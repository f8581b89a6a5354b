from components.tools.names import plain


def test_names_are_compared_in_one_case_with_single_spaces():
    assert plain("  Acetylsalicylic\n ACID ") == plain("acetylsalicylic acid") == "acetylsalicylic acid"
