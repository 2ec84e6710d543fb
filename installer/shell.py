"""Runs commands with their output in a log file, and shows the current step on one line."""

import errno
import os
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent


class Failed(Exception):
    """A step went wrong; the message is for people and says where to look."""


class Unavailable(Failed):
    """Something that this machine cannot give (no root, no network ...); a reason to skip."""


def say(text, end="\n"):
    """Prints, and ignores a closed terminal or pipe, so that work and undoing go on."""
    try:
        print(text, end=end, flush=True)
    except OSError as error:
        if error.errno not in (errno.EIO, errno.EPIPE):
            raise


class Step:
    """`with Step("Building"):` prints the text, then the seconds it took."""

    def __init__(self, text):
        self.text = text

    def __enter__(self):
        self.begin = time.monotonic()
        say(f"  {self.text} ... ", end="")
        return self

    def __exit__(self, kind, error, trace):
        seconds = time.monotonic() - self.begin
        say(f"{seconds:.0f} s" if kind is None else "failed")


def clean_environment(extra=None):
    """The environment for tools: the caller's, with the system's own paths and no locale."""
    env = dict(os.environ)
    env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    env["LC_ALL"] = "C.UTF-8"
    env["DEBIAN_FRONTEND"] = "noninteractive"
    env.update(extra or {})
    return env


def _with_children(pid):
    """pid and its descendants, as far as /proc tells; but not those of a dpkg, which must finish its work."""
    children = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text(errors="replace").rpartition(")")
        except OSError:
            continue
        if not name.endswith("(dpkg"):
            children.setdefault(int(rest.split()[1]), []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def end(process, patience_s=10):
    """Ends a child process and its descendants: asks first, and kills after patience_s."""
    if process.poll() is not None:
        return
    handles = []
    for pid in _with_children(process.pid):
        try:
            handles.append(os.pidfd_open(pid))  # Not the number, which may be another process's by then.
        except ProcessLookupError:
            pass
    left = list(handles)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for handle in left:
            try:
                signal.pidfd_send_signal(handle, number)
            except ProcessLookupError:
                pass
        deadline = time.monotonic() + patience_s
        while left and time.monotonic() < deadline:
            gone = select.select(left, [], [], max(0, deadline - time.monotonic()))[0]
            left = [handle for handle in left if handle not in gone]
    for handle in handles:
        os.close(handle)
    process.wait()


@contextmanager
def uninterrupted():
    """Delays an interrupt to the end of the block.

    For starting a program: it runs before Popen returns, and if Popen were interrupted then, nobody could end it.
    """
    came, holding = [], True
    # No other thread gets interrupts. A signal that is ignored or left to the system has no function here, and stays.
    handlers = {number: handler for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
                if callable(handler := signal.getsignal(number))
                and threading.current_thread() is threading.main_thread()}

    def hold(number, frame):
        if holding:
            came.append(number)
        else:
            handlers[number](number, frame)

    try:
        for number in handlers:
            signal.signal(number, hold)
        yield
    finally:
        holding = False  # First, because an interrupt may cut the next lines short.
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came:
            handlers[number](number, None)


def _run(argv, **how):
    """Like subprocess.run. Anything that ends the wait, including an interrupt, first ends all processes of argv."""
    process = None
    try:
        with uninterrupted():
            process = subprocess.Popen(argv, **how)
        out, error = process.communicate()
    except BaseException:
        if process is not None:
            with process:  # Its pipes are closed.
                end(process)
        raise
    return subprocess.CompletedProcess(argv, process.returncode, out, error)


def run(argv, log=None, cwd=None, env=None, stdin=None, lock=None):
    """Runs argv and appends its output to the file log, if given. Raises Failed with the tail.

    lock: a file whose lock the process also holds.
    """
    argv = [str(a) for a in argv]
    how = {"cwd": cwd, "env": clean_environment(env), "stdin": stdin or subprocess.DEVNULL, "stderr": subprocess.STDOUT,
           "pass_fds": [lock.fileno()] if lock else []}
    if log is None:
        done = _run(argv, stdout=subprocess.PIPE, **how)
        tail, code, where = done.stdout.decode(errors="replace"), done.returncode, ""
    else:
        log = Path(log)
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "ab") as out:
            out.write(f"$ {shlex.join(argv)}\n".encode())
            out.flush()
            begin = out.tell()
            code = _run(argv, stdout=out, **how).returncode
        with open(log, "rb") as written:
            written.seek(begin)
            tail, where = written.read().decode(errors="replace"), f"; see {log}"
    if code != 0:
        lines = "\n".join(tail.strip().splitlines()[-40:])
        raise Failed(f"{shlex.join(argv)} ended with {code}{where}\n{lines}")
    return tail if log is None else ""


def output(argv, cwd=None, env=None):
    """Runs argv and returns its standard output; raises Failed when it fails."""
    argv = [str(a) for a in argv]
    done = _run(argv, cwd=cwd, env=clean_environment(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
    if done.returncode != 0:
        error = done.stderr.decode(errors="replace").strip()
        raise Failed(f"{shlex.join(argv)} ended with {done.returncode}\n{error}")
    return done.stdout.decode(errors="replace")


def main(function):
    """Runs a command-line main; a Failed becomes one message and exit code 1."""
    try:
        sys.exit(function() or 0)
    except Failed as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except PermissionError as error:
        if not error.filename:
            raise
        print(f"error: {error.filename}: this user may not do that; run it as root, or in a tree of your own",
              file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print(f"error: the disk is full{f' ({error.filename})' if error.filename else ''}; make room and go on: what was "
              "done stays done", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
