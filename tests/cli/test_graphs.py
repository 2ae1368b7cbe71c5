"""Walks as Mermaid and Graphviz: a name can't become a piece of the language."""

from __future__ import annotations

import html
import re

from hypothesis import example, given
from hypothesis import strategies as st

from oracle.cli.commands import graph as graphs
from oracle.domain.links.graph import GraphStep, Walk

NAMES = st.text(min_size=1, max_size=30)
NASTY = 'a"]; end %%{init}%% `x` #quot; &lt; <b> \\N \n 决定 |"|'


def walk(name: str) -> Walk:
    return Walk(name, 1, (name, "b"), (GraphStep(name, "b", "extends", "", 1),))


@given(NAMES)
@example(NASTY)
def test_a_mermaid_label_holds_no_syntax_and_reads_back(name):
    label = graphs.escape_mermaid(name)
    assert not re.search(r'["%`<>&{}\[\]|\\$]', label)
    assert re.fullmatch(r"(?:[^#;]|#\d+;)*", label)
    assert re.sub(r"#(\d+);", lambda match: chr(int(match[1])), label) == graphs.visible(name)


@given(NAMES)
@example(NASTY)
def test_a_dot_label_ends_where_it_ends_and_reads_back(name):
    label = graphs.escape_dot(name)
    assert re.fullmatch(r'(?:[^"\\\n]|\\["\\])*', label)
    plain = html.unescape(re.sub(r"\\(.)", r"\1", label))
    assert plain == graphs.visible(name) or "&" in name


@given(NAMES)
@example(NASTY)
def test_every_node_and_edge_is_one_line(name):
    assert len(graphs.as_mermaid(walk(name), {}, {}).splitlines()) == 4
    assert len(graphs.as_dot(walk(name), {}, {}).splitlines()) == 7
    assert len(graphs.as_text(walk(name), {}, {}).splitlines()) == 1


def test_what_does_not_hold_is_marked_in_every_form():
    chains, marks = {"a": ("c", "d")}, {"a": "superseded", "b": "missing"}
    for form in graphs.FORMS.values():
        shown = html.unescape(re.sub(r"#(\d+);", lambda match: chr(int(match[1])), form(walk("a"), chains, marks)))
        assert "a [superseded by c, then d]" in shown
        assert "b [missing]" in shown
    document = graphs.as_json(walk("a"), chains, marks)
    assert document["chains"] == {"a": ["c", "d"]}
    assert document["statuses"] == marks
    assert document["edges"][0]["resolved"] is False
    assert graphs.as_json(walk("a"), {}, {})["edges"][0]["resolved"] is True


def test_a_walk_without_edges_shows_where_it_began():
    assert graphs.as_text(Walk("a", 0, ("a",), ()), {}, {}) == "a\n"
