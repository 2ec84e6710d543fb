#!/usr/bin/env python3
"""tidesdb-backup: backs up all tables of a running MariaDB, of TidesDB and other engines, at one binary-log position.

    tidesdb-backup --backup  --target-dir /backups/monday
    tidesdb-backup --backup  --target-dir /backups/tuesday --base-dir /backups/monday
    tidesdb-backup --prepare --target-dir /backups/tuesday
    tidesdb-backup --verify  --target-dir /backups/tuesday
    tidesdb-backup --restore --target-dir /backups/tuesday --datadir /var/lib/mysql

mariadb-backup copies all tables except TidesDB's, under its own BACKUP STAGE. It talks to the server through a socket of
this program, which holds back its BACKUP STAGE END: while commits are blocked, the server makes a checkpoint of TidesDB
(second names for its files, no copy). So both parts end at the same commit. The files are copied when commits go on again.
Table files of TidesDB never change, so those in --base-dir are linked from there.

A backup is a directory: server/ (mariadb-backup's), tidesdb/ (the engine's directory), and tidesdb-backup.json, which is
written last: without it the backup is incomplete. See docs/backup.md.
"""

import argparse
import contextlib
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

FACTS = "tidesdb-backup.json"
SERVER, TIDESDB = "server", "tidesdb"
ENGINE_DIRECTORY = "#tidesdb"
TABLE_SUFFIX = ".tdb"
_TAIL_BYTES = 64 << 10
_COPY_BYTES = 8 << 20
# mariadb-backup until 11.8.6 can read a block of InnoDB's log that is being written, and then finds no next record.
_LOST_ITS_PLACE = "Was only able to copy log from"
_STARTS_MAX = 3
_COM_QUERY = 3
_PROTOCOL = 10
_CLIENT_SSL_SECOND_BYTE = 0x08


class Failed(Exception):
    """An error, and what to do about it."""


_started = time.monotonic()


def say(text):
    seconds = int(time.monotonic() - _started)
    print(f"[{seconds // 60:02}:{seconds % 60:02}] {text}", flush=True)


def size(count):
    for unit in ["bytes", "KiB", "MiB", "GiB"]:
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024


# --- The server ---

class Client:
    """Statements by the mariadb client."""

    def __init__(self, args):
        self.args = args

    def connection(self):
        """Options of every MariaDB client program."""
        args = self.args
        options = [f"--defaults-file={args.defaults_file}"] if args.defaults_file else []
        options += [f"--user={args.user}"] if args.user else []
        return options + ([f"--password={args.password}"] if args.password is not None else [])

    def rows(self, statement):
        """Raises Failed."""
        argv = [self.args.mariadb, *self.connection(), "--batch", "--skip-column-names", "-e", statement]
        argv += [f"--socket={self.args.socket}"] if self.args.socket else []
        done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"the server refused {statement!r}: {done.stderr.strip()}")
        return [line.split("\t") for line in done.stdout.splitlines()]


def facts_of(client):
    """The server's facts for a backup. Raises Failed."""
    if not client.rows("SELECT 1 FROM information_schema.ENGINES WHERE ENGINE = 'TidesDB' AND SUPPORT <> 'NO'"):
        raise Failed("the server has no TidesDB; use mariadb-backup alone")
    names = ["version", "datadir", "socket", "log_bin", "tidesdb_data_home_dir"]
    values = client.rows("SELECT " + ", ".join(f"IFNULL(@@GLOBAL.{name}, '')" for name in names))[0]
    facts = dict(zip(names, values))
    facts["engine"] = facts["tidesdb_data_home_dir"] or str(Path(facts["datadir"]) / ENGINE_DIRECTORY)
    if not os.access(facts["engine"], os.R_OK | os.W_OK | os.X_OK):
        raise Failed(f"{facts['engine']} is not writable for this account; run as root or as the server's account, "
                     "on its machine")
    return facts


def position(client):
    """The binary log's file, offset and GTIDs; empty without a binary log."""
    master = client.rows("SHOW MASTER STATUS")
    gtid = client.rows("SELECT @@GLOBAL.gtid_binlog_pos")[0][0]
    return {"file": master[0][0], "offset": int(master[0][1]), "gtid": gtid} if master else {}


# --- Between mariadb-backup and the server ---

