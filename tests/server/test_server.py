"""Who is let in, what is refused and how, and that the server goes on."""

from __future__ import annotations

import gzip
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading

import pytest

from tripletree.errors import ParameterError
from tripletree.web.house import House
from tripletree.web.server import LARGEST_BODY, MOST_ASKED, Door
from tripletree.web.serving import prepare

JSON = {"Content-Type": "application/json"}
STATE = [1.2, 0.03]


def question(name="explain", **args):
    return json.dumps({"question": name, "args": args or {"state": STATE}}).encode()


def test_page_and_its_files_come_with_a_strict_policy(client):
    status, headers, content = client.send()
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    page = content.decode()
    assert "<style" not in page
    assert "style=" not in page
    names = re.findall(r'(?:src|href)="(static/[^"]+)"', page)
    assert {"static/serve.js", "static/explore.css"} <= set(names)
    for name in names:
        status, headers, _ = client.send(path=f"{client.path}{name}")
        assert status == 200
        assert headers["content-type"].startswith(("text/javascript", "text/css"))


REFUSED = {
    "forged host": (403, {"host": "evil.example"}),
    "forged host with the port": (403, {"host": "evil.example:{port}"}),
    "no host": (403, {"host": ""}),
    "foreign origin": (403, {"headers": {**JSON, "Origin": "http://evil.example"}}),
    "origin of another port": (403, {"headers": {**JSON, "Origin": "http://127.0.0.1:1"}}),
    "opaque origin": (403, {"headers": {**JSON, "Origin": "null"}}),
    "from another page": (403, {"headers": {**JSON, "Sec-Fetch-Site": "cross-site"}}),
    "without the token": (403, {"path": "/ask"}),
    "a wrong token": (403, {"path": "/{wrong}/ask"}),
    "half a token": (403, {"path": "/{half}/ask"}),
    "no slash after the token": (404, {"path": "/{token}"}),
    "another path": (404, {"path": "{path}asks"}),
    "a path upwards": (404, {"path": "{path}static/../../../../../../etc/passwd", "method": "GET"}),
    "an encoded path upwards": (404, {"path": "{path}static/%2e%2e/%2e%2e/payload.py", "method": "GET"}),
    "an encoded slash": (404, {"path": "{path}static/..%2f__init__.py", "method": "GET"}),
    "an absolute path": (404, {"path": "{path}static//etc/passwd", "method": "GET"}),
    "a file that is no page's": (404, {"path": "{path}static/__init__.py", "method": "GET"}),
    "a folder": (404, {"path": "{path}static/", "method": "GET"}),
    "a null byte": (404, {"path": "{path}static/serve.js%00", "method": "GET"}),
    "asking by address": (405, {"method": "GET"}),
    "deleting": (405, {"method": "DELETE"}),
    "writing a file": (405, {"path": "{path}static/serve.js", "method": "PUT"}),
    "a form": (415, {"headers": {"Content-Type": "application/x-www-form-urlencoded"}}),
    "plain text": (415, {"headers": {"Content-Type": "text/plain"}}),
    "no type": (415, {"headers": {}}),
    "no JSON": (400, {"body": b"{"}),
    "nothing": (400, {"body": b""}),
    "no text": (400, {"body": b"\xff\xfe"}),
    "a list": (400, {"body": b"[]"}),
    "no question": (400, {"body": b"{}"}),
    "a number for a question": (400, {"body": b'{"question": 3}'}),
    "arguments in a list": (400, {"body": b'{"question": "hello", "args": []}'}),
    "NaN": (400, {"body": b'{"question": "explain", "args": {"state": [NaN, 1]}}'}),
    "infinity": (400, {"body": b'{"question": "explain", "args": {"state": [Infinity, 1]}}'}),
    "nested too deeply": (400, {"body": b"[" * 200_000}),
    "an empty batch": (400, {"body": b'{"batch": []}'}),
    "a large batch": (400, {"body": json.dumps({"batch": [{"question": "hello"}] * (MOST_ASKED + 1)}).encode()}),
    "too large": (413, {"body": b" " * (LARGEST_BODY + 1)}),
    "said to be too large": (413, {"headers": {**JSON, "Content-Length": str(10**9)}, "body": b""}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_line_in_the_log_and_goes_on(client, serving, case, caplog):
    status, how = REFUSED[case]
    token = client.path.strip("/")
    fill = {"port": client.port, "path": client.path, "token": token, "wrong": "x" * len(token), "half": token[:9]}
    how = {"method": "POST", "body": question(), "headers": JSON, "path": "{path}ask", **how}
    for name in ("path", "host"):
        if how.get(name):
            how[name] = how[name].format(**fill)
    if how["method"] == "GET":
        how |= {"body": None, "headers": {}}
    with caplog.at_level(logging.WARNING, "tripletree.web"):
        found, _, content = client.send(**how)
    assert found == status
    assert json.loads(content)["error"]["text"]
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith(str(status))
    assert token not in line
    assert "\n" not in line
    assert client.ask("explain", state=STATE)["answer"]["text"].startswith("Action")


def test_names_of_the_server(client):
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        assert client.send(host=f"{name}:{client.port}")[0] == 200
    assert client.send(headers={"Origin": f"http://127.0.0.1:{client.port}", "Sec-Fetch-Site": "same-origin"})[0] == 200


def test_all_addresses_of_a_machine_are_its_names_only_if_asked_for():
    hosts = frozenset({"127.0.0.1:80"})
    assert not Door("t", hosts).knows("192.168.0.7:80")
    assert Door("t", hosts, anywhere=True).knows("192.168.0.7:80")
    assert Door("t", hosts, anywhere=True).knows("[fe80::1]:80")
    assert not Door("t", hosts, anywhere=True).knows("192.168.0.7:81")
    assert not Door("t", hosts, anywhere=True).knows("evil.example:80")


def test_two_hosts_are_refused(client):
    with socket.create_connection((client.host, client.port), 20) as raw:
        hosts = f"Host: {client.host}:{client.port}\r\nHost: evil"
        raw.sendall(f"GET {client.path} HTTP/1.1\r\n{hosts}\r\nConnection: close\r\n\r\n".encode())
        assert b" 40" in raw.recv(200)
    assert client.send()[0] == 200


def test_chunks_without_an_end_are_cut_off(client):
    with socket.create_connection((client.host, client.port), 20) as raw:
        head = (
            f"POST {client.path}ask HTTP/1.1\r\nHost: {client.host}:{client.port}\r\nContent-Type: application/json\r\n"
        )
        raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        part = b"%x\r\n%s\r\n" % (2**18, b" " * 2**18)
        try:
            for _ in range(8):
                raw.sendall(part)
            found = raw.recv(300)
        except OSError:  # it does not even listen any more
            found = b"413"
    assert b"413" in found
    assert client.send()[0] == 200


def test_a_mistake_is_an_answer_and_not_a_broken_request(client):
    found = client.ask("explain", state=[1.0])
    assert found["error"]["kind"] == "mistake"
    assert "2 features" in found["error"]["text"]
    found = client.ask("explain", stat=[1.0, 2.0])
    assert found["error"]["kind"] == "broken"
    assert "Did you mean `state`?" in found["error"]["text"]
    assert "Did you mean" in client.ask("explian")["error"]["text"]


def test_several_questions_at_once(client):
    several = [{"question": "predict", "args": {"state": STATE}}, {"question": "nothing"}, {"question": "hello"}]
    status, _, content = client.send("POST", f"{client.path}ask", json.dumps({"batch": several}).encode(), JSON)
    assert status == 200
    first, second, third = json.loads(content)["batch"]
    assert first["answer"]["text"].startswith("Action")
    assert second["error"]["kind"] == "broken"
    assert third["answer"]["protocol"] == 1


def test_large_answers_are_compressed_for_those_who_ask(client):
    body = question("tree", model="a")
    _, headers, plain = client.send("POST", f"{client.path}ask", body, JSON)
    assert "content-encoding" not in headers
    _, headers, packed = client.send("POST", f"{client.path}ask", body, {**JSON, "Accept-Encoding": "gzip"})
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 2


def test_many_at_a_time(client):
    """Eight clients with fifty questions each: every answer is that of its own question, on both models."""
    wrong: list[str] = []

    def asks(number):
        for k in range(50):
            state, model = [0.1 + 2.8 * ((7 * number + k) % 50) / 50, 0.02], "ab"[k % 2]
            answer = client.ask("explain", model=model, state=state)["answer"]
            if answer["data"]["state"] != state or ("tree2" in answer["python"]) != (model == "b"):
                wrong.append(answer["text"])

    threads = [threading.Thread(target=asks, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_two_servers_are_kept_apart(client, other):
    second = prepare(House(other))
    thread = second.in_background()
    try:
        theirs = type(client)(second.address)
        assert theirs.port != client.port
        assert theirs.path != client.path
        assert theirs.ask("hello")["answer"]["models"][0]["leaves"] == other.n_leaves_
        assert client.ask("hello")["answer"]["models"][0]["leaves"] != other.n_leaves_
        assert theirs.send(path=client.path)[0] == 403
    finally:
        second.stop()
        thread.join(20)
    assert not thread.is_alive()


def test_a_port_in_use_is_said_plainly(client, tree):
    with pytest.raises(ParameterError, match=f"Port {client.port} is in use, maybe by another explorer"):
        prepare(House(tree), client.port)
    with pytest.raises(ParameterError, match="host is no address of this machine"):
        prepare(House(tree), 0, "no.such.name.invalid")
    with pytest.raises(ParameterError, match="port must be"):
        prepare(House(tree), 70_000)


def test_a_browser_that_is_closed_while_it_waits_disturbs_nobody(client, serving):
    body = json.dumps({"question": "facts", "args": {"model": "a/51"}}).encode()
    for sent in (body, body[:20]):
        with socket.create_connection((client.host, client.port)) as gone:
            head = (
                f"POST {client.path}ask HTTP/1.1\r\nHost: {client.host}:{client.port}\r\nContent-Type: application/json"
            )
            gone.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + sent)
    assert client.ask("hello")["answer"]["protocol"] == 1


def test_letting_others_in_is_warned_of(tree, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from tripletree.cli import main
    from tripletree.web.serving import Serving

    monkeypatch.setattr(Serving, "run", lambda serving: serving._socket.close())
    tree.save(tmp_path / "road.tripletree")
    words = ["explore", str(tmp_path / "road.tripletree"), "--no-browser"]
    found = CliRunner().invoke(main, [*words, "--host", "0.0.0.0"], env={"COLUMNS": "300"})
    assert found.exit_code == 0
    assert "The server listens on 0.0.0.0: whoever reaches this machine" in found.output
    assert "not encrypted" in found.output
    assert "listens on" not in CliRunner().invoke(main, words).output


def test_command_serves_until_ctrl_c(tree, log, tmp_path):
    tree.save(tmp_path / "road.tripletree")
    log.to_npz(tmp_path / "road.npz")
    words = ["explore", "road.tripletree", "--log", "road.npz", "--env", "either", "--no-browser"]
    program = subprocess.Popen(
        [sys.executable, "-m", "tripletree", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "300"},
    )
    try:
        line = program.stdout.readline()
        assert line.startswith("Open http://127.0.0.1:")
        from tests.server.conftest import Client

        found = Client(line.split()[1])
        hello = found.ask("hello")["answer"]
        assert hello["can"]["agent"]
        assert hello["models"][0]["log"]["steps"] == log.n_samples
        assert found.send(path="/")[0] == 403
        program.send_signal(signal.SIGINT)
        rest, notes = program.communicate(timeout=60)
    finally:
        program.kill()
    assert program.returncode == 0
    assert rest == ""
    assert "403 GET to" in notes
    assert notes.rstrip().endswith("Stopped.")
    assert "Traceback" not in notes
