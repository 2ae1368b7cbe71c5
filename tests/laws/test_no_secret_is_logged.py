"""A made-up credential in every text that a daemon or a command reads: none is in what it logs of its work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.app.squad import Squad
from tests.cli import transcript
from tests.daemon.running import ASKED, UNKNOWN, Served
from tests.scan.made_up import Fakes

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.close()


def lay_out(served: Served, fake: Fakes) -> None:
    """Put records as seats write them into their own folders, whole and broken ones, and responses that are none."""
    folder = "projects/demo/builder"
    head = f"---\ntitle: Key {fake('title')}\ntask_id: {fake('task')}\nauthor: {fake('author')}\ntags: [{fake('tag')}]\n---\n"
    served.put(
        f"{folder}/whole.md", f"{head}\nWe chose {fake('body')}, see [[{fake('link')}]] and `{fake('path')}.py`.\n"
    )
    served.put(f"{folder}/broken.md", f"---\ntitle: [{fake('open')}\n  x: {{{fake('brace')}: -\n{fake('no-end')}\n")
    served.put(f"{folder}/times.md", f"---\nts: {fake('time')}\nsupersedes: {fake('gone')}\n---\n{fake('text')}\n")
    served.put(f"{folder}/broken.json", f'{{"title": "{fake("json")}", ')
    served.put(f"{folder}/bytes.md", f"{fake('before')}\udcff".encode("utf-8", "surrogateescape").decode("latin-1"))
    served.put("responses/Q-8.json", f'{{"answer": "{fake("torn")}"')
    served.put("responses/Q-9.json", json.dumps({"answer": [fake("odd")], "claims": fake("claims")}))
    served.put("machine/privacy.md", f"BLOCK: {fake('rule')}\n")
    served.put("link-patterns.toml", f'task_prefixes = ["{fake("prefix")} x"]\n')


def drop(served: Served, task_id: str, fields: object) -> None:
    """Put a receipt into the handoff folder as a foreign program does, which asks no guard."""
    folder = served.squad.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{task_id}__planner__memory.json").write_text(
        fields if isinstance(fields, str) else json.dumps(fields), encoding="utf-8"
    )


def question(task_id: str, objective: str, **more: object) -> dict[str, object]:
    ends = {"task_id": task_id, "source": "planner", "target": "memory", "project": "demo"}
    return {**ends, "kind": "dispatch", "type": "query", "objective": objective, **more}


def logged(served: Served) -> dict[str, str]:
    """Return what the daemon said and noted down, by name: all but the index and the packets, which quote records."""
    noted = [path for path in Path(served.root.path, "_state").rglob("*") if ".db" not in path.name]
    files = [served.said, Path(served.root.events), *(path for path in noted if not path.name.startswith("packet-"))]
    return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file()}


def test_no_credential_is_in_what_a_daemon_logs(served: Served) -> None:
    fake = Fakes()
    lay_out(served, fake)
    served.fault("bad-Q-4", f"could not use {fake('unforeseen')}")
    served.start()
    drop(served, "Q-1", question("Q-1", f"{ASKED} {fake('question')}", notes=fake("notes"), title=fake("asked")))
    drop(served, "Q-2", question("Q-2", f"{UNKNOWN} {fake('unknown')}"))
    drop(served, "Q-3", f'{{"task_id": "Q-3", "objective": "{fake("torn-question")}"')
    drop(served, "Q-4", question("Q-4", fake("failing")))
    drop(served, "Q-5", question("Q-5", "", kind=fake("kind"), reply_to=fake("reply"), status=[fake("status")]))
    served.until_said("Q-4", "given up after 5 tries")
    served.put("projects/demo/builder/later.md", f"# {fake('later')}\n")
    served.until(lambda: served.knows("projects/demo/builder/later.md"), "what came later is known")
    served.ask("Q-6", ASKED)
    served.until(lambda: served.is_answered("Q-6"), "the last question is answered")
    assert served.stop() == 0
    logs = logged(served)
    assert "Q-4" in logs["daemon.log"]
    assert "could not use [REDACTED:" in logs["daemon.log"]
    assert len(fake.values) > 25
    assert [(name, value) for name, text in logs.items() for value in fake.values if value in text] == []


def test_no_credential_is_in_the_log_of_a_command_that_nobody_foresaw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fakes()
    squad = Squad(tmp_path)
    squad.oracle.init()

    def fail(*_: object, **__: object) -> None:
        raise ValueError(f"could not use {fake('unforeseen')}\n{fake('second-line')}")

    monkeypatch.setattr("oracle.app.delivery.handoffs.list_all", fail)
    code, out, err = transcript.call(["handoffs", "--memory-dir", str(squad.path)], monkeypatch)
    log = Path(squad.oracle.root.log).read_text(encoding="utf-8")
    assert code == 70
    assert "could not use [REDACTED:" in log
    assert "could not use [REDACTED:" in err
    assert [value for value in fake.values if value in log + out + err] == []
