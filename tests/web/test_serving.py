"""The server as a process: the address that it prints, live changes, clients that are slow, and its end."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.domain.records.drafts import Draft
from oracle.serving import CACHE_KIB, Workers
from oracle.web import live
from tests.web.server import CHECKOUT, START, Served
from tests.web.site import make_team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.app.squad import Squad


def next_event(stream: http.client.HTTPResponse) -> dict[str, str]:
    """Return the fields of the next event."""
    fields: dict[str, str] = {}
    while True:
        line = stream.readline().decode().rstrip()
        if line and not line.startswith(":"):
            name, _, content = line.partition(": ")
            fields[name] = content
        elif "event" in fields:
            return fields


@pytest.fixture(scope="module")
def squad(tmp_path_factory: pytest.TempPathFactory) -> Squad:
    return make_team(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def served(squad: Squad) -> Iterator[Served]:
    """Give a server that the tests of this module share."""
    made = Served(squad.path)
    yield made
    assert made.end() == 0


def write(squad: Squad, title: str) -> None:
    squad.oracle.write(Draft("decision", "demo", title, body=f"{title}."))


def test_it_listens_on_this_machine_alone(served: Served):
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {
        row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == served.port
    }
    assert listening == {"0100007F"}


def test_a_page_hears_of_changes_at_most_once_a_second(served: Served, squad: Squad):
    stream = served.listen(served.state())
    write(squad, "The first of many")
    assert next_event(stream)["event"] == "change"
    began, heard = time.monotonic(), 0
    for number in range(30):
        write(squad, f"Burst {number}")
        time.sleep(0.05)
    while heard < 2:
        write(squad, f"Later {heard}")  # without a change no event comes
        if next_event(stream)["event"] == "change":
            heard += 1
    assert heard <= (time.monotonic() - began) / live.INTERVAL + 1
    stream.close()


def test_who_comes_back_hears_what_was_missed(served: Served, squad: Squad):
    stream = served.listen(served.state())
    write(squad, "Before the break")
    last = next_event(stream)["id"]
    stream.close()
    write(squad, "During the break")
    again = served.listen("ignored", **{"Last-Event-ID": last})
    found = next_event(again)
    assert (found["event"], found["id"] != last) == ("change", True)
    again.close()


def test_more_pages_than_may_listen_are_refused_and_others_are_served(served: Served):
    streams = [served.listen("none") for _ in range(live.MOST_STREAMS + 20)]
    codes = [stream.status for stream in streams]
    assert set(codes) == {200, 503}
    assert codes.count(200) <= live.MOST_STREAMS
    assert served.request("/").status == 200
    for stream in streams:
        stream.close()


def test_clients_that_do_not_read_hold_up_nobody(served: Served):
    slow = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(40)]
    for number, connection in enumerate(slow):
        head = f"GET /search?q=webhooks HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nCookie: {served.cookie}\r\n"
        connection.sendall((head + ("\r\n" if number % 2 else "X-Half: ")).encode())
    began = time.monotonic()
    assert served.request("/decisions").status == 200
    assert time.monotonic() - began < 10
    for connection in slow:
        connection.close()


def test_what_threads_keep_of_the_index_is_small(squad: Squad):
    """Each has a connection of its own. With the pages that one keeps by default a server grew for hours."""
    workers = Workers(str(squad.path))
    ((pages,), _) = workers.with_context(
        lambda context: context.index.read(lambda connection: connection.execute("PRAGMA cache_size").fetchone())
    )
    workers.close()
    assert -CACHE_KIB == pages >= -2048


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--port", "99999"], "Invalid port 99999."),
        (["--host", "no.such.host.invalid"], "is not an address of this machine"),
        (["--host", "192.0.2.1"], "Cannot listen on port"),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_said(squad: Squad, words: list[str], sentence: str):
    command = [sys.executable, "-c", START, "web", "--memory-dir", str(squad.path), "--port", "0", *words]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr


def test_without_a_root_there_are_no_pages(tmp_path: Path):
    command = [sys.executable, "-c", START, "web", "--memory-dir", str(tmp_path / "none"), "--port", "0"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("missing", ["starlette", "jinja2", "sse_starlette", "uvicorn", "nh3", "markdown_it"])
def test_without_the_extra_a_sentence_says_what_to_install(squad: Squad, missing: str):
    hide = f"import sys; sys.modules[{missing!r}] = None; "
    command = [sys.executable, "-c", hide + START, "web", "--memory-dir", str(squad.path), "--port", "0"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2, done.stderr
    assert missing in done.stderr
    assert "memory-oracle[web]" in done.stderr
