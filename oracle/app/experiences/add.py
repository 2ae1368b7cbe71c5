"""Write an experience."""

from __future__ import annotations

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.records.views import Written
from oracle.app.records.write import write
from oracle.domain.experiences import experience as rules
from oracle.domain.experiences.experience import Experience
from oracle.domain.values import contents_of, replace


def add(
    context: Context,
    experience: Experience,
    project: str,
    *,
    task_id: str = "",
    author: str = "",
    seat: str = "",
    supersedes: tuple[str, ...] = (),
    derived_from: tuple[str, ...] = (),
    new_project: bool = False,
    secrets: str = guard.FIXED,
    dry_run: bool = False,
) -> Written:
    """Write an experience as a record of memory's. Raises UsageError, and what a write raises."""
    own = {name: guard.without_context(text) for name, text in contents_of(experience).items()}
    experience = replace(experience, **own)
    draft = rules.draft(
        experience, project, task_id=task_id, author=author, seat=seat, supersedes=supersedes, derived_from=derived_from
    )
    return write(context, draft, new_project=new_project, secrets=secrets, dry_run=dry_run)
