"""The packages that an installation needs: installs them if allowed, and records them."""

from installer import apt, host
from installer.shell import Unavailable


def require(record, wanted, log, skip, told=None):
    """Installs the missing packages of wanted. With skip, or not as root, raises Unavailable with their names instead.

    told: turns those names into arguments of apt-get install, if they are not just the names.
    """
    missing = apt.missing(wanted)
    if not missing:
        return
    if skip or not host.is_root():
        raise Unavailable(f"{'--skip-deps is given' if skip else 'not root'}, and these packages are missing: "
                          + " ".join(missing))
    apt.install(told(missing) if told else missing, log)
    record.facts["packages"] = sorted({*record.facts.get("packages", []), *missing})
    record.save()
