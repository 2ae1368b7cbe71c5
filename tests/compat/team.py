"""Call the fronts inside the test, or as the programs that a team runs."""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from oracle.compat.door import serve

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


class Done(NamedTuple):
    """How a call ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Team:
    """A Root and the programs that work on it."""

    def __init__(self, root: Path, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.root = root
        self._capture = capture
        self._patch = patch

    def put(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def call(self, program: str, *words: str | Path, stdin: bytes = b"") -> Done:
        """Run a front in this process, on this Root."""
        main = importlib.import_module(f"oracle.compat.{program}").main
        argv = [program, *map(str, words)]
        at = 2 if program == "scan_index" else 1
        argv[at:at] = ["--memory-dir", str(self.root)]
        self._patch.setattr(sys, "argv", argv)
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capture.readouterr()
        try:
            code = serve(main)
        except SystemExit as error:
            code = int(error.code or 0)
        out, err = self._capture.readouterr()
        return Done(code, out, err)

    def query(self, *words: str | Path) -> Done:
        return self.call("query_memory", *words)

    def write(self, *words: str | Path, stdin: bytes = b"") -> Done:
        return self.call("memory_write", *words, stdin=stdin)

    def start(self, program: str, *words: str | Path, **more: Any) -> subprocess.Popen[str]:
        """Start a front as a program of its own."""
        command = [sys.executable, str(SCRIPTS / f"{program}.py"), *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def run(self, program: str, *words: str | Path, **more: Any) -> Done:
        with self.start(program, *words, **more) as process:
            out, err = process.communicate()
        return Done(process.returncode, out, err)


def tree(root: Path) -> set[str]:
    """Return what stands under a Root, what is derived aside."""
    names = (path.relative_to(root) for path in root.rglob("*"))
    return {name.as_posix() for name in names if name.parts[0] not in {"_state", "_links", "_backlinks"}}
