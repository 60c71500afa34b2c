"""A network that misbehaves: a TCP proxy that delays, throttles, swallows and resets."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CHUNK = 16_384


class Proxy:
    """Forwards connections to a port; its faults are set while it runs."""

    def __init__(self, port: int, target: int) -> None:
        self.delay_s = 0.0
        self.bytes_per_s = 0
        """Towards the broker only; 0 for no bound."""
        self.swallowing = False
        """Half-open: connections stay, nothing arrives any more in either direction."""
        self._port = port
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Listen; return once connections are taken."""
        self._thread.start()
        assert self._ready.wait(10)

    def reset(self) -> None:
        """Cut every connection at once, without a word."""
        self._loop.call_soon_threadsafe(self._cut)

    def stop(self) -> None:
        """Cut everything and listen no more."""
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join(10)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._ended = asyncio.Event()
        server = await asyncio.start_server(self._take, "127.0.0.1", self._port)
        self._ready.set()
        await self._ended.wait()
        server.close()
        self._cut()
        await asyncio.sleep(0.1)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _end(self) -> None:
        self._ended.set()

    def _cut(self) -> None:
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, forth}
        try:
            await asyncio.gather(
                self._copy(reader, forth, up=True), self._copy(back, writer, up=False)
            )
        finally:
            for end in (writer, forth):
                end.transport.abort()
                self._writers.discard(end)

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, up: bool
    ) -> None:
        try:
            while data := await reader.read(CHUNK):
                while self.swallowing:  # noqa: ASYNC110  # another thread sets it
                    await asyncio.sleep(0.05)
                pause = self.delay_s
                if up and self.bytes_per_s:
                    pause += len(data) / self.bytes_per_s
                if pause:
                    await asyncio.sleep(pause)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.transport.abort()


@contextmanager
def proxied(port: int, target: int) -> Iterator[Proxy]:
    """Run a proxy for the length of the block."""
    proxy = Proxy(port, target)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
