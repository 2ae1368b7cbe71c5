"""The scan of a repository: what it says of each ecosystem, what it leaves alone, and what it writes."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from oracle.api import Oracle
from oracle.app.scans import project
from oracle.compat import query_memory, scan_project
from oracle.errors import InvalidName, NotFound, UsageError
from oracle.scan.project import DEPTHS, scan
from oracle.scan.walk import walk
from tests.scan import repositories as repos
from tests.scan.made_up import Fakes


def has(found: Any, expected: Any) -> bool:
    """Tell whether what was found holds what is expected: keys of mappings, everything else as it is."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(key in found and has(found[key], item) for key, item in expected.items())
    return bool(found == expected)


EXPECTED: dict[str, dict[str, Any]] = {
    "python": {
        "dev_env": {
            "name": "arena",
            "version": "1.2",
            "primary_language": "Python",
            "package_managers": ["uv"],
            "frameworks": ["fastapi"],
        },
        "runtime": {
            "versions": {"python": "3.12"},
            "build_systems": ["hatchling.build"],
            "dependencies": {"python": {"fastapi": ">=0.110", "x": "https://git.example/x.git"}},
            "entry_points": {"arena": "arena.cli:main"},
        },
        "tests": {"frameworks": ["pytest", "unittest"], "folders": ["tests"], "file_count": 1},
        "lint": {"hooks": ["ruff", "mypy"], "type_checkers": ["mypy"], "tools": {"ruff": ["pyproject.toml"]}},
    },
    "old_python": {
        "dev_env": {"name": "old", "package_managers": ["pip"]},
        "runtime": {
            "versions": {"python": "3.10"},
            "dependencies": {"python": {"flask": "", "rich": "*", "six": ""}},
        },
        "tests": {"frameworks": ["pytest", "tox"]},
        "lint": {"tools": {"flake8": ["setup.cfg"]}},
    },
    "node": {
        "dev_env": {
            "name": "@arena/web",
            "primary_language": "TypeScript",
            "package_managers": ["pnpm"],
            "frameworks": ["react"],
        },
        "runtime": {"versions": {"node": ">=20", "pnpm": "9.1.0"}, "entry_points": {"web": "bin/web.js"}},
        "tests": {"frameworks": ["playwright", "vitest"], "commands": {"test": "vitest run"}, "file_count": 1},
        "lint": {"type_checkers": ["typescript"], "commands": {"lint": "eslint ."}},
    },
    "go": {
        "dev_env": {"name": "example.org/arena", "primary_language": "Go", "package_managers": ["go"]},
        "runtime": {
            "versions": {"go": "1.23", "toolchain": "go1.23.1"},
            "dependencies": {"go": {"github.com/spf13/cobra": "v1.8.0", "github.com/stretchr/testify": "v1.9.0"}},
        },
        "tests": {"frameworks": ["go test", "testify"]},
        "lint": {"tools": {"golangci-lint": [".golangci.yml"]}},
    },
    "rust": {
        "dev_env": {
            "version": "0.3.0",
            "package_managers": ["cargo"],
            "is_monorepo": True,
            "frameworks": ["tokio"],
        },
        "runtime": {
            "versions": {"rust": "1.80", "edition": "2021"},
            "dependencies": {"rust": {"serde": "workspace", "tokio": "1"}},
            "entry_points": {"arena-cli": "bin"},
        },
        "tests": {"frameworks": ["cargo test", "proptest"]},
    },
    "maven": {
        "dev_env": {"name": "org.arena:core", "primary_language": "Java", "package_managers": ["maven"]},
        "runtime": {"versions": {"java": "21"}, "dev_dependencies": {"java": {"junit:junit": "4.13"}}},
        "tests": {"frameworks": ["junit"], "file_count": 1},
        "structure": {"workspaces": {"pom.xml": ["api"]}},
    },
    "kotlin": {
        "dev_env": {"primary_language": "Kotlin", "package_managers": ["gradle"]},
        "runtime": {"versions": {"java": "17"}, "dependencies": {"java": {"io.ktor:ktor-server": "2.3"}}},
        "tests": {"frameworks": ["kotest"]},
        "lint": {"tools": {"detekt": ["build.gradle.kts"]}},
        "structure": {"workspaces": {"settings.gradle.kts": ["app", "lib/core"]}},
    },
    "ruby": {
        "dev_env": {
            "name": "arena",
            "primary_language": "Ruby",
            "package_managers": ["bundler"],
            "frameworks": ["rails"],
        },
        "runtime": {"versions": {"ruby": "3.3.1"}, "dependencies": {"ruby": {"rack": ">= 2", "rails": "~> 7.1"}}},
        "tests": {"frameworks": ["minitest", "rspec"]},
        "lint": {"tools": {"rubocop": [".rubocop.yml"]}},
    },
    "php": {
        "dev_env": {"name": "team/arena", "package_managers": ["composer"], "frameworks": ["laravel/framework"]},
        "runtime": {"versions": {"php": ">=8.2"}},
        "tests": {"frameworks": ["phpunit"], "commands": {"test": "phpunit; phpstan"}},
        "lint": {"type_checkers": ["phpstan"]},
    },
    "cpp": {
        "dev_env": {
            "name": "arena",
            "version": "2.1",
            "primary_language": "C++",
            "package_managers": ["cmake", "vcpkg"],
            "is_monorepo": False,
        },
        "runtime": {
            "versions": {"c++": "20", "cmake": ">=3.20"},
            "dependencies": {"c_cpp": {"GTest": "", "fmt": "", "zlib": ""}},
        },
        "tests": {"frameworks": ["ctest", "googletest"], "usual_commands": ["ctest"]},
    },
    "meson": {
        "dev_env": {"primary_language": "C", "package_managers": ["meson"], "languages": {"C": 2}},
        "runtime": {"versions": {"c": "11"}, "dependencies": {"c_cpp": {"glib-2.0": ""}}},
    },
    "swift": {
        "dev_env": {
            "name": "Arena",
            "package_managers": ["swiftpm"],
            "frameworks": ["vapor"],
            "is_monorepo": False,
        },
        "runtime": {"versions": {"swift": "5.9"}, "entry_points": {"App": "executableTarget"}},
        "tests": {"frameworks": ["swift test"], "folders": ["Tests"]},
    },
    "dotnet": {
        "dev_env": {"primary_language": "C#", "package_managers": ["nuget"]},
        "runtime": {
            "versions": {"dotnet": "net8.0", "dotnet-sdk": "8.0.100"},
            "dependencies": {"dotnet": {"Serilog": "4.0", "xunit": "2.9"}},
        },
        "tests": {"frameworks": ["dotnet test", "xunit"]},
    },
    "catalogue": {
        "dev_env": {"name": "arena", "version": "5.9.2", "package_managers": ["gradle"], "is_monorepo": True},
        "runtime": {
            "versions": {"gradle": "8.10.2", "java": "17", "kotlin": "2.0.21"},
            "dependencies": {
                "java": {"io.ktor:ktor-server": "", "org.assertj:assertj-core": "", "org.unused:unused": "1"}
            },
            "dev_dependencies": {"java": {"io.mockk:mockk": "", "org.nowhere:nowhere": ""}},
            "lock_files": ["gradlew"],
        },
        "tests": {"frameworks": ["assertj", "kotlin.test", "mockk"], "usual_commands": ["./gradlew test"]},
        "lint": {"tools": {"checkstyle": ["build.gradle.kts"], "spotless": ["gradle/libs.versions.toml"]}},
        "structure": {"workspaces": {"settings.gradle.kts": ["engine", "web"]}},
    },
    "maven_parent": {
        "dev_env": {"name": "org.arena:parent", "version": "3.1"},
        "runtime": {
            "versions": {"java": "17", "maven": "3.9.6"},
            "dependencies": {"java": {"junit:junit": "", "org.arena:api": "3.1", "org.nowhere:nowhere": ""}},
        },
        "tests": {"usual_commands": ["./mvnw test"]},
        "lint": {"tools": {"checkstyle": ["pom.xml"]}},
        "structure": {
            "packages": [
                {"path": ".", "name": "org.arena:parent", "version": "3.1", "ecosystem": "java"},
                {"path": "core", "name": "org.arena:core", "version": "3.1", "ecosystem": "java"},
            ]
        },
    },
    "gem": {
        "dev_env": {"name": "arena", "version": "2.4.1", "license": "MIT-LICENSE"},
        "runtime": {
            "versions": {"ruby": ">= 3.0, < 4"},
            "dependencies": {"ruby": {"rack": ">= 2"}},
            "dev_dependencies": {"ruby": {"minitest": ""}},
            "entry_points": {"arena": "executable", "arenactl": "executable"},
        },
        "tests": {"commands": {"rake test": ""}, "usual_commands": ["bundle exec rake test"]},
        "lint": {"commands": {"rake rubocop": ""}},
    },
    "gemfile_groups": {
        "runtime": {
            "dependencies": {"ruby": {"pg": "", "rails": "~> 7.1"}},
            "dev_dependencies": {"ruby": {"brakeman": "", "debug": "", "rspec-rails": ""}},
        },
    },
    "autotools": {
        "dev_env": {"name": "arena", "version": "1.7.1", "primary_language": "C"},
        "runtime": {"build_systems": ["autotools"], "dependencies": {"c_cpp": {"glib-2.0": "", "onig": ""}}},
        "tests": {"file_count": 1, "usual_commands": ["make check"]},
    },
    "nuget": {
        "dev_env": {"name": "Arena", "is_monorepo": False},
        "runtime": {
            "versions": {"dotnet": "net8.0"},
            "dependencies": {"dotnet": {"Platform": "", "Serilog": "", "log4net": ""}},
            "dev_dependencies": {"dotnet": {"NUnit": "2.6.2"}},
            "entry_points": {"arena": "Exe"},
        },
        "tests": {"frameworks": ["dotnet test", "nunit"], "usual_commands": ["dotnet test"]},
        "structure": {"workspaces": {"Arena.sln": ["Arena/Arena.csproj", "Arena.Tests/Arena.Tests.csproj"]}},
    },
    "pods": {
        "dev_env": {"version": "4.6.1", "package_managers": ["cocoapods", "npm", "swiftpm"]},
        "runtime": {
            "versions": {"swift": "5.9"},
            "dependencies": {"cocoapods": {"Capacitor": "~> 8"}, "swift": {"airbnb/swift": "1.2.0"}},
            "entry_points": {"camera": "cli.js"},
            "build_systems": ["cocoapods", "swiftpm", "xcodebuild"],
        },
        "tests": {"frameworks": ["swift test", "xctest"], "commands": {}, "usual_commands": ["swift test"]},
        "lint": {"tools": {"swiftlint": ["package.json"]}, "commands": {"lint": "swiftlint"}},
    },
    "pipelines": {
        "dev_env": {
            "commands": {
                "targets": ["lint-all", "lint", "test", "login", "tools"],
                "tasks": {"just": ["fmt-check"], "task": ["test-e2e"]},
                "entry_points": {"arenad": "cmd/arenad/main.go"},
            }
        },
        "tests": {
            "commands": {"make test": "go test -race ./...", "task test-e2e": "go test ./e2e"},
            "usual_commands": ["go test ./..."],
        },
        "ci": {
            "commands": {
                ".github/workflows/ci.yml": ["CGO_ENABLED=1 make test", "docker build ."],
                ".travis.yml": ["./mvnw verify"],
            },
            "versions": {"go": ["1.21", "1.22"], "java": ["openjdk17"]},
            "workflows": [
                {
                    "path": ".github/workflows/ci.yml",
                    "name": "CI",
                    "triggers": ["push"],
                    "jobs": ["test"],
                    "runs_on": ["macos-15", "ubuntu-24.04"],
                    "uses": ["actions/setup-go@v5"],
                }
            ],
        },
        "lint": {
            "commands": {
                "make lint": "golangci-lint run",
                "make lint-all": "golangci-lint run",
                "just fmt-check": "gofmt -l .",
            }
        },
    },
    "copies": {
        "dev_env": {"name": "arena-kit", "version": "0.4.0", "license": "LICENSE.md", "package_managers": ["pip"]},
        "runtime": {
            "dependencies": {"python": {"anyio": ""}},
            "dev_dependencies": {"python": {"pytest": ""}},
            "lock_files": [],
        },
        "tests": {"frameworks": ["pytest"], "config_files": [], "file_count": 0, "folders": []},
        "lint": {"tools": {}},
        "env_templates": {
            "files": [{"path": ".env.example", "variables": [{"name": "ARENA_KEY", "has_default": False}]}]
        },
    },
    "setup_constants": {
        "dev_env": {"name": "arena", "version": "5.7.0"},
        "runtime": {"versions": {"node": "22", "python": "3.11.4", "rust": "1.80"}},
        "tests": {"commands": {"nox -s tests": ""}, "usual_commands": ["tox", "nox"]},
        "lint": {
            "tools": {"husky": [".husky"]},
            "hooks": [".husky/pre-commit"],
            "commands": {"tox -e lint": "ruff check ."},
        },
    },
    "rust_programs": {
        "runtime": {"entry_points": {"arena": "src/bin/arena/main.rs", "helper": "src/bin/helper.rs"}},
        "tests": {"file_count": 1, "usual_commands": ["cargo test"]},
        "ci": {
            "commands": {".github/workflows/ci.yml": ["cargo test --locked"]},
            "versions": {"rust": ["1.60.0"]},
        },
    },
    "splits": {
        "dev_env": {"name": "arena/arena", "is_monorepo": True},
        "runtime": {"entry_points": {"arena": "bin/arena"}},
        "tests": {"frameworks": ["phpunit"], "usual_commands": ["vendor/bin/simple-phpunit"]},
    },
    "monorepo": {
        "dev_env": {"is_monorepo": True, "package_managers": ["pip", "yarn"], "frameworks": ["django", "express"]},
        "structure": {"workspaces": {"package.json": ["packages/*"]}},
    },
    "shipped": {
        "dev_env": {"commands": {"targets": ["all", "build", "test"]}},
        "deploy": {
            "dockerfiles": [
                {
                    "path": "Dockerfile",
                    "base_images": ["python:3.12-slim"],
                    "stages": ["build"],
                    "ports": ["8000", "9000/udp"],
                }
            ],
            "compose": [
                {
                    "path": "docker-compose.yml",
                    "services": {
                        "db": {
                            "image": "postgres:16",
                            "builds": False,
                            "ports": ["5432:5432"],
                            "environment": ["POSTGRES_PASSWORD"],
                        },
                        "web": {"image": None, "builds": True, "ports": [], "environment": ["DEBUG", "KEY"]},
                    },
                }
            ],
            "kubernetes": [
                {"path": "k8s/app.yaml", "kind": "Deployment", "name": "web"},
                {"path": "k8s/app.yaml", "kind": "Service", "name": "svc"},
            ],
            "helm_charts": ["charts/web"],
            "terraform": ["infra"],
            "platforms": {"fly.io": ["fly.toml"]},
        },
        "ci": {
            "systems": {"github actions": [".github/workflows/ci.yml"], "gitlab": [".gitlab-ci.yml"]},
            "workflows": [
                {
                    "path": ".github/workflows/ci.yml",
                    "name": "CI",
                    "triggers": ["pull_request", "push"],
                    "jobs": ["test"],
                    "runs_on": ["ubuntu-latest"],
                    "uses": ["actions/checkout@v4"],
                }
            ],
            "gitlab": {"stages": ["build", "test"], "jobs": ["unit"]},
        },
        "env_templates": {
            "files": [
                {
                    "path": ".env.example",
                    "variables": [{"name": "API_KEY", "has_default": False}, {"name": "PORT", "has_default": True}],
                },
                {"path": "deploy/prod.env.template", "variables": [{"name": "DSN", "has_default": True}]},
            ]
        },
    },
}


