"""The demonstration: its transcript on our own knowledge base, and any folder of Markdown, however odd, as a corpus.

With APPROVE=1 in the environment the transcript is written anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.app.records.graph import unresolved
from oracle.domain.names import check_name

CHECKOUT = Path(__file__).resolve().parent.parent
DEMO = CHECKOUT / "scripts" / "demo.py"
GOLDEN = CHECKOUT / "tests" / "golden" / "demo.txt"
TIMES = (
    (re.compile(r"(?<=change until )\S+"), "<time>"),
    (re.compile(r'(?<="extracted_at": ")[^"]+'), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}Z(?=-demonstrate)"), "<stamp>"),
    (re.compile(r"(?<=\(decision, memory, )\d{4}-\d\d-\d\d(?=, open\)  \[\d\d %\]\n    The main job)"), "<day>"),
    (re.compile(r"(?<=, open\)  \[)\d+(?= %\]\n    The main job)"), "<n>"),
    (re.compile(r"(?<=DEMO-1 from memory at )\S+"), "<time>"),
    (re.compile(r"(?<=\tacked\t)[^\t]+"), "<age>"),
    (re.compile(r"Python [\d.]+, SQLite [\d.]+"), "Python <version>, SQLite <version>"),
)


def run_demo(*words: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, str(DEMO), *words], capture_output=True, timeout=300, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def normalise(text: str) -> str:
    """Replace what differs from run to run: the temporary Root, the moments of this run, versions."""
    (root,) = re.findall(r"^export ORACLE_ROOT=(.+)$", text, re.MULTILINE)
    text = text.replace(root, "$ROOT")
    for pattern, word in TIMES:
        text = pattern.sub(word, text)
    return text


def test_transcript_of_our_own_knowledge_base():
    before = snapshot(CHECKOUT / "references" / "kb")
    code, out, err = run_demo()
    shown = normalise(out)
    if os.environ.get("APPROVE"):
        GOLDEN.write_text(shown, encoding="utf-8")
    assert shown == GOLDEN.read_text(encoding="utf-8")
    assert (code, err) == (0, "")
    assert snapshot(CHECKOUT / "references" / "kb") == before
    assert not Path(re.findall(r"^export ORACLE_ROOT=(.+)$", out, re.MULTILINE)[0]).exists()


# A corpus -------------------------------------------------------------------------------------------------------------


def put(corpus: Path, name: str | bytes, content: str | bytes) -> None:
    path = Path(os.fsdecode(os.fsencode(corpus) + b"/" + os.fsencode(name)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")}


def test_small_corpus_gives_targets_of_its_own(tmp_path: Path):
    put(tmp_path, "arena/caching.md", "# Caching of rendered pages\n\nWe cache for ARENA-7, see [[retries]].\n")
    put(tmp_path, "arena/retries.md", "# Retries\n\nThree of them, ARENA-7 says. See [[nowhere]].\n")
    put(tmp_path, "中文 资料/缓存.md", "# 缓存策略说明\n\n关于 ARENA-7 的说明。\n")
    before = snapshot(tmp_path)
    code, out, err = run_demo("--corpus", str(tmp_path))
    assert (code, err) == (0, "")
    assert snapshot(tmp_path) == before
    assert "3 documents of" in out
    assert "--backlinks entity:taskid:ARENA-7" in out
    assert out.count('"incoming_count": 3') == 1
    assert out.count('"incoming_count": 4') == 1
    assert "oracle search 'Caching rendered pages'" in out
    assert "oracle search '缓存策略'" in out
    assert "nowhere" in out[out.index("oracle check --only unresolved") :]
    assert "is superseded by" in out
    assert "/builder/中文 资料/缓存" in out
    assert "note: every claim is verified" in out
    assert "\tDEMO-1\tplanner\tmemory\tacked\t" in out


def test_folder_without_folders_is_one_project(tmp_path: Path):
    corpus = tmp_path / "my notes"
    put(corpus, "a.md", "# First of all\n")
    put(corpus, "b.md", "# Second thoughts\n\nSee [[a]].\n")
    code, out, err = run_demo("--corpus", str(corpus))
    assert (code, err) == (0, "")
    assert "projects/my-notes/" in out
    assert "--supports=projects/my-notes/" in out


def test_folders_are_kept_so_that_links_lead_where_they_led(tmp_path: Path):
    corpus = tmp_path / "corpus"
    put(corpus, "wiki/index.md", "# Index\n\n[Setup](user/setup/first.md), [[dev/plan]] and [[deep]].\n")
    put(
        corpus,
        "wiki/user/setup/first.md",
        "# First\n\nBack to the [index](../../index.md), on to [plan](../../dev/plan.md).\n",
    )
    put(corpus, "wiki/dev/plan.md", "---\ntitle: A plan\nstatus: open\n---\n\nSee [first](../user/setup/first.md).\n")
    put(corpus, "wiki/user/very/very/deep.markdown", "# Deep\n\nSee [[first]] and [[nowhere]].\n")
    put(corpus, "wiki/decisions/adopt.md", "# Adopt\n")
    put(corpus, "README.md", "# Beside the folders\n")
    root = tmp_path / "root"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CHECKOUT / "scripts"))
        from _corpus import lay_out

        assert lay_out(corpus, root) == (6, [])
    assert [path.relative_to(root).as_posix() for path in (root / "projects").glob("*/*")] == [
        "projects/corpus/builder"
    ]
    with Oracle.open(str(root)) as oracle:
        assert [row[3] for row in unresolved(oracle)] == ["nowhere"]
        kinds = {record.slug: (record.kind, record.seat, record.title) for record in oracle.records({})}
    seat = "projects/corpus/builder"
    assert kinds[f"{seat}/wiki/user/setup/first"] == ("note", "builder", "First")
    assert kinds[f"{seat}/wiki/decisions/adopt"] == ("decision", "builder", "Adopt")
    assert kinds[f"{seat}/README"] == ("note", "builder", "Beside the folders")
    for path in corpus.rglob("*.m*"):
        assert (root / seat / path.relative_to(corpus)).with_suffix(".md").read_bytes() == path.read_bytes()


def test_odd_names_and_bytes_do_no_harm(tmp_path: Path):
    corpus = tmp_path / "it's $(odd) `here`"
    put(corpus, "-rf/--help.md", "# --help\n\n$(touch planted) ARENA-1\n")
    put(corpus, "a\nb/c\td\x1b[31m.md", "# Escape \x1b[31m and \u202e turn\n\n- \x00 NUL\n")
    put(corpus, b"latin-\xe9/caf\xe9.md", b"# Caf\xe9\n\nA word in Latin 1.\n")
    put(corpus, "x/" + "n" * 250 + ".md", "")
    put(corpus, "x/" + ("d" * 240 + "/") * 8 + "deep.md", "# Deep\n")
    put(corpus, "x/y--z.md", "# One\n")
    put(corpus, "x/y/z.md", "# Two\n")
    put(corpus, "x/A.md", "# Upper\n")
    put(corpus, "x/a.MD", "# lower\n")
    put(corpus, "x/open.md", "---\ntitle: never closed\n\nbody\n")
    put(corpus, "x/bad.md", "---\ntitle: [\n---\n" + "`" * 3 + "\nnever closed ARENA-1\n")
    put(corpus, "..x/…/。.md", "")
    put(corpus, "x/long.md", "# " + "w" * 100_000 + "\n")
    put(corpus, ".hidden/secret.md", "# Hidden\n")
    put(tmp_path, "outside.md", "# Outside of the corpus\n")
    (corpus / "x" / "out.md").symlink_to(tmp_path / "outside.md")
    (corpus / "x" / "gone.md").symlink_to("nowhere.md")
    os.mkfifo(corpus / "x" / "pipe.md")
    before = snapshot(tmp_path)
    code, out, err = run_demo("--corpus", str(corpus))
    assert (code, err) == (0, ""), out
    assert "12 documents of" in out
    assert "Traceback" not in out
    assert "\x1b" not in out
    assert "Hidden" not in out
    assert "Outside of the corpus" not in out
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["absent", "empty", "a file"])
def test_corpus_that_is_none_is_refused_with_the_way_out(tmp_path: Path, name: str):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a file").touch()
    code, out, err = run_demo("--corpus", str(tmp_path / name))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.split("\n")[1].startswith("hint: ")


def test_layout_alone_is_no_program_and_says_so_under_any_python():
    done = subprocess.run(
        [sys.executable, "-I", str(CHECKOUT / "scripts/_corpus.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["error: this is a part of scripts/demo.py; run `make demo CORPUS=DIR`"]


@given(st.binary(max_size=200))
def test_any_folder_may_be_a_project(raw: bytes):
    name = os.fsdecode(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CHECKOUT / "scripts"))
        from _corpus import project_name

        project = project_name(name)
    assert check_name(project, "project") == project


def test_task_id_that_may_not_be_written_is_not_asked_about(tmp_path: Path):
    put(tmp_path, "a/one.md", '---\ntask_id: "--help"\ntitle: One of them\n---\n')
    code, out, err = run_demo("--corpus", str(tmp_path))
    assert (code, err) == (0, "")
    assert "--task-id=" not in out
    assert "/builder/a/one" in out


def test_failing_step_gives_a_failing_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.syspath_prepend(str(CHECKOUT / "scripts"))
    import demo

    there = demo.Demo(tmp_path)
    there.step("A question to a Root that holds nothing", "oracle", "show", "nothing")
    assert len(there.failed) == 1
    assert "!! step 1 ended with exit code 4" in capsys.readouterr().out
