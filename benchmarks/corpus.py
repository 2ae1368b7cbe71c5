"""Make Roots: of synthetic records, about 1 KB and eight links each, or of real documents. Deterministic.

And find the questions and documents that lie beside a checkout, which are not part of the project.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

COMMON = (
    "cache queue lock index planner builder reviewer patrol memory record evidence claim retry timeout deploy rollback schema "
    "parser token vector ranking passage snippet digest folder commit branch merge release review risk latency budget quota "
    "network socket stream buffer page cursor cluster shard replica leader follower quorum lease clock drift"
).split()
_ENDINGS = {".md", ".mdx"}
_SEATS = ("builder", "planner", "reviewer", "decision", "finding")
HOT = "entity:taskid:ARENA-228"
_PER_FOLDER = 100


def _popular(generator: random.Random, size: int) -> int:
    """Draw a number below `size`, small ones much more often: what teams mention is distributed like Zipf's law."""
    return min(size - 1, int(generator.paretovariate(0.7)) - 1)


def record_text(number: int, generator: random.Random, *, hot: bool) -> tuple[str, str]:
    """Return (title, body) of record `number`: eight links, of which one is the hot entity when `hot`."""
    sentences = [" ".join(generator.choices(COMMON, k=8)).capitalize() + "." for _ in range(8)]
    links = [
        f"ARENA-{1000 + _popular(generator, 400)}",
        "ARENA-228" if hot else f"OPS-{_popular(generator, 300)}",
        f"src/mod{_popular(generator, 60)}/file{generator.randrange(10)}.py",
        f"docs/topic{_popular(generator, 200)}.md",
        f"https://example.com/page/{_popular(generator, 200)}",
        f"commit {_popular(generator, 3000) * 2_654_435_761 % 16**7:07x}a",
        f"{generator.choice(('Cache', 'Queue', 'Lease', 'Clock', 'Shard'))}{generator.choice(('Layer', 'Engine', 'View'))}",
        f"[[2026-04-01T10-00-00Z-{max(0, number - 1 - _popular(generator, 500)):06d}]]",
    ]
    body = "\n\n".join(f"{sentence} See {link}." for sentence, link in zip(sentences, links, strict=True))
    return f"{generator.choice(COMMON)} {generator.choice(COMMON)} {number}", body


def make_root(root: Path, count: int, *, hot: int) -> None:
    """Lay out `count` records, the first `hot` of which name the hot entity, in folders of a hundred."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    generator = random.Random(20260101)
    for number in range(count):
        project = f"p{number // (_PER_FOLDER * len(_SEATS)):04d}"
        seat = _SEATS[number // _PER_FOLDER % len(_SEATS)]
        folder = root / "projects" / project / seat
        if number % _PER_FOLDER == 0:
            folder.mkdir(parents=True, exist_ok=True)
        title, body = record_text(number, generator, hot=number < hot)
        name = f"2026-04-01T10-00-00Z-{number:06d}"
        text = (
            f'---\nschema_version: "2"\nid: "{name}"\nproject: "{project}"\nseat: "{seat}"\nkind: "finding"\ntitle: "{title}"\n'
            f'author: "{seat}"\nstatus: "open"\nts: "2026-04-{1 + number % 28:02d}T10:{number % 60:02d}:00.000000Z"\n'
            f'confidence: "medium"\nsource: "write_api"\nevidence:\n  - trust: "high"\n    source_url: "src/mod1/file1.py:12"\n'
            f'related_task_ids:\n  - "ARENA-{1000 + number % 50}"\n---\n\n{body}\n'
        )
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def lay_out(documents: Path, root: Path, count: int) -> list[Path]:
    """Make `count` records of the Markdown files below a folder, each as often as needed, and return their paths.

    A file without frontmatter gets some. Raises SystemExit where there is no such file.
    """
    found = sorted(path for path in documents.rglob("*.md*") if path.suffix in _ENDINGS)
    if not found:
        raise SystemExit(f"{documents} holds no Markdown")
    paths = []
    for number in range(count):
        document = found[number % len(found)]
        folder = root / "projects" / f"p{number // 1000}" / _SEATS[number // _PER_FOLDER % len(_SEATS)]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = document.read_text(encoding="utf-8", errors="replace")
        if not text.startswith("---"):
            text = f'---\nkind: decision\ntitle: "{document.stem}"\n---\n\n{text}'
        paths.append(folder / f"{document.stem}-{number:05d}.md")
        paths[-1].write_text(text, encoding="utf-8")
    return paths


# What lies beside a checkout ------------------------------------------------------------------------------------------


def beside(about: str) -> argparse.ArgumentParser:
    """Return a parser with the options that say where the questions are, and where Roots are kept."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = HERE.parent.parent / "shared"
    parser.add_argument("--shared", type=Path, default=shared, help="the folder that holds bench/ and corpora/")
    parser.add_argument("--kept", type=Path, help="the folder in which the Roots are kept for the next run")
    return parser


def kept_in(given: argparse.Namespace) -> Path:
    """Return the folder of the Roots: the one that was named, else a new one."""
    return given.kept or Path(tempfile.mkdtemp(prefix=f"oracle-{Path(sys.argv[0]).stem}-"))


def read_questions(shared: Path, name: str) -> list[dict[str, Any]]:
    """Return the questions of a set. Raises SystemExit where they are absent."""
    path = shared / f"bench/{name}.questions.jsonl"
    if not path.is_file():
        raise SystemExit(f"There are no questions in {path}: name the folder that holds bench/ with --shared.")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
