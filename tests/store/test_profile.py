"""Try reading and making profiles, and that no profile leads a write out of the Root's home."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import InvalidName, InvalidProfile, NoProfile, RecordExists, UsageError
from oracle.store.root import profile, projects
from oracle.store.root.layout import Root
from oracle.store.root.profile import REQUIRED

SEATS = ["memory", "planner", "builder-1", "reviewer"]


@pytest.fixture
def place(home: Path) -> Root:
    return Root(f"{home}/.agents/memory")


def write(place: Root, text: str, project: str = "demo") -> str:
    path = Path(place.profile_file(project))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def minimal(place: Root, **changes: str) -> str:
    lines = projects.render_profile(place, "demo", SEATS).splitlines()
    return "\n".join(changes.get(line.split(" = ")[0], line) for line in lines) + "\n"


def test_a_missing_profile_is_one_sentence_with_the_command_that_makes_it(place: Root) -> None:
    with pytest.raises(NoProfile) as caught:
        profile.load(place, "demo", {})
    assert caught.value.exit_code == 2
    assert "oracle project init demo --seats " in caught.value.hint


def test_what_init_writes_is_read_back(place: Root, home: Path) -> None:
    path = projects.init_profile(place, "demo", SEATS)
    found = profile.load(place, "demo", {})
    assert (found.path, found.project, found.seats) == (path, "demo", tuple(SEATS))
    assert found.tasks_root == place.task_tree("demo") == f"{home}/.agents/tasks/demo"
    assert found.handoff_dir == place.handoffs("demo")
    assert found.repo_root == f"{home}/demo"
    assert found.planners == ("planner",)
    assert found.role("builder-1") == "builder"
    assert (found.notes, found.is_multi_team) == ((), False)
    assert profile.projects(place) == ["demo"]
    with pytest.raises(RecordExists, match="was not changed"):
        projects.init_profile(place, "demo", SEATS)


def test_a_root_of_its_own_keeps_its_task_tree_inside(tmp_path: Path, home: Path) -> None:
    place = Root(f"{tmp_path}/kb")
    projects.init_profile(place, "demo", SEATS)
    found = profile.load(place, "demo", {"HOME": str(home)})
    assert (found.tasks_root, found.notes) == (f"{tmp_path}/kb/tasks/demo", ())
    assert found.repo_root == f"{home}/demo"
    write(place, minimal(Root(f"{home}/.agents/memory")))
    found = profile.load(place, "demo", {"HOME": str(home)})
    assert (found.tasks_root, found.handoff_dir) == (
        f"{tmp_path}/kb/tasks/demo",
        f"{tmp_path}/kb/tasks/demo/patrol/handoffs",
    )


@pytest.mark.parametrize("key", REQUIRED)
def test_each_required_key_is_named_when_it_is_missing_or_no_text(place: Root, key: str) -> None:
    write(place, minimal(place, **{key: ""}))
    with pytest.raises(InvalidProfile, match=rf"lacks {key}\."):
        profile.load(place, "demo", {})
    write(place, minimal(place, **{key: f"{key} = 5"}))
    with pytest.raises(InvalidProfile, match=rf"no text in {key}\."):
        profile.load(place, "demo", {})


@pytest.mark.parametrize(
    "text",
    ["= broken", "\0", "a = 1\na = 2", 'profile_name = "x"\n[[['],
)
def test_a_file_that_is_no_toml_is_an_error_with_a_sentence(place: Root, text: str) -> None:
    write(place, text)
    with pytest.raises(InvalidProfile, match="can't be read"):
        profile.load(place, "demo", {})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seats", 'seats = "memory"'),
        ("seats", "seats = [1]"),
        ("seats", 'seats = ["../x"]'),
        ("project_name", 'project_name = "../../x"'),
        ("repo_root", 'repo_root = "/x"\nheartbeat_transport = "pigeon"'),
        ("repo_root", 'repo_root = "/x"\nheartbeat_owner = 5'),
        ("[seat_roles]", "[seat_roles]\nx = 5"),
    ],
)
def test_a_value_that_can_not_be_used_is_named(place: Root, key: str, value: str) -> None:
    write(place, minimal(place, **{key: value}))
    with pytest.raises(InvalidProfile):
        profile.load(place, "demo", {})


@pytest.mark.parametrize("project", ["", "..", "../x", "a/b", "<X>"])
def test_an_odd_project_never_meets_a_path(place: Root, project: str) -> None:
    with pytest.raises(InvalidName):
        profile.load(place, project, {})
    with pytest.raises(InvalidName):
        projects.init_profile(place, project, SEATS)


def test_seats_may_be_absent_and_unknown_seats_are_refused(place: Root) -> None:
    write(place, minimal(place, seats=""))
    found = profile.load(place, "demo", {})
    assert found.seats == ()
    with pytest.raises(UsageError, match="has no seat stranger"):
        found.require_seat("stranger")


def test_home_names_and_variables_are_expanded(place: Root, home: Path) -> None:
    write(
        place,
        minimal(
            place,
            repo_root='repo_root = "{PLACE}/repo"',
            tasks_root='tasks_root = "~/work/../tasks"',
            handoff_dir='handoff_dir = "{AGENTS_ROOT}/h/$TEAM"',
            workspace_root='workspace_root = "{UNKNOWN}/w"',
        ),
    )
    found = profile.load(place, "demo", {"PLACE": "/srv", "TEAM": "red"})
    assert found.repo_root == "/srv/repo"
    assert found.tasks_root == f"{home}/tasks"
    assert found.handoff_dir == f"{home}/.agents/h/red"
    assert found.workspace_root.endswith("{UNKNOWN}/w")


@pytest.mark.parametrize("value", ["/etc/tasks", "~/../../tasks", "{UNKNOWN}/tasks", "~/link/tasks", "~"])
def test_a_place_outside_of_the_home_is_not_written_to(place: Root, home: Path, tmp_path: Path, value: str) -> None:
    (home / "link").symlink_to(tmp_path)
    write(place, minimal(place, tasks_root=f'tasks_root = "{value}"', handoff_dir=f'handoff_dir = "{value}"'))
    found = profile.load(place, "demo", {})
    assert found.tasks_root == place.task_tree("demo")
    assert found.handoff_dir == place.handoffs("demo")
    assert len(found.notes) == 2


def test_a_dynamic_roster_adds_the_seats_that_run(place: Root) -> None:
    for seat in ("builder-2", "bad name"):
        folder = Path(f"{place.sessions}/demo/{seat}")
        folder.mkdir(parents=True)
        (folder / "session.toml").write_text("session = 'x'\n")
    Path(f"{place.sessions}/demo/empty").mkdir()
    write(place, minimal(place) + '[dynamic_roster]\nenabled = true\nmaterialized_seats = ["patrol", "planner"]\n')
    found = profile.load(place, "demo", {})
    assert found.seats == ("koder", *SEATS, "patrol", "builder-2")
    assert len(found.notes) == 1


def test_a_profile_of_several_teams_is_recognised_and_read_for_seats(place: Root) -> None:
    write(place, minimal(place) + '[teams]\n[teams.red]\nseats = ["planner-2"]\n')
    found = profile.load(place, "demo", {})
    assert found.is_multi_team
    assert found.seats[-1] == "planner-2"
    assert found.planners == ("planner", "planner-2")
    write(place, 'team_structure = "multi"\n' + minimal(place))
    assert profile.load(place, "demo", {}).is_multi_team


@given(st.text(max_size=20).filter(lambda text: text.strip() and "\0" not in text and text.isprintable()))
def test_any_repository_path_survives_the_round_trip(repo: str) -> None:
    import tomllib

    place = Root("/nowhere/.agents/memory")
    assert tomllib.loads(projects.render_profile(place, "项目", ["memory"], repo_root=repo))["repo_root"] == repo


def test_a_seat_that_is_named_twice_is_refused(place: Root) -> None:
    with pytest.raises(UsageError, match="named twice: memory"):
        projects.init_profile(place, "demo", ["memory", "planner", "memory"])
    assert profile.projects(place) == []


FILES = ("tasks_doc", "status_doc", "project_doc")
FOLDERS = ("tasks_root", "handoff_dir")


@pytest.mark.parametrize("key", FILES)
@pytest.mark.parametrize(
    "value",
    ["~/.bashrc", "~/.ssh/authorized_keys", "~/notes.md", "~/.agents/x.md", "~/.agents/memory/index.json", "{REPO}/x"],
)
def test_a_file_of_the_team_lies_where_team_files_belong(place: Root, home: Path, key: str, value: str) -> None:
    write(place, minimal(place, **{key: f'{key} = "{value}"'}))
    found = profile.load(place, "demo", {"REPO": f"{home}/repo"})
    assert getattr(found, key) == f"{home}/.agents/tasks/demo/{key.partition('_')[0].upper()}.md"
    (note,) = found.notes
    assert f"which is not below {home}/.agents/tasks" in note


@pytest.mark.parametrize("key", FOLDERS)
@pytest.mark.parametrize("value", ["~/.ssh", "~/.config/autostart", "~/work/.git/hooks"])
def test_no_hidden_folder_of_the_home_holds_files_of_the_team(place: Root, key: str, value: str) -> None:
    write(place, minimal(place, **{key: f'{key} = "{value}"'}))
    found = profile.load(place, "demo", {})
    assert getattr(found, key) == {"tasks_root": place.task_tree("demo"), "handoff_dir": place.handoffs("demo")}[key]
    assert len(found.notes) == 1


@pytest.mark.parametrize("linked", [".agents", ".agents/tasks", ".", ".agents/workspaces"])
@pytest.mark.parametrize("named", ["link", "real"])
def test_folders_that_are_links_are_compared_by_what_they_are(
    home: Path, tmp_path: Path, linked: str, named: str
) -> None:
    """`~/.agents -> /data/agents` is the same place, however the profile names it."""
    home, real = home / "me", tmp_path / "data"
    real.mkdir()
    link = home if linked == "." else home / linked
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(real)
    place = Root(f"{home}/.agents/memory")
    text = projects.render_profile(place, "demo", SEATS)
    if named == "real":
        text = text.replace(f"~/{linked}/" if linked != "." else "~/", f"{real}/")
    write(place, text.replace(f"{real}/tasks/demo/TASKS.md", f"{real}/tasks/demo/TABLE.md"))
    found = profile.load(place, "demo", {})
    assert found.notes == ()
    assert found.tasks_root == f"{home}/.agents/tasks/demo"
    assert found.handoff_dir == f"{home}/.agents/tasks/demo/patrol/handoffs"
