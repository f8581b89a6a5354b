import pytest

from components.panel.published import UnreadableReport
from components.panel.readers import READERS


def test_profiles_differ_where_the_published_code_errs():
    repaired, published = READERS["repaired"], READERS["published"]
    assert repaired.vote("diagnosis: YES").yes and not published.vote("diagnosis: YES").yes
    assert repaired.report("all of it").total_analysis == "all of it"
    with pytest.raises(UnreadableReport):
        published.report("all of it")
    assert repaired.experts("ERROR.", 2).fields == ("General Medicine",)
    assert published.experts("ERROR.", 2).fields == ("General Medicine", "General Medicine")
