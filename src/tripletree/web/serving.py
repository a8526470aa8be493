"""Serving: a socket of this machine, the address to open, and the end on Ctrl-C."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from dataclasses import dataclass
from typing import Any

from tripletree.checks import check_whole
from tripletree.errors import MissingDependencyError, ParameterError
from tripletree.text import Message, Option
from tripletree.web.ask import Desk
from tripletree.web.house import House
from tripletree.web.server import Door, application, new_token
from tripletree.writing import reason

LOOPBACK = "127.0.0.1"
PATIENCE = 2
"""Seconds that open requests have when the server is asked to end."""


@dataclass(eq=False)
class Serving:
    """A server that is ready: :meth:`run` answers until it is stopped.

    Attributes
    ----------
    address : str
        What to open in a browser.
    """

    address: str
    desk: Desk
    _server: Any
    _socket: socket.socket

    def run(self) -> None:
        """Answer until somebody presses Ctrl-C, or another thread calls :meth:`stop`."""
        # A browser takes its time to start: until it asks, what every page asks first is worked out.
        first = threading.Thread(target=self.desk.reply, args=("tree", {"model": "a"}), daemon=True)
        first.start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self.desk.house.close()

    def stop(self) -> None:
        """End :meth:`run`."""
        self._server.should_exit = True

    def in_background(self) -> threading.Thread:
        """Answer in a thread of its own, and return it when the server is listening."""
        thread = threading.Thread(target=self.run, name="tripletree-server", daemon=True)
        thread.start()
        return thread


def prepare(house: House, port: int = 0, host: str = LOOPBACK) -> Serving:
    """Return a server for a house, whose socket is open already.

    Parameters
    ----------
    house : House
        What is asked about.
    port : int
        The port; 0: one that is free.
    host : str
        The address to listen on: this machine only, unless somebody says otherwise.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise MissingDependencyError(
            "The explorer's server needs starlette and uvicorn. Type: pip install 'tripletree[explore]'"
        ) from error
    check_whole(port, "port", 0, 65_535, 0)
    listener = _listen(host, int(port))
    number = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    anywhere = host in ("", "0.0.0.0", "::")  # noqa: S104 - asked for by name, and warned of
    names = {LOOPBACK, "localhost", "[::1]", shown.lower()}
    if anywhere:
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    door = Door(new_token(), frozenset(f"{name}:{number}" for name in names), anywhere)
    desk = Desk(house)
    config = uvicorn.Config(
        application(desk, door),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        ws="none",
        timeout_keep_alive=60,
        timeout_graceful_shutdown=PATIENCE,
        limit_concurrency=500,
    )
    # Its lines about starting and stopping say nothing that ours do not.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    reached = LOOPBACK if anywhere else shown
    return Serving(f"http://{reached}:{number}/{door.token}/", desk, uvicorn.Server(config), listener)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; or say why there is none."""
    try:
        family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise ParameterError(Message("{} is no address of this machine: {}.", Option("host"), reason(error))) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            text = "Port {} is in use, maybe by another explorer. Leave out {} for a free one, or give another."
            raise ParameterError(Message(text, port, Option("port"))) from error
        raise ParameterError(
            Message("The server cannot listen on {} port {}: {}. Try {}.", host, port, reason(error), Option("port", 0))
        ) from error
    return listener
