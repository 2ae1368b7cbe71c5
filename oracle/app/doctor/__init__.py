"""The doctor: check every invariant of a Root and name the way out; put right what is derived, never the truth.

Two calls: `examine` reads only, `repair` writes derived files only. `references/doctor.md` is the list for people.
"""

from oracle.app.doctor.checks import Check
from oracle.app.doctor.examine import examine
from oracle.app.doctor.repair import repair

__all__ = ["Check", "examine", "repair"]
