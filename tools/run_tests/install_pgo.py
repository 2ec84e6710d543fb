"""The steps that run ./install.sh --pgo in a root of their own with the distribution's server: trained, measured, again."""

import json

from installer import build_plugin, host, server_run, servers
from installer.steps.record import DIRECTORY
from tools.run_tests.install import Install
from tools.run_tests.step import Outcome
from tools.run_tests.throwaway_root import ThrowawayRoot

GUIDED = "SHOW GLOBAL STATUS LIKE 'Tidesdb_profile_guided'"


def whole(name, context):
    """--pgo, again, without being asked, and back to a plain plugin."""
    environment = servers.prepare(name, context.log)
    build_dir = build_plugin.build_dir(environment)
    with ThrowawayRoot(host.CODENAMES[name], context.log) as root:
        install = Install(root, build_dir)
        install.own_port(server_run.free_port())
        _first(install, build_dir)
        _again(install)
        _failing(install)
        _without(install)
        return Outcome(passed=install.passed)


def _record(install):
    return json.loads(install.root.path(DIRECTORY / "record.json").read_text())["facts"]


def _first(install, build_dir):
    printed = install("--pgo")
    install.expect(install.sql(GUIDED).split()[-1] == "ON", "the server runs the plugin that has a profile")
    fact = _record(install)["pgo"]
    profile = build_dir / "pgo" / f"profile-{fact['profile']}"
    install.expect(len(list(profile.glob("*.gcda"))) > 50, "the profile is beside the build")
    install.expect("| **all together** |" in printed and fact["gain"]["said"] in printed, "the table is printed")
    install.expect("optimised by the profile " + fact["profile"] in printed, "the summary says so")
    measured = json.loads((build_dir / "pgo" / "measured.json").read_text())["gain"]
    install.expect(measured["rounds"] >= 2 and len(measured["works"]) == 5, "each work is in the measured table")


def _again(install):
    pid, before = install.pid(), _record(install)["pgo"]
    printed = install("--pgo")
    install.expect("no training" in printed and "measured already" in printed, "the profile and the figures are reused")
    install.expect("nothing changed" in printed and install.pid() == pid, "the second run changes nothing")
    printed = install()
    install.expect("nothing changed" in printed and _record(install)["pgo"] == before, "it stays without being asked for")


def _failing(install):
    """A training that fails."""
    pid, before = install.pid(), _record(install)["pgo"]
    sysbench = install.root.path("/usr/bin/sysbench")
    aside = sysbench.rename(sysbench.with_name("sysbench.aside"))
    sysbench.symlink_to("/bin/false")
    said = install.refused("--pgo", "--rebuild-plugin")
    sysbench.unlink()
    aside.rename(sysbench)
    install.expect("train" in said, "it says which phase failed")
    install.expect(install.pid() == pid and install.sql(GUIDED).split()[-1] == "ON" and _record(install)["pgo"] == before,
                   "server, plugin and record are as before")
    printed = install("--pgo")
    install.expect("no training" in printed and "nothing changed" in printed, "the profile of before is still good")


def _without(install):
    install("--no-pgo")
    install.expect(install.sql(GUIDED).split()[-1] == "OFF", "the plain plugin is back")
    install.expect("pgo" not in _record(install), "the record says nothing of a profile")
    install("--uninstall")
