"""`oracle experience`: write, list and explain experiences: lessons of earlier work."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion, plain_list
from oracle.cli.application import group
from oracle.cli.commands.write import print_written
from oracle.cli.options import (
    DryRun,
    Full,
    NewProject,
    OfProject,
    Project,
    Secrets,
    WriterSeat,
    argument,
    option,
)
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.process import STANDARD_INPUT
from oracle.wording import Sentence, say, say_each

if TYPE_CHECKING:
    from oracle.app.experiences.recall import Explanation
    from oracle.domain.experiences.gate import GateVerdict

experience_app = group(
    "Keep the lessons of earlier work, and recall them for a task.",
    example="oracle experience explain 'Fix the retry test' --project shop",
)


@experience_app.add(
    "add",
    example="oracle experience add --project shop --title 'Retries' --situation 'Retries change.' --approach 'Fake the clock.'",
)
def add(
    call: Call,
    *,
    project: OfProject,
    title: Annotated[str, option("--title T", "Its title, one line.")],
    situation: Annotated[str, option("--situation TEXT", "When it helps, in Markdown.")],
    approach: Annotated[str, option("--approach TEXT", "What to do.")] = "",
    reflect: Annotated[str, option("--reflect TEXT", "What to avoid, and what to check.")] = "",
    task_id: Annotated[str, option("--task-id ID", "The task it was learned in.", completion.tasks)] = "",
    supersedes: Annotated[
        list[str] | None, option("--supersedes SLUG", "A record that it replaces; repeatable.", completion.slugs)
    ] = None,
    author: Annotated[str, option("--author AUTHOR", "The author (default: the seat).", completion.authors)] = "",
    seat: WriterSeat = "memory",
    new_project: NewProject = False,
    secrets: Secrets = "refuse",
    dry_run: DryRun = False,
) -> None:
    """Write an experience and print its path."""
    from oracle.app.experiences.add import add
    from oracle.domain.experiences.experience import Experience

    with call.context() as context:
        written = add(
            context,
            Experience(title, situation, approach, reflect),
            project,
            task_id=task_id,
            author=author,
            seat=seat,
            supersedes=tuple(supersedes or ()),
            new_project=new_project,
            secrets=secrets,
            dry_run=dry_run,
        )
    print_written(call, written)


@experience_app.add("learn", example="oracle experience learn --from-task SHOP-7 --accept")
def learn(
    call: Call,
    *,
    task_id: Annotated[str, option("--from-task ID", "A finished task.", completion.tasks)],
    project: Project = "",
    accept: Annotated[bool, option("--accept", "Write the proposal as an experience.")] = False,
    seat: WriterSeat = "memory",
) -> None:
    """Propose an experience from a finished task; write it with --accept."""
    from oracle.app.experiences import learn

    with call.context() as context:
        if accept:
            print_written(call, learn.accept(context, task_id, project=project, seat=seat))
            return
        found = learn.learn(context, task_id, project=project)
    call.answer(found.as_json(), (found.experience.title, "", *found.experience.body.split("\n")))
    for slug in found.known:
        call.note(say("the task has an experience already: {slug}", slug=slug))
    call.note(say("proposed in {path}; change it as you like, then add --accept", path=found.path))


@experience_app.add("list", example="oracle experience list --project shop")
def list_experiences(
    call: Call,
    *,
    project: Project = "",
    limit: Annotated[int, option("--limit N", "The newest N; 0 is all.", min=0)] = 0,
    proposed: Annotated[bool, option("--proposed", "Proposals that wait to be accepted.")] = False,
    full: Full = False,
) -> None:
    """List experiences, newest first."""
    if proposed:
        _list_proposals(call, project)
        return
    from oracle.domain.experiences.experience import KIND

    filters = {"kind": KIND, **({"project": project} if project else {})}
    plain_list.list_records(call, filters, limit=limit, timeline=False, full=full, fresh=False)


def _list_proposals(call: Call, project: str) -> None:
    from oracle.app.experiences import learn

    with call.context() as context:
        found = [one for one in learn.proposals(context) if project in ("", one.project)]
    rows = [(one.project, one.task_id, one.experience.title, one.path) for one in found]
    table = Table(say_each("project", "task", "title", "path"), rows, stacked=(2, 3))
    call.answer({"proposals": [one.as_json() for one in found]}, table)
    if not found:
        call.note(say("no proposal waits"))


@experience_app.add("explain", example="oracle experience explain 'Fix the retry test in src/retry.py' --project shop")
def explain(
    call: Call,
    prompt: Annotated[str, argument("PROMPT", "What a person would type; - is standard input.")],
    *,
    project: Project = "",
    session_id: Annotated[
        str, option("--session-id ID", "The session; `:cron:` in it means a scheduled one.", completion.sessions)
    ] = "",
    cron: Annotated[bool, option("--cron", "The session is a scheduled one.")] = False,
) -> None:
    """Show whether a prompt recalls experiences, and why."""
    from oracle.app.experiences.recall import explain
    from oracle.domain.injection.prompts import is_cron

    text = sys.stdin.buffer.read().decode("utf-8", "replace") if prompt == STANDARD_INPUT else prompt
    with call.context() as context:
        found = explain(context, text, project=project, is_cron=cron or is_cron(session_id, {}))
    call.answer(found.as_json(), [_verdict(found.verdict), *_parts(found.verdict), *_recalled(found)])


def _parts(verdict: GateVerdict) -> list[str]:
    return [f"{part.points:+d} {part.name}: {', '.join(part.words)}" for part in verdict.parts]


def _verdict(verdict: GateVerdict) -> Sentence:
    reasons = {
        "cron": say("the session is a scheduled one, so experiences are recalled"),
        "short": say("the prompt is too short to recall experiences"),
        "envelope": say("the prompt carries quoted context already, so nothing is recalled"),
        "system": say("the prompt is a system text, so nothing is recalled"),
    }
    if verdict.reason in reasons:
        return reasons[verdict.reason]
    score, enough = verdict.score, verdict.as_json()["enough"]
    if verdict.recalls:
        return say("{score} points, {enough} are enough: experiences are recalled", score=score, enough=enough)
    return say("{score} points, {enough} are needed: nothing is recalled", score=score, enough=enough)


def _recalled(found: Explanation) -> list[str]:
    """Return a line for each experience, and for what keeps them back."""
    lines: list[str] = [f"{item.score:.2f} {item.slug}" for item in found.recalled]
    lines += [
        say(
            "{score:.2f} {slug} is below the threshold {threshold}",
            score=item.score,
            slug=item.slug,
            threshold=found.settings.threshold,
        )
        for item in found.below
    ]
    if found.verdict.recalls and not found.recalled:
        lines.append(say("no experience fits the prompt"))
    if not found.settings.enabled:
        lines.append(say("recall is off; `oracle config set experience.enabled true` switches it on"))
    return lines
