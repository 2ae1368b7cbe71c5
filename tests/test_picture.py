"""The picture of README.md is what its script draws, and it can be read."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PICTURE = CHECKOUT / "references" / "picture.svg"
SVG = "{http://www.w3.org/2000/svg}"
WIDEST = 0.72
"""The width of a letter of a bold, wide font, as a part of its size."""


def test_picture_is_what_the_script_prints():
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "scripts" / "draw_picture.py")], capture_output=True, check=True
    )
    assert done.stdout == PICTURE.read_bytes()


def test_every_line_of_text_fits_into_the_picture():
    document = ElementTree.parse(PICTURE).getroot()  # noqa: S314 - our own file
    width, height = (float(size) for size in document.attrib["viewBox"].split()[2:])
    texts = document.findall(f"{SVG}text")
    assert len(texts) > 20
    for line in texts:
        x, y, size = (float(line.attrib[name]) for name in ("x", "y", "font-size"))
        long = WIDEST * size * len(line.text)
        left = x if line.attrib["text-anchor"] == "start" else x - long / 2
        assert left > 0, line.text
        assert left + long < width, line.text
        assert size < y < height, line.text


def test_readme_shows_the_picture_with_words_for_those_who_do_not_see_it():
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert "](references/picture.svg)" in readme
    assert "![](references" not in readme
