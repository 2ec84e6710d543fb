"""install.sh --pgo: when to use a profile, what it needs, and what the record and the summary say about it."""

from functools import partial

from installer import apt, host, packages
from installer.pgo import Pgo, optimised_by
from installer.shell import Failed, Unavailable, say
from installer.steps import dependencies
from installer.steps import build as plain_build

_DIRECTORY = "pgo"  # Beside the plain build.


def wanted(args, record):
    """Whether a profile was asked for, now or earlier."""
    return bool(record.facts.get("pgo")) if args.pgo is None else args.pgo


def build(record, environment, args, plain, preload, log):
    """(plugin, its fact for the record). The plain one and None if only an earlier run asked and the source is new.

    preload: the allocator's library or None. A failure changes nothing that is installed: no file is put yet.
    """
    it = Pgo(environment, plain_build.directory(args, environment) / _DIRECTORY, args.jobs, log)
    asked = bool(args.pgo)
    if not asked and it.known_profile() is None:
        say("  The profile is for another source or server, so this build does not use it. ./install.sh --pgo trains again")
        return plain, None
    if asked:
        _packages(record, environment, args, log)
    anew = args.rebuild_plugin
    profile = it.profile(anew=asked and anew)
    plugin = it.optimised(profile, anew)
    it.check(plugin)
    before = record.facts.get("pgo") or {}
    gain = before.get("gain")
    if asked:
        gain = it.compare(plain, plugin, preload)["overall"]
    return plugin, {"profile": profile["digest"], "trained": profile["trained"], "gain": gain}


def _packages(record, environment, args, log):
    dependencies.require(record, packages.PGO, log, args.skip_deps)
    archive = apt.Archive(host.apt_codename(), log)
    try:
        dependencies.require(record, ["mariadb-test", "mariadb-test-data"], log, args.skip_deps,
                             told=partial(archive.installable, version=environment.package_version))
    except Unavailable:
        raise
    except Failed as error:  # The archive has only the suite of a newer server.
        record.notes.append(f"trained without the server's test suite: {str(error).splitlines()[0]}")


def cmake_options(build_dir, profile):
    """CMake options that build the library like the plugin. profile: as build() gives it."""
    return optimised_by(build_dir / _DIRECTORY, profile["profile"]) if profile else ["-DTIDESDB_PGO="]


def remember(record, profile):
    if profile:
        record.facts["pgo"] = profile
    else:
        record.facts.pop("pgo", None)


def summary(fact):
    gain = fact.get("gain")
    measured = f"; measured gain {gain['said']}, {gain['verdict']}" if gain else ""
    return f"optimised by the profile {fact['profile']}, trained {fact['trained']}{measured}"