@pytest.mark.parametrize("name", repos.names())
def test_what_a_scan_says_of_a_repository(name: str, tmp_path: Path) -> None:
    found = scan(str(repos.lay_out(tmp_path, repos.read(name))), "deep")
    wrong = {kind: found[kind] for kind, item in EXPECTED[name].items() if not has(found[kind], item)}
    assert wrong == {}
    assert found == scan(str(tmp_path), "deep")


@pytest.mark.parametrize(("depth", "kinds"), [("shallow", 1), ("medium", 7), ("deep", 8)])
def test_a_depth_has_its_kinds(depth: str, kinds: int, tmp_path: Path) -> None:
    assert list(scan(str(tmp_path), depth)) == list(DEPTHS[depth])
    assert len(DEPTHS[depth]) == kinds


# What is left alone ---------------------------------------------------------------------------------------------------


def test_git_decides_what_is_looked_at(tmp_path: Path) -> None:
    files = {
        ".gitignore": "*.log\n/build/\ndist\n!keep.log\n# c\n\n[\n",
        "sub/.gitignore": "!b.log\nlocal.py\n*a*a*a*a*a*a*a*a*a*a*a*a*b\n",
        ".git/info/exclude": "mine.py\n",
        "a.log": "",
        "keep.log": "",
        "sub/b.log": "",
        "sub/local.py": "",
        f"sub/{'a' * 200}.py": "",
        "mine.py": "",
        "build/x.py": "",
        "sub/build/y.py": "",
        "sub/dist/z.py": "",
        "node_modules/m/package.json": "{}",
    }
    found = scan(str(repos.lay_out(tmp_path, files)), "deep")["structure"]
    assert found["suffixes"] == {".log": 2, ".py": 2}
    assert found["top_files"] == [".gitignore", "keep.log"]


