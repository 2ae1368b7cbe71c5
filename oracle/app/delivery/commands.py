"""Handoffs as people list them: what dead processes left undone is finished first."""

from __future__ import annotations

from oracle.app.delivery import handoffs, resume

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.delivery.handoffs import Handoffs, Story


def list_handoffs(context: Context, project: str = "", state: str = "") -> Handoffs:
    """Return the handoffs of one project or of all. Raises UsageError, NoProfile."""
    resume.resume_quietly(context)
    return handoffs.list_all(context, project=project, state=state)


def show_handoff(context: Context, task_id: str, project: str = "") -> Story:
    """Return the story of one task from its files. Raises NotFound, UsageError when several projects have one."""
    resume.resume_quietly(context)
    return handoffs.tell(context, task_id, project=project)
