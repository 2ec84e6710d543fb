"""python3 -m lab.hammerdb.instructions -H DIR [-e ENGINE] [--calls N] [--rounds N]: what a call of each procedure costs a
server in instructions (callgrind), the built-in generator's against HammerDB's, on the same rows.

CPU time needs a quiet machine (compare.py); instructions are the same beside other work, to a percent or two: the server's
threads in the background are counted too.
"""

import argparse
import subprocess
from pathlib import Path
from statistics import median

from installer import build_plugin, host, servers
from installer.server_run import Server
from installer.shell import Failed, clean_environment, main, say
from lab.hammerdb import calls, options
from lab.hammerdb.server import Connection
from lab.harness import callgrind, generators, profiles, sitting
from lab.harness.scratch import Scratch
from lab.harness.watched import tied

_OWN, _OTHER = "tpcc", "tpcc_hammerdb"
_WARM_CALLS = 20


def procedures(directory):
    """HammerDB's own CREATE PROCEDURE statements. Raises Failed when its sources are not in directory."""
    path = Path(directory).expanduser() / "src" / "mariadb" / "mariaoltp.tcl"
    try:
        tcl = path.read_text()
        begin = tcl.index("proc CreateStoredProcs")
        body = tcl[begin:tcl.index("\nproc ", begin)]
    except (OSError, ValueError) as error:
        raise Failed(f"-H {directory}: {path} holds no procedures; give the folder of HammerDB's sources") from error
    script = f'proc mariaexec {{handler sql}} {{puts "$sql\\0"}}\n{body}\nCreateStoredProcs x\n'
    done = subprocess.run(["tclsh8.6"], input=script, capture_output=True, text=True, env=clean_environment(), check=False)
    found = [part[part.index("CREATE PROCEDURE"):] for part in done.stdout.split("\0") if "CREATE PROCEDURE" in part]
    if len(found) != len(calls.NAMES):
        raise Failed(f"{path} made {len(found)} procedures, {len(calls.NAMES)} are known: {done.stderr.strip()}")
    return found


def _fill(connection, tool, engine, statements):
    """The built-in generator's database, and a copy of its rows with HammerDB's procedures."""
    done = subprocess.run([tool, "build", *connection.tpcc(), "--db", _OWN, "-w", "1", "--engine", engine],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"the database could not be built: {done.stderr.strip()}")
    connection.sql(f"CREATE DATABASE {_OTHER} CHARACTER SET latin1 COLLATE latin1_swedish_ci")
    tables = [row[0] for row in connection.sql(f"SHOW TABLES FROM {_OWN}")]
    for table in tables:
        connection.sql(f"CREATE TABLE {_OTHER}.{table} LIKE {_OWN}.{table}; "
                       f"INSERT INTO {_OTHER}.{table} SELECT * FROM {_OWN}.{table}")
    connection.sql("ANALYZE TABLE " + ", ".join(f"{name}.{table}" for name in (_OWN, _OTHER) for table in tables))
    script = "DELIMITER $$$\n" + "".join(f"{statement}\n$$$\n" for statement in statements)
    subprocess.run(connection.command("--default-character-set=latin1", "--database", _OTHER), input=script, text=True,
                   env=clean_environment(), check=True)


def _measure(connection, counter, count, rounds):
    """By procedure: instructions of a call, the built-in generator's and HammerDB's."""
    found = {}
    for name in calls.NAMES:
        number = calls.count_of(name, count)
        samples = ([], [])
        for which, database in enumerate((_OWN, _OTHER)):
            calls.run(connection, database, name, min(_WARM_CALLS, number), -1, 1, which == 0)
        for turn in range(rounds):
            for which in (0, 1) if turn % 2 else (1, 0):
                database = (_OWN, _OTHER)[which]
                taken = counter.count(lambda: calls.run(connection, database, name, number, turn, 1, which == 0))
                samples[which].append(taken["Ir"] / number)
        found[name] = tuple(median(of) for of in samples)
        say(f"{name}: {found[name][0]:,.0f} and {found[name][1]:,.0f}")
    return found


def _in_folder(folder, statements, engine, count, rounds):
    log, socket = folder / "build.log", folder / "mysqld.sock"
    environment, counter = servers.prepare(host.host_server(), log), callgrind.Callgrind(folder)
    plugin = build_plugin.build(environment, log) if profiles.needs_plugin(engine) else None
    settings = [*profiles.options("fair", engine, "NONE"), *callgrind.SERVER_OPTIONS]
    connection = Connection("root", "", socket=str(socket), client=str(environment.basedir / "bin" / "mariadb"))
    server = Server(environment, folder / "server", plugin=plugin, options=settings, within=tied, socket=socket)
    server.initialise()
    try:
        server.start()
        _fill(connection, generators.program("tpcc", log), engine, statements)
        server.stop()
        server = Server(environment, folder / "server", plugin=plugin, options=settings, socket=socket,
                        within=lambda argv: tied([*counter.command(), *argv]))
        server.start(callgrind.START_S)
        counter.pid = server.pid()
        return _measure(connection, counter, count, rounds)
    finally:
        server.stop(callgrind.START_S)


def _main():
    parser = argparse.ArgumentParser(prog="python3 -m lab.hammerdb.instructions", description=__doc__.partition("\n\n")[0])
    parser.add_argument("-H", "--hammerdb-dir", required=True, metavar="DIR", help="HammerDB's sources")
    parser.add_argument("-e", "--engine", default="innodb", choices=["innodb", "tidesdb"], help="(%(default)s)")
    parser.add_argument("--calls", type=options.positive, default=60, help="of each procedure in a round (%(default)s)")
    parser.add_argument("--rounds", type=options.positive, default=2, help="(%(default)s)")
    args = parser.parse_args()
    callgrind.check_here()
    statements = procedures(args.hammerdb_dir)
    sitting.interrupt_on_term()
    with Scratch() as folder:
        found = _in_folder(folder, statements, options.ENGINE_NAMES[args.engine], args.calls, args.rounds)
    say("\n" + calls.table("instructions a call", found, "{:,.0f}"))
    return 0


if __name__ == "__main__":
    main(_main)