class QueryReader:
    """Finds the statements in a client's bytes. Pure; takes the bytes as they come."""

    def __init__(self):
        self._bytes = b""

    def add(self, data):
        """The statements completed by these bytes."""
        self._bytes += data
        queries, at = [], 0
        while len(self._bytes) - at >= 4:
            length = int.from_bytes(self._bytes[at:at + 3], "little")
            if len(self._bytes) - at < 4 + length:
                break
            payload = self._bytes[at + 4:at + 4 + length]
            # The first packet of a command has number 0; handshake packets have other numbers.
            if self._bytes[at + 3] == 0 and payload[:1] == bytes([_COM_QUERY]):
                queries.append(payload[1:].decode(errors="replace"))
            at += 4 + length
        self._bytes = self._bytes[at:]
        return queries


def without_tls(greeting):
    """A server's first packet, without the offer of TLS, which would hide statements. The socket is on this machine."""
    if greeting[4:5] != bytes([_PROTOCOL]):
        return greeting  # An error.
    version_ends = greeting.index(b"\0", 5)  # After the packet's header and the protocol's version.
    at = version_ends + 1 + 4 + 8 + 1 + 1      # Thread, scramble, a zero; the second byte of the capabilities.
    return greeting[:at] + bytes([greeting[at] & ~_CLIENT_SSL_SECOND_BYTE]) + greeting[at + 1:]


class Relay:
    """A socket that forwards everything to the server's, and calls before a statement goes out.

    Owns: its directory, the threads.
    """

    def __init__(self, server_socket, before):
        """The connection's thread calls before(statement) and waits for it."""
        self.directory = tempfile.mkdtemp(prefix="tidesdb-backup-")
        self.path = os.path.join(self.directory, "socket")
        self._server, self._before = server_socket, before
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        os.chmod(self.path, 0o600)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                threading.Thread(target=self._pass, args=(client, server, QueryReader()), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, None), daemon=True).start()

    def _pass(self, source, target, reader):
        with contextlib.suppress(OSError):
            if not reader:
                target.sendall(without_tls(source.recv(1 << 16)))
            while data := source.recv(1 << 16):
                for query in reader.add(data) if reader else []:
                    self._before(query)
                target.sendall(data)
        for end in [source, target]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._listener.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Stage:
    """Acts at mariadb-backup's stages: takes the checkpoint at the end of the last one."""

    def __init__(self, client, checkpoint):
        self.client, self.checkpoint = client, checkpoint
        self.blocked, self.position, self.error, self.seconds = False, None, None, None

    def before(self, statement):
        words = statement.strip().rstrip(";").upper().split()
        if words[:2] != ["BACKUP", "STAGE"]:
            return
        if words[2:] == ["BLOCK_COMMIT"]:
            self.blocked = True
        if words[2:] == ["END"] and self.blocked and self.position is None:
            try:
                self._take()
            except (Failed, OSError, ValueError) as error:
                self.error = error

    def _take(self):
        begun = time.monotonic()
        say("Commits are blocked: taking the checkpoint of TidesDB")
        where = position(self.client)
        self.client.rows(f"SET GLOBAL tidesdb_checkpoint_dir = '{self.checkpoint}'")
        if position(self.client) != where:
            raise Failed("the binary log moved while commits were blocked")
        self.position, self.seconds = where, time.monotonic() - begun
        say(f"Checkpoint taken in {self.seconds:.2f} s; commits go on")


# --- Files ---

def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(directory):
    for root, _, names in os.walk(directory):
        for name in names:
            sync(os.path.join(root, name))
        sync(root)


def same_file(a, b):
    """Is b a's table file? A restored database reuses names, so more than the name must be equal."""
    one, other = a.stat(), b.stat()
    if (one.st_size, one.st_mtime_ns) != (other.st_size, other.st_mtime_ns):
        return False
    tails = []
    for path in (a, b):
        with open(path, "rb") as file:
            file.seek(max(0, one.st_size - _TAIL_BYTES))
            tails.append(file.read())
    return tails[0] == tails[1]


def link(source, target):
    """Makes a second name; False if that is impossible."""
    try:
        os.link(source, target)
        return True
    except OSError:
        return False


