"""install.sh --mariadb-version: the steps in their order, the summary, and --uninstall."""

from pathlib import Path

from installer import packages
from installer.shell import TREE, Failed, say
from installer.source import engines, fetch, options, places, service
from installer.source.build import Tree
from installer.source.pgo import ServerPgo
from installer.source.prefix import Prefix
from installer.source.server import SourceServer, choose_port
from installer.steps import allocator, config, dependencies, distribution, guided, interruption, library, targets
from installer.steps.record import DIRECTORY, Record

_RECORD = DIRECTORY / "source"  # A separate record: a distribution's server may have the engine too.


def _prefix(record, directory):
    return Prefix(directory, record.directory / "files.json")


def list_engines(args, log):
    dependencies.require(Record(_RECORD), packages.UNPACK, log, args.skip_deps)
    source = fetch.find(args, log)
    paths = options.paths(args, source.version)
    source.unpack(paths.sources, log)
    say(engines.table(engines.find(paths.sources), source.version))


def install(args, log):
    record = Record(_RECORD)
    say("Preparing")
    # Refuse before the first long step.
    args.mariadb_prefix = args.mariadb_prefix or Path(record.facts.get("prefix", options.PREFIX))
    prefix = _prefix(record, args.mariadb_prefix)
    prefix.check()
    dependencies.require(record, packages.UNPACK, log, args.skip_deps)
    source = fetch.find(args, log)
    distribution.check_supported(source.version)
    prefix.check(source.version)
    paths = options.paths(args, source.version)
    server = SourceServer(paths, log)
    server.check_data()
    # --pgo measures its gain over the plain build.
    by_profile = guided.wanted(args, record)
    trees = [*(["plain"] if args.pgo or not by_profile else []), *(["generate", "use"] if by_profile else [])]
    targets.check_all(places.needs(paths, trees, replaced=prefix.settled != source.version))
    library_prefix = library.prefix_of(args, record)
    if library_prefix:
        library.check(record, library_prefix)
    source.unpack(paths.sources, log)
    found = engines.find(paths.sources)
    asked = record.facts.get("skip_engines") if args.skip_engines is None else args.skip_engines
    left_out = engines.skipped(found, asked)
    needs = [*packages.BUILD, *packages.SERVER_BUILD, *engines.packages(found, left_out)]
    dependencies.require(record, needs, log, args.skip_deps)
    preload = allocator.library(record, args.allocator or record.facts.get("allocator"), log, args.skip_deps)
    say("Building")
    tree, profile = _build(args, record, paths, source.version, left_out, preload, log)
    staged = library.stage(paths.build / "library", args.jobs, log,
                           guided.cmake_options(paths.build, profile)) if library_prefix else None
    say("Installing")
    changed = _put(args, record, prefix, server, preload, tree, profile, (library_prefix, staged) if staged else None)
    _summary(record, prefix, paths, source, server, left_out, changed, log)


def _build(args, record, paths, version, left_out, preload, log):
    if guided.wanted(args, record):
        it = ServerPgo(paths, version, left_out, args, log, preload)
        if args.pgo:
            dependencies.require(record, packages.PGO, log, args.skip_deps)
        if args.pgo or it.known():
            return it.build(record.facts.get("pgo"))
        say("  The profile is for other sources, so this build does not use it. --pgo trains again")
    tree = Tree(paths, version, "plain", args, log)
    tree.make(left_out)
    tree.plugin()
    return tree, None


def _put(args, record, prefix, server, preload, tree, profile, made):
    """True if anything changed. An error undoes the run's changes; data stays. made: as for library.put(), or None."""
    before, ran, restarted = prefix.settled, server.pid() is not None, False
    due = record.facts.get("restart_due", False) or args.rebuild_plugin
    try:
        _remember(args, record, prefix, profile)
        changed = prefix.put(tree.staged_prefix, tree.version)
        if server.make_account():
            record.facts["account"] = True
        changed = _put_texts(args, record, server, preload, tree.version) or changed
        server.initialise()
        due = record.facts["restart_due"] = due or changed
        if made:
            changed = library.put(record, *made) or changed
        record.save()
        if args.no_restart:
            server.read_units()
        else:
            if due or not ran:
                restarted = True
                server.restart()
            server.upgrade()
            server.check_engine()
            _check_allocator(record, server)
            record.facts["restart_due"] = False
        record.save()
        prefix.keep()
        return changed
    except (Failed, OSError, KeyboardInterrupt) as error:
        said = f"{error or 'interrupted'}\nThis run's changes to {prefix.directory} are undone; the build stays."
        try:
            _undo(record, prefix, server, ran, before, restarted)
        except (Failed, OSError) as more:
            said += f"\nUndoing them failed too: {more}"
        raise Failed(said) from error


