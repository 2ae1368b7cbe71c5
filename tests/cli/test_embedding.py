"""What `oracle index embed` says to install: packages by the names that a registry knows."""

from __future__ import annotations

import platform
import re
import shlex
import sys
import tomllib
from pathlib import Path

from oracle.app.search import models
from oracle.cli.main import run

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))


def test_hint_is_a_command_for_this_python(root, monkeypatch, capsys):
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    assert run(["index", "embed", "--memory-dir", str(root)]) == 2
    hint = capsys.readouterr().err.splitlines()[1].removeprefix("hint: Install it with `").removesuffix("`.")
    here = (sys.platform, platform.machine()) == ("linux", "x86_64")
    stated = [one.partition(";") for one in PYPROJECT["project"]["optional-dependencies"]["semantic"]]
    wanted = {limits(name) for name, _, marker in stated if here or not marker}
    assert shlex.split(hint)[:4] == [sys.executable, "-m", "pip", "install"]
    assert set(map(limits, shlex.split(hint)[4:])) == wanted


def limits(requirement: str) -> tuple[str, frozenset[str]]:
    """Return a package and the versions of it that will do, in whatever order they are stated."""
    name = re.split("[<>=]", requirement.strip())[0]
    return name, frozenset(requirement.strip().removeprefix(name).split(","))
