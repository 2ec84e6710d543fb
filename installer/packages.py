"""Every Debian package that this project uses, grouped by purpose."""

# The compilers and build tools, without libraries.
COMPILER = ["g++", "ninja-build", "ccache", "cmake"]

# To build the engine and the plugin.
BUILD = [*COMPILER, "pkg-config", "liblz4-dev", "libzstd-dev", "libsnappy-dev", "libxxhash-dev"]

# Libraries that a built plugin loads: its server may be on a machine where nothing was ever built.
PLUGIN = ["liblz4-1", "libzstd1", "libsnappy1v5"]

# The load generators of lab/ use the C client.
LAB = ["libmariadb-dev", "libcli11-dev", "nlohmann-json3-dev"]

# The `tidesdb` command: options, results, and the engine that `tidesdb bench` compares ours with.
TOOLS = ["libcli11-dev", "nlohmann-json3-dev", "librocksdb-dev"]

# The page of a report. Its plotly.js is unpacked from python3-plotly (lab/reports/plotly.py), which is not installed.
REPORT = ["python3-jinja2"]

# The runners: progress on a terminal, charts, reports.
LAB_PYTHON = ["python3-rich", "python3-matplotlib", *REPORT]

# To test reports in a browser.
BROWSER = ["chromium"]

# The Tcl packages that the real HammerDB needs (lab/runners/hammerdb); the user brings HammerDB itself.
TCL = ["tcl8.6"]
HAMMERDB = [*TCL, "mysqltcl", "tcl-thread", "libsqlite3-tcl", "tcllib"]

# Unit, simulation and stress tests.
UNIT = ["libgtest-dev"]

# Their coverage of lines and branches.
COVERAGE = ["gcovr"]

# The checks of the house: thread-safety analysis, clang-tidy, layout.
CHECK = ["clang", "clang-tidy", "clang-format"]

# libFuzzer; the run-time library is clang's of the same version.
FUZZ = ["clang", "libclang-rt-dev"]

# Side-by-side figures.
SYSBENCH = ["sysbench"]
BENCH = [*SYSBENCH, "libbenchmark-dev"]

# To train a build and measure its gain (lab/runners/mix), beside the server's own test suite.
PGO = [*LAB, *SYSBENCH]

# The isolation checker (test/isolation) and the SQL fuzzer (test/differential) use their servers from Python.
ISOLATION = ["python3-pymysql"]
DIFFERENTIAL = ISOLATION

# The reader of the files (test/format_reader): checksums and compression.
FORMAT_READER = ["python3-xxhash", "python3-lz4", "python3-zstandard", "python3-snappy"]

# Counts of instructions (lab/observe/callgrind.py), in the server's root.
CALLGRIND = ["valgrind"]

# iostat, mpstat, pidstat and vmstat, beside a measurement (lab/observe/observers.py).
OBSERVE = ["sysstat", "procps"]

# Where a server's CPU time goes (hammerdb_runner.sh --perf).
PERF = ["linux-perf"]

# To make the root of the other Debian release.
ROOT = ["debootstrap", "debian-archive-keyring"]

# To compile the server, besides BUILD; installer/source/engines.py has the needs of single storage engines.
SERVER_BUILD = ["bison", "perl", "libaio-dev", "libbz2-dev", "libcrack2-dev", "libcurl4-openssl-dev", "libedit-dev",
                "libfmt-dev", "libkrb5-dev", "liblzma-dev", "liblzo2-dev", "libncurses-dev", "libnuma-dev", "libpam0g-dev",
                "libpcre2-dev", "libssl-dev", "libsystemd-dev", "liburing-dev", "zlib1g-dev"]

# To take the server's sources and packages apart.
UNPACK = ["dpkg-dev", "xz-utils"]

# The server's packages. They are unpacked into the cache, not installed: an installed server
# keeps its version, no service starts, and we can choose a version that has its sources.
SERVER = ["mariadb-server-core", "mariadb-server", "mariadb-client-core", "mariadb-client"]
MYROCKS = ["mariadb-plugin-rocksdb"]
SERVER_TEST = ["mariadb-test", "mariadb-test-data", *MYROCKS]
# Unpacked only for generated headers and libmysqlservices.a.
SERVER_DEV = ["libmariadbd-dev", "libmariadb-dev"]

# Dependencies of the server's packages that a private server does not need.
SERVER_UNNEEDED = {"galera-4", "debconf", "debconf-2.0", "adduser", "rocksdb-tools",
                   "init-system-helpers", "rsync", "socat", "iproute2", "lsof", "python3"}
