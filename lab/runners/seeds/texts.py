"""Each seed's statement about its study, and the differences here at any size: the words of the index page."""

from dataclasses import dataclass

_THREADRIPPER = "AMD Threadripper 2950X, 16 cores, 128 GB, NVMe with XFS, Ubuntu 22.04"
_TPROCC_SIZE = "40 warehouses, 8 users, 1 minute of ramp-up, 2 minutes measured"
_TPROCC_OWN = ("The seed drives HammerDB 5.0; here the built-in generator does the same work (docs/benchmarks compares "
               "both). In the seed each run builds its own database; here each has a copy of one load.")
_ROW_LOCKS = "As in the seed, TidesDB runs without row locks and InnoDB is set to keep nearly no dirty pages."


@dataclass(frozen=True)
class Text:
    title: str
    article: str      # Its title, date and versions.
    says: str
    machine: str      # "": no seed, but the runner's own defaults.
    size: str
    differs: tuple    # Sentences besides machine and size.


TEXTS = {
    "000": Text(
        "PGO off and on, glibc and jemalloc, InnoDB and TidesDB",
        "PGO Build TPC-C Analysis, April 23rd, 2026: TidesDB 9.0.9, TideSQL 4.2.6, MariaDB 11.8.6",
        "PGO gives TidesDB 8 to 16 % more TPM and takes 8 to 14 % off the tail; InnoDB gains 1 to 2 %, and 6 % of "
        "new orders' p95. TidesDB has four to five times InnoDB's TPM.",
        _THREADRIPPER,
        _TPROCC_SIZE + ", two runs of each build",
        (_TPROCC_OWN,
         _ROW_LOCKS,
         "The seed's build with PGO is a whole server, trained on its test suite, without the engine library; its "
         "build without has other flags (RelWithDebInfo, not Release). The servers and plugins of install.sh differ only "
         "in the profile; both have LTO and contain the engine.",
         "The seed prints no NOPM of InnoDB and no p95 of its deliveries, only their changes; one p95 follows from a "
         "ratio in its takeaway. NOPM of TidesDB with jemalloc and PGO is from seed 001, which compares with it.")),
    "001-deletes": Text(
        "The insert benchmark's deletes (issue #122)",
        "Benchmark Analysis on TideSQL 4.3.0, April 24th, 2026: TidesDB 9.1.0, TideSQL 4.3.0, MariaDB 11.8.6",
        "One connection inserts at the high end, another deletes at the low end. Before, the rate collapsed within "
        "20 seconds and a delete took up to 171 ms; after, 16,000 rows a second, between 2,000 and 70,000.",
        _THREADRIPPER + "; before: 48 cores",
        "10M rows loaded, 16M inserted and deleted",
        ("The seed shows only TidesDB, over 16M rows in 999 s. InnoDB and MyRocks are here for comparison: InnoDB with "
         "seed 001's settings, MyRocks with ours, because the seed has none for it. Here every engine churns for the same "
         "time, so a faster one passes more rows.",
         "The seed prints the my.cnf of its TPROC-C, and says that the deletes are configured as in cl.repro.sh. "
         "Here both have that my.cnf.",
         "The seed's collapse came within 20 s; the rates of the first and the last 20 s show whether one came here.",
         "The seed's stalls last 50 to 500 ms; here the rate is counted in whole seconds, and a shorter stall shows in "
         "the maximum of the statement that waited: insert, delete, or the search for the lowest key.",
         "Deletes are 50 rows a statement. The walk over deleted rows is a separate operation here, the "
         "lowest key.")),
    "001-bulk": Text(
        "Batch sweep: one INSERT ... SELECT",
        "the same article, Batch constant sweep",
        "The number of operations that a bulk statement stages before it commits them: best from 250 to 500 (2.85 s), "
        "worst at 5 million (10.82 s), while memory grows.",
        _THREADRIPPER,
        "1M rows into a table with three secondary indexes",
        ("Not the same constant: in the seed it is a number of operations after which the statement commits. Here it is "
         "tidesdb_bulk_staging_size, the bytes held in memory before they go to sorted runs on disk. Nothing is "
         "committed before the end, so ROLLBACK undoes all of it. The seed's figure for its former constant, "
         "50,000, is taken as time saved.",
         "Peak memory is the highest resident memory of the server's process (VmHWM) from its restart before the "
         "statement to the statement's end. The table also has its memory when the statement began, which includes "
         "what a start restores from the log.")),
    "001-index": Text(
        "Batch sweep: ADD INDEX",
        "the same article, Batch constant sweep",
        "The same for ALTER TABLE ADD INDEX: best from 100 to 250 rows (0.63 s), worst at 2 million (6.54 s).",
        _THREADRIPPER,
        "three indexes on 1M rows",
        ("Here tidesdb_index_build_staging_size, bytes held in memory before they go to sorted runs on disk; the table is "
         "the insert benchmark's.",
         "Peak memory is the highest of samples a second apart, and includes what the load of the table left in memory.",
         "If INSERT ... SELECT was measured in the same run, its part has the chart of both.")),
    "001-cache": Text(
        "Small and large cache",
        "the same article, Large cache",
        "A block cache of 16 GB instead of 64 MB: 1.81 times the TPM, delivery p95 from 14.07 to 5.47 ms.",
        _THREADRIPPER,
        _TPROCC_SIZE + "; jemalloc and PGO; small cache: mean of its runs, large cache: one",
        (_TPROCC_OWN,
         "The large cache is 4 GB here: as in the seed, all of the data.",
         "The page cache has what the block cache misses: memory is not limited, neither in the seed nor here.")),
    "002": Text(
        "Small cache, beside InnoDB",
        "TPC-C Benchmark Analysis on TidesDB 9.0.2, April 2nd, 2026: TideSQL 4.2.0, MariaDB 11.8.6",
        "With 64 MB of cache TidesDB has 13.6 times InnoDB's new orders (its better run of two); deliveries take 6.7 "
        "ms instead of 182 on average.",
        "Intel i7-11700K, 8 cores, 48 GB, SATA SSD, Ubuntu 23.04",
        _TPROCC_SIZE,
        (_TPROCC_OWN,
         "Seed 002 prints no my.cnf; these are seed 000's settings, which have its 64 MB.",
         "It saw one deadlock in two runs; the errors below are those of all builds of the command.",
         "Its SATA disk bounds InnoDB, whose pages do not fit into 64 MB; fewer warehouses fit better.")),
    "003": Text(
        "Memory tiers × threads, PGO off and on",
        "MySQL 9.7.0 PGO Benchmark Analysis (Percona), May 22, 2026",
        "6.5 % more transactions on average: 3.0 % with 2 GB of buffer pool, 4.1 % with 12 GB, 12.2 % with 32 GB; "
        "-3.1 % at worst (12 GB, 128 threads). The profile saves CPU, so the gain shows where work does not wait for "
        "the disk.",
        "2 × Xeon Gold 6230 (40 cores), 187.5 GB",
        "20 tables of 5M rows (25 GB); 2, 12 and 32 GB; 1 to 512 threads; 900 s a point",
        ("MariaDB here, MySQL 9.7 in the seed. As with its 2 and 32 GB, the smallest cache is a small part of the data and "
         "the largest holds all. In the middle tier (12 GB in the seed), InnoDB's 128 MB hold about half of the data; "
         "TidesDB has 64 MB in its cache, and more in the page cache.",
         "InnoDB reads past the page cache, so only its cache holds data in memory. TidesDB reads "
         "through the page cache. So all tiers except its largest limit the server's memory including the page cache, "
         "and its memtables have the profile's proportion of 256 MB to 2 GB of cache. Most of such a "
         "limit goes to the server and its connections: the fewer connections, the more of the data the page "
         "cache has.",
         "The seed's means are over 1 to 512 threads, here over 1, 4 and 16; its own figures at these three have the "
         "means 4.5, 7.4 and 13.6 %. This saves time, as do shorter points (900 s in the seed); the interval shows "
         "the precision.",
         "A mean gain is the geometric mean of the ratios at the points, in each repetition that has all of them, as in "
         "the report. The seed's may be a mean of percentages, which is never lower.",
         "Seed 003's two builds came from different compilers and systems; install.sh's differ only in the profile.",
         "In the seed a tier is warmed up once and one run counts; here each measurement warms up on a copy of the data.")),
    "004": Text(
        "The sqlbench table",
        "Benchmark Analysis on TideSQL 3.1.0 & InnoDB in MariaDB 12.2.2, February 16th, 2026: TidesDB 8.5.2",
        "Ratios to InnoDB of 1.3 (read_write), 2.2 (point_select), 5 (insert) and 7.7 (write_only).",
        _THREADRIPPER,
        "one table of 500,000 rows, 4 and 8 threads, 240 s after 30 s of warm-up, one iteration",
        ("The seed's ratios have no number of threads; here they are those of 8. Its QPS are totals of a run "
         "under the name of rates. Divided by its 240 s, those of point_select match what 8 threads reach at its mean "
         "latencies (8 / 0.05 ms is 160,000 a second, 8 / 0.12 ms 67,000).",
         "Its range of InnoDB's p95, from 10 ms, cannot include point_select, whose mean is 0.12 ms. Its range of "
         "InnoDB's scaling leaves out point_select, which it gives separately.",
         "Doubling the threads on 16 cores is not the same as here, where 4 threads already exceed the cores.")),
    "engines": Text(
        "Engines × iterations, by mariadb_engines_runner.sh",
        "No seed prints figures of this runner; these are its defaults, scaled down",
        "TPROC-C on three engines, several times each: median, lowest and highest.",
        "",
        "1,000 warehouses, 64 users, 7 minutes of ramp-up, 20 minutes measured, three iterations of each engine",
        ("The settings are those of the profile fair, and commits are not synced.",
         "Each iteration has its own load, so the range includes the load's layout on disk.",
         "With so few warehouses for 8 users many transactions conflict, and every engine has the data cached.")),
}
