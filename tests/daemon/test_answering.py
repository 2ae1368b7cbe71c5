"""The socket of the daemon: the same answers as alone, for the same user and version only, and a way out when it fails.

One daemon serves all tests; its models know a few words in two languages.
"""

from __future__ import annotations

import json
import logging
import os
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.api import Oracle
from oracle.app.context import Context
from oracle.app.queries import lookup
from oracle.app.search import models
from oracle.app.search.embedding import embed
from oracle.cli.main import run
from oracle.compat import memory_router
from oracle.daemon.answering import Answering
from oracle.daemon.stats import Attempts, Stats
from oracle.errors import DiskFailure, OracleError
from oracle.mcp import read_tools
from oracle.mcp.binding import Binding
from oracle.store.daemon import answer_socket, state
from oracle.store.delivery import inbox
from oracle.store.root.layout import Root
from tests.wake.stage import until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("numpy", reason="the semantic extra is not installed: it needs numpy")

CHECKOUT = Path(__file__).resolve().parents[2]
RECORDS = {
    "retries": "# Retries\n\nA webhook is sent again five times.\n\n## After\n\nThen it is parked.\n",
    "store": "# The store\n\nEverything is in postgres. We keep `src/store.py` for that.\n",
    "walls": "# Walls\n\nThe paint is blue, as SHOP-12 says.\n",
}
SEARCH = {"text": "webhook", "filters": {}, "limit": 3, "fresh": False, "strict": False, "lexical": False}
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")


def door(root: Root) -> Path:
    return Path(answer_socket.address(root))


def hears(root: Root) -> bool:
    try:
        answer_socket.ask(root, b"{}")
    except answer_socket.NoAnswer:
        return False
    return True


class Shared:
    """A Root with vectors, and its daemon."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.root = Root(str(folder / "memory"))
        self.process: subprocess.Popen[bytes] | None = None

    def put(self, name: str, text: str) -> Path:
        path = Path(self.root.path) / "projects/shop/builder" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *words, self.root.path], cwd=CHECKOUT, env={**os.environ, "HOME": str(self.home)}
        )
        until(lambda: hears(self.root), "it listens")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def say(self, data: bytes, *, ends: bool = True) -> dict[str, Any]:
        """Send raw bytes; return the reply, {} if the daemon hangs up."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(answer_socket.address(self.root))
            connection.sendall(data)
            if ends:
                connection.shutdown(socket.SHUT_WR)
            received = connection.makefile("rb").readline()
        return json.loads(received) if received else {}

    def request(self, **changed: object) -> bytes:
        whole = {"version": lookup.__version__, **lookup.world(Context.open(self.root.path)), "command": "search"}
        whole |= {"parameters": SEARCH}
        return json.dumps({**whole, **changed}).encode() + b"\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    from tests.daemon.modelled import give_models

    patch = give_models()
    made = Shared(tmp_path_factory.mktemp("answers"))
    with Oracle.open(made.root.path) as oracle:
        oracle.init()
        for name, text in RECORDS.items():
            made.put(name, text)
        embed(oracle)
    made.start("-m", "tests.daemon.modelled")
    yield made
    made.kill()
    patch.undo()


@pytest.fixture(autouse=True)
def environ(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(shared.home))
    monkeypatch.setenv("ORACLE_ROOT", shared.root.path)


