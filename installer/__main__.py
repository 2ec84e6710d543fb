"""python3 -m installer COMMAND: makes server environments, builds the plugin, runs a server."""

import argparse
import os

from installer import apt, build_plugin, engine_suites, host, mtr, packages, pgo, pool, server_run, server_suites, servers
from installer.shell import TREE, Step, clean_environment, main, say

LOG = TREE / "var" / "log" / "installer.log"


def _servers(args):
    for name in args.server or list(host.CODENAMES):
        environment = servers.prepare(name, LOG, tests=args.tests, update=args.update)
        say(f"{name}: MariaDB {environment.version} in {environment.prefix}, "
            f"headers in {environment.headers}")


def _pool(args):
    for name in args.server or list(host.CODENAMES):
        environment, codename = servers.existing(name), host.CODENAMES[name]
        say(f"{name}: {pool.write(apt.Archive(codename, LOG), codename, environment.package_version)}")


def _plugin(args):
    for name in args.server:
        environment, plugin = build_plugin.prepare_and_build(name, LOG, preset=args.preset)
        say(f"{name}: {plugin} for MariaDB {environment.version}")


def _pgo(args):
    environment = servers.prepare(args.server, LOG, tests=True)
    apt.install(packages.PGO, LOG)
    plain = build_plugin.build(environment, LOG)
    it = pgo.Pgo(environment, TREE / "build" / f"pgo-{args.server}", os.cpu_count() or 2, LOG)
    plugin = it.optimised(it.profile(anew=args.anew))
    it.check(plugin)
    it.compare(plain, plugin)
    say(f"{args.server}: {plugin}")


def _server(args):
    environment = servers.prepare(args.server, LOG)
    directory = args.directory or TREE / "var" / "servers" / args.server
    plugin = build_plugin.plugin_path(environment, args.preset)
    server = server_run.Server(environment, directory, plugin=plugin, options=args.options)
    if args.action in ("stop", "restart"):
        server.stop()
    if args.action in ("start", "restart") and server.pid() is None:
        build_plugin.build(environment, LOG, preset=args.preset)
        server.initialise()
        server.start()
        client = " ".join(server.client_command("")[:-4])
        say(f"running as {server.pid()}; connect: {client}")


def _enter(args):
    environment = servers.existing(args.server)
    argv = environment.command(args.argv or ["bash"], cwd=TREE)
    os.execvpe(argv[0], argv, clean_environment())


def _doctor(args):
    for name in args.server:
        environment = servers.existing(name)
        build_plugin.check(environment, build_plugin.plugin_path(environment, args.preset))
        say(f"{name}: the plugin fits MariaDB {environment.version}")


def _mtr(args):
    failed = 0
    for name in args.server or list(host.CODENAMES):
        environment = servers.prepare(name, LOG, tests=True)
        plugin = build_plugin.build(environment, LOG, preset=args.preset)
        log = TREE / "var" / "mtr" / f"{name}.log"
        with Step(f"Running {' '.join(args.tests)} on MariaDB {environment.version} (log: {log})"):
            results = mtr.run(environment, plugin, TREE / "var" / "mtr" / name, args.tests, log,
                              engine=args.engine, options=args.option, parallel=args.parallel)
        for test, status in sorted(results.tests.items()):
            if status != "pass":
                say(f"  {status}: {test} {results.reasons.get(test, '')}")
        say(f"{name}: {results.count('pass')} passed, {results.count('fail')} failed, "
            f"{results.count('skipped')} skipped")
        failed += results.count("fail")
    return 1 if failed else 0


def _engines(args):
    for name in args.server or list(host.CODENAMES):
        environment = servers.prepare(name, LOG, tests=True)
        plugin = build_plugin.build(environment, LOG, preset=args.preset)
        base = TREE / "var" / "engines" / name
        scores = engine_suites.score(environment, plugin, base, *([args.suite] if args.suite else []))
        say(engine_suites.write_comparison(environment, scores, base / "comparison").read_text())


