"""The packages that an installation needs: installed if allowed, and remembered."""

from installer import apt, host
from installer.shell import Unavailable


def require(record, wanted, log, skip):
    """Installs what is missing of wanted. With skip, or not as root, raises Unavailable with its names instead."""
    missing = apt.missing([name.partition("=")[0] for name in wanted])
    if not missing:
        return
    if skip or not host.is_root():
        raise Unavailable(f"{'--skip-deps is given' if skip else 'not root'}, and these packages are missing: "
                          + " ".join(missing))
    by_name = {name.partition("=")[0]: name for name in wanted}
    apt.install([by_name[name] for name in missing], log)
    record.facts["packages"] = sorted({*record.facts.get("packages", []), *missing})
    record.save()