def outcome(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Return the exit code, standard output and standard error of a call, the times in them left out."""
    code = run(words)
    said = capsys.readouterr()
    return code, TIMES.sub("<time>", said.out), TIMES.sub("<time>", said.err)


# The same answers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [(), ("--json",), ("--lang", "zh")])
@pytest.mark.parametrize(
    "words",
    [
        ("search", "再试"),
        ("search", "webhook", "--explain", "--limit", "2"),
        ("search", "webhook", "--lexical", "--project", "shop", "--seat", "builder"),
        ("search", "zeppelin", "--kind", "nonsense"),
        ("search", "webhook", "--project", "nowhere"),
        ("search", "webhook", "--project", "no/name"),
        ("search", "webhook", "--since", "yesterdayish"),
        ("ask", "--now", "How often is a webhook sent again?"),
        ("ask", "--now", "What do we know about SHOP-12?"),
        ("ask", "--now", "Is Svelte used?"),
        ("ask", "--now", "webhook?", "--project", "nowhere"),
        (
            "packet",
            "--role",
            "executor",
            "--goal",
            "Make webhooks retry",
            "--constraint",
            "No sleep",
            "--question",
            "?",
        ),
        ("packet", "--role", "nobody", "--goal", "x"),
    ],
)
def test_an_answer_of_the_daemon_is_the_same_byte_for_byte(
    words: tuple[str, ...], ending: tuple[str, ...], shared: Shared, capsys, monkeypatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(lookup, "_perform", None)  # it has to be the daemon's
        served = outcome(capsys, *words, *ending)
    monkeypatch.setattr(answer_socket, "is_off", lambda: True)
    meaning = () if "--lexical" in words else ("--meaning",)
    assert served == outcome(capsys, *words, *ending, *meaning)
    assert served[1] or served[2]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "再试"}),
        ("search", {"query": "webhook", "project": "nowhere"}),
        ("ask", {"question": "How often is a webhook sent again?"}),
        ("ask", {"question": "Is Svelte used?"}),
    ],
)
def test_a_tool_of_an_mcp_server_answers_by_the_daemon_as_alone(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any]
) -> None:
    def call() -> str:
        try:
            found = getattr(read_tools, tool)(Context.open(), Binding(shared.root.path), **arguments)
        except OracleError as error:
            return repr(error.as_json())
        return TIMES.sub("<time>", f"{found.text} {json.dumps(found.data)}")

    with monkeypatch.context() as patch:
        patch.setattr(lookup, "_perform", None)  # it has to be the daemon's
        served = call()
    monkeypatch.setattr(answer_socket, "is_off", lambda: True)
    assert served == call()


def test_a_packet_of_memory_router_is_that_of_the_daemon(shared: Shared, monkeypatch, capsys) -> None:
    words = ["route", "--input-json", json.dumps({"goal": "Make webhooks retry", "step_role": "executor"})]
    with monkeypatch.context() as patch:
        patch.setattr(lookup, "_perform", None)
        served = memory_router.main(words), capsys.readouterr()
    monkeypatch.setattr(answer_socket, "is_off", lambda: True)
    assert served == (memory_router.main(words), capsys.readouterr())


def test_a_search_by_the_daemon_imports_little(shared: Shared) -> None:
    code = "import sys; from oracle.cli.main import run; run(['search', 'webhook']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    heavy = (
        "typer rich polib dataclasses inspect sqlite3 numpy logging oracle.index oracle.domain.markdown tomllib".split()
    )
    assert [name for name in heavy if name in done.stdout.split()] == []


def test_a_query_by_the_daemon_sees_what_the_files_hold(shared: Shared, capsys) -> None:
    path = shared.put("fresh", "# Gannet\n\nThe gannet dives.\n")
    assert outcome(capsys, "search", "gannet")[0] == 0
    path.write_text("# Heron\n\nThe heron wades.\n", encoding="utf-8")
    assert outcome(capsys, "search", "heron", "--fresh")[0] == 0
    path.unlink()
    assert "Heron" not in outcome(capsys, "search", "heron")[1]


@pytest.mark.parametrize("keeps_mtime", [False, True])
def test_every_edit_in_place_is_found_at_once_however_many_follow_each_other(
    tmp_path: Path, monkeypatch, keeps_mtime: bool
) -> None:
    folder = tmp_path / "projects/shop/builder"
    folder.mkdir(parents=True)
    path = folder / "note.md"
    path.write_text("# walrus00\n", encoding="utf-8")
    os.utime(folder, (1e9, 1e9))  # an edit in place leaves the folder as it is
    served = Context.open(str(tmp_path))
    answering = Answering(served.root, lambda: served, Attempts(logging.getLogger("test"), Stats()), Stats())
    monkeypatch.setattr(answer_socket, "ask", lambda _, line: answering._served(line))
    missed = []
    for number in range(1, 20):
        word, before = f"walrus{number:02}", path.stat()
        path.write_text(f"# {word}\n", encoding="utf-8")
        if keeps_mtime:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        found = lookup._ask_daemon(Context.open(str(tmp_path)), "search", {**SEARCH, "text": word}).result
        missed += [] if found else [word]
    assert missed == []


def test_eight_clients_at_once_get_the_same_answer(shared: Shared) -> None:
    def ask(_: int) -> object:
        return lookup.find(Context.open(), "search", SEARCH, loads_models=False).result

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(ask, range(24))
    assert first
    assert all(one == first for one in others)


# Requests that are none -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "one line"),
        (b'{"half', "one line"),
        (b"x" * (answer_socket.MOST_REQUEST + 1), "one line"),
        (b"\n", "no JSON object"),
        (b"[1]\n", "no JSON object"),
        (b"\xff\xfe\n", "no JSON object"),
        (b"[" * 60_000 + b"\n", "no JSON object"),
        (b'{"version": "0"}\n', "has version"),
    ],
)
def test_a_bad_request_gets_one_error_and_the_daemon_goes_on(shared: Shared, data: bytes, reason: str) -> None:
    assert reason in shared.say(data)["refused"]
    assert shared.say(shared.request())["result"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"home": "/elsewhere"}, "another home"),
        ({"root": None}, "another Root"),
        ({"root": [1, 2]}, "another Root"),
        ({"registry": "/elsewhere"}, "another registry"),
        ({"command": "write"}, "names no command"),
        ({"command": ["search"]}, "names no command"),
        ({"parameters": []}, "names no command"),
        ({"parameters": {}}, "names no command"),
        ({"parameters": {**SEARCH, "more": 1}}, "names no command"),
        ({"parameters": {**SEARCH, "limit": "many"}}, "names no command"),
        ({"parameters": {**SEARCH, "limit": True}}, "names no command"),
        ({"parameters": {**SEARCH, "filters": {"project": 7}}}, "unexpected error"),
    ],
)
def test_a_request_for_something_else_is_refused(shared: Shared, changed: dict[str, object], reason: str) -> None:
    assert reason in shared.say(shared.request(**changed))["refused"]
    assert shared.say(shared.request())["result"]


def test_a_slow_client_holds_nobody_and_is_refused(shared: Shared) -> None:
    is_held = True
    for _ in range(3):  # a machine may need longer than the slow one has
        with socket.socket(socket.AF_UNIX) as slow:
            slow.connect(answer_socket.address(shared.root))
            slow.sendall(b'{"ver')
            assert shared.say(shared.request())["result"]
            is_held = is_held and bool(select.select([slow], [], [], 0)[0])
            slow.settimeout(20)
            assert b"did not end within 2 s" in slow.makefile("rb").readline()
    assert not is_held


# Others ---------------------------------------------------------------------------------------------------------------


def test_the_socket_is_for_its_user_alone(shared: Shared) -> None:
    path = door(shared.root)
    modes = [stat.S_IMODE(name.stat().st_mode) for name in (path.parent, path)]
    assert modes == [0o700, 0o600]


STRANGER = """
import os, socket, sys
os.chdir(sys.argv[1])  # the folders above let nobody else in
os.setuid(65534)
with socket.socket(socket.AF_UNIX) as connection:
    connection.settimeout(10)
    connection.connect(sys.argv[2])
    try:
        connection.sendall(sys.argv[3].encode())
        print("got", connection.recv(1000))
    except (BrokenPipeError, ConnectionResetError):
        print("got", b"")
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_the_daemon_hangs_up_on_another_user(shared: Shared) -> None:
    path = door(shared.root)
    path.chmod(0o666)
    path.parent.chmod(0o711)
    try:
        words = [sys.executable, "-c", STRANGER, str(path.parent), path.name, shared.request().decode()]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        path.chmod(0o600)
        path.parent.chmod(0o700)
    assert (done.stdout, done.stderr) == ("got b''\n", "")
    assert shared.say(shared.request())["result"]


def test_a_command_takes_no_answer_from_another_user(shared: Shared, capsys, monkeypatch) -> None:
    monkeypatch.setattr(answer_socket, "peer", lambda _: os.getuid() + 1)
    assert "no daemon answers" in outcome(capsys, "search", "webhook")[2]


def test_another_version_works_alone(shared: Shared, capsys, monkeypatch) -> None:
    monkeypatch.setattr(lookup, "__version__", "0.0")
    code, out, err = outcome(capsys, "search", "webhook")
    assert (code, "retries.md" in out) == (0, True)
    assert "the daemon runs another version: restart it with `oracle daemon stop; oracle daemon start`" in err


@pytest.mark.parametrize(
    "reply", [b"", b"7", b"{}", b'{"version": "0.0"}', b'{"version": 1, "result": {"\\u0000kind": "os:x"}}']
)
def test_a_reply_that_is_none_lets_the_command_work_alone(shared: Shared, capsys, monkeypatch, reply: bytes) -> None:
    monkeypatch.setattr(answer_socket, "ask", lambda *_: reply)
    code, _, err = outcome(capsys, "search", "webhook")
    assert code == 0
    assert "only words were searched" in err


def test_a_daemon_that_hangs_costs_no_more_than_the_bound(shared: Shared, capsys, monkeypatch) -> None:
    monkeypatch.setattr(answer_socket, "ANSWERS_WITHIN", 0.3)
    assert shared.process is not None
    shared.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(answer_socket.NoAnswer, match="oracle daemon status"):
            answer_socket.ask(shared.root, b"{}")
        assert 0.3 <= time.monotonic() - began < 10  # the daemon would never answer
        code, out, err = outcome(capsys, "search", "webhook")
    finally:
        shared.process.send_signal(signal.SIGCONT)
    assert (code, "retries.md" in out) == (0, True)
    assert "the daemon gave no answer" in err


def test_a_killed_daemon_leaves_a_socket_that_the_next_one_replaces(shared: Shared, capsys, tmp_path: Path) -> None:
    own = Shared(tmp_path)
    own.home = shared.home
    with Oracle.open(own.root.path) as oracle:
        oracle.init()
        own.put("retries", RECORDS["retries"])
    words = ("search", "webhook", "--memory-dir", own.root.path)
    own.start("-m", "oracle.daemon", "--memory-dir")
    own.kill()
    assert door(own.root).exists()
    with pytest.raises(answer_socket.NoAnswer, match="no daemon answers"):
        answer_socket.ask(own.root, b"{}")
    assert outcome(capsys, *words)[::2] == (0, "")
    own.start("-m", "oracle.daemon", "--memory-dir")
    assert own.say(own.request())["result"]
    assert own.process is not None
    own.process.terminate()
    assert own.process.wait(10) == 0
    assert not door(own.root).exists()


# Another Root, values that look like the protocol's ---------------------------------------------------------------------


@pytest.mark.parametrize("rest", ["gone", "empty", "new"])
def test_no_answer_comes_from_another_root_than_that_of_the_command(tmp_path: Path, monkeypatch, rest: str) -> None:
    """A daemon that was started for a folder has its socket in the Root, which gets another name with it."""
    old, new = tmp_path / "old", tmp_path / "new"

    def make(folder: Path, title: str) -> None:
        (folder / "projects/shop/builder").mkdir(parents=True)
        (folder / "projects/shop/builder/note.md").write_text(f"# {title}\n\nA webhook.\n", encoding="utf-8")

    make(old, "Mine")
    served = Context.open(str(old))
    monkeypatch.setattr(answer_socket, "ask", lambda _, line: lookup.serve(served, line))
    assert lookup._ask_daemon(Context.open(str(old)), "search", SEARCH).result[0].record.title == "Mine"
    served.close()
    old.rename(new)
    if rest != "gone":
        make(old, "Another") if rest == "new" else old.mkdir()
    with pytest.raises(answer_socket.NoAnswer, match="another Root"):
        lookup._ask_daemon(Context.open(str(new)), "search", SEARCH)
    found = lookup.find(Context.open(str(new)), "search", SEARCH, loads_models=False)
    assert [hit.record.title for hit in found.result] == ["Mine"]


@pytest.mark.parametrize("kind", [None, "", "object", "oracle.app.records.views:Hit", 7])
def test_a_fact_that_looks_like_the_protocol_is_answered_as_it_is(shared: Shared, kind: object) -> None:
    value = {"\0kind": kind, "said": "x", "items": [], "more": [{"\0kind": "", "n": [1]}]}
    path = Path(shared.root.path) / "machine" / "odd.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"thing": value}), encoding="utf-8")
    asked = {"question": "What is odd.thing?", "project": "", "seat": ""}
    try:
        reply = lookup._ask_daemon(Context.open(), "ask", asked).result
    finally:
        path.unlink()
    assert [json.loads(json.dumps(fact.as_json()["value"])) for fact in reply.facts] == [value]


# Alone ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [("search", "再试"), ("ask", "--now", "再试?"), ("packet", "--role", "critic", "--goal", "再试")]
)
def test_alone_only_words_are_searched_and_that_is_said(shared: Shared, capsys, monkeypatch, words) -> None:
    monkeypatch.setenv(answer_socket.SWITCH, "0")
    told = "only words were searched, as ORACLE_DAEMON_SOCKET is 0; or add --meaning"
    _, out, err = outcome(capsys, *words)
    assert err.startswith(f"note: {told}")
    assert "retries" not in out
    assert json.loads(outcome(capsys, *words, "--json")[1])["words_only"].startswith(told)
    code, out, err = outcome(capsys, *words, "--meaning", "--json")
    assert (code, err, "words_only" in out) == (0 if words[0] != "ask" else code, "", False)


