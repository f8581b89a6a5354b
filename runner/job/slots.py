"""How many samples are played at once, over all jobs that ask the same model."""

import asyncio
import heapq
from dataclasses import dataclass
from types import TracebackType


class Slots:
    """How many samples may be played at once; of those who wait the job that began first goes first."""

    def __init__(self, n: int) -> None:
        self._free = n
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._asked = 0
        self._spare = asyncio.Event()
        self._spare.set()

    async def take(self, rank: int) -> None:
        """Wait for a place; who is cancelled has none."""
        if self._free:
            self._free -= 1
        else:
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._asked += 1
            heapq.heappush(self._waiting, (rank, self._asked, place))
            self._tell()
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self.give()
                raise
        self._tell()

    def give(self) -> None:
        """Leave a place to the next who waits."""
        while self._waiting:
            _, _, place = heapq.heappop(self._waiting)
            if not place.done():
                place.set_result(None)
                return
        self._free += 1
        self._tell()

    async def spare(self) -> None:
        """Wait until there is a place that nobody wants."""
        await self._spare.wait()

    def _tell(self) -> None:
        if self._free:
            self._spare.set()
        else:
            self._spare.clear()


@dataclass
class Lease:
    """A job's way to places; ``begun`` is set when it asks for the first."""

    places: Slots
    rank: int
    begun: asyncio.Event

    async def __aenter__(self) -> None:
        self.begun.set()
        await self.places.take(self.rank)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.places.give()
