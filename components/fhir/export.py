"""Write a FHIR server's resources to a folder, a file per type: ``python -m components.fhir.export URL FOLDER``.

For dataset.world of medagentbench, whose server is a container image. Pages are followed as the server links them, on
its own host alone.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import orjson

from components.core.errors import ConfigError
from components.fhir.search import MOST, PARAMETERS, values_at

_LARGEST = 256 << 20  # bytes of a page
_SECONDS = 120.0  # for one


def pages(base: str, kind: str) -> Iterator[list[Any]]:
    """The resources of a type, page by page. Raises ConfigError."""
    url, seen = f"{base}/{kind}?_count={MOST}", set[str]()
    while url:
        if url in seen or urlsplit(url)[:2] != urlsplit(base)[:2]:
            raise ConfigError(f"{base} links the next page of {kind} to {url:.120}; it must be another one of its own")
        seen.add(url)
        bundle = _get(url)
        yield [one for one in values_at(bundle, "entry.resource") if isinstance(one, dict)]
        links = (one for one in values_at(bundle, "link") if isinstance(one, dict) and one.get("relation") == "next")
        url = next((str(one.get("url")) for one in links), "")


def _get(url: str) -> dict[str, Any]:
    try:
        with urlopen(Request(url, headers={"Accept": "application/fhir+json"}), timeout=_SECONDS) as reply:
            body = reply.read(_LARGEST + 1)
        found = orjson.loads(body)
    except (URLError, OSError, ValueError) as error:
        raise ConfigError(f"{url}: no FHIR server answers: {error}") from None
    if len(body) > _LARGEST or not isinstance(found, dict) or found.get("resourceType") != "Bundle":
        raise ConfigError(f"{url}: the answer is not a Bundle of at most {_LARGEST:,} bytes")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Export all types; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m components.fhir.export", description="Export a FHIR server.")
    parser.add_argument("url", help="of the server, such as http://localhost:8080/fhir")
    parser.add_argument("folder", type=Path, help="to write to; give it as dataset.world")
    options = parser.parse_args(arguments)
    base = options.url.rstrip("/")
    try:
        if urlsplit(base).scheme not in ("http", "https"):
            raise ConfigError(f"url must be like http://localhost:8080/fhir, found {options.url!r}")
        options.folder.mkdir(parents=True, exist_ok=True)
        for kind in PARAMETERS:
            count = 0
            with (options.folder / f"{kind}.ndjson").open("wb") as file:
                for page in pages(base, kind):
                    file.writelines(orjson.dumps(one) + b"\n" for one in page)
                    count += len(page)
            sys.stdout.write(f"{kind}: {count:,} resources\n")
    except (ConfigError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
