"""How long the head of a request may be, and how long it may take to come: uvicorn lets both grow for ever."""

import asyncio
from asyncio import TimerHandle

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol, which refuses a head that is too long (431) or comes too slowly (408), and closes."""

    MOST_BYTES = 65_536  # more than any browser sends; the address alone is held to TILEWISE_MAX_URL_BYTES
    SECONDS = 20.0

    _heading = False
    _bytes = 0
    _timer: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self._heading  # what began within this part is counted from the next one on
        super().data_received(data)
        if before and self._heading:
            self._bytes += len(data)
            if self._bytes > self.MOST_BYTES:
                self._refuse(
                    b"431 Request Header Fields Too Large", f"the head of a request may have {self.MOST_BYTES:,} bytes: send fewer"
                )

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._heading, self._bytes = True, 0
        if self._timer is None:
            self._expect()

    def on_headers_complete(self) -> None:
        self._heading = False
        self._done()
        super().on_headers_complete()

    def _expect(self) -> None:
        self._timer = self.loop.call_later(self.SECONDS, self._late)

    def _done(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self._heading:
            self._refuse(b"408 Request Timeout", f"the head of a request may take {self.SECONDS:g} seconds: send it again")
        elif not self.transport.is_closing():  # not a byte came: browsers open connections ahead, and open another when they need it
            self.transport.close()

    def _refuse(self, status: bytes, words: str) -> None:
        self._heading = False
        self._done()
        if self.transport.is_closing():
            return
        body = words.encode()
        head = b"HTTP/1.1 %b\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        self.transport.write(head % (status, len(body)) + body)
        self.transport.close()
