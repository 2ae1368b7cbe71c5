"""What `oracle embed` says to install: packages by the names that a registry knows."""

from __future__ import annotations

import shlex
import sys
import tomllib
from pathlib import Path

from oracle.app import embedding_model
from oracle.cli.embedding import PACKAGES
from oracle.cli.main import run

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))


def test_packages_are_those_of_the_extra():
    wanted = PYPROJECT["project"]["optional-dependencies"]["semantic"]
    assert list(PACKAGES) == [one.partition(";")[0].strip() for one in wanted]


def test_hint_is_a_command_for_this_python(root, monkeypatch, capsys):
    monkeypatch.setattr(embedding_model, "find_spec", lambda name: None)
    assert run(["embed", "--memory-dir", str(root)]) == 2
    hint = capsys.readouterr().err.splitlines()[1].removeprefix("hint: Install it: ").removesuffix(".")
    assert shlex.split(hint) == [sys.executable, "-m", "pip", "install", *PACKAGES]
