"""Every Debian package this project uses, in one place, by what needs it."""

# What compiles, without what is compiled against.
COMPILER = ["g++", "ninja-build", "ccache"]

# To build the engine and the plugin.
BUILD = [*COMPILER, "cmake", "pkg-config", "liblz4-dev", "libzstd-dev", "libsnappy-dev", "libxxhash-dev"]

# What a built plugin loads: a server that is given one may be where nothing was ever built.
PLUGIN = ["liblz4-1", "libzstd1", "libsnappy1v5"]

# The load generators of lab/ speak to servers with the C client.
LAB = ["libmariadb-dev", "libcli11-dev", "nlohmann-json3-dev"]

# The `tidesdb` command: its options, its results, and the engine that `tidesdb bench` measures beside ours.
TOOLS = ["libcli11-dev", "nlohmann-json3-dev", "librocksdb-dev"]

# The page of a report. Its plotly.js is unpacked from python3-plotly (lab/reports/plotly.py), which is not installed.
REPORT = ["python3-jinja2"]

# Its runners: progress on a terminal, charts, reports.
LAB_PYTHON = ["python3-rich", "python3-matplotlib", *REPORT]

# To test reports as they are read.
BROWSER = ["chromium"]

# What the real HammerDB needs of Tcl (lab/runners/hammerdb); HammerDB itself is the user's.
TCL = ["tcl8.6"]
HAMMERDB = [*TCL, "mysqltcl", "tcl-thread", "libsqlite3-tcl", "tcllib"]

# Unit, simulation and stress tests.
UNIT = ["libgtest-dev"]

# Which lines and branches those reach.
COVERAGE = ["gcovr"]

# The checks of the house: thread-safety analysis, clang-tidy, layout.
CHECK = ["clang", "clang-tidy", "clang-format"]

# libFuzzer; the run-time library is clang's of the same version.
FUZZ = ["clang", "libclang-rt-dev"]

# Side-by-side figures.
SYSBENCH = ["sysbench"]
BENCH = [*SYSBENCH, "libbenchmark-dev"]

# What trains a build and measures its gain (lab/runners/mix); the server's own test suite besides.
PGO = [*LAB, *SYSBENCH]

# The isolation checker (test/isolation) and the SQL fuzzer (test/differential) speak to their servers from Python.
ISOLATION = ["python3-pymysql"]
DIFFERENTIAL = ISOLATION

# The reader of the files (test/format_reader): their checksums and compressions.
FORMAT_READER = ["python3-xxhash", "python3-lz4", "python3-zstandard", "python3-snappy"]

# Counts of instructions (lab/observe/callgrind.py), where the server lives.
CALLGRIND = ["valgrind"]

# iostat, mpstat, pidstat and vmstat, beside a measurement (lab/observe/observers.py).
OBSERVE = ["sysstat", "procps"]

# Where a server's CPU time goes (hammerdb_runner.sh --perf).
PERF = ["linux-perf"]

# To make the root of the other Debian release.
ROOT = ["debootstrap", "debian-archive-keyring"]

# To compile the server, besides BUILD; what single storage engines need is in installer/source/engines.py.
SERVER_BUILD = ["bison", "perl", "libaio-dev", "libbz2-dev", "libcrack2-dev", "libcurl4-openssl-dev", "libedit-dev",
                "libfmt-dev", "libkrb5-dev", "liblzma-dev", "liblzo2-dev", "libncurses-dev", "libnuma-dev", "libpam0g-dev",
                "libpcre2-dev", "libssl-dev", "libsystemd-dev", "liburing-dev", "zlib1g-dev"]

# To take the server's sources and packages apart.
UNPACK = ["dpkg-dev", "xz-utils"]

# The server's packages. They are unpacked into the cache, not installed: a server that is there
# already keeps its version, no service starts, and the version can be one that has its sources.
SERVER = ["mariadb-server-core", "mariadb-server", "mariadb-client-core", "mariadb-client"]
MYROCKS = ["mariadb-plugin-rocksdb"]
SERVER_TEST = ["mariadb-test", "mariadb-test-data", *MYROCKS]
# Taken apart for generated headers and libmysqlservices.a only.
SERVER_DEV = ["libmariadbd-dev", "libmariadb-dev"]

# What the server's packages depend on and a private server does without.
SERVER_UNNEEDED = {"galera-4", "debconf", "debconf-2.0", "adduser", "rocksdb-tools",
                   "init-system-helpers", "rsync", "socat", "iproute2", "lsof", "python3"}
