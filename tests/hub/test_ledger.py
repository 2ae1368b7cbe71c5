"""What a machine and its hub agreed on, as the file holds it: every part of it comes back, and to write it takes little memory."""

from __future__ import annotations

import hashlib
import tracemalloc
from pathlib import Path

import pytest

from oracle.domain.hub.replication import Agreed
from oracle.domain.hub.rows import Cursor
from oracle.store.hub import ledger as ledgers
from oracle.store.hub.ledger import SyncLedger
from oracle.store.root.layout import Root


def filled(files: int) -> SyncLedger:
    paths = [f"projects/shop/finding/{number:06}-a-record-of-the-shop.md" for number in range(files)]
    digests = {path: hashlib.sha256(path.encode()).hexdigest() for path in paths}
    return SyncLedger(
        {path: Agreed(digest, "1234") for path, digest in digests.items()},
        Cursor(),
        {f"/srv/root/{path}": (17, {path: digest}) for path, digest in digests.items()},
        {},
        {path: (digests[path], "guard: key, line 3") for path in paths[:3]},
        {"due.md"},
        {"arrived.json"},
        "rules",
        "1234",
    )


@pytest.mark.parametrize("files", [0, 1, 500, 501, 1_203])
def test_every_part_of_a_ledger_comes_back(tmp_path: Path, files: int, monkeypatch: pytest.MonkeyPatch) -> None:
    root, ledger = Root(str(tmp_path)), filled(files)
    ledgers.save(root, ledger)
    monkeypatch.setattr(ledgers, "_kept", {})
    assert ledgers.load(root) == ledger


def test_a_ledger_is_written_in_little_memory(tmp_path: Path) -> None:
    root, ledger = Root(str(tmp_path)), filled(3_000)
    ledgers.save(root, ledger)
    size = Path(f"{root.hub_files}/ledger.json").stat().st_size
    tracemalloc.start()
    try:
        ledgers.save(root, ledger)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2 * size
