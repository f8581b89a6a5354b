"""Builders of shipped data are run with WARDROUND_TEST_SLOW=1 alone: what they make changes with their tables only."""

import os

collect_ignore_glob = [] if os.environ.get("WARDROUND_TEST_SLOW") else ["test_*.py", "ehr_mini/*"]
