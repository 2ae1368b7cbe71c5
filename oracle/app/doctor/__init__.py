"""The doctor: check every invariant of a Root and say how to fix what fails. Repair changes derived files only.

Two calls: `examine` reads only, `repair` writes derived files only. `references/doctor.md` is the list for people.
"""

from oracle.app.doctor.context import Check
from oracle.app.doctor.examine import examine
from oracle.app.doctor.repair import repair

__all__ = ["Check", "examine", "repair"]
