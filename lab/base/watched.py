"""Runs a program, reads its output as it comes, and leaves none of its processes running."""

import os
import signal
import subprocess

from installer.shell import Failed, clean_environment, uninterrupted


def tied(argv):
    """The command line that runs argv so that the kernel sends it SIGTERM if this program is killed."""
    return ["setpriv", "--pdeathsig", "TERM", "--", *map(str, argv)]


def cpu_s(pid):
    """CPU seconds of a process; None if it is gone or not visible."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(argv, log, on_line=None, env=None, cwd=None, allowed=(0,), leave_out=None, patience_s=10):
    """Runs argv, its output in the file log; on_line(line, pid) for each line. Returns the exit code.

    Raises Failed with the log's tail for a code that is not allowed (None: all are). Anything that ends the wait, including
    an interrupt, first ends the program and its children. leave_out: a pattern; lines that match it
    are dropped (they would show a password). patience_s: time for the program to end after it is asked to.
    """
    argv = [str(a) for a in argv]
    process = None
    with open(log, "w") as out:
        try:
            with uninterrupted():
                process = subprocess.Popen(tied(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT, text=True, errors="replace", bufsize=1,
                                           env=clean_environment(env), cwd=cwd, start_new_session=True)
            for line in process.stdout:
                if leave_out and leave_out.search(line):
                    continue
                out.write(line)
                out.flush()
                if on_line:
                    on_line(line.rstrip("\n"), process.pid)
            code = process.wait()
        finally:
            if process is not None:
                end(process, patience_s)
                process.stdout.close()
    if allowed is not None and code not in allowed:
        with open(log) as written:
            tail = "".join(written.readlines()[-12:])
        raise Failed(f"{os.path.basename(argv[0])} ended with {code}; see {log}\n{tail.rstrip()}")
    return code


def end(process, patience_s):
    """Ends a process that was started in its own session, and its children."""
    if process.poll() is not None:
        return
    for stop in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, stop)  # The second time: children that outlived it.
        except ProcessLookupError:
            return
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            pass
