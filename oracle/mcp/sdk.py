"""Load of the SDK what a server needs: by itself its import would take half as long again as everything else at the start."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGES = ("mcp", "mcp.server")
"""Packages whose `__init__` imports a client and a framework, which no server here uses."""


@contextmanager
def building_late() -> Iterator[None]:
    """Have the models that are imported meanwhile build their validators when they are first used: most never are."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


def stand_bare() -> bool:
    """Put the packages in place without running them, so that their parts can be imported; tell whether that was done.

    It is not when they were imported before, or are not installed.
    """
    if _PACKAGES[0] in sys.modules:
        return False
    for name in _PACKAGES:
        spec = find_spec(name)
        if spec is None:
            return False
        sys.modules[name] = module_from_spec(spec)
    return True


def import_whole() -> None:
    """Import the SDK as it wants to be imported: one of another version may need its packages. Raises ImportError."""
    for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGES[0]]:
        del sys.modules[name]
    import mcp  # noqa: F401
