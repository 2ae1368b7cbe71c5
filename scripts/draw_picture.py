#!/usr/bin/env python3
"""Print the picture of README.md as SVG: seats, their files, the oracle that reads them, and a handoff with its receipts.

To renew the committed file: python3 scripts/draw_picture.py > references/picture.svg
"""

from __future__ import annotations

import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 960, 560
INK, SOFT, PAPER = "#1f2933", "#52606d", "#ffffff"
SEAT, FILES, ORACLE, RECEIPT = "#dbeafe", "#f5f7fa", "#dcfce7", "#fef3c7"

SEATS = (
    ("planner", "Claude Code", "projects/shop/planner/", "plans, briefs"),
    ("builder", "Codex", "projects/shop/builder/", "reports, measurements"),
    ("reviewer", "Gemini", "projects/shop/reviewer/", "findings"),
    ("memory", "Claude Code", "projects/shop/decision/ …", "what the team decided"),
)
HANDOFF = (
    (20, 110, SEAT, ("planner",)),
    (210, 220, RECEIPT, ("question and receipt", "tasks/shop/patrol/handoffs/")),
    (510, 110, SEAT, ("memory",)),
    (720, 220, RECEIPT, ("answer and receipt", "responses/Q-1.json")),
)


def text(
    x: float, y: float, words: str, *, size: int = 14, color: str = INK, bold: bool = False, at: str = "middle"
) -> str:
    """Return one line of text; `y` is its base line."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{color}" text-anchor="{at}"{weight}>{escape(words)}</text>'
    )


def box(x: float, y: float, width: float, height: float, *, fill: str, dashed: bool = False) -> str:
    """Return a rectangle with round corners."""
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7" fill="{fill}" stroke="{SOFT}"{dashes}/>'


def labelled(x: float, y: float, width: float, height: float, *, fill: str, lines: tuple[str, ...]) -> list[str]:
    """Return a rectangle with one or two centred lines; the first is bold."""
    middle = x + width / 2
    top = y + height / 2 + (5 if len(lines) == 1 else -3)
    words = [text(middle, top, lines[0], bold=True)]
    words += [text(middle, top + 18, line, size=12, color=SOFT) for line in lines[1:]]
    return [box(x, y, width, height, fill=fill), *words]


def arrow(points: str, label: str = "", at: tuple[float, float] = (0, 0)) -> list[str]:
    """Return a line along `points` (the data of an SVG path) with a head at its end, and its label."""
    line = f'<path d="{points}" fill="none" stroke="{INK}" stroke-width="1.6" marker-end="url(#head)"/>'
    return [line, text(*at, label, size=12, color=SOFT)] if label else [line]


def records() -> list[str]:
    """Return the upper half: each seat writes into its own folder, the oracle reads all of them and answers every seat."""
    parts = [
        text(20, 30, "Records: each seat writes its own folder, oracle reads them all", size=17, bold=True, at="start")
    ]
    parts += [
        box(20, 88, 200, 268, fill=PAPER, dashed=True),
        text(120, 108, "Seats: one agent each", size=13, color=SOFT),
    ]
    parts += [
        box(300, 88, 310, 268, fill=PAPER, dashed=True),
        text(455, 108, "Root: ~/.agents/memory", size=13, color=SOFT),
    ]
    for number, (seat, host, folder, content) in enumerate(SEATS):
        y = 118 + 58 * number
        parts += labelled(35, y, 170, 48, fill=SEAT, lines=(seat, host))
        parts += labelled(315, y, 280, 48, fill=FILES, lines=(folder, content))
        parts += arrow(f"M205 {y + 24} H315", "writes", (260, y + 18))
    parts += labelled(710, 130, 230, 96, fill=ORACLE, lines=("oracle", "links, searches, answers"))
    parts += labelled(710, 284, 230, 56, fill=FILES, lines=("index", "one SQLite file, only a cache"))
    parts += arrow("M610 178 H710", "reads", (660, 172))
    parts += arrow("M825 226 V284", "keeps", (850, 259))
    return [*parts, *arrow("M825 130 V66 H120 V88", "answers any seat with quotes: file, lines, who, when", (472, 60))]


def handoff() -> list[str]:
    """Return the lower half: a question travels from seat to seat, and a file proves each step."""
    parts = [text(20, 408, "Handoffs: a question arrives once, and files prove it", size=17, bold=True, at="start")]
    for x, width, fill, lines in HANDOFF:
        parts += labelled(x, 428, width, 56, fill=fill, lines=lines)
    parts += arrow("M130 456 H210", "asks", (170, 450))
    parts += arrow("M430 456 H510", "wakes", (470, 450))
    parts += arrow("M620 456 H720", "answers", (670, 450))
    parts += arrow(
        "M830 484 V518 H75 V484", "wakes the planner, which reads the answer and acknowledges it", (452, 512)
    )
    return [
        *parts,
        text(480, 544, "If a process dies, nothing is lost: the files say what comes next.", size=13, color=SOFT),
    ]


def picture() -> str:
    """Return the whole SVG document."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Helvetica, Arial, sans-serif">',
            "<title>Seats write files; oracle reads, links and answers; handoffs leave receipts</title>",
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">',
            f'<path d="M0 0 L10 5 L0 10 z" fill="{INK}"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="{PAPER}"/>',
            *records(),
            f'<path d="M20 378 H{WIDTH - 20}" stroke="#cbd2d9"/>',
            *handoff(),
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(picture())
