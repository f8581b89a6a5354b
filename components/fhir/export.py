"""Write a FHIR server's resources to a folder, a file per type: ``python -m components.fhir.export URL FOLDER``.

For dataset.world of medagentbench, whose server is a container image. Pages are followed as the server links them, on
its own host alone; the files appear when all resources are there, so that half of them are not taken for all.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import orjson

from components.core.errors import ConfigError
from components.fhir.search import MOST, PARAMETERS, values_at

_LARGEST, _SECONDS, _MOST_PAGES = 256 << 20, 120.0, 100_000  # bytes of a page; time for one; pages of a type


class _SameHost(HTTPRedirectHandler):
    """Redirects could lead to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Make no request of a redirect, which is an error then."""


def pages(base: str, resource: str) -> Iterator[list[Any]]:
    """The resources of a type, page by page. Raises ConfigError."""
    own, url, seen = "{0.scheme}://{0.netloc}/".format(urlsplit(base)), f"{base}/{resource}?_count={MOST}", set[str]()
    while url:
        if url in seen or not url.startswith(own) or len(seen) == _MOST_PAGES:
            raise ConfigError(
                f"{base} links page {len(seen) + 1:,} of {resource} to {url!r:.120}; it must be a new one of its own"
            )
        seen.add(url)
        bundle = _bundle(url)
        yield [one for one in values_at(bundle, "entry.resource") if isinstance(one, dict)]
        links = (one for one in values_at(bundle, "link") if isinstance(one, dict) and one.get("relation") == "next")
        url = next((str(one.get("url")) for one in links), "")


def _bundle(url: str) -> dict[str, Any]:
    request = Request(url, headers={"Accept": "application/fhir+json"})
    try:
        with build_opener(_SameHost).open(request, timeout=_SECONDS) as reply:
            body = reply.read(_LARGEST + 1)
        found = orjson.loads(body)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{url!r:.200}: no FHIR server answers: {error}") from None
    if len(body) > _LARGEST or not isinstance(found, dict) or found.get("resourceType") != "Bundle":
        raise ConfigError(f"{url!r:.200}: the answer is not a Bundle of at most {_LARGEST:,} bytes")
    return found


def export(base: str, folder: Path) -> None:
    """Export all types. Raises ConfigError, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {resource: folder / f"{resource}.part" for resource in PARAMETERS}
    for resource, part in parts.items():
        count = 0
        with part.open("wb") as file:
            for page in pages(base, resource):
                file.writelines(orjson.dumps(one) + b"\n" for one in page)
                count += len(page)
        sys.stdout.write(f"{resource}: {count:,} resources\n")
    for part in parts.values():
        part.replace(part.with_suffix(".ndjson"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Export a server; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m components.fhir.export", description="Export a FHIR server.")
    parser.add_argument("url", help="of the server, such as http://localhost:8080/fhir")
    parser.add_argument("folder", type=Path, help="to write to; give it as dataset.world")
    options = parser.parse_args(arguments)
    try:
        if not options.url.startswith(("http://", "https://")):
            raise ConfigError(f"url must be like http://localhost:8080/fhir, found {options.url!r}")
        export(options.url.rstrip("/"), options.folder)
    except (ConfigError, OSError, ValueError, TypeError) as error:  # no address; a resource that is too deep to write
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
