"""For each seed's study here: the runner, its command line, its size and its time. Pure."""

import shlex
from dataclasses import dataclass

from lab.record import form
from lab.record.turns import ORDER
from lab.runners.seeds import builds
from lab.server.profiles import scaled_down

STUDIES = ("000", "001-deletes", "001-bulk", "001-index", "001-cache", "002", "003", "004", "engines")
OF_NO_SEED = "engines"  # No seed has figures for it.
# With --scale-down 1 and --minutes 1: everything in about 2 h 35 with two PGO builds, on two cores.
WAREHOUSES, RAMPUP_S, MEASURED_S, REPETITIONS = 10, 30, 60, 3
DELETES_LOADED, DELETES_S, DELETES_REPETITIONS = 1_000_000, 90, 2
SWEEP_ROWS, SWEEP_SIZES = 1_000_000, ("1M", "8M", "64M", "256M")
TIER_THREADS, TIER_TABLES, TIER_ROWS, TIER_S = "1,4,16", 20, 50_000, 10
# Caches for a part of the data, about half of it, and all. InnoDB's reads go past the page cache. TidesDB's do not, so
# a limit on all memory makes its tier small. Server and connections take most of it: a server with 16 connections was
# killed within 256 MB. Beside the cache and at most four memtables both limits leave 272 MB. A cache of half of the
# data, as for InnoDB, would not do: TidesDB's cache may have a quarter of the limit, and within four times that size
# the page cache holds all of the data.
TIERS = {"TidesDB": "32M:320M,64M:368M,512M", "InnoDB": "32M,128M,512M"}
SQLBENCH_ROWS, SQLBENCH_S, SQLBENCH_WARMUP_S = 500_000, 10, 2
ENGINES_WAREHOUSES, ENGINES_S, ENGINES_RAMPUP_S = 2, 15, 5
_SQLBENCH_CHARTS_S = 60  # More than a hundred charts.
_IN_TURN = 36  # Seed for mariadb_engines_runner.sh: in this random order each engine is first, second and third once.
# The seeds' own, from their profiles, and the default of mariadb_engines_runner.sh.
_ENGINES_WAREHOUSES = 1000
_SEED_WAREHOUSES, _SEED_LOADED, _SEED_TIER_ROWS, _SEED_SQLBENCH_ROWS = 40, 10_000_000, 5_000_000, 500_000


@dataclass(frozen=True)
class Wanted:
    """The request. Paths are absolute, or ""."""
    studies: tuple = STUDIES
    scale_down: float = 1
    minutes: float = 1
    server: str = "debian12"
    plain_server: str = ""
    plain_plugin: str = ""
    pgo_server: str = ""
    pgo_plugin: str = ""

    def seconds(self, usual):
        return max(1, round(usual * self.minutes))

    def rows(self, usual):
        return scaled_down(usual, self.scale_down)


@dataclass(frozen=True)
class Run:
    """One call of a runner. It may serve several seeds that measure the same."""
    name: str               # Of its folder.
    studies: tuple
    runner: str             # A script in lab/.
    options: tuple
    seconds: float          # Expected.
    about: str
    environment: tuple = ()  # Of (name, value).

    @property
    def command(self):
        """As a person would type it."""
        said = [f"{name}={shlex.quote(value)}" for name, value in self.environment]
        return " ".join([*said, f"lab/{self.runner}", *map(shlex.quote, self.options)])


def runs(wanted):
    """All runs, in order."""
    made = [_tprocc(wanted), _deletes(wanted), _sweeps(wanted), *_tiers(wanted), _sqlbench(wanted),
            _engines(wanted)]
    return [run for run in made if run is not None]


def left_out(wanted):
    """Sentences about the parts of the request that cannot run."""
    said = []
    if "003" in wanted.studies and not (wanted.pgo_plugin or wanted.pgo_server):
        said.append("003 is left out, because it needs a build with PGO: give --pgo-plugin or --pgo-server.")
    if "000" in wanted.studies and not (wanted.pgo_plugin or wanted.pgo_server):
        said.append("000 has only its rows without PGO: --pgo-plugin or --pgo-server adds the others.")
    elif "000" in wanted.studies and not wanted.pgo_server:
        said.append("000: InnoDB has no rows with PGO, because its code is part of the server: --pgo-server adds them.")
    if wanted.pgo_server and not wanted.plain_server:
        said.append("The server with PGO is compared with Debian's, which has other compiler flags, so part of the "
                    "difference does not come from the profile. --plain-server names one with the same flags.")
    return said