def _suites(args):
    unexplained = 0
    for name in args.server or list(host.CODENAMES):
        # Each format has its own records.
        directory = TREE / "var" / "suites" / (name if args.binlog_format == "row" else f"{name}-{args.binlog_format}")
        if args.kept:
            environment, plugin, engines = servers.existing(name), None, []
        else:
            environment, plugin = build_plugin.prepare_and_build(name, LOG, tests=True, preset=args.preset)
            engines = args.only or server_suites.ENGINES
        found = server_suites.compare(environment, plugin, directory, args.tests, args.parallel, engines, args.memory,
                                      args.binlog_format)
        say(server_suites.write(found, directory / "comparison").read_text())
        unexplained += len(found.unexplained)
    return 1 if unexplained else 0


def _main():
    parser = argparse.ArgumentParser(prog="python3 -m installer", description=__doc__)
    commands = parser.add_subparsers(required=True)
    names = list(host.CODENAMES)

    command = commands.add_parser("servers", help="make the server environments")
    command.add_argument("server", nargs="*", choices=[*names, []])
    command.add_argument("--tests", action="store_true", help="also get the test suite and MyRocks")
    command.add_argument("--update", action="store_true", help="look for newer versions")
    command.set_defaults(function=_servers)

    command = commands.add_parser("pool", help="record the environments' packages and sources before the lists drop them")
    command.add_argument("server", nargs="*", choices=[*names, []])
    command.set_defaults(function=_pool)

    for name, function, text in [("plugin", _plugin, "build ha_tidesdb.so"),
                                 ("doctor", _doctor, "check that the plugin fits the server")]:
        command = commands.add_parser(name, help=text)
        command.add_argument("--server", action="append", choices=names, required=True)
        command.add_argument("--preset", default="release")
        command.set_defaults(function=function)

    command = commands.add_parser("pgo", help="build the plugin with a profile of itself, and measure its gain")
    command.add_argument("--server", choices=names, required=True)
    command.add_argument("--anew", action="store_true", help="train anew")
    command.set_defaults(function=_pgo)

    command = commands.add_parser("server", help="start or stop a private server with the plugin")
    command.add_argument("action", choices=["start", "stop", "restart"])
    command.add_argument("--server", choices=names, required=True)
    command.add_argument("--preset", default="release")
    command.add_argument("--directory", help="its datadir, socket and log (var/servers/NAME)")
    command.add_argument("options", nargs="*", help="options for mariadbd, after --")
    command.set_defaults(function=_server)

    for name, function, text in [("mtr", _mtr, "run mysql-test-run tests; our suite by default"),
                                 ("suites", _suites, "compare TidesDB with InnoDB by the server's own suites"),
                                 ("engines", _engines, "score the server's engine suites against InnoDB")]:
        command = commands.add_parser(name, help=text)
        command.add_argument("--server", action="append", choices=names, help="default: both")
        command.add_argument("--preset", default="release")
        command.set_defaults(function=function)
        if name == "engines":
            command.add_argument("--suite", action="append", choices=[*mtr.ENGINE_SUITES, "engines/rr_trx"])
            continue
        command.add_argument("--parallel", type=int, default=2)
        if name == "suites":
            command.add_argument("--only", action="append", choices=server_suites.ENGINES,
                                 help="run only this engine; keep the other's results")
            command.add_argument("--kept", action="store_true", help="run nothing, compare the kept results")
            command.add_argument("--memory", action="store_true", help="the servers' data in /dev/shm")
            command.add_argument("--binlog-format", choices=server_suites.FORMATS, default="row",
                                 help="of the binary log, for the suites about it")
            command.add_argument("tests", nargs="*", help="tests and suites, or 'short'; default: all")
            continue
        command.add_argument("--engine", help="make it the default storage engine")
        command.add_argument("--option", action="append", default=[],
                             help="an option for mysql-test-run: --option=--record")
        command.add_argument("tests", nargs="*", default=["tidesdb"])

    command = commands.add_parser("enter", help="run a command (a shell) where a server lives")
    command.add_argument("--server", choices=names, required=True)
    command.add_argument("argv", nargs=argparse.REMAINDER)
    command.set_defaults(function=_enter)

    args = parser.parse_args()
    return args.function(args)


if __name__ == "__main__":
    main(_main)
