"""Put files of other machines in place. Nothing here is overwritten but an earlier copy of the same file."""

from __future__ import annotations

import hashlib
import os

from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED, SUPERSEDED
from oracle.domain.hub import forms
from oracle.domain.hub.paths import FileKind, HubFile
from oracle.errors import RecordExists
from oracle.store.delivery import handoffs
from oracle.store.disk import files, steps
from oracle.store.hub.tree import SharedTree

KEPT = ".kept-"
"""What the name of a file that lost its place ends in, before twelve digits of its digest. No reader takes it for a record."""


class Placer:
    """Writes into a tree. `close` syncs the folders that were written to."""

    def __init__(self, tree: SharedTree) -> None:
        self._tree = tree
        self._folders: set[str] = set()

    def place(self, file: HubFile, data: bytes, *, before: str) -> bool:
        """Write a file that is not there, or replace one with the digest `before`. Returns whether it did. Raises OracleError."""
        if file.receipt is not None:
            return self._place_receipt(file, data, before=before)
        place = self._tree.place_of(file)
        folder = os.path.dirname(place)
        files.make_folder(folder)
        with files.failing(place):
            new = steps.write_hidden(folder, data)
            try:
                if not before:
                    files.publish(new, place)
                elif self._tree.digest(file) == before:
                    steps.keep_mode(place, new)
                    files.rename(new, place)
                else:
                    return False
            except RecordExists:
                return False
            finally:
                files.discard(new)
        self._folders.add(folder)
        return True

    def remove(self, file: HubFile, *, before: str) -> bool:
        """Remove a copy that has the digest `before`. Returns whether it is gone. Raises OracleError."""
        if self._tree.digest(file) not in ("", before):
            return False
        place = self._tree.place_of(file)
        if file.kind is FileKind.CLAIM:
            steps.remove(place + receipts.CLAIM)
        elif file.kind is FileKind.RECEIPT:
            for suffix in (receipts.CLAIM, "", CONSUMED):
                steps.remove(place + suffix)
        elif file.receipt is None:
            steps.remove(place)
        return True

    def set_aside(self, file: HubFile) -> str:
        """Rename the file that is in the place of another; return the new absolute path. A receipt is kept by its own rule."""
        place = self._tree.place_of(file)
        data = self._tree.read(file) or b""
        if file.receipt is None:
            kept = _kept(place, data)
            steps.rename(place, kept)
            return kept
        kept = f"{place}{SUPERSEDED}{hashlib.sha256(data).hexdigest()[:12]}"
        for suffix in ("", CONSUMED):
            if os.path.lexists(place + suffix):
                steps.rename(place + suffix, kept)
        return kept

    def keep_beside(self, file: HubFile, data: bytes) -> str:
        """Write a file under another name beside the one that is in its place, and return that path."""
        kept = _kept(self._tree.place_of(file), data)
        steps.create_once(kept, data)
        return kept

    def close(self) -> None:
        """Sync the folders that were written to. Raises DiskFailure."""
        for folder in sorted(self._folders):
            with files.failing(folder):
                files.sync_folder(folder)
        self._folders.clear()

    def _place_receipt(self, file: HubFile, data: bytes, *, before: str) -> bool:
        folder, name = self._tree.folder_of(file.project), file.receipt
        if name is None:
            return False
        if file.kind is FileKind.RECEIPT:
            receipt = receipts.read_receipt(name, data)
            handoffs.refuse_malformed(receipt)
            if before:
                handoffs.supersede(folder, receipt)
                return True
            return steps.create_once(handoffs.path_of(folder, name), data)
        found = handoffs.read(folder, name)
        if file.kind is FileKind.CLAIM:
            if found is not None:
                steps.replace(handoffs.path_of(folder, name, receipts.CLAIM), data)
            return True
        changes, round_ = forms.read_mark(data)
        if found is None or forms.round_of(found) != round_:
            return True  # it ended here before, or another round began
        if file.kind is FileKind.ACKED:
            handoffs.acknowledge(folder, name, changes)
        else:
            if changes:
                handoffs.amend(folder, name, changes)
            handoffs.consume(folder, name)
        return True


def _kept(place: str, data: bytes) -> str:
    return f"{place}{KEPT}{hashlib.sha256(data).hexdigest()[:12]}"