@pytest.mark.parametrize(
    "words", [("search", "again"), ("ask", "--now", "again?"), ("packet", "--role", "critic", "--goal", "again")]
)
@pytest.mark.parametrize("lacking", ["vectors", "extra"])
def test_meaning_that_can_not_be_had_is_said_with_the_way_out(tmp_path, capsys, monkeypatch, words, lacking) -> None:
    monkeypatch.setenv("ORACLE_ROOT", str(tmp_path))
    note = tmp_path / "projects/shop/builder/note.md"
    note.parent.mkdir(parents=True)
    note.write_text("# Try again\n\nWe try again.\n", encoding="utf-8")
    if lacking == "extra":
        monkeypatch.setattr(models, "find_models", tuple)
    way_out = {"vectors": "`oracle index embed`", "extra": "pip install"}[lacking]
    _, _, err = outcome(capsys, *words, "--meaning")
    (told,) = (line for line in err.splitlines() if "only words were searched" in line)
    assert way_out in told
    assert way_out in json.loads(outcome(capsys, *words, "--meaning", "--json")[1])["words_only"]


def test_the_way_out_is_named(shared: Shared, capsys, monkeypatch) -> None:
    monkeypatch.setattr(answer_socket, "address", lambda root: f"{root.state}/none")
    assert "start one with `oracle daemon start`" in outcome(capsys, "search", "webhook")[2]
    assert outcome(capsys, "search", "webhook", "--lexical")[2] == ""
    assert outcome(capsys, "search", "webhook", "--lexical", "--meaning")[0] == 2
    assert outcome(capsys, "ask", "q", "--meaning", "--project", "shop", "--from", "builder")[0] == 2


