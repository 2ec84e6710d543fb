"""How the server is compiled, as options for CMake; pure.

As in debian/rules: the same optimisation, the system's libraries, no embedded server. Unlike there: debug
information has only lines and names (-g1), which takes a third of the disk; and everything is below one prefix.
"""

import os

# Beside share/, as in MariaDB's own installations: the driver looks for the server's messages from there.
SUITE = "mariadb-test"

_OPTIMISED = "-O3 -g1 -DNDEBUG -fno-omit-frame-pointer -fno-strict-aliasing"
# With LTO. The prefix's static libraries are C: another compiler, which cannot read gcc's LTO, may link them.
_LTO_OBJECTS = {"C": "-ffat-lto-objects", "CXX": "-fno-fat-lto-objects"}

_FIXED = {
    "CMAKE_BUILD_TYPE": "RelWithDebInfo",
    "WITH_SSL": "system", "WITH_ZLIB": "system", "WITH_PCRE": "system", "WITH_LIBFMT": "system",
    "WITH_SYSTEMD": "yes", "WITH_NUMA": "ON", "WITH_EXTRA_CHARSETS": "all", "WITH_INNODB_SNAPPY": "ON",
    "WITH_MARIABACKUP": "ON", "WITH_EMBEDDED_SERVER": "OFF", "WITH_UNIT_TESTS": "OFF", "WITH_SBOM": "NO",
    "PLUGIN_AUTH_SOCKET": "STATIC", "PLUGIN_AWS_KEY_MANAGEMENT": "NO", "CONC_DEFAULT_CHARSET": "utf8mb4",
    # A thousand files that only mysql-test-run and benchmarks of 2005 need.
    "INSTALL_MYSQLTESTDIR": "", "INSTALL_SQLBENCHDIR": "",
    # As in Debian's /usr, so that private servers and mysql-test-run (installer/) find everything in the same places.
    "INSTALL_SBINDIR": "sbin", "INSTALL_SCRIPTDIR": "bin", "INSTALL_PLUGINDIR": "lib/mysql/plugin",
}


def profile_flags(how, counters, tree):
    """Compiler and linker flags of one phase of --pgo (None: plain). tree: the build directory.

    Installed builds have LTO, plain or not, so that a comparison of the two shows only the profile's effect.
    """
    if how is None:
        return "-flto=auto"
    # Named relative to the tree, so that both phases' trees find the same profile.
    names = f"-fprofile-prefix-path={tree}"
    if how == "generate":
        return f"-fprofile-generate={counters} -fprofile-update=atomic {names}"
    return f"-fprofile-use={counters} -fprofile-correction -Wno-missing-profile " \
        f"-Wno-error=coverage-mismatch -flto=auto {names}"


def options(paths, left_out, how=None, counters=None, tree=None):
    """The arguments after cmake. left_out: engines; the rest as for profile_flags()."""
    common = f"{_OPTIMISED} {profile_flags(how, counters, tree)}"
    flags = {language: f"{common} {more}" if how != "generate" else common for language, more in _LTO_OBJECTS.items()}
    # ccache does not know under which name the compiler looks for a source's profile.
    launcher = "" if how == "use" else "ccache"
    chosen = {
        "CMAKE_INSTALL_PREFIX": paths.prefix, "MYSQL_DATADIR": paths.data, "MYSQL_UNIX_ADDR": paths.socket,
        # So it reads neither /etc/my.cnf nor /etc/mysql, which belong to the distribution's server.
        "DEFAULT_SYSCONFDIR": paths.config.parent,
        **{f"CMAKE_{language}_FLAGS_RELWITHDEBINFO": flags[language] for language in ("C", "CXX")},
        **{f"CMAKE_{language}_COMPILER_LAUNCHER": launcher for language in ("C", "CXX")},
        **{f"PLUGIN_{engine.plugin}": "NO" for engine in left_out},
        # The training runs it.
        **({"INSTALL_MYSQLTESTDIR": SUITE} if how == "generate" else {}),
    }
    return [f"-D{name}={value}" for name, value in {**_FIXED, **chosen}.items()]


def key(given, compiler):
    """The key of a configured tree."""
    return {"options": list(map(os.fspath, given)), "compiler": compiler}
