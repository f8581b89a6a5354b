"""JSON that is kept takes no more memory than it has bytes."""

import tracemalloc

import orjson

from components.core.compact import compact_json


def test_it_is_what_orjson_returns_in_its_own_size():
    tracemalloc.start()
    kept = [compact_json({"text": n}) for n in range(1_000)]
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 200 * len(kept), "orjson's own take 4 kB each"
    assert kept[7] == orjson.dumps({"text": 7})
    assert compact_json({"b": 1, "a": 2}, orjson.OPT_SORT_KEYS) == b'{"a":2,"b":1}'
