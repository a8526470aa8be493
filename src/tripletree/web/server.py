"""The local server: one page, its files and its questions, for whoever has the address with the token."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from tripletree.errors import MissingDependencyError
from tripletree.text import visible
from tripletree.web import page
from tripletree.web.ask import Desk

LARGEST_BODY = 2**20
"""Bytes of a request, at most."""
MOST_ASKED = 32
"""Questions in one request, at most."""
WORKERS = 4
"""Threads that answer: enough that a slow question does not hold up a click."""
COMPRESSED = 16 * 1024
"""Bytes from which on a reply is compressed: below, that takes longer than it saves."""
LOGGER = logging.getLogger("tripletree.web")
HEADERS = {
    "content-security-policy": page.POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Sent with every reply."""
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Door:
    """Who may come in.

    Attributes
    ----------
    token : str
        The first part of every address.
    hosts : collection of str
        What a request may call the server, with the port; others are another site's that was led here.
    anywhere : bool
        Whether it listens on all addresses of the machine: then any address in numbers is one of them.
    """

    token: str
    hosts: Collection[str]
    anywhere: bool = False

    def knows(self, host: str) -> bool:
        """Whether a host is one of ours."""
        if host.lower() in self.hosts:
            return True
        if not self.anywhere:
            return False
        name, _, port = host.rpartition(":")
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            return False
        return any(one.endswith(f":{port}") for one in self.hosts)


class Refusal(Exception):  # noqa: N818 - not an error of the server
    """A request that is not answered, with its status and a line that says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


def new_token() -> str:
    """Return a text that nobody guesses."""
    return secrets.token_urlsafe(24)


def application(desk: Desk, door: Door) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """Return the ASGI application.

    Parameters
    ----------
    desk : Desk
        Who answers.
    door : Door
        Who may ask.
    """
    try:
        from starlette.requests import Request
        from starlette.responses import Response
    except ImportError as error:
        raise MissingDependencyError(
            "The explorer's server needs starlette and uvicorn. Type: pip install 'tripletree[explore]'"
        ) from error
    pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="tripletree-ask")

    def reply(content: bytes, kind: str, status: int = 200, packed: bool = False) -> Any:
        more = {"content-encoding": "gzip"} if packed else {}
        return Response(content, status, {**HEADERS, **more}, kind)

    async def answered(request: Any) -> Any:
        body = await _body(request)
        asked, several = _asked(body)
        zips = "gzip" in request.headers.get("accept-encoding", "")
        content, packed = await asyncio.get_running_loop().run_in_executor(pool, _replies, desk, asked, several, zips)
        return reply(content, "application/json", packed=packed)

    async def serve(request: Any) -> Any:
        path = _let_in(request, door)
        if path == "ask":
            _only(request, "POST")
            return await answered(request)
        if path == "":
            _only(request, "GET", "HEAD")
            return reply(page.html(f"{desk.house.models['a'].name} - tripletree"), "text/html; charset=utf-8")
        folder, _, name = path.partition("/")
        # By name out of a table that was read at the start: no part of a path ever reaches the file system.
        found = page.files().get(name) if folder == "static" else None
        if found is None:
            raise Refusal(404, "There is nothing at this address.")
        _only(request, "GET", "HEAD")
        return reply(*found)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope, receive)
        try:
            response = await serve(request)
        except Refusal as refused:
            LOGGER.warning("%d %s", refused.status, _line(request, refused))
            content = json.dumps({"error": {"kind": "broken", "text": refused.text}}).encode()
            response = reply(content, "application/json", refused.status)
        await response(scope, receive, send)

    return app


def _let_in(request: Any, door: Door) -> str:
    """Return the path after the token; or refuse the request."""
    hosts = request.headers.getlist("host")
    if len(hosts) != 1 or not door.knows(hosts[0]):
        raise Refusal(403, "This server does not go by that name. Open the address that was printed at the start.")
    origins = request.headers.getlist("origin")
    # An opaque origin, "null", is a page of nobody's.
    if origins and (len(origins) > 1 or origins[0].lower() != f"http://{hosts[0].lower()}"):
        raise Refusal(403, "Another page may not ask this server.")
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Refusal(403, "Another page may not lead to this server.")
    path = request.scope["path"]
    token, slash, rest = path.removeprefix("/").partition("/")
    if not secrets.compare_digest(token.encode("utf-8", "replace"), door.token.encode()):
        raise Refusal(403, "The token is missing. Open the address that was printed at the start, all of it.")
    if not slash:
        raise Refusal(404, "Put a / at the end of the address.")
    return str(rest)


def _only(request: Any, *methods: str) -> None:
    if request.method not in methods:
        raise Refusal(405, f"Only {' and '.join(methods)} will do here.")


async def _body(request: Any) -> bytes:
    """Return what was sent, as far as it is JSON by its name and not too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "Questions are asked in JSON.")
    length = request.headers.get("content-length", "")
    too_large = Refusal(413, f"A question may have {LARGEST_BODY:,} bytes, no more.")
    if length.isdigit() and int(length) > LARGEST_BODY:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_BODY:
            raise too_large
        parts.append(part)
    return b"".join(parts)


def _asked(body: bytes) -> tuple[list[tuple[Any, Any]], bool]:
    """Return the questions of a request with their arguments, and whether they came as several."""
    try:
        # Constants that JSON does not have would pass as numbers.
        read = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refusal(400, "This is not JSON.") from None
    if not isinstance(read, dict):
        raise Refusal(400, "A question is an object: {question, args}, or {batch: [...]}.")
    several = "batch" in read
    listed = read["batch"] if several else [read]
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_ASKED:
        raise Refusal(400, f"A batch is a list of 1 to {MOST_ASKED} questions.")
    for one in listed:
        if not isinstance(one, dict) or not isinstance(one.get("question"), str):
            raise Refusal(400, "A question is an object with a `question`, which is text, and `args`.")
        if not isinstance(one.get("args", {}), dict):
            raise Refusal(400, "`args` is an object.")
    return [(one["question"], one.get("args", {})) for one in listed], several


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _replies(desk: Desk, asked: list[tuple[Any, Any]], several: bool, zips: bool) -> tuple[bytes, bool]:
    """Return the reply to a request, and whether it is compressed."""
    found = []
    for question, args in asked:
        content, error = desk.reply(question, args)
        if error is not None and error.kind in ("broken", "fault"):
            LOGGER.warning(
                "%s: %s", visible(str(question)[:60], line_breaks=False), error.text, exc_info=error.__cause__
            )
        found.append(content)
    whole = b'{"batch":[%s]}' % b",".join(found) if several else found[0]
    if zips and len(whole) >= COMPRESSED:
        return gzip.compress(whole, 1), True
    return whole, False


def _line(request: Any, refused: Refusal) -> str:
    """Return what a refused request was; nothing in it looks like another line, or gives the token away."""
    host = visible(request.headers.get("host", "")[:80], line_breaks=False)
    origin = visible(request.headers.get("origin", "")[:80], line_breaks=False)
    who = f" from {origin}" if origin else ""
    return f"{request.method[:10]} to {host or 'nobody'}{who} refused: {refused.text}"
