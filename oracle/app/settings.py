"""The settings of a Root that a program needs before it opens one. Cheap to import."""

from __future__ import annotations

from oracle.store.root.configuration import LANGUAGES, SETTINGS, load_language
from oracle.store.root.layout import Root, choose_root, root_in

__all__ = ["LANGUAGES", "SETTINGS", "Root", "choose_root", "load_language", "root_in"]
