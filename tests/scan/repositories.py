"""Small repositories of each ecosystem, as their tools lay them out: tests/cases/repositories/NAME.txt.

A line `=== PATH` begins a file, the lines up to the next one are its text.
"""

from __future__ import annotations

import re
from pathlib import Path

CASES = Path(__file__).parents[1] / "cases" / "repositories"


def read(name: str) -> dict[str, str]:
    """Return the files of a repository: path and text."""
    parts = re.split(r"^=== (.+)\n", (CASES / f"{name}.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def names() -> list[str]:
    """Return the names of the repositories."""
    return sorted(path.stem for path in CASES.glob("*.txt"))


def lay_out(folder: Path, files: dict[str, str]) -> Path:
    """Write files into a folder and return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
