"""What is not let in: an address or a body too long to read, and a Host that is none."""

import re

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.access_log import Failing
from app.specs import Fault, clip

_HOST = re.compile(rb"[A-Za-z0-9._~:\[\]-]{1,255}")


class Limits:
    """Refuses what is too long to read, and a Host that is none, in the site's own words.

    failing   how a fault is answered
    """

    def __init__(self, app: ASGIApp, failing: Failing, most_url: int, most_body: int) -> None:
        self.app, self.failing, self.most_url, self.most_body = app, failing, most_url, most_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = next((value for name, value in scope["headers"] if name == b"host"), b"")
            if host and not _HOST.fullmatch(host):
                bare = {**scope, "headers": [one for one in scope["headers"] if one[0] != b"host"]}  # the page that says so has links too
                shown = clip(host.decode("latin-1"))
                fault = Fault(
                    "bad_host", f"the Host header says {shown!r}, which is no host: send the name of this site.", "host", shown, "a host"
                )
                await (await self.failing(Request(bare), fault, 400))(bare, receive, send)
                return
            refused = self.refused(scope)
            if refused is not None:
                await (await self.failing(Request(scope), *refused))(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def refused(self, scope: Scope) -> tuple[Fault, int, dict[str, str]] | None:
        """The fault, the status and the headers of a request that is not let in."""
        length = len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"])
        if length > self.most_url:
            message = f"the address has {length:,} bytes, and at most {self.most_url:,} are read: shorten it, or POST it to the API."
            return Fault("url_too_long", message, "address", length, {"most": self.most_url}), 414, {}
        body = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not body.isdigit() or int(body[:20]) > self.most_body:
            message = f"the body is longer than {self.most_body:,} bytes: send fewer scores."
            return (
                Fault("body_too_long", message, "body", body[:20].decode("latin-1"), {"most": self.most_body}),
                413,
                {"Connection": "close"},
            )
        return None
