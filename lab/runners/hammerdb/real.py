"""Drives the real HammerDB, 5 or 6, through its command line; its own Tcl 9 or Debian's Tcl 8.6 (tcl/launch.tcl)."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from installer import packages
from installer.shell import Failed, clean_environment, say
from lab.base import watched
from lab.record import provenance
from lab.runners.hammerdb import builtin
from lab.runners.hammerdb.cpu import CpuMeter
from lab.runners.hammerdb.options import ENGINE_NAMES, partitions
from lab.study.scratch import Scratch
from lab.works import generators
from lab.works import hammerdb_output as text

_TCL = Path(__file__).resolve().parent / "tcl"
_DRIVER = "src/mariadb/mariaoltp.tcl"
_TCL_PACKAGES = "Thread sqlite3 mysqltcl msgcat http"
_LOGS = ("hammerdb.log", "hdbtcount.log", "hdbxtprofile.log")
_BUILD_S = {"tpcc": 90, "tpch": 900}  # Per warehouse on one loader; per scale factor.
_COUNTER_S = 10
_SAYS_PASSWORD = re.compile(r"maria_(?:tpch_)?pass\b")
_MARK = "=== response times"


def _quoted(value):
    """Any text as one word of Tcl."""
    return '"' + re.sub(r'([\\"\[\]${}])', r"\\\1", str(value)) + '"'


def _is_program(cli):
    """Whether hammerdbcli is one file with its own Tcl, as in some releases, instead of a script."""
    with open(cli, "rb") as file:
        return file.read(4) == b"\x7fELF"


def _says(cli):
    """HammerDB's output when started with an empty script."""
    with Scratch() as work:
        script = work / "end.tcl"
        script.write_text("exit\n")
        done = subprocess.run([cli, "tcl", "auto", script], cwd=cli.parent, env=clean_environment({"TMP": str(work)}),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.stdout


def version(directory):
    """The version of hammerdbcli in directory, such as "5.0". Raises Failed if it is missing."""
    cli = Path(directory).expanduser().resolve() / "hammerdbcli"
    try:
        text = _says(cli) if _is_program(cli) else cli.read_bytes()
    except OSError as error:
        raise Failed(f"-H {directory}: has no hammerdbcli: give the folder of a HammerDB release, or of its sources at "
                     "a tag such as v5.0 or v6.0") from error
    found = re.search(rb'(?:set hdb_version "|HammerDB CLI )v([\d.]+)', text)
    said = found.group(1).decode() if found else ""
    if said.partition(".")[0] not in ("5", "6"):
        raise Failed(f"-H {directory}: is HammerDB {said or 'of an unknown version'}; only 5 and 6 are supported")
    return said


def _checker(log):
    """The built-in generator, to check HammerDB's data; None, with a message, if it cannot be built."""
    try:
        return generators.program("tpcc", log)
    except Failed as error:
        say(f"the consistency conditions are not checked, because the built-in generator cannot be built: {error}")
        return None


class Real:
    """HammerDB in its own folder for each step, so that it shares nothing with another one of this user."""

    def __init__(self, args, log):
        self.args, self.log = args, log
        self.directory = args.hammerdb_dir.expanduser().resolve()
        self.version = version(self.directory)
        self.name, self.binaries = f"HammerDB {self.version}", {}
        self.own_tcl = _is_program(self.directory / "hammerdbcli") or (self.directory / "bin" / "tclsh9.0").exists()
        if not self.own_tcl:
            self._check_tcl()
        self.tool = _checker(log) if "tpcc" in args.benchmarks and not args.no_check else None

    def identity(self):
        """What must be the same when a run is resumed: its program, and the driver if that is a file."""
        files = {"hammerdbcli": self.directory / "hammerdbcli", "mariaoltp.tcl": self.directory / _DRIVER}
        return {"generator": self.name, **provenance.sums({name: path for name, path in files.items() if path.exists()})}

    @staticmethod
    def _check_tcl():
        wanted = f"sudo apt-get install {' '.join(packages.HAMMERDB)}"
        script = "".join(f"package require {name}; " for name in _TCL_PACKAGES.split())
        try:
            done = subprocess.run(["tclsh8.6"], input=script, capture_output=True, text=True, env=clean_environment(),
                                  check=False)
        except FileNotFoundError as error:
            raise Failed(f"HammerDB needs Tcl: {wanted}") from error
        if "can't find package" in done.stderr:
            raise Failed(f"HammerDB needs more Tcl packages ({done.stderr.strip().splitlines()[0]}): {wanted}")

    def expected_s(self, step, benchmark):
        args = self.args
        if benchmark == "tpch":
            return {"build": _BUILD_S["tpch"] * args.scale, "run": 300 * args.scale * args.querysets}[step]
        loaders = min(args.tpcc_build_vu, args.warehouses, os.cpu_count() or 1)
        return {"build": _BUILD_S["tpcc"] * args.warehouses / loaders, "run": (args.rampup + args.duration) * 60 + 10}[step]

    def _settings(self, connection, benchmark, pairs):
        host = "localhost" if connection.socket else connection.host
        lines = ["dbset db maria", f"dbset bm {'TPC-C' if benchmark == 'tpcc' else 'TPC-H'}",
                 f"diset connection maria_host {_quoted(host)}",
                 f"diset connection maria_port {connection.port or 3306}",
                 f"diset connection maria_socket {_quoted(connection.socket or 'null')}"]
        own = "" if benchmark == "tpcc" else "tpch_"
        pairs = [(f"{own}user", connection.user), (f"{own}pass", connection.password or "null"), *pairs]
        return lines + [f"diset {benchmark} maria_{key} {_quoted(value)}" for key, value in pairs]

    def _cli(self, lines, directory, log, on_line):
        """Runs a script of HammerDB's commands; its logs go to directory."""
        work = directory / "hammerdb-work"  # Its settings and jobs, in SQLite files.
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        script = work / "script.tcl"
        script.touch(mode=0o600)  # It contains a password.
        script.write_text("\n".join(lines) + "\nexit\n")
        argv = [self.directory / "hammerdbcli", "tcl", "auto", script] if self.own_tcl else \
            ["tclsh8.6", _TCL / "launch.tcl", self.directory, script]
        try:
            watched.run(argv, directory / log, on_line, {"TMP": str(work), "TCLLIBPATH": str(_TCL)},
                        self.directory, allowed=None, leave_out=_SAYS_PASSWORD)
            for name in _LOGS:
                if (work / name).exists():
                    shutil.copy(work / name, directory / name)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return (directory / log).read_text(errors="replace")

    def build(self, connection, engine, benchmark, directory, note):
        args, name = self.args, ENGINE_NAMES[engine]
        if benchmark == "tpcc":
            parts = partitions(args, engine)
            pairs = [("count_ware", args.warehouses), ("num_vu", min(args.tpcc_build_vu, args.warehouses)),
                     ("dbase", args.tpcc_db), ("storage_engine", name), ("partition", "true" if parts else "false")]
        else:
            pairs = [("scale_fact", args.scale), ("num_tpch_threads", args.tpch_threads), ("tpch_dbase", args.tpch_db),
                     ("tpch_storage_engine", name)]

        def on_line(line, _pid):
            if line.startswith("Error in Virtual User"):  # The others would wait for minutes.
                raise Failed(f"HammerDB did not build the schema: {line}; see {directory / 'build.log'}")
            if line.strip():
                note(line)

        said = self._cli([*self._settings(connection, benchmark, pairs), "buildschema"], directory, "build.log", on_line)
        if "SCHEMA COMPLETE" not in said or "FINISHED FAILED" in said:
            raise Failed(f"HammerDB did not build the schema and gave no reason; see {directory / 'build.log'}")

    def run(self, connection, _engine, benchmark, directory, note, on_measure):
        return (self._run_tpcc if benchmark == "tpcc" else self._run_tpch)(connection, directory, note, on_measure)

    def _run_tpcc(self, connection, directory, note, on_measure):
        args = self.args
        pairs = [("dbase", args.tpcc_db), ("driver", "timed"), ("rampup", args.rampup), ("duration", args.duration),
                 ("allwarehouse", "true"), ("timeprofile", "true"), ("raiseerror", "true" if args.debug_run else "false")]
        lines = [*self._settings(connection, "tpcc", pairs), "giset commandline keepalive_margin 300",
                 "tcset logtotemp 1", "tcset timestamps 1", f"tcset refreshrate {_COUNTER_S}", "loadscript",
                 f"vuset vu {args.tpcc_vu}", "vuset logtotemp 1", "vucreate", "tcstart", "tcstatus", "set ran [vurun]",
                 "vudestroy", "tcstop", f'puts "{_MARK}"', 'job [lindex [split $ran "="] 1] timing', f'puts "{_MARK}"']
        meter = CpuMeter(connection.pid())

        def on_line(line, pid):
            if "Taking start Transaction Count" in line:
                on_measure()
                meter.sample(0, pid)
            elif "Taking end Transaction Count" in line:
                meter.sample(args.duration * 60, pid)
            if line.endswith(" tpm") or line.startswith("Vuser 1:"):
                note(line)

        said = self._cli(lines, directory, "run.log", on_line)
        before, mark, rest = said.partition(_MARK)
        log = text.run_log(before, directory / "run.log")
        if log.failed_users:
            raise Failed(f"virtual users ended before the test: {next(iter(log.errors), 'no reason given')}; "
                         f"see {directory / 'run.log'}")
        timing = rest.partition(_MARK)[0].strip() if mark else ""
        (directory / "timing.json").write_text(timing + "\n")
        return self._figures(connection, directory, log, timing, meter)

    def _figures(self, connection, directory, log, timing, meter):
        try:
            latencies = text.latency_json(timing, directory / "timing.json")
        except Failed:  # HammerDB's database can be switched off; the report is a file.
            profile = directory / "hdbxtprofile.log"
            latencies = text.profile(profile.read_text() if profile.exists() else "", profile).summary
        row = {"nopm": log.nopm, "tpm": log.tpm, "errors": sum(log.errors.values()), "generator": self.name}
        for column in ("neword", "payment", "delivery"):
            found = latencies.get(column.upper())  # None for a run that is too short.
            if found:
                row[f"{column}_avg_ms"], row[f"{column}_p95_ms"] = found.avg_ms, found.p95_ms
        if self.tool:
            row["consistent"] = builtin.check_consistency(self.tool, connection, self.args.tpcc_db, directory / "check.log")
        row.update(meter.row(log.nopm * self.args.duration))
        return row

    def _run_tpch(self, connection, directory, note, on_measure):
        args, begun = self.args, []
        pairs = [("tpch_dbase", args.tpch_db), ("scale_fact", args.scale), ("total_querysets", args.querysets),
                 ("raise_query_error", "true" if args.debug_run else "false")]

        def on_line(line, _pid):
            if "Executing Query" in line and not begun:
                begun.append(line)
                on_measure()
            if line.strip():
                note(line)

        said = self._cli([*self._settings(connection, "tpch", pairs), "loadscript", f"vuset vu {args.tpch_vu}", "vucreate",
                          "vurun", "vudestroy"], directory, "run.log", on_line)
        queries = text.queries(said, directory / "run.log")
        return {"tpch_geomean_sec": queries.geomean_s, "tpch_total_sec": queries.total_s, "generator": self.name,
                "errors": sum(queries.errors.values())}

    def drop(self, connection, benchmark, _directory):
        connection.sql(f"DROP DATABASE IF EXISTS `{self.args.tpcc_db if benchmark == 'tpcc' else self.args.tpch_db}`")
