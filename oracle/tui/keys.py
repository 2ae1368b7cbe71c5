"""The keys of `oracle watch`: what each does, and in which panes. The foot, the help and the bindings are made of this table."""

from __future__ import annotations

from oracle.domain.layout import cells
from oracle.domain.values import value
from oracle.wording import Sentence, say, visible

NOW, RECORDS, RECORD, GRAPH, LOG = PANES = ("now", "records", "record", "graph", "log")

TITLES = {NOW: say("Now"), RECORDS: say("Records"), RECORD: say("Record"), GRAPH: say("Graph"), LOG: say("Log")}
_LISTS = (RECORDS, RECORD, GRAPH, LOG)


@value
class Key:
    """A key: its names in Textual, how it is printed, its action, its meaning in a word, and the panes that have it."""

    names: str
    shown: str
    action: str
    label: Sentence
    panes: tuple[str, ...] = PANES
    is_at_foot: bool = True


KEYS = (
    Key("enter", "Enter", "", say("show")),
    Key("d", "d", "decide", say("decide"), (NOW,)),
    Key("a", "a", "acknowledge", say("acknowledge"), (NOW,)),
    Key("r", "r", "resume", say("resume"), (NOW,)),
    Key("slash", "/", "search", say("search")),
    Key("backspace", "⌫", "go_back", say("back"), (RECORD, GRAPH)),
    Key("plus,equals_sign", "+", "deepen(1)", say("deeper"), (GRAPH,)),
    Key("minus", "-", "deepen(-1)", say("less deep"), (GRAPH,), is_at_foot=False),
    Key("g", "g", "draw", say("graph")),
    Key("o", "o", "edit", say("edit"), _LISTS),
    Key("y", "y", "copy", say("copy")),
    Key("question_mark", "?", "help", say("help")),
    Key("q,ctrl+c", "q", "quit", say("quit")),
    Key("tab", "Tab", "turn(1)", say("next pane"), is_at_foot=False),
    Key("shift+tab", "Shift+Tab", "turn(-1)", say("previous pane"), is_at_foot=False),
    *(
        Key(str(number), str(number), f"show_pane('{pane}')", TITLES[pane], is_at_foot=False)
        for number, pane in enumerate(PANES, 1)
    ),
    Key("", "↑ ↓ PgUp PgDn Home End", "", say("move"), is_at_foot=False),
    Key("", "Esc", "", say("leave the search, answer no"), is_at_foot=False),
)


def foot(pane: str, width: int) -> list[tuple[str, str]]:
    """Return the keys of a pane with their meanings, as many as `width` columns hold; the help and the way out go last."""
    found = [(key.shown, visible(key.label)) for key in KEYS if key.is_at_foot and pane in key.panes]
    while len(found) > 1 and sum(cells(f"{shown} {label}  ") for shown, label in found) - 2 > width:
        del found[-3 if len(found) > 2 else 0]
    return found