def test_links_pipes_binaries_and_bad_files_do_no_harm(tmp_path: Path) -> None:
    repo = repos.lay_out(tmp_path / "repo", {"a.py": "", "deep/package.json": '{"name": "deep"}'})
    repos.lay_out(tmp_path / "out", {"pyproject.toml": '[project]\nname = "outside"\n', "b.py": ""})
    (repo / "loop").symlink_to(repo)
    (repo / "away").symlink_to(tmp_path / "out")
    (repo / "pyproject.toml").symlink_to(tmp_path / "out/pyproject.toml")
    (repo / "dead.py").symlink_to("nowhere")
    os.mkfifo(repo / "Dockerfile")
    (repo / "package.json").write_bytes(b"\0\xff" * 100)
    (repo / "go.mod").write_bytes(b"module \xff\xfe\n")
    (repo / "pom.xml").write_text('<!DOCTYPE x [<!ENTITY a "b">]><project>&a;</project>')
    (repo / "Cargo.toml").write_text("[[[")
    (repo / "setup.py").write_text("def (:")
    (repo / "composer.json").write_text("[" * 100_000)
    (repo / "docker-compose.yml").write_text("a: &a [x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(3000)))
    (repo / ".gitlab-ci.yml").write_text("a: [\n")
    (repo / "Makefile").write_text("x" * (2 << 20))
    found = scan(str(repo), "deep")
    assert found["dev_env"]["languages"] == {"Python": 2}
    assert found["structure"]["links"] == 4
    assert [one["name"] for one in found["structure"]["packages"]][-1] == "deep"
    assert "outside" not in json.dumps(found)


def test_a_scan_starts_no_program_asks_no_network_and_opens_nothing_for_writing(tmp_path: Path) -> None:
    files = {name: text for case in repos.names() for name, text in repos.read(case).items()}
    repo = repos.lay_out(tmp_path, files)
    seen: list[str] = []
    watching = True

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if not watching:
            return
        is_write = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if is_write and "__pycache__" not in str(args[0]):
            seen.append(f"open {args[0]}")
        if event.startswith(
            ("subprocess.", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "os.system", "socket.")
        ):
            seen.append(event)
        if event in ("os.rename", "os.remove", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.truncate"):
            seen.append(f"{event} {args[0]}")

    sys.addaudithook(hook)
    found = scan(str(repo), "deep")
    watching = False
    assert seen == []
    assert found["structure"]["files"] == len(files)


def test_no_credential_of_any_file_is_in_what_a_scan_says(tmp_path: Path) -> None:
    fake = Fakes()
    files = {
        name: text.replace("arena", f"arena-{fake(name)}").replace("4.0", f"4.0 {fake(name + 'version')}")
        for case in repos.names()
        for name, text in repos.read(case).items()
    }
    files |= {
        ".env.example": f"KEY={fake.opaque('template')}\n# {fake('comment')}\n{fake('name')}=1\n",
        "docker-compose.yml": f"services:\n  {fake('service')}:\n    image: x:{fake('image')}\n"
        f"    environment:\n      PASSWORD: {fake.opaque('compose')}\n",
        "Dockerfile": f"FROM x:{fake('from')}\nENV TOKEN={fake.opaque('docker')}\nARG P={fake.opaque('argument')}\n",
        ".git/config": f'[remote "origin"]\n\turl = https://me:{fake.opaque("remote")}@git.example/a.git\n',
        ".git/HEAD": f"ref: refs/heads/{fake('branch')}\n",
        ".npmrc": f"//registry/:_authToken={fake('npmrc')}\n",
        f"src/{fake('file')}.py": "",
        f"{fake('folder')}/x.py": "",
        "package.json": json.dumps(
            {
                "name": fake("package"),
                "scripts": {"deploy": f"push --token {fake('script')}", fake("script-name"): "x"},
                "dependencies": {"own": f"git+https://{fake.opaque('dependency')}@git.example/own.git"},
            }
        ),
        ".github/workflows/ci.yml": f"name: {fake('workflow')}\non: push\n"
        f"jobs:\n  {fake('job')}:\n    steps:\n    - uses: a/{fake('uses')}\n",
    }
    printed = json.dumps(scan(str(repos.lay_out(tmp_path, files)), "deep"))
    assert len(fake.values) > 40
    assert [value for value in fake.values if value in printed] == []


# What is written ------------------------------------------------------------------------------------------------------


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repos.lay_out(tmp_path / "repo", repos.read("python"))


def run(root: Path, repo: Path, *words: str) -> int:
    return scan_project.main(["--memory-dir", str(root), "--project", "arena", "--repo", str(repo), *words])


def kinds_on_disk(root: Path) -> set[str]:
    return {path.stem for path in (root / "projects/arena").glob("*.json")}


def test_a_dry_run_prints_what_would_be_written(root: Path, repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, repo) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {key: printed[key] for key in ("dry_run", "project", "repo", "depth")} == {
        "dry_run": True,
        "project": "arena",
        "repo": str(repo),
        "depth": "shallow",
    }
    assert list(printed["files"]) == ["dev_env.json"]
    assert not (root / "projects").exists()


def test_a_deeper_commit_writes_what_is_new_and_leaves_what_has_changed(
    root: Path, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, repo, "--commit") == 0
    out, err = capsys.readouterr()
    assert out == "scan complete: arena depth=shallow (1 files)\n"
    assert f"wrote: {root}/projects/arena/dev_env.json\n" in err
    first = (root / "projects/arena/dev_env.json").read_bytes()
    assert run(root, repo, "--commit", "--depth", "medium") == 0
    assert kinds_on_disk(root) == set(DEPTHS["medium"])
    assert (root / "projects/arena/dev_env.json").read_bytes() == first
    assert {stat.S_IMODE(path.stat().st_mode) for path in (root / "projects/arena").glob("*.json")} == {0o600}
    (repo / ".python-version").write_text("3.13\n")
    capsys.readouterr()
    assert run(root, repo, "--commit", "--depth", "deep") == 1
    assert "dev_env.json says something else; --force-commit replaces it" in capsys.readouterr().err
    assert (root / "projects/arena/dev_env.json").read_bytes() == first
    assert kinds_on_disk(root) == set(DEPTHS["deep"])
    assert run(root, repo, "--force-commit", "--depth", "deep", "--quiet") == 0
    assert json.loads((root / "projects/arena/dev_env.json").read_text())["data"]["runtimes"]["python"] == "3.13"


def test_facts_are_found_by_kind_and_by_key(root: Path, repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(root, repo, "--commit", "--depth", "medium", "--quiet")
    assert query_memory.main(["--memory-dir", str(root), "--project", "arena", "--kind", "runtime"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert (record["kind"], record["source"], record["data"]["versions"]) == ("runtime", "scanner", {"python": "3.12"})
    assert query_memory.main(["--memory-dir", str(root), "--project", "arena", "--key", "dev_env.data.version"]) == 0
    assert capsys.readouterr().out == "1.2\n"


def test_what_is_wrong_with_a_call_is_said(root: Path, repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, repo / "pyproject.toml") == 1
    assert "is not a folder" in capsys.readouterr().err
    with pytest.raises(InvalidName):
        scan_project.main(["--memory-dir", str(root), "--project", "../../evil", "--repo", str(repo), "--commit"])
    with pytest.raises(SystemExit):
        run(root, repo, "--depth", "abyss")
    with Oracle.open(str(root)) as oracle:
        with pytest.raises(UsageError):
            project.scan_project(oracle, "arena", str(repo), depth="abyss")
        with pytest.raises(NotFound):
            project.scan_project(oracle, "arena")


def test_a_link_out_of_the_root_is_not_written_through(root: Path, repo: Path, tmp_path: Path) -> None:
    (root / "projects").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (root / "projects/arena").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="is a symbolic link; the program does not write through links"):
        run(root, repo, "--commit")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_goes_while_it_is_looked_at_stops_no_scan(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir

    def list_then_lose(path: str) -> Any:
        entries = list(listed(path))
        (repo / "passing.py").unlink(missing_ok=True)
        return entries

    (repo / "passing.py").touch()
    monkeypatch.setattr(os, "scandir", list_then_lose)
    tree = walk(str(repo))
    assert "passing.py" not in tree.files
    assert "pyproject.toml" in tree.files
    assert not tree.complete


# The keys of older tools -----------------------------------------------------------------------------------------------

OLDER = {
    "runtime": "python python_version node pnpm yarn npm go rust ruby java uv poetry primary_language",
    "tests": "pytest jest vitest playwright rspec mocha cypress go_test cargo_test test_command",
    "deploy": "has_dockerfile has_compose has_netlify has_vercel has_heroku has_render platforms",
    "ci": "has_ci github_actions circleci jenkins gitlab travis bitbucket",
    "lint": "eslint prettier ruff black mypy flake8 pylint isort",
    "structure": "has_src has_docs has_tests_dir has_scripts top_level file_count",
    "env_templates": "has_env_template template_path key_count keys",
    "dev_env": """python python_version node pnpm yarn npm go rust ruby uv poetry primary_language pytest jest vitest
        playwright has_dockerfile has_compose has_ci github_actions ruff black mypy eslint prettier has_src has_docs
        has_tests_dir has_env_template repo_root""",
}


def lay_out(folder: Path, *names: str) -> str:
    for name in names:
        path, _, text = name.partition("=")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize("files", [(), ("a.txt",), ("pyproject.toml=not toml [",)])
def test_every_key_of_older_tools_is_there(tmp_path: Path, files: tuple[str, ...]):
    found = scan(lay_out(tmp_path, *files), "deep")
    assert {kind: set(keys.split()) - set(found[kind]) for kind, keys in OLDER.items()} == {
        kind: set() for kind in OLDER
    }


@pytest.mark.parametrize(
    ("files", "kind", "expected"),
    [
        (["pyproject.toml=[project]\nname='x'\nrequires-python='>=3.11'\n[tool.ruff]\n"], "runtime", {"python": True}),
        (["pyproject.toml=[project]\nname='x'\nrequires-python='>=3.11'\n"], "runtime", {"python_version": "3.11"}),
        (["pyproject.toml=[project]\nname='x'\n[tool.ruff]\n"], "lint", {"ruff": True, "black": False}),
        (["package.json={}", "yarn.lock"], "runtime", {"node": True, "yarn": True, "primary_language": "node"}),
        (['package.json={"devDependencies": {"jest": "1"}}'], "tests", {"jest": True, "vitest": False}),
        (["conftest.py", "go.mod=module x\n"], "tests", {"pytest": True, "go_test": True, "cargo_test": False}),
        (["Dockerfile=FROM x\n", "compose.yaml"], "deploy", {"has_dockerfile": True, "has_compose": True}),
        ([".github/workflows/a.yml"], "ci", {"has_ci": True, "github_actions": True, "travis": False}),
        ([".circleci/config.yml"], "ci", {"has_ci": True, "circleci": True}),
        (
            ["src/a.py", "b.md"],
            "structure",
            {"has_src": True, "has_docs": False, "top_level": ["b.md", "src"], "file_count": 1},
        ),
        ([".env.example=A=1\nB=\n"], "env_templates", {"has_env_template": True, "key_count": 2, "keys": ["A", "B"]}),
        ([".env.example=A=1\n", "conftest.py"], "dev_env", {"has_env_template": True, "pytest": True, "has_ci": False}),
    ],
)
def test_keys_of_older_tools_say_what_the_files_say(
    tmp_path: Path, files: list[str], kind: str, expected: dict[str, object]
):
    found = scan(lay_out(tmp_path, *files), "deep")[kind]
    assert {key: found[key] for key in expected} == expected