def _tprocc(wanted):
    """Seeds 000, 001 (caches) and 002 are TPROC-C with one my.cnf: one run of all builds."""
    served = tuple(study for study in ("000", "001-cache", "002") if study in wanted.studies)
    if not served:
        return None
    of = builds.tprocc(wanted)
    warehouses, rampup, measured = wanted.rows(WAREHOUSES), wanted.seconds(RAMPUP_S), wanted.seconds(MEASURED_S)
    options = ["-b", "tpcc", "--profile", "seed-000", "--scale-down", f"{_SEED_WAREHOUSES / warehouses:g}",
               "--settle", str(wanted.seconds(5)), "--rampup", f"{rampup / 60:.3g}", "--duration", f"{measured / 60:.3g}",
               "--repetitions", str(REPETITIONS)]
    for words in of:
        options += ["--build", *words]
    loads = len({words[0].partition("-")[0] for words in of})
    each = 4 + rampup + measured + warehouses
    seconds = loads * (5 + 6 * warehouses) + len(of) * REPETITIONS * each
    return Run("tprocc", served, "hammerdb_runner.sh", tuple(options), seconds,
               f"{form.plural(warehouses, 'warehouse')}, 8 users, {rampup} s of ramp-up, {measured} s measured, "
               f"{REPETITIONS} repetitions of {len(of)} builds, each on a copy of data loaded once per engine; "
               f"{ORDER}, and {_nearness([words[0] for words in of])}")


def _nearness(labels):
    """How far apart the compared builds run: with PGO and without, large and small cache, both engines."""
    between = labels.index("TidesDB-glibc") - labels.index("InnoDB-glibc") - 1 if "TidesDB-glibc" in labels else 0
    return "compared builds run one after the other" + (
        f", except InnoDB-glibc and TidesDB-glibc with {form.plural(between, 'run')} between them" if between else "")


def _deletes(wanted):
    """By time: by rows, a fast engine would finish before anything has piled up."""
    if "001-deletes" not in wanted.studies:
        return None
    loaded, churn = wanted.rows(DELETES_LOADED), wanted.seconds(DELETES_S)
    return Run("deletes", ("001-deletes",), "iibench_runner.sh",
               ("--profile", "seed-001", "--scale-down", f"{_SEED_LOADED / loaded:g}", "--server", wanted.server,
                "--engines", "InnoDB,TidesDB,RocksDB", "--i1-rows", "0", "--write-seconds", str(churn),
                "--repetitions", str(DELETES_REPETITIONS)),
               3 * DELETES_REPETITIONS * (7 + loaded / 50_000 + churn),
               f"{loaded:,} rows loaded, then for {churn} s rows inserted at the high end and as many deleted at the low "
               f"end; {DELETES_REPETITIONS} repetitions of three engines, {ORDER}")


def _sweeps(wanted):
    """Bulk DML and ADD INDEX, each with its own variable: one run, because bulk DML writes the same indexes."""
    swept = {study: variable for study, variable in (("001-bulk", "tidesdb_bulk_staging_size"),
                                                     ("001-index", "tidesdb_index_build_staging_size"))
             if study in wanted.studies}
    if not swept:
        return None
    rows, bulk = wanted.rows(SWEEP_ROWS), "001-bulk" in swept
    what = {"001-bulk": "one INSERT ... SELECT, on a restarted server", "001-index": "one ALTER TABLE that adds the three"}
    return Run("sweeps", tuple(swept), "iibench_runner.sh",
               ("--profile", "seed-001", "--server", wanted.server, "--engines", "TidesDB", "--phases", "l.i0,l.x",
                "--load-rows", str(rows), *(["--bulk"] if bulk else []), "--repetitions", str(REPETITIONS),
                "--vary", f"{'+'.join(swept.values())}={','.join(SWEEP_SIZES)}"),
               len(SWEEP_SIZES) * REPETITIONS * (9 + rows / 50_000 + ((4 + rows / 55_000) if bulk else 0)),
               f"{rows:,} rows with three secondary indexes, {' and '.join(what[study] for study in swept)}; "
               f"{REPETITIONS} repetitions of {len(SWEEP_SIZES)} sizes, {ORDER}")


