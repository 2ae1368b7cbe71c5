"""Start a front from a checkout: the checkout's own `oracle` first, the checkout's `.venv` when a library is missing.

This module may touch `sys.path`, the import system and the process image. It imports `sys` and `os` alone, and an old
Python can read it too, because the first thing it has to say may be that the Python is too old.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PYTHON = os.path.join(ROOT, ".venv", "bin", "python")
LIBRARIES = (
    "dotenv", "frontmatter", "jsonschema", "libtmux", "pathspec", "polib", "tomlkit", "re2", "rich", "typer", "watchfiles", "yaml"
)  # fmt: skip
RESTARTED = "ORACLE_RESTARTED_PID"
EXIT_UNEXPECTED = 70
EXIT_INTERRUPTED = 130
WAY_OUT = f"run `make install` in {ROOT}, whose .venv is then found by itself"


class MissingLibrary:
    """Be asked last for a module, when no other finder has it: the moment to change over to the checkout's `.venv`.

    A read that needs the standard library alone never gets here, and so never pays for a second interpreter.
    """

    def __init__(self, script: str) -> None:
        self.script = script

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Restart, or raise ModuleNotFoundError with the way out as its sentence; ignore any other name."""
        if name in LIBRARIES:
            restart(self.script)
            raise ModuleNotFoundError(f"{name} is not installed for {sys.executable}: {WAY_OUT}", name=name)


def restart(script: str) -> None:
    """Become the same command under the checkout's `.venv`; return when there is none or when this is it already.

    The process keeps its id over an exec, which distinguishes a restart from a child that inherited the variable.
    Output that was not flushed is dropped and locks are let go, as by a kill; call it before stdin was read.
    """
    if os.environ.get(RESTARTED) == str(os.getpid()) or not os.access(PYTHON, os.X_OK):
        return
    os.environ[RESTARTED] = str(os.getpid())
    os.execv(PYTHON, [PYTHON, script, *sys.argv[1:]])  # noqa: S606 - a fixed path and our own arguments, no shell


def run(name: str, *needs: str) -> "NoReturn":
    """Run `oracle.compat.NAME` and exit with its code.

    A front that reads stdin or writes can't start twice: it names in `needs` the libraries to look for beforehand.
    """
    script = os.path.join(ROOT, "scripts", name + ".py")
    sys.path[0] = ROOT
    if sys.version_info < (3, 11):  # noqa: UP036 - this file runs under whatever `python3` is
        restart(script)
        sys.exit(f"error: {sys.executable} is older than Python 3.11: {WAY_OUT}")
    sys.meta_path.append(MissingLibrary(script))
    try:
        for library in needs:
            any(finder.find_spec(library, None) for finder in sys.meta_path)
        program = __import__("oracle.compat." + name, fromlist=["run"])
        if hasattr(program, "run"):
            sys.exit(program.run())
        sys.exit(__import__("oracle.compat.door", fromlist=["serve"]).serve(program.main))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)  # during imports; later the front sees to it itself
    except ModuleNotFoundError as missing:
        if missing.name not in LIBRARIES:
            raise
        sys.stderr.write(f"error: {missing}\n")
        sys.exit(EXIT_UNEXPECTED)
