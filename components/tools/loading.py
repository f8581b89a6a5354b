"""One lock for all libraries that tools load late.

They import each other's parts (spaCy its plug-ins, these spaCy), and tools run in threads: two that import at the same
time can end up with half-loaded modules.
"""

from __future__ import annotations

from threading import Lock

LOADING = Lock()  # held while a library is imported and its model is built
