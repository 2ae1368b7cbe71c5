"""Check the sources: whether they are read, and what is wrong with their files. Reads only."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.app.doctor.context import Check, CheckContext, note, quoted, warning
from oracle.errors import UsageError
from oracle.index.read import query
from oracle.store.root import sources
from oracle.wording import say, say_many


def check_sources(context: CheckContext) -> Iterator[Check]:
    """Report a registry that cannot be read, sources that are not read, and sources with files that have problems."""
    root = context.root
    try:
        listed = sources.read(root)
    except UsageError as trouble:
        yield warning("sources", trouble.sentence, trouble.hint)
        return
    connection = context.index.truth.connect()
    known = root.load_sources()
    for source in listed:
        reasons = [reason for path, _, reason in query.problems(connection, source.tree) if path == source.tree]
        if reasons:
            why = known[source.tree].why_not or reasons[0]
            remove = f"oracle source remove {quoted(source.name)} --project {quoted(source.project)}"
            yield warning("sources", why, say("Bring it back, or forget it: {remove}", remove=remove))
            continue
        count = len(query.problems(connection, f"{source.tree}/"))
        if count:
            what = say_many(
                "{tree}: {n} problem in its files", "{tree}: {n} problems in its files", tree=source.tree, n=count
            )
            yield note("sources", say("{what}; see `oracle source check {name}`", what=what, name=source.name))
