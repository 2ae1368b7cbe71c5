"""Words that are looked for in one another's place: a short form and its long one, and forms that the stemmer keeps apart. Pure.

No thesaurus: every word of a family says the same, only written otherwise.
"""

from __future__ import annotations

from functools import cache

_SHORT = """
admin administrator administration
app application
arg argument
async asynchronous
auth authentication authenticate authorization authorisation authorize authorise
cert certificate
config configuration configure
creds credentials
db database
dep dependency
dev development
dir directory
docs documentation documents
env environment
i18n internationalisation internationalization
id identifier
impl implementation
info information
infra infrastructure
js javascript
k8s kubernetes
l10n localisation localization
lb balancer
lib library
max maximum
mfa 2fa
min minimum
mongo mongodb
msg message
ops operations
org organisation organization
param parameter
perms permissions
pkg package
postgres postgresql
prod production
repo repository
spec specification
ssl tls
stats statistics
sync synchronise synchronize synchronisation synchronization synchronous
tf terraform
"""
_FORMS = """
analyse analyze analysis
assume assumption
behaviour behavior
break broke broken
build built
catalogue catalog
centre center
choose chose chosen choice
colour color
compare comparison
consume consumption
decide decision
deliver delivery
deny denial
describe description
discover discovery
expand expansion
expire expiry expiration
explain explanation
extend extension
fail failure
find found
grow grew growth
hold held
identify identification
keep kept
licence license
lose lost loss
maintain maintenance
modify modification
notify notification
permit permission
recover recovery
reduce reduction
replicate replica
resolve resolution
respond response
retain retention
send sent
solve solution
specify specification
store storage
submit submission
subscribe subscription
suspend suspension
throw threw thrown
use usage
verify verification
write wrote written
"""


@cache
def _families() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in (_SHORT + _FORMS).split("\n"):
        family = line.split()
        for word in family:
            found[word] = (*found.get(word, ()), *(other for other in family if other != word))
    return found


def kindred(word: str) -> tuple[str, ...]:
    """Return the words to look for beside one in small letters, with or without the `s` of many; () for most."""
    families = _families()
    return families.get(word) or families.get(word.removesuffix("s"), ())
