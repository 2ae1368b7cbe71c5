"""The JSON Schemas of the file formats: beside the package in a checkout, inside it when installed. Read only."""

from __future__ import annotations

import json
import os

import oracle
from oracle.errors import DiskFailure
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load(name: str) -> dict[str, Any]:
    """Return the schema `schemas/<name>.schema.json`. Raises DiskFailure if the installation lacks it."""
    package = os.path.dirname(os.path.abspath(oracle.__file__))
    for folder in (f"{os.path.dirname(package)}/schemas", f"{package}/_data/schemas"):
        path = f"{folder}/{name}.schema.json"
        if os.path.isfile(path):
            with open(path, "rb") as stream:
                content: dict[str, Any] = json.load(stream)
            return content
    raise DiskFailure(say("The schema {name} is not installed.", name=name), hint=say("Install the package again."))