# Where it lies --------------------------------------------------------------------------------------------------------


def test_a_root_with_a_long_path_has_a_short_address(tmp_path: Path) -> None:
    long = Root(str(tmp_path / ("x" * 60)))
    address = door(long)
    assert len(str(address)) <= 100
    assert not address.is_relative_to(long.path)
    assert address != door(Root(f"{long.path}y"))
    with closing(answer_socket.listen(long)):
        assert stat.S_IMODE(address.parent.stat().st_mode) == 0o700
        address.unlink()


@pytest.mark.parametrize("kind", ["file", "link", "open"])
def test_a_folder_that_is_not_private_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(answer_socket, "_LONGEST_ADDRESS", 4096)
    folder = root / "_state/run"
    folder.parent.mkdir()
    if kind == "file":
        folder.touch()
    elif kind == "link":
        folder.symlink_to(root)
    else:
        folder.mkdir(mode=0o755)
    with pytest.raises(DiskFailure, match="not a private folder"):
        answer_socket.listen(Root(str(root)))


def test_a_deleted_socket_is_opened_again(root: Path) -> None:
    made, stats = Root(str(root)), Stats()
    answering = Answering(made, lambda: Context.open(str(root)), Attempts(logging.Logger("none"), stats), stats)
    try:
        for _ in range(2):
            shutil.rmtree(made.state, ignore_errors=True)
            Path(made.state).mkdir()
            answering.keep()
            assert door(made).exists()
            assert b"no JSON object" in answer_socket.ask(made, b"[]")
    finally:
        answering.stop()
    assert not door(made).exists()
    assert not state.is_running(made)


