"""What takes too long for the default suite: WARDROUND_TEST_SLOW=1 runs it too."""

import pytest

slow = pytest.mark.slow
