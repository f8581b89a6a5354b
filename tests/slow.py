"""The mark of tests too slow for the default suite: WARDROUND_TEST_SLOW=1 runs them too."""

import pytest

slow = pytest.mark.slow
