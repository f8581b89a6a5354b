"""The pictures of the documentation, of the current version: ``make screenshots`` writes them.

A sweep of the simulated model runs in a folder of its own; a headless Chromium shows its report page and MLflow's
pages, at 1600 and 400 pixels, light and dark. Pictures have at most 255 colours each, to be small.
"""

import asyncio
import socket
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np
import orjson
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import Tab, opened  # noqa: E402

PICTURES = ROOT / "docs/screenshots"
SWEEP = (
    "-m", "experiment=hello", "name=pictures", "limit=22", "agent=react,radagent",
    "condition=intact,imperfect,renamed,redundant_high", "tracking.wait=true",
)  # fmt: skip
LOOKS = [(1600, False), (1600, True), (400, False), (400, True)]  # width in pixels, dark
HEIGHT, COMMON = 1000, 192
_MOVE = "document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('{}').scrollIntoView()"
REPORT = {"report": "scrollTo(0, 0)"} | {  # a section of the page -> what shows it
    name: _MOVE.format(section)
    for name, section in (("heatmap", "samples"), ("report-strata", "strata"), ("report-cost", "frontier"))
}
READY = {  # a page of MLflow -> what it has when it shows what it is for
    "sweep": "document.querySelector('.ag-center-cols-container .ag-row')",
    "compare": "document.querySelector('.js-plotly-plot .parcoords')",
    "trace": "[...document.querySelectorAll('button')].some((one) => one.textContent.startsWith('Assess'))",
}
_TRACE = (  # MLflow shows the head of a trace only if its list has loaded it, the newest ones first
    "SELECT request_id FROM (SELECT * FROM trace_info ORDER BY timestamp_ms DESC LIMIT 20) ORDER BY total_tokens DESC"
)
_ROWS = "[...document.querySelectorAll('.pairs tbody tr:not(.space)')]"
_PART = f"{_ROWS}.find((row) => Number(row.cells[1].textContent) > 1).querySelector('a').click()"
_PARTED = "document.querySelector('#episodes-dialog .parted').scrollIntoView({block: 'center'})"
_ASSESS = "[...document.querySelectorAll('button')].find((one) => one.textContent.startsWith('Assess')).click()"
_TWO = "document.querySelector('.pairs').open = true; document.querySelector('.pairs').scrollIntoView()"


def main() -> None:
    """Write all pictures."""
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([sys.executable, "-m", "runner", *SWEEP], cwd=home, check=True)
        (report,) = Path(home).glob("outputs/pictures/*/report.html")
        with served(Path(home)) as address:
            asyncio.run(take(Path(home), report, address))


@contextmanager
def served(home: Path):
    """MLflow's page over the runs of a folder, as ``make ui`` serves it. Yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    line = [sys.executable, "-m", "runner.ui", "--quiet", "--port", str(port)]
    with subprocess.Popen(line, cwd=home, stderr=subprocess.PIPE, text=True) as server:
        try:
            print(next(text for text in server.stderr or () if text.startswith("MLflow:")), end="")  # noqa: T201
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()


async def take(home: Path, report: Path, address: str) -> None:
    """Open the pages in a browser of their own and take the pictures."""
    async with opened(report, home / "profile") as tab:
        await tab.until("document.querySelector('#episodes-viewer').getAttribute('aria-busy') === 'false'")
        for name, script in REPORT.items():
            for look in LOOKS:
                await tab.size(look[0], HEIGHT, look[1])
                await tab.run(script)
                await picture(tab, name, *look)
        await tab.run(_TWO)
        await tab.until("document.querySelector('.pairs tbody a')")
        await tab.run(_PART)
        await tab.until("document.querySelector('#episodes-dialog[open]')?.getAttribute('aria-busy') === 'false'")
        for look in LOOKS:
            await tab.size(look[0], HEIGHT, look[1])
            await tab.run(_PARTED)
            await picture(tab, "episodes", *look)
    async with opened(address, home / "profile-mlflow") as tab:
        for name, place in places(home / "outputs/.mlflow").items():
            for look in LOOKS:
                await tab.size(look[0], HEIGHT, look[1])
                await tab.run("localStorage.clear()")  # MLflow stores whether it was light or dark
                await tab.send("Page.navigate", url="about:blank")
                await tab.send("Page.navigate", url=address + place)
                await tab.until(READY[name], 120)
                if name == "trace":
                    await tab.run(_ASSESS)
                await picture(tab, name, *look, calm=4)  # MLflow draws in several steps and names no last one


def places(folder: Path) -> dict[str, str]:
    """The fragments of MLflow's pages over the sweep."""
    database = sqlite3.connect(folder / "mlflow.db")
    runs = [row[0] for row in database.execute("SELECT run_uuid FROM tags WHERE key = 'level' AND value = 'job'")]
    (experiment,) = next(database.execute("SELECT experiment_id FROM runs WHERE run_uuid = ?", runs[:1]))
    trace = next(database.execute(_TRACE))[0]
    query = {"runs": runs, "experiments": [str(experiment)]}
    compared = "&".join(f"{key}={quote(orjson.dumps(ids).decode())}" for key, ids in query.items())
    return {
        "sweep": f"#{(folder / 'newest').read_text().strip()}",
        "compare": f"#/compare-runs?{compared}",
        "trace": f"#/experiments/{experiment}/traces?selectedEvaluationId={trace}&traceId={trace}",
    }


async def picture(tab: Tab, name: str, width: int, dark: bool, calm: int = 1) -> None:
    """Write a picture of the page as soon as ``calm`` more, a second apart, are the same."""
    path, before, same = PICTURES / f"{name}-{width}-{'dark' if dark else 'light'}.png", b"", 0
    for _ in range(60):
        await tab.picture(path, width, HEIGHT, dark)
        same = same + 1 if before == (before := path.read_bytes()) else 0
        if same == calm:
            break
        await asyncio.sleep(0.7)
    reduced(Image.open(path).convert("RGB")).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KB")  # noqa: T201


def reduced(image: Image.Image) -> Image.Image:
    """A picture of 255 colours: the most frequent ones unchanged, since means would change the scale of a heat map, and
    means of the others, of which MLflow's gradients are."""
    colours, which, n = np.unique(np.asarray(image).reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-n)
    others = Image.fromarray(colours[order[COMMON:]][None]).quantize(255 - COMMON) if len(order) > COMMON else None
    means = np.array(others.getpalette() if others else [], np.uint8).reshape(-1, 3)
    palette = np.concatenate([colours[order[:COMMON]], means])
    nearest = np.square(colours[:, None].astype(int) - palette).sum(axis=2).argmin(axis=1).astype(np.uint8)
    few = Image.fromarray(nearest[which.reshape(image.height, image.width)], "P")
    few.putpalette(palette.tobytes())
    return few


if __name__ == "__main__":
    main()
