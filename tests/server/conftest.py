"""A house with two models, a log and an agent, and a server for it: one for all tests of a process."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import numpy as np
import pytest

from tripletree import TripleTree
from tripletree.demos import road
from tripletree.web.house import Beside, House
from tripletree.web.serving import prepare


def act(states):
    return np.where(states[:, 0] > 1.5, "0.001", "-0.001")


@pytest.fixture(scope="session")
def log():
    return road.record("either", n_samples=2_000)


@pytest.fixture(scope="session")
def tree(log):
    return TripleTree(60, theta=(0.2, 0.6, 0.2), threads=1).fit(log)


@pytest.fixture(scope="session")
def other(log):
    return TripleTree(20, theta=(1, 0, 0), threads=1).fit(log)


@pytest.fixture(scope="session")
def house(tree, other, log):
    found = House(tree, other, log, Beside(act, "two sides"), ("road.tripletree", "other.tripletree", "road.npz"))
    yield found
    found.close()


@pytest.fixture(scope="session")
def bare(tree):
    """A house with a model and nothing else."""
    found = House(tree)
    yield found
    found.close()


@pytest.fixture(scope="session")
def serving(tree, other, log):
    found = prepare(House(tree, other, log, Beside(act, "two sides")))
    thread = found.in_background()
    yield found
    found.stop()
    thread.join(20)
    assert not thread.is_alive()


class Client:
    """Sends requests as they are: no library makes them well-formed."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def send(self, method="GET", path=None, body=None, headers=None, host=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        connection.putrequest(method, self.path if path is None else path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", f"{self.host}:{self.port}" if host is None else host)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body is not None and "Content-Length" not in (headers or {}):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        found = response.status, dict(response.getheaders()), response.read()
        connection.close()
        return found

    def ask(self, question, **args):
        body = json.dumps({"question": question, "args": args}).encode()
        status, _, content = self.send("POST", f"{self.path}ask", body, {"Content-Type": "application/json"})
        assert status == 200
        return json.loads(content)


@pytest.fixture(scope="session")
def client(serving):
    return Client(serving.address)