def take_files(source, target, base, what):
    """Brings the engine's files to target: links them if possible, else copies them. Returns the figures."""
    target.mkdir()
    figures = {"files": 0, "bytes": 0, "linked_from_base": 0, "copied_bytes": 0}
    paths = sorted(source.iterdir())
    told = time.monotonic()
    for path in paths:
        copy, bytes_ = target / path.name, path.stat().st_size
        is_table = path.suffix == TABLE_SUFFIX
        old = base / path.name if base and is_table and (base / path.name).exists() else None
        if old and same_file(path, old) and link(old, copy):
            figures["linked_from_base"] += 1
        elif not (is_table and link(path, copy)):
            shutil.copy2(path, copy)
            figures["copied_bytes"] += bytes_
        figures["files"] += 1
        figures["bytes"] += bytes_
        if time.monotonic() - told > 2:
            told = time.monotonic()
            say(f"{what}: {figures['files']} of {len(paths)} files, {size(figures['bytes'])}")
    return figures


def read_facts(directory):
    try:
        return json.loads((directory / FACTS).read_text())
    except OSError as error:
        raise Failed(f"{directory} is not a finished backup of tidesdb-backup: {error}") from error


def write_facts(directory, facts):
    path = directory / (FACTS + ".new")
    path.write_text(json.dumps(facts, indent=1) + "\n")
    sync(path)
    path.rename(directory / FACTS)
    sync(directory)


def run_logged(argv, log, what):
    """Runs a program of MariaDB with its messages in a file. Raises Failed with the last messages."""
    with open(log, "ab") as out:
        done = subprocess.run(argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-8:])
        raise Failed(f"{what} failed (exit {done.returncode}); the end of {log}:\n{tail}")


# --- What the program does ---

