"""A command whose extra is not installed says how to install it, and does nothing else."""

import importlib
import sys

import pytest

import oracle.app
from oracle.cli.main import run
from oracle.cli.session import needs_extra


@pytest.mark.parametrize(
    ("words", "package"),
    [
        (["graph", "a", "--format", "svg"], "igraph"),
        (["export", "html", "OUT"], "jinja2"),
        (["export", "html", "OUT"], "nh3"),
        (["export", "html", "OUT"], "markdown_it"),
    ],
)
def test_a_missing_package_is_named_with_the_way_out(root, tmp_path, monkeypatch, capsys, words, package):
    path = root / "projects/shop/builder/notes/a.md"
    path.parent.mkdir(parents=True)
    path.write_text("# A\n\nSee ARENA-7.\n")
    # A package names its modules too: what is imported anew here must not stay there for the tests that follow.
    monkeypatch.setattr(oracle.app, "pages", importlib.import_module("oracle.app.pages"))
    for name in [name for name in sys.modules if name.startswith("oracle.app.pages") or name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    out = tmp_path / "out.html"
    assert run(["--memory-dir", str(root), *(str(out) if word == "OUT" else word for word in words)]) == 2
    said = capsys.readouterr()
    assert f"needs the package {package}, which is not installed" in said.err
    assert "-m pip install 'memory-oracle[web]'" in said.err
    assert said.out == ""
    assert not out.exists()


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("x", name="oracle.app.gone"), ModuleNotFoundError("x"), KeyError("x")]
)
def test_a_fault_of_another_kind_is_not_hidden(error):
    with pytest.raises(type(error)) as raised, needs_extra("web"):
        raise error
    assert raised.value is error