def test_a_moment_without_threads_does_not_close_the_door(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, stats, start = Root(str(root)), Stats(), threading.Thread.start
    Path(made.state).mkdir(parents=True, exist_ok=True)
    answering = Answering(made, lambda: Context.open(str(root)), Attempts(logging.Logger("none"), stats), stats)

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "answers-client":
            raise RuntimeError("can't start new thread")
        start(thread)

    try:
        answering.keep()
        with monkeypatch.context() as none_left:
            none_left.setattr(threading.Thread, "start", refuse)
            for _ in range(100):  # more than the clients that are served at once
                with pytest.raises(answer_socket.NoAnswer):
                    answer_socket.ask(made, b"[]")
        assert b"no JSON object" in answer_socket.ask(made, b"[]")
    finally:
        answering.stop()


def test_socket_of_a_long_root_lies_apart_from_answers_that_are_kept(tmp_path: Path) -> None:
    """The hook takes anything in the folder of kept answers for one, and then imports the program at every turn."""
    address = answer_socket.address(Root(str(tmp_path / ("long" * 30))))
    assert not address.startswith(f"{inbox._folders()[-1]}/")
    assert len(os.fsencode(address)) <= answer_socket._LONGEST_ADDRESS


# What killed daemons leave --------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder in which the sockets of all Roots lie."""
    made = tmp_path / "s"
    monkeypatch.setattr(answer_socket, "address", lambda root: str(made / Path(root.path).name))
    return made


def bound(path: Path, *, kind: int = socket.SOCK_STREAM, listens: bool = False) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind(str(path))
    if listens:
        made.listen(1)
    return made


def test_a_start_removes_sockets_that_nobody_listens_on_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(mode=0o700)
    (folder / "file").write_text("kept")
    (folder / "link").symlink_to(tmp_path)
    (folder / "folder").mkdir()
    (folder / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("dead", "dead-too", "mine"):
        bound(folder / name).close()
    with (
        closing(bound(folder / "alive", listens=True)),
        closing(bound(folder / "busy", listens=True)) as busy,
        closing(bound(folder / "other", kind=socket.SOCK_DGRAM)),
    ):
        waiting = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(8)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(busy.getsockname())  # until its queue is full
        with closing(answer_socket.listen(Root(str(tmp_path / "mine")))):
            kept = ["alive", "busy", "dangling", "file", "folder", "link", "mine", "other"]
            assert sorted(path.name for path in folder.iterdir()) == kept
        for one in waiting:
            one.close()


def test_daemons_that_start_together_keep_each_others_sockets(folder: Path, tmp_path: Path) -> None:
    """A socket is bound for a moment before somebody listens on it, and looks dead."""
    folder.mkdir(mode=0o700)
    roots = [Root(str(tmp_path / f"r{number}")) for number in range(40)]
    for _ in range(5):
        with ThreadPoolExecutor(8) as pool:
            doors = list(pool.map(answer_socket.listen, roots))
        assert sorted(path.name for path in folder.iterdir()) == sorted(Path(root.path).name for root in roots)
        for one in doors:
            one.close()


def test_a_killed_daemon_of_a_root_with_a_long_path_leaves_nothing_for_long(tmp_path: Path) -> None:
    roots = [tmp_path / f"{'long' * 25}-{number}" for number in range(2)]
    processes = []
    try:
        for root in roots:
            with Oracle.open(str(root)) as oracle:
                oracle.init()
            words = ["daemon", "run", "--memory-dir", str(root)]
            code = "from oracle.cli.main import run; import sys; sys.exit(run())"
            with (tmp_path / "said").open("ab") as said:
                processes.append(subprocess.Popen([sys.executable, "-c", code, *words], cwd=CHECKOUT, stderr=said))
            until(lambda root=root: hears(Root(str(root))), "it answers")
            if root == roots[0]:
                processes[0].kill()
                processes[0].wait()
                assert door(Root(str(root))).exists()
        assert not door(Root(str(roots[0]))).exists()
        assert hears(Root(str(roots[1])))
        processes[1].terminate()
        processes[1].wait(60)
    finally:
        for process in processes:
            process.kill()
            process.wait()
