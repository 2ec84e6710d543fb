"""How the server is compiled, as options of CMake's; pure.

As debian/rules has it: the same optimisation, the system's libraries, no embedded server. Other than there: debug
information is kept to lines and names (-g1), which takes a third of the disk; and all of it is below one prefix.
"""

import os

# Beside share/, as MariaDB's own installations have it: the driver looks for the server's messages from there.
SUITE = "mariadb-test"

_OPTIMISED = "-O3 -g1 -DNDEBUG -fno-omit-frame-pointer -fno-strict-aliasing"
# With LTO. The prefix's static libraries are C: what links them may be of another compiler, which reads no gcc's LTO.
_LTO_OBJECTS = {"C": "-ffat-lto-objects", "CXX": "-fno-fat-lto-objects"}

_FIXED = {
    "CMAKE_BUILD_TYPE": "RelWithDebInfo",
    "WITH_SSL": "system", "WITH_ZLIB": "system", "WITH_PCRE": "system", "WITH_LIBFMT": "system",
    "WITH_SYSTEMD": "yes", "WITH_NUMA": "ON", "WITH_EXTRA_CHARSETS": "all", "WITH_INNODB_SNAPPY": "ON",
    "WITH_MARIABACKUP": "ON", "WITH_EMBEDDED_SERVER": "OFF", "WITH_UNIT_TESTS": "OFF", "WITH_SBOM": "NO",
    "PLUGIN_AUTH_SOCKET": "STATIC", "PLUGIN_AWS_KEY_MANAGEMENT": "NO", "CONC_DEFAULT_CHARSET": "utf8mb4",
    # A thousand files that only mysql-test-run and benchmarks of 2005 want.
    "INSTALL_MYSQLTESTDIR": "", "INSTALL_SQLBENCHDIR": "",
    # As in Debian's /usr, so that private servers and mysql-test-run (installer/) find all in the same places.
    "INSTALL_SBINDIR": "sbin", "INSTALL_SCRIPTDIR": "bin", "INSTALL_PLUGINDIR": "lib/mysql/plugin",
}


def profile_flags(how, counters, tree):
    """Compiler and linker flags of one phase of --pgo (None: plain). tree: the directory that is built in.

    What is installed has LTO, plain or not: then the profile is all that a comparison of the two finds.
    """
    if how is None:
        return "-flto=auto"
    # Named by what is below the tree, so that both phases' trees find the same profile.
    names = f"-fprofile-prefix-path={tree}"
    if how == "generate":
        return f"-fprofile-generate={counters} -fprofile-update=atomic {names}"
    return f"-fprofile-use={counters} -fprofile-correction -Wno-missing-profile " \
        f"-Wno-error=coverage-mismatch -flto=auto {names}"


def options(paths, left_out, how=None, counters=None, tree=None):
    """What comes after cmake. left_out: engines; the rest as of profile_flags()."""
    common = f"{_OPTIMISED} {profile_flags(how, counters, tree)}"
    flags = {language: f"{common} {more}" if how != "generate" else common for language, more in _LTO_OBJECTS.items()}
    # ccache does not know under which name the profile of a source is looked for.
    launcher = "" if how == "use" else "ccache"
    chosen = {
        "CMAKE_INSTALL_PREFIX": paths.prefix, "MYSQL_DATADIR": paths.data, "MYSQL_UNIX_ADDR": paths.socket,
        # Then neither /etc/my.cnf nor /etc/mysql is read: those are the distribution's server's.
        "DEFAULT_SYSCONFDIR": paths.config.parent,
        **{f"CMAKE_{language}_FLAGS_RELWITHDEBINFO": flags[language] for language in ("C", "CXX")},
        **{f"CMAKE_{language}_COMPILER_LAUNCHER": launcher for language in ("C", "CXX")},
        **{f"PLUGIN_{engine.plugin}": "NO" for engine in left_out},
        # The training runs it.
        **({"INSTALL_MYSQLTESTDIR": SUITE} if how == "generate" else {}),
    }
    return [f"-D{name}={value}" for name, value in {**_FIXED, **chosen}.items()]


def key(given, compiler):
    """What a configured tree belongs to."""
    return {"options": list(map(os.fspath, given)), "compiler": compiler}
