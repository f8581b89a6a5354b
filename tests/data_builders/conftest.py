"""Builders of shipped data are tested with WARDROUND_TEST_SLOW=1 only: their output changes with their tables only."""

import os

collect_ignore_glob = [] if os.environ.get("WARDROUND_TEST_SLOW") else ["test_*.py", "ehr_mini/*"]
