"""What takes too long for the default suite: WARDROUND_TEST_SLOW=1 runs it too."""

import os

import pytest

slow = pytest.mark.skipif(not os.environ.get("WARDROUND_TEST_SLOW"), reason="takes seconds; WARDROUND_TEST_SLOW=1")