def _remember(args, record, prefix, profile):
    """Records facts for later runs, before the first change, since this run may be killed."""
    record.facts["prefix"] = str(prefix.directory)
    for name in ("allocator", "skip_engines"):
        if getattr(args, name) is not None:
            record.facts[name] = getattr(args, name)
    guided.remember(record, profile)
    record.facts["restart_due"] = True
    record.save()


def _undo(record, prefix, server, ran, before, restarted):
    """Restores the files even if the server does not stop. A server that was not restarted keeps running."""
    interruption.no_more()
    try:
        if restarted:
            server.stop(disable=before is None and server.unit.exists())
    finally:
        try:
            record.roll_back(restart_due=restarted)  # First: its start script is in a directory of the prefix.
        finally:
            prefix.roll_back()
    if restarted:
        if ran and before:
            server.restart()
        record.facts.pop("restart_due")
        record.save()


def _put_texts(args, record, server, preload, version):
    """my.cnf, unit and start script; True if one changed."""
    paths = server.paths
    port = args.port or record.facts.get("port") or choose_port(distribution.installed_version() is not None)
    record.facts["port"] = port
    text = service.server_config(paths, port, config.memory_bytes())
    changed = record.put(paths.config, text.encode(), keep_edited=True)
    changed = record.put(server.unit, service.unit(paths, version, preload).encode()) or changed
    changed = record.put(paths.control, service.control(paths, preload).encode(), mode=0o755) or changed
    program = (TREE / "tools" / "tidesdb_backup.py").read_bytes()
    return record.put(paths.control.with_name("tidesdb-backup"), program, mode=0o755) or changed


def _check_allocator(record, server):
    wanted, found = record.facts.get("allocator", "system"), allocator.of_process(server.pid())
    if found != wanted:
        raise Failed(f"the server runs with the allocator {found}, not with {wanted}")


def _summary(record, prefix, paths, source, server, left_out, changed, log):
    pid = server.pid()
    runs = f"runs as {pid}, ENGINE=TidesDB works: a table was written and read" if pid else "does not run"
    say(f"\nMariaDB {source.version} from source {runs}.")
    say("  " + ("changed in this run" if changed else "nothing changed"))
    say(f"  server       {paths.prefix}: {len(prefix.files)} files, their list is {prefix.list_file}\n"
        f"  data         {paths.data}\n"
        f"  settings     {paths.config}; port {record.facts['port']}, socket {paths.socket}\n"
        f"  client       {paths.prefix}/bin/mariadb\n"
        f"  start, stop  {paths.control} start|stop|restart|status, or systemctl with {service.UNIT}\n"
        f"  left out     {', '.join(engine.name for engine in left_out) or 'no storage engine'}\n"
        f"  build        {paths.build}; without it the next run compiles everything again")
    if record.facts.get("library"):
        say(f"  library      {record.facts['library']['prefix']}: libtidesdb.a, headers, for pkg-config and CMake")
    if pid:
        say(f"  allocator    {allocator.of_process(pid)}")
    if record.facts.get("pgo"):
        say(f"  {guided.summary(record.facts['pgo'])}")
    for note in [*prefix.notes, *record.notes]:
        say(f"  {note}")
    say(f"  log: {log}, record: {record.file}\n  undo: ./install.sh --uninstall --mariadb-prefix {paths.prefix}")


def installed():
    """Is a server from source installed?"""
    return "prefix" in Record(_RECORD).facts


def uninstall(args, log):
    record = Record(_RECORD)
    if not installed():
        say("No server from source is installed.")
        return
    where = record.facts["prefix"]
    if args.mariadb_prefix and str(args.mariadb_prefix) != str(where):
        raise Failed(f"the server from source is in {where}, not in {args.mariadb_prefix}")
    paths = options.Paths(Path(where), log.parent)
    server, prefix = SourceServer(paths, log), _prefix(record, paths.prefix)
    server.stop(disable=server.unit.exists())
    for path in sorted(record.files):
        record.remove(path)
    server.read_units()
    prefix.remove()
    names, account = record.facts.get("packages", []), record.facts.get("account")
    record.forget()
    say(f"The server from source is removed from {paths.prefix}.")
    for note in [*prefix.notes, *record.notes]:
        say(f"  {note}")
    if paths.data.exists():
        say(f"  Its data stays in {paths.data}; a server installed there again uses it.")
    if account:
        say("  The account mysql, which owns the data, was made for it and stays.")
    if names:
        say("  These packages were installed for it and stay: " + " ".join(names))
