"""A headless Chromium, where there is one, driven over its own protocol: no library for it is needed."""

import asyncio
import base64
import shutil
from contextlib import asynccontextmanager

import aiohttp
import pytest

FOUND = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(FOUND is None, reason="there is no Chromium here")
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
          "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
          "--disable-quic", "--remote-debugging-port=0")  # fmt: skip

_CODES = {"Escape": 27}


class Tab:
    """A page that is open."""

    def __init__(self, socket):
        self._socket, self._last, self.thrown = socket, 0, []

    async def send(self, method, **parameters):
        """Send a command to the page and return its result."""
        self._last += 1
        await self._socket.send_json({"id": self._last, "method": method, "params": parameters})
        while True:
            reply = await self._socket.receive_json(timeout=30)
            if reply.get("method") == "Runtime.exceptionThrown":
                self.thrown.append(reply["params"]["exceptionDetails"])
            if reply.get("id") == self._last:
                assert "error" not in reply, reply
                return reply["result"]

    async def run(self, script):
        """The value of an expression on the page, promises awaited."""
        found = await self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    async def until(self, script, seconds=20.0):
        """Wait until an expression is true."""
        for _ in range(int(seconds / 0.02)):
            if await self.run(f"Boolean({script})"):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"never true: {script}")

    async def press(self, key):
        """Press a key: a letter, or one that has a name."""
        parameters = {"key": key, "windowsVirtualKeyCode": _CODES.get(key, 0)}
        await self.send(
            "Input.dispatchKeyEvent", type="keyDown", **parameters, **({"text": key} if len(key) == 1 else {})
        )
        await self.send("Input.dispatchKeyEvent", type="keyUp", **parameters)

    async def picture(self, path, width, height, dark=False):
        """Write a screenshot."""
        await self.size(width, height, dark)
        await asyncio.sleep(0.3)
        path.write_bytes(base64.b64decode((await self.send("Page.captureScreenshot", format="png"))["data"]))

    async def size(self, width, height, dark=False):
        """Make the window so large, and light or dark."""
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.send("Emulation.setEmulatedMedia", features=[scheme])


@asynccontextmanager
async def opened(place, profile, fragment=""):
    """A tab with a file or an address; the browser ends with it."""
    process = await asyncio.create_subprocess_exec(
        FOUND, *_FLAGS, f"--user-data-dir={profile}", "about:blank",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port = await _port(profile / "DevToolsActivePort")
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                page = next(one for one in await answer.json() if one["type"] == "page")
            async with session.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                tab = Tab(socket)
                await tab.size(1280, 900)
                await tab.send("Runtime.enable")
                await tab.send("Page.enable")
                await tab.send("Page.navigate", url=(place if isinstance(place, str) else place.as_uri()) + fragment)
                await tab.until("document.readyState === 'complete'")
                yield tab
    finally:
        process.terminate()
        await process.wait()


async def _port(path):
    for _ in range(1_000):
        if path.exists() and (lines := path.read_text().splitlines()):
            return int(lines[0])
        await asyncio.sleep(0.02)
    raise AssertionError("the browser did not start")