def backup(args):
    client = Client(args)
    target = args.target_dir
    if target.exists() and any(target.iterdir()):
        raise Failed(f"{target} is not empty; name an empty or new directory")
    base = args.base_dir
    if base:
        read_facts(base)
    facts = facts_of(client)
    target.mkdir(parents=True, exist_ok=True)
    checkpoint = Path(facts["engine"]) / f"backup-{os.getpid()}"
    try:
        stage = _take_both(args, client, facts, target, checkpoint)
        say("TidesDB: copying its files")
        figures = take_files(checkpoint, target / TIDESDB, base / TIDESDB if base else None, "TidesDB")
    except BaseException:
        shutil.rmtree(target / TIDESDB, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(checkpoint, ignore_errors=True)
    say("Making it durable")
    sync_tree(target)
    write_facts(target, {"version": 1, "server": facts["version"], "data_home_dir": facts["tidesdb_data_home_dir"],
                         "binary_log": stage.position, "commits_blocked_s": round(stage.seconds, 3),
                         "tidesdb": figures, "prepared": False, "finished": time.strftime("%Y-%m-%dT%H:%M:%S%z")})
    where = stage.position
    say(f"Done: {target}; TidesDB {size(figures['bytes'])}, of which copied {size(figures['copied_bytes'])}, "
        f"{figures['linked_from_base']} files linked from the base")
    say(f"Binary log: {where['file']} {where['offset']}, GTID {where['gtid'] or 'none'}" if where else "No binary log")


def _take_both(args, client, facts, target, checkpoint):
    """Runs mariadb-backup, and takes the checkpoint at its last stage. Starts over if mariadb-backup
    lost its place in InnoDB's log."""
    for left in reversed(range(_STARTS_MAX)):
        try:
            return _take_both_once(args, client, facts, target, checkpoint)
        except Failed as error:
            if _LOST_ITS_PLACE not in str(error) or left == 0:
                raise
            say(f"mariadb-backup lost its place in InnoDB's log, which happens under load (MDEV-39468). It starts again; "
                f"{left} starts are left")
            for half in [target / SERVER, checkpoint]:
                shutil.rmtree(half, ignore_errors=True)


def _take_both_once(args, client, facts, target, checkpoint):
    stage = Stage(client, checkpoint)
    relay = Relay(args.socket or facts["socket"], stage.before)
    log = target / "mariadb-backup.log"
    try:
        say(f"mariadb-backup: copying all except TidesDB; its messages go to {log}")
        # Otherwise mariadb-backup 11.4 and later requires TLS, which the relay does not offer.
        run_logged([args.mariadb_backup, *client.connection(), "--backup", "--skip-ssl",
                    f"--target-dir={target / SERVER}", f"--socket={relay.path}", f"--datadir={facts['datadir']}",
                    *args.options], log, "mariadb-backup")
    finally:
        relay.close()
    if stage.error:
        raise Failed(f"the checkpoint of TidesDB failed: {stage.error}")
    if stage.position is None:
        raise Failed("mariadb-backup ended without BACKUP STAGE BLOCK_COMMIT, so TidesDB could not take its checkpoint; "
                     "leave out --no-lock, and use an account that does not require TLS")
    _check_position(target / SERVER, stage.position)
    return stage


def _check_position(directory, where):
    """mariadb-backup's own note of the binary log's position must be ours."""
    for name in ["mariadb_backup_binlog_info", "xtrabackup_binlog_info"]:
        if (directory / name).exists() and where:
            noted = (directory / name).read_text().split("\t")[:2]
            if [noted[0], int(noted[1])] != [where["file"], where["offset"]]:
                raise Failed(f"mariadb-backup noted the binary log's position {noted}, but TidesDB's copy is from {where}")


def prepare(args):
    target = args.target_dir
    facts = read_facts(target)
    if facts["prepared"]:
        return say(f"{target} is already prepared")
    say("mariadb-backup: applying InnoDB's log; TidesDB's part needs nothing")
    run_logged([args.mariadb_backup, "--prepare", f"--target-dir={target / SERVER}", *args.options],
               target / "mariadb-backup.log", "mariadb-backup --prepare")
    facts["prepared"] = True
    write_facts(target, facts)
    return say(f"{target} is prepared")


def restore(args):
    if not args.datadir:
        raise Failed("--restore needs --datadir, the server's new data directory")
    where = _restore_into(args, args.datadir, links=False)
    account = args.owner or _account(args.datadir)
    if os.geteuid() == 0 and account:
        for root, names, files in os.walk(args.datadir):
            for name in [".", *names, *files]:
                shutil.chown(os.path.join(root, name), account, pwd.getpwnam(account).pw_gid)
    sync_tree(args.datadir)
    say(f"Restored to {args.datadir}. Binary log at the backup: {where or 'off'}. Start the server.")


def _restore_into(args, datadir, links):
    """Puts a prepared backup into an empty directory; links: also its table files. Returns the binary log's position."""
    target = args.target_dir
    facts = read_facts(target)
    if not facts["prepared"]:
        raise Failed(f"{target} is not prepared; first: tidesdb-backup --prepare --target-dir {target}")
    if datadir.exists() and any(datadir.iterdir()):
        raise Failed(f"{datadir} is not empty; stop the server and move its files away")
    engine = datadir / ENGINE_DIRECTORY
    if facts["data_home_dir"] and not links:
        engine = Path(facts["data_home_dir"])
        if engine.exists() and any(engine.iterdir()):
            raise Failed(f"{engine}, the server's tidesdb_data_home_dir, is not empty; move its files away")
    say("mariadb-backup: copying back")
    run_logged([args.mariadb_backup, f"--defaults-file={_defaults(target)}", "--copy-back",
                f"--target-dir={target / SERVER}", f"--datadir={datadir}", _undo_directory(target, datadir),
                *args.options], target / "mariadb-backup.log", "mariadb-backup --copy-back")
    say("TidesDB: copying back")
    engine.mkdir(parents=True, exist_ok=True)
    for path in sorted((target / TIDESDB).iterdir()):
        if not (links and path.suffix == TABLE_SUFFIX and link(path, engine / path.name)):
            shutil.copy2(path, engine / path.name)
    return facts["binary_log"]


def _undo_directory(target, datadir):
    """The option for InnoDB's undo files. --copy-back resolves a relative directory from its own working directory."""
    noted = re.search(r"^innodb_undo_directory=(.*)", _defaults(target).read_text(), re.M)
    where = datadir / (noted.group(1) if noted else "")
    return f"--innodb-undo-directory={where}"


def _defaults(target):
    """InnoDB's settings when the backup was made."""
    return target / SERVER / "backup-my.cnf"


def _account(directory):
    """The datadir's owner, or the usual account; None: neither exists."""
    with contextlib.suppress(KeyError):
        owner = pwd.getpwuid(directory.stat().st_uid).pw_name
        return owner if owner != "root" else pwd.getpwnam("mysql").pw_name
    return None


def verify(args):
    """A server on a copy beside the backup reads every row of every TidesDB table."""
    target = args.target_dir
    scratch = Path(tempfile.mkdtemp(prefix="verify-", dir=target))
    try:
        _restore_into(args, scratch / "data", links=True)
        with _server(args, scratch) as client:
            tables = client.rows("SELECT TABLE_SCHEMA, TABLE_NAME FROM "
                                 "information_schema.TABLES WHERE ENGINE = 'TidesDB' ORDER BY 1")
            wrong = []
            for number, parts in enumerate(tables, 1):
                name = ".".join("`" + part.replace("`", "``") + "`" for part in parts)
                say(f"CHECK TABLE {name} ({number} of {len(tables)})")
                rows = client.rows(f"CHECK TABLE {name} EXTENDED")
                wrong += [f"{name}: {row[3]}" for row in rows if row[2] != "status" or row[3] != "OK"]
        if wrong:
            raise Failed("tables are damaged:\n" + "\n".join(wrong))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    say(f"{target} is correct: {len(tables)} TidesDB tables read")


@contextlib.contextmanager
def _server(args, scratch):
    """A private server on scratch/data."""
    path = os.path.join(tempfile.mkdtemp(prefix="tidesdb-verify-"), "socket")
    log = scratch / "server.err"
    argv = [args.mariadbd, f"--defaults-file={_defaults(args.target_dir)}", f"--datadir={scratch / 'data'}",
            f"--socket={path}", f"--pid-file={scratch / 'pid'}", f"--log-error={log}", f"--tmpdir={scratch}",
            "--skip-networking", "--skip-grant-tables", "--skip-slave-start", "--skip-log-bin",
            "--plugin-load-add=ha_tidesdb", *args.server_option]
    if os.geteuid() == 0:
        argv.append("--user=root")
    with open(scratch / "server.out", "ab") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    client = Client(argparse.Namespace(mariadb=args.mariadb, socket=path, defaults_file=None, user=None,
                                       password=None))
    try:
        while True:
            with contextlib.suppress(Failed):
                client.rows("SELECT 1")
                break
            if process.poll() is not None:
                tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:]) if log.exists() else ""
                raise Failed(f"a server on the backup does not start:\n{tail}")
            time.sleep(0.1)
        yield client
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def _find(program):
    """Looks beside this program first, because a server from source has its own."""
    prefix = Path(__file__).resolve().parents[1]
    places = [str(prefix / "bin"), str(prefix / "sbin"), os.environ.get("PATH", os.defpath), "/usr/sbin"]
    return shutil.which(program, path=os.pathsep.join(places))


