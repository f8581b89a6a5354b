"""The pictures of the documentation, of the current version: ``make screenshots`` writes them.

A sweep of the simulated model runs in a folder of its own; a headless Chromium shows its report page and MLflow's
pages, at 1600 and 400 pixels, light and dark. Pictures have at most 128 colours each, to be small.
"""

import asyncio
import socket
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

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
_MOVE = "document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('{}').scrollIntoView()"
_ROWS = "[...document.querySelectorAll('.pairs tbody tr:not(.space)')]"
_PART = f"{_ROWS}.find((row) => row.cells[1].textContent > '1').querySelector('a').click()"
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
    database = sqlite3.connect(home / "outputs/.mlflow/mlflow.db")
    runs = [row[0] for row in database.execute("SELECT run_uuid FROM tags WHERE key = 'level' AND value = 'job'")]
    (experiment,) = next(database.execute("SELECT experiment_id FROM runs WHERE run_uuid = ?", runs[:1]))
    trace = next(database.execute("SELECT request_id FROM trace_info ORDER BY execution_time_ms DESC"))[0]
    newest = (home / "outputs/.mlflow/newest").read_text().strip()
    query = {"runs": runs, "experiments": [str(experiment)]}
    compared = "&".join(f"{key}={quote(orjson.dumps(ids).decode())}" for key, ids in query.items())
    places = {
        "sweep": f"#{newest}",
        "compare": f"#/compare-runs?{compared}",
        "trace": f"#/experiments/{experiment}/traces?selectedEvaluationId={trace}&traceId={trace}",
    }
    async with opened(report, home / "profile") as tab:
        await tab.until("document.querySelector('#episodes-viewer').getAttribute('aria-busy') === 'false'")
        for look in LOOKS:
            await picture(tab, "report", *look, height=1000, before="scrollTo(0, 0)")
            await picture(tab, "heatmap", *look, height=1000, before=_MOVE.format("samples"))
        await picture(tab, "report-strata", *LOOKS[0], height=900, before=_MOVE.format("strata"))
        await picture(tab, "report-cost", *LOOKS[0], height=900, before=_MOVE.format("frontier"))
        await tab.run(_TWO)
        await tab.until("document.querySelector('.pairs tbody a')")
        await tab.run(_PART)
        await tab.until("document.querySelector('#episodes-dialog[open]')?.getAttribute('aria-busy') === 'false'")
        await picture(tab, "episodes", *LOOKS[0], height=1000)
    async with opened(address, home / "profile-mlflow") as tab:
        for name, place in places.items():
            for look in LOOKS if name == "sweep" else LOOKS[:1]:
                await tab.size(look[0], 1000, look[1])
                await tab.run("localStorage.clear()")  # MLflow stores whether it was light or dark
                await tab.send("Page.navigate", url="about:blank")
                await tab.send("Page.navigate", url=address + place)
                await asyncio.sleep(8)  # MLflow draws in several steps and names no last one
                await picture(tab, name, *look, height=1000, before=_ASSESS if name == "trace" else "")


async def picture(tab: Tab, name: str, width: int, dark: bool, *, height: int, before: str = "") -> None:
    """Write a picture of the page, ``before`` run first."""
    await tab.size(width, height, dark)
    if before:
        await tab.run(before)
    path = PICTURES / f"{name}-{width}-{'dark' if dark else 'light'}.png"
    await tab.picture(path, width, height, dark)
    Image.open(BytesIO(path.read_bytes())).convert("RGB").quantize(128).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KB")  # noqa: T201


if __name__ == "__main__":
    main()
