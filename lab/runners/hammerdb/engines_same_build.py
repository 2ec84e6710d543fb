"""An interrupted run is gone on with by the programs that its iterations were begun with."""

from installer.shell import Failed
from lab.runners.hammerdb import builtin, options, real, server
from lab.runners.hammerdb.engines_options import HARNESS, harness_options
from lab.runners.hammerdb.study import JOURNAL
from lab.study import journal as journals


def begun_with(directory):
    """(the journal, by name the sums) of each iteration's harness that has begun."""
    for path in sorted(directory.glob(f"*/iter*/hammerdb_logs_*/{JOURNAL}")):
        try:
            yield path, journals.read(path).plan.get(journals.BINARIES, {})
        except Failed:  # It was killed before it had written a line.
            pass


def now(args, directory):
    """By engine, the sums by name of what an iteration of it would be measured with, built if need be."""
    found = {}
    for engine in args.engine_names:
        asked = options.parse(harness_options(args, engine, False)[1:])
        asked.password = args.password
        one = server.make(asked, directory)
        one.check([engine])
        log = directory / "build.log"
        generator = real.Real(asked, log) if asked.hammerdb_dir else builtin.Builtin(asked, log)
        found[engine] = {**one.identity(), **generator.identity()}
    return found


def check(args, directory):
    """Raises Failed naming what is another build than an iteration's. Of another harness than ours nothing is known."""
    begun = list(begun_with(directory))
    if not begun or args.harness != HARNESS:
        return
    build = now(args, directory)
    for path, before in begun:
        journals.check_build(path, before, build[path.relative_to(directory).parts[0]])
