"""install.sh: the steps in their order, and the summary."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

from installer import host
from installer.install import options
from installer.shell import TREE, Failed, Unavailable, main, say
from installer.source import install as from_source
from installer.source import options as source_options
from installer.steps import allocator, build, config, distribution, guided, interruption, library, one_run, targets, undo
from installer.steps.record import Record
from installer.steps.server import InstalledServer

LOG = TREE / "var" / "log" / "install.log"

BACKUP_PROGRAM = Path("/usr/local/bin/tidesdb-backup")

_PLUGIN_BYTES = 50 << 20  # Its size, and some more.


def install(args, record):
    server = InstalledServer(LOG)
    say("Preparing")
    # Refuse before the first long step.
    prefix = library.prefix_of(args, record)
    if prefix:
        library.check(record, prefix)
    chosen = args.allocator or record.facts.get("allocator")
    preload = allocator.library(record, chosen, LOG, args.skip_deps)
    environment = distribution.environment(record, LOG, args)
    server.look(must_answer=not args.no_restart)
    targets.check(server.plugin.parent, 0 if server.plugin.exists() else _PLUGIN_BYTES, "the plugin's directory")
    say("Building")
    plugin = build.build(record, environment, args, LOG)
    profile = None
    if guided.wanted(args, record):
        plugin, profile = guided.build(record, environment, args, plugin, preload, LOG)
    into = build.directory(args, environment)
    staged = library.stage(into / "library", args.jobs, LOG, guided.cmake_options(into, profile)) if prefix else None
    say("Installing")
    restarted = False
    try:
        # Record wishes and pending restart before the first change, so that the next run can finish after an interruption.
        guided.remember(record, profile)
        if chosen:
            record.facts["allocator"] = chosen
        if args.rebuild_plugin:
            record.facts["restart_due"] = True
        changed = _put_files(record, server, plugin)
        if chosen:
            changed = allocator.set_up(record, server, preload) or changed
        if staged:
            changed = library.put(record, prefix, staged) or changed
        record.save()
        if args.no_restart:
            server.read_units()
        else:
            if record.facts.get("restart_due") or server.pid() is None:
                restarted = True
                server.restart()
            version = server.check_engine()
            _check_allocator(record, server)
            record.facts.pop("restart_due", None)
            record.save()
    except (Failed, OSError, KeyboardInterrupt) as error:
        raise Failed(f"{error or 'interrupted'}\n{undo.roll_back(record, server, restarted)}") from error
    _summary(args, record, server, environment, changed, None if args.no_restart else version)


def _put_files(record, server, plugin):
    """Puts the plugin (ours by its name), the lines that load it, and tidesdb-backup; True if one changed."""
    changed = record.put(server.plugin, plugin.read_bytes(), mark=b"", restart=True)
    lines = config.server_config(config.memory_bytes()).encode()
    changed = record.put(server.config, lines, keep_edited=True, mark=config.MARK.encode(), restart=True) or changed
    return record.put(BACKUP_PROGRAM, (TREE / "tools" / "tidesdb_backup.py").read_bytes(), mode=0o755) or changed


def _check_allocator(record, server):
    """Checks that the running process has the allocator that was asked for, now or earlier."""
    wanted = record.facts.get("allocator")
    found = allocator.of_process(server.pid())
    if wanted and found != wanted:
        raise Failed(f"the server runs with the allocator {found}, not with {wanted}")


def _summary(args, record, server, environment, changed, version):
    say(f"\nMariaDB {environment.version}" + (f", ENGINE=TidesDB {version} works: a table was written and read."
                                              if version else ": restart it to get ENGINE=TidesDB."))
    say("  " + ("changed in this run" if changed else "nothing changed") + "; our files:")
    for path in sorted(record.files):
        say(f"    {path}")
    if version:
        say(f"  allocator of the running server: {allocator.of_process(server.pid())}")
    if record.facts.get("pgo"):
        say(f"  {guided.summary(record.facts['pgo'])}")
    for note in record.notes:
        say(f"  {note}")
    if record.facts.get("newer"):
        say(f"  The archive has MariaDB {record.facts['newer']} but not its sources. If apt upgrades to it, the\n"
            "  server starts without the engine until ./install.sh can build for it;\n"
            "  apt-mark hold mariadb-server mariadb-server-core prevents that.")
    say(f"  build: {build.directory(args, environment)}, log: {LOG}, record: {record.file}\n"
        "  undo: ./install.sh --uninstall")


def _main():
    interruption.interrupt_once()
    args = options.parse(sys.argv[1:])
    os.umask(0o022)  # Other accounts must read our files: the server's, and those that compile against the library.
    if not host.is_root() and not args.list_engines:
        raise Unavailable("installing into the system's MariaDB needs root")
    with one_run.lock() if host.is_root() else nullcontext():
        return _run(args)


def _run(args):
    if args.list_engines:
        return from_source.list_engines(args, LOG)
    if source_options.wanted(args):
        return from_source.uninstall(args, LOG) if args.uninstall else from_source.install(args, LOG)
    record = Record()
    if args.uninstall and from_source.installed():
        from_source.uninstall(args, LOG)
        if not record.file.exists():
            return None
    return undo.uninstall(args, record, LOG) if args.uninstall else install(args, record)


if __name__ == "__main__":
    main(_main)
