"""Import only those parts of the SDK that a server needs. That saves a third of the start-up time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec

_PACKAGES = ("mcp", "mcp.server")
"""Packages whose `__init__` imports a client and a framework that the server does not use."""


@contextmanager
def deferred_models() -> Iterator[None]:
    """Delay building the validators of imported models until first use. Most are never used."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


def register_packages() -> bool:
    """Register the packages without running their `__init__`, so that their parts can be imported.

    Returns whether it did.

    It does nothing if they are already imported, or not installed.
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
    """Import the whole SDK: another version may need it. Raises ImportError."""
    for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGES[0]]:
        del sys.modules[name]
    import mcp  # noqa: F401
