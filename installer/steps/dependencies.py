"""The packages that an installation needs: installed if allowed, and remembered."""

from installer import apt, host
from installer.shell import Unavailable


def require(record, wanted, log, skip, told=None):
    """Installs what is missing of wanted. With skip, or not as root, raises Unavailable with its names instead.

    told: gives what apt-get install is told of those names, if not just them.
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
