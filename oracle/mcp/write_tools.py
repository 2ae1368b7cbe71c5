"""The tools write_record and retire_record. The seat is that of the server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oracle.domain.names import project_of
from oracle.domain.records.drafts import Draft, parse_evidence
from oracle.mcp.results import Answer, fenced, without_lists

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.records.views import Written
    from oracle.mcp.binding import Binding


def write_record(
    context: Context,
    binding: Binding,
    *,
    kind: str,
    title: str,
    body: str,
    project: str = "",
    author: str = "",
    evidence: Sequence[Mapping[str, object]] = (),
    secrets: str = "refuse",
    dry_run: bool = False,
    **fields: Any,  # noqa: ANN401 -- the tool's schema names them
) -> Answer:
    """Write one record. `fields` are further fields of a draft."""
    from oracle.app.records.write import write

    draft = Draft(
        kind,
        binding.project_for(project),
        title,
        body,
        author=author or binding.seat,
        seat=binding.seat,
        evidence=parse_evidence([json.dumps(dict(item), ensure_ascii=False) for item in evidence]),
        **without_lists(fields),
    )
    return _written(write(context, draft, secrets=secrets, dry_run=dry_run, needs_body=True))


def retire_record(context: Context, binding: Binding, *, record: str, reason: str, dry_run: bool = False) -> Answer:
    """Retire one record."""
    from oracle.app.records.show import show
    from oracle.app.records.write import retire

    if binding.project:
        binding.project_for(project_of(show(context, record, last_line=1).record.path) or binding.project)
    return _written(retire(context, record, reason, seat=binding.seat, dry_run=dry_run))


def _written(written: Written) -> Answer:
    data = written.as_json()
    if written.already:
        return Answer(data, f"{written.already}.")
    notes = [f"warning: {line}" for line in written.warnings]
    notes += [f"redacted: {line}" for line in written.redacted]
    notes += [f"says nearly the same as what was retired: {slug}" for slug in written.near_duplicates]
    head = f"Nothing was written; it would be {written.path}" if written.dry_run else f"Written: {written.path}"
    text = [fenced(written.text)] if written.dry_run else []
    return Answer(data, "\n".join([head, *notes, *text]))
