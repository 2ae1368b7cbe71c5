"""Many files of truth at once: forced to disk side by side, since each waits for the disk and not for us."""

from __future__ import annotations

from oracle.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from types import TracebackType

_THREADS = 8
_TOGETHER = 8
"""Files that one thread forces to disk one after another: to hand over each costs more than its share of the wait."""


class Syncer:
    """Write scratch files and force them to disk side by side; on leaving the block all of them are there for good.

    When one of them can't be, none is left: on a full disk they would be in the way of what comes next.
    """

    def __init__(self, count: int) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._jobs: list[Future[None]] = []
        self._paths: list[str] = []
        self._written: list[str] = []
        if count > 1:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(_THREADS)

    def __enter__(self) -> Syncer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._pool is not None:
                if kind is None:
                    self._begin(self._pool)
                self._pool.shutdown(cancel_futures=kind is not None)
                for job in self._jobs if kind is None else ():
                    job.result()
        except OSError:
            files.discard(*self._written)
            raise
        if kind is not None:
            files.discard(*self._written)

    def write(self, scratch: str, data: bytes) -> str:
        """Write a scratch file, begin to force it to disk, and return its path."""
        path = files.write_scratch(scratch, data)
        self._written.append(path)
        if self._pool is None:
            files.sync_file(path)
        else:
            self._paths.append(path)
            if len(self._paths) == _TOGETHER:
                self._begin(self._pool)
        return path

    def _begin(self, pool: ThreadPoolExecutor) -> None:
        self._jobs.append(pool.submit(_sync_files, self._paths))
        self._paths = []


def _sync_files(paths: list[str]) -> None:
    for path in paths:
        files.sync_file(path)
