import pytest

from components.core.errors import OVERFLOW, ModelError
from components.core.types import CONTEXT_LENGTH, Failure, as_failure


def test_only_a_context_overflow_is_the_callers_failure():
    assert as_failure(ModelError("8193 > 8192", OVERFLOW)) == Failure(CONTEXT_LENGTH, "8193 > 8192")
    with pytest.raises(ModelError, match="no reply"):
        as_failure(ModelError("no reply", "server"))
