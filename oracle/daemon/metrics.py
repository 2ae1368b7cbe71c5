"""The daemon's status in the Prometheus text format (0.0.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

PREFIX = "memory_oracle"


def render(status: Mapping[str, object]) -> str:
    """Return the metrics. Without a running daemon, only that it is down: older values are no longer true."""
    lines = list(_metric("up", "gauge", "Whether a daemon serves the Root.", {"": int(bool(status.get("running")))}))
    if status.get("running"):
        lines += _of_daemon(status)
    return "\n".join(lines) + "\n"


def _of_daemon(status: Mapping[str, object]) -> Iterator[str]:
    watching, index, lag, process = (_table(status, key) for key in ("watching", "index", "lag_seconds", "process"))
    folders = watching.get("folders")
    yield from _metric(
        "uptime_seconds", "gauge", "Seconds since the daemon started.", {"": status.get("uptime_seconds")}
    )
    yield from _metric(
        "watching",
        "gauge",
        "1 while the system reports changes, 0 while the daemon polls.",
        {"": int(watching.get("mode") == "watching")},
    )
    yield from _metric(
        "watched_folders",
        "gauge",
        "Folders that are watched, with everything below them.",
        {"": len(folders) if isinstance(folders, list) else 0},
    )
    yield from _metric("records", "gauge", "Records in the index.", {"": index.get("records")})
    yield from _metric(
        "full_stat_cost_seconds",
        "gauge",
        "Seconds that the last scan of every file took.",
        {"": index.get("full_stat_cost_seconds")},
    )
    yield from _metric(
        "queue",
        "gauge",
        "Items in the queue.",
        {f'{{kind="{kind}"}}': number for kind, number in _table(status, "queue").items()},
    )
    quantiles = {f'{{quantile="{share}"}}': lag.get(name) for share, name in (("0.5", "p50"), ("0.99", "p99"))}
    yield from _metric(
        "lag_seconds",
        "gauge",
        "Seconds from a file's change to its index entry, over the last 2000 changes.",
        quantiles,
    )
    yield from _metric(
        "events_total",
        "counter",
        "Work done, by kind.",
        {f'{{kind="{kind}"}}': number for kind, number in _table(status, "counts").items()},
    )
    for key, kind, text in (
        ("rss_bytes", "gauge", "Memory in use."),
        ("open_files", "gauge", "Open file descriptors."),
        ("cpu_seconds", "counter", "Processor time used."),
    ):
        yield from _metric(f"process_{key}", kind, text, {"": process.get(key)})


def _table(status: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = status.get(key)
    return found if isinstance(found, dict) else {}


def _metric(name: str, kind: str, text: str, values: Mapping[str, object]) -> Iterator[str]:
    known = {label: number for label, number in values.items() if isinstance(number, int | float)}
    if known:
        yield f"# HELP {PREFIX}_{name} {text}"
        yield f"# TYPE {PREFIX}_{name} {kind}"
        yield from (f"{PREFIX}_{name}{label} {number}" for label, number in known.items())
