"""Write a FHIR server's resources to a folder, a file per type: ``python -m components.fhir.export URL FOLDER``.

For dataset.world of medagentbench, whose server is a container image. Pages are followed as the server links them, on
its own host alone; the files appear when all resources are there, so that half of them are not taken for all.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from yarl import URL

from components import web
from components.core.errors import ConfigError, ToolError
from components.fhir.remote import Server
from components.fhir.search import MOST, PARAMETERS, values_at

_MOST_PAGES = 100_000  # of a type
_CLIENT = web.Web(timeout_seconds=120.0, longest_reply_bytes=256 << 20)


async def pages(base: URL, resource: str, client: web.Web) -> AsyncIterator[list[Any]]:
    """The resources of a type, page by page. Raises ConfigError, ToolError."""
    link, seen, ids = str((base / resource).with_query(_count=MOST)), set[str](), set[str]()
    while link:
        if link in seen or not link.startswith(f"{base.origin()}/") or len(seen) == _MOST_PAGES:
            raise ConfigError(
                f"{base} links page {len(seen) + 1:,} of {resource} to {link!r:.120}; it must be a new one of its own"
            )
        seen.add(link)
        bundle = (await client.get(URL(link), headers={"Accept": "application/fhir+json"})).find(dict)
        if bundle is None or bundle.get("resourceType") != "Bundle":
            raise ConfigError(f"{link!r:.200}: the answer is not a Bundle")
        found = [one for one in values_at(bundle, "entry.resource") if isinstance(one, dict)]
        for name in (str(one.get("id")) for one in found):
            if name in ids:
                raise ConfigError(f"{base} sends {resource}/{name:.64} twice; each must be there once")
            ids.add(name)
        yield found
        links = (one for one in values_at(bundle, "link") if isinstance(one, dict) and one.get("relation") == "next")
        link = next((str(one.get("url")) for one in links), "")


async def export(base: URL, folder: Path, client: web.Web = _CLIENT) -> None:
    """Export all types to a new or empty folder. Raises ConfigError, ToolError, OSError."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty; name a new folder")
    await Server(str(base), client).probe()
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as half:
        for resource in PARAMETERS:
            count = 0
            with Path(half, f"{resource}.part").open("wb") as file:
                async for page in pages(base, resource, client):
                    file.writelines(orjson.dumps(one) + b"\n" for one in page)
                    count += len(page)
            sys.stdout.write(f"{resource}: {count:,} resources\n")
        for part in Path(half).iterdir():
            part.replace(folder / f"{part.stem}.ndjson")
    sys.stdout.write(f"written to {folder}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Export a server; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m components.fhir.export", description="Export a FHIR server.")
    parser.add_argument("base_url", help="of the server, such as http://localhost:8080/fhir")
    parser.add_argument("folder", type=Path, help="to write to; give it as dataset.world")
    options = parser.parse_args(arguments)
    try:
        asyncio.run(export(web.base(options.base_url), options.folder))
    except (ConfigError, ToolError, OSError, ValueError, TypeError) as error:  # no address; too deep to be written
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
