"""lab/sqlbench.sh: sysbench's workloads on several engines, by environment variables.

  TABLE_SIZES="500000" THREAD_COUNTS="4 8" TIME=240 ENGINES="InnoDB TidesDB" lab/sqlbench.sh

With no variables set it makes, measures and removes its own server; lab/README.md lists the variables. To resume an
interrupted run, give the same command again (FRESH=1: start over).
"""

import argparse
import os
import shutil
import sys
import time

from installer import apt, packages
from installer.shell import TREE, Failed, clean_environment, main
from lab.runners.sqlbench import settings, target
from lab.runners.sqlbench import places as places_of
from lab.runners.sqlbench.running import Running
from lab.runners.sqlbench.study import Study
from lab.server import private_server, profiles
from lab.study import sitting
from lab.study.journal import can_resume

LOG = TREE / "var" / "log" / "sqlbench.log"


def chosen(wanted, places, server):
    """The Study of an interrupted run of the same plan in this directory, or of a new one."""
    places_of.make(places.output, "OUTPUT_DIR")
    begun = [] if places.fresh else [path.parent for path in Study.begun(places.output)]
    for directory in begun:
        it = Study(wanted, places, server, directory)
        if can_resume(directory / "journal.jsonl", Study.kind, it.whole_plan()):
            return it
    return Study(wanted, places, server, Study.place(places.output, time.strftime("%Y%m%d_%H%M%S")))


def _environment():
    """This process's environment, with the values of the command line."""
    parser = argparse.ArgumentParser(prog="sqlbench.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", metavar="NAME", help="PROFILE: the servers' settings and the sizes, of "
                                                          + ", ".join(profiles.known()))
    parser.add_argument("--sync", metavar="MODE", help="SYNC: with a profile, FULL or NONE")
    profiles.add_scale_down(parser.add_argument)
    private_server.add_memory_max(parser.add_argument)
    parser.set_defaults(scale_down=None)
    given = {name.upper(): str(value) for name, value in vars(parser.parse_args()).items() if value is not None}
    return {**os.environ, **given}


def _install():
    """Installs what is missing. Only sysbench is required; a message says what is missing of the rest."""
    if not shutil.which("sysbench", path=clean_environment()["PATH"]):
        apt.install(packages.SYSBENCH, LOG)
    try:
        apt.install(packages.LAB_PYTHON, LOG)
    except Failed as error:
        print(f"{str(error).splitlines()[0]}; the figures do not need it", file=sys.stderr)


def _how_to_go_on(it, places):
    """The message at the end of an interrupted run; it: None if the run had not begun."""
    if it is None:
        return sitting.ENDED + "Nothing was measured."
    command = "the same command without FRESH=1" if places.fresh else "the same command"
    return sitting.ENDED + f"Resume with: {command}, which finds this run in OUTPUT_DIR={places.output}"


def _main():
    environment = _environment()
    sitting.interrupt_on_term()
    wanted, places = settings.read(environment), places_of.read(environment)
    it = server = None
    try:
        _install()
        server = (Running if places.running else target.OwnServers)(wanted, places, LOG)
        server.prepare()
        it = chosen(wanted, places, server)
        return it.go()
    except KeyboardInterrupt:
        print(_how_to_go_on(it, places))
        return 130
    except Failed:
        if it is not None:
            it.discard_if_empty()
        raise
    finally:
        if server is not None:
            server.close()


if __name__ == "__main__":
    main(_main)
