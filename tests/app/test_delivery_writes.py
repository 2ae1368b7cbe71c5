"""What delivery writes: the task tree beside the Root, the Root's own places, and nothing else (Law 2)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from oracle.app.delivery.acknowledge import audit_closeout
from oracle.app.delivery.panes import Notice, notify
from oracle.app.journal import events
from tests.app.squad import Squad
from tests.laws.recorder import recording

ALLOWED = re.compile(
    r"(memory/(responses|_state)(/.*)?|memory/events\.log"
    r"|tasks(/demo)?"
    r"|tasks/demo/(TASKS|STATUS)\.md(\.lock)?"
    r"|tasks/demo/[a-z]+(/(TODO|DELIVERY)\.md(\.lock)?)?"
    r"|tasks/demo/patrol/handoffs(/(notices/)?[^/]+\.json(\.(claim|consumed|superseded-[0-9a-f]{12}))?)?"
    r"|tasks/demo/patrol/handoffs/(\.receipts\.lock|notices)"
    r"|tasks/demo/(.*/)?\.new-[0-9a-f]+\.\d+\.\d+)"
)


def use_everything(squad: Squad) -> None:
    squad.ask("Q-1")
    squad.deliver("Q-1")
    squad.deliver("Q-1", answer="C.", supersedes=True)
    squad.ask("T1", target="builder")
    squad.complete("T1", commit="abc1234")
    squad.ack("T1")
    squad.complete("T1", commit="def5678")
    squad.complete("T1", source="planner", target="memory")
    notify(squad.oracle, Notice("demo", "planner", "builder", "look", task_id="T1"))
    squad.recorder.away = {"memory"}
    squad.ask("Q-2")
    squad.oracle.resume()
    for read in (squad.oracle.handoffs, lambda: events(squad.oracle), lambda: squad.oracle.handoff("T1")):
        assert read()
    squad.verify("T1", "builder", "planner")
    audit_closeout(squad.oracle, "demo", "T1")


def test_nothing_is_written_elsewhere(squad: Squad, tmp_path: Path):
    with recording() as acts:
        use_everything(squad)
    agents = squad.home / ".agents"
    paths = {Path(act.path) for act in acts} - {squad.recorder.path, Path(os.devnull)}
    names = sorted(path.relative_to(agents).as_posix() if path.is_relative_to(agents) else str(path) for path in paths)
    assert [name for name in names if not ALLOWED.fullmatch(name)] == []
    assert len(names) > 20
    assert not (tmp_path / "repo").exists()


def test_profile_that_leads_elsewhere_is_not_followed(squad: Squad, tmp_path: Path):
    away = tmp_path / "away"
    text = Path(squad.profile).read_text(encoding="utf-8")
    for key in ("tasks_root", "tasks_doc", "status_doc", "handoff_dir"):
        text = re.sub(rf'^{key} = ".*"$', f'{key} = "{away}/{key}"', text, flags=re.MULTILINE)
    planted = tmp_path / "planted"
    text = re.sub(r'^send_script = ".*"$', f'send_script = "touch {planted}"', text, flags=re.MULTILINE)
    Path(squad.profile).write_text(text, encoding="utf-8")
    squad.ask("Q-1")
    squad.deliver("Q-1")
    assert not away.exists()
    assert not planted.exists()
    assert "Q-1__memory__planner.json" in squad.receipts()
    assert any("outside of" in line for line in squad.warnings)


def test_link_in_the_place_of_a_seat_s_folder_leads_nowhere(squad: Squad, tmp_path: Path):
    """Receipts and responses are created by link or rename, which replace a link and never follow it."""
    victim = tmp_path / "victim.json"
    victim.write_text("kept", encoding="utf-8")
    (squad.path / "responses").mkdir(exist_ok=True)
    (squad.path / "responses" / "Q-1.json").symlink_to(victim)
    squad.ask("Q-1", notifies=False)
    try:
        squad.deliver("Q-1", supersedes=True)
    finally:
        assert victim.read_text(encoding="utf-8") == "kept"