def _tiers(wanted):
    if "003" not in wanted.studies:
        return
    rows, measured = wanted.rows(TIER_ROWS), wanted.seconds(TIER_S)
    warmup = wanted.seconds(5)
    for engine, tiers in TIERS.items():
        of = builds.pgo_pair(wanted, engine)
        if of:
            caches = [tier.partition(":")[0] for tier in tiers.split(",")]
            options = ["--profile", "seed-003", "--scale-down", f"{_SEED_TIER_ROWS / rows:g}", "--tiers", tiers,
                       "--threads", TIER_THREADS, "--repetitions", str(REPETITIONS), "--warmup-read", str(warmup),
                       "--warmup-write", str(warmup), "--seconds", str(measured), "--pause", "0"]
            for words in of:
                options += ["--build", *words]
            points = len(caches) * len(TIER_THREADS.split(","))
            seconds = 20 + rows * TIER_TABLES / 40_000 + points * 2 * REPETITIONS * (9 + 2 * warmup + measured)
            yield Run(f"tiers-{engine.lower()}", ("003",), "pgo_study.sh", tuple(options), seconds,
                      f"oltp_read_write on {TIER_TABLES} tables of {rows:,} rows; caches of {', '.join(caches)}; "
                      f"{TIER_THREADS.replace(',', ', ')} threads; {measured} s; at each point the builds one after "
                      f"the other; {REPETITIONS} repetitions, {ORDER}")


def _sqlbench(wanted):
    if "004" not in wanted.studies:
        return None
    rows, measured, warmup = wanted.rows(SQLBENCH_ROWS), wanted.seconds(SQLBENCH_S), wanted.seconds(SQLBENCH_WARMUP_S)
    return Run("sqlbench", ("004",), "sqlbench.sh",
               ("--profile", "seed-004", "--scale-down", f"{_SEED_SQLBENCH_ROWS / rows:g}"),
               16 * REPETITIONS * (4 + rows / 75_000 + warmup + measured) + _SQLBENCH_CHARTS_S,
               f"four workloads on one table of {rows:,} rows, 4 and 8 threads, {measured} s after {warmup} s of warm-up, "
               f"the engines one after the other; {REPETITIONS} iterations, {ORDER.replace('repetition', 'iteration')}",
               (("TIDESDB_SERVER", wanted.server), ("TIME", str(measured)), ("WARMUP", str(warmup)),
                ("ITERATIONS", str(REPETITIONS)), ("REPORT_INTERVAL", str(min(5, measured)))))


def _engines(wanted):
    """The runner of engines × iterations with its own defaults, for which no seed has figures."""
    if OF_NO_SEED not in wanted.studies:
        return None
    warehouses, rampup, measured = (wanted.rows(ENGINES_WAREHOUSES), wanted.seconds(ENGINES_RAMPUP_S),
                                    wanted.seconds(ENGINES_S))
    settle = wanted.seconds(5)
    return Run("engines", (OF_NO_SEED,), "mariadb_engines_runner.sh",
               ("--engines", "innodb,tidesdb,rocksdb", "--iterations", str(REPETITIONS), "--randomize", "--seed",
                str(_IN_TURN), "--scale-down", f"{_ENGINES_WAREHOUSES / warehouses:g}", "--run-vu", "8", "--build-vu", "2",
                "--rampup", f"{rampup / 60:.3g}", "--duration", f"{measured / 60:.3g}", "--settle", str(settle),
                "--private-server", wanted.server, "--sync", "NONE", "--no-perf", "--no-drop-cache"),
               3 * REPETITIONS * (25 + 6 * warehouses + settle + rampup + measured) + 20,
               f"{form.plural(warehouses, 'warehouse')}, 8 users, {rampup} s of ramp-up, {measured} s measured, "
               f"{REPETITIONS} iterations of three engines, each on a fresh server and a new load, in a random order "
               "in which each engine is first, second and third once")