def parse(argv):
    parser = argparse.ArgumentParser(prog="tidesdb-backup", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    for name in ["backup", "prepare", "verify", "restore"]:
        what.add_argument(f"--{name}", action="store_const", const=name, dest="what")
    parser.add_argument("--target-dir", type=Path, required=True, help="the backup")
    parser.add_argument("--base-dir", type=Path, help="with --backup: an earlier backup, to link its table files")
    parser.add_argument("--datadir", type=Path, help="with --restore: the target, an empty or new directory")
    parser.add_argument("--owner", help="with --restore: the owner of the files (default: the datadir's owner, or mysql)")
    parser.add_argument("--socket", help="the server's socket (default: the mariadb client's)")
    parser.add_argument("--user", help="an account of the server; needs RELOAD, PROCESS, BINLOG MONITOR and SUPER")
    parser.add_argument("--password")
    parser.add_argument("--defaults-file", help="for the client programs: account and password")
    for program in ["mariadb", "mariadb-backup", "mariadbd"]:
        parser.add_argument(f"--{program}", default=_find(program), metavar="PATH", help=f"the program {program}")
    parser.add_argument("--server-option", action="append", default=[], metavar="OPTION",
                        help="with --verify: an option for mariadbd, such as --server-option=--plugin-dir=DIR")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="more options for mariadb-backup")
    args = parser.parse_args(argv)
    args.target_dir = args.target_dir.absolute()
    for name in ["mariadb", "mariadb_backup", "mariadbd"]:
        if getattr(args, name) is None and not (name == "mariadbd" and args.what != "verify"):
            program = name.replace("_", "-")
            parser.error(f"{program} is missing; install the package of that name, or give --{program}")
    return args


def main(argv=None):
    args = parse(sys.argv[1:] if argv is None else argv)
    try:
        {"backup": backup, "prepare": prepare, "verify": verify, "restore": restore}[args.what](args)
    except (Failed, OSError) as error:
        print(f"tidesdb-backup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tidesdb-backup: interrupted; the directory is not a complete backup", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
