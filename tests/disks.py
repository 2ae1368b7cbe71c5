"""Small file systems of memory that can really be filled, or made read-only. Only who may mount has them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


class Disk:
    """A file system of two megabytes, mounted on a new folder; skips the test where nothing can be mounted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", path], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")

    def spoil(self, fault: str) -> None:
        if fault == "read-only":
            subprocess.run(["mount", "-o", "remount,ro", self.path], check=True)
            return
        with (self.path / "ballast").open("wb", buffering=0) as stream:
            for size in (4096, 1):
                try:
                    while stream.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def mend(self, fault: str) -> None:
        if fault == "read-only":
            subprocess.run(["mount", "-o", "remount,rw", self.path], check=True)
        else:
            (self.path / "ballast").unlink()

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", self.path], check=True)
