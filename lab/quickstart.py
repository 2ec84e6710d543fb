"""python3 -m lab.quickstart DIR ENGINE COMMAND...: runs the load generator's command on ./quickstart's server in DIR.

Keeps beside its result what the report says of the server and the machine: samples-ENGINE.json and facts-ENGINE.json. It
ends with 0 where there is a result, which says what was wrong with it, else with the command's exit code.
"""

import json
import subprocess
import sys
from pathlib import Path

from installer import host, server_run, servers
from installer.shell import clean_environment, main
from lab.observe.sampler import Sampler, StatusClient
from lab.record import provenance
from lab.runners import quickstart as adapter
from lab.server import disk
from lab.server.private_server import versions_of
from lab.works import generators


def _facts(server, engine, tool):
    database = f"tpcc_{engine.lower()}"
    used = disk.usage(engine, server.data, database, disk.unflushed(engine, server.sql))
    environment = server.environment
    binaries = {"mariadbd": environment.mariadbd, "ha_tidesdb.so": server.directory / "ha_tidesdb.so",
                "ha_rocksdb.so": environment.plugin_dir / "ha_rocksdb.so", "tpcc": tool}
    return {"provenance": provenance.collect(server.data, binaries), "versions": versions_of(server),
            "sizes": used.phases("data"), "my.cnf": (server.directory / "my.cnf").read_text()}


def measure(server, engine, command):
    """Returns 0 where there is a result, else the command's exit code."""
    directory = server.directory
    samples, facts = directory / adapter.samples_name(engine), directory / adapter.facts_name(engine)
    samples.unlink(missing_ok=True)
    facts.unlink(missing_ok=True)  # Of an earlier measurement.
    with Sampler(server.pid(), StatusClient(server.client("--unbuffered"))) as sampler:
        code = subprocess.run(command, env=clean_environment(), stdin=subprocess.DEVNULL, check=False).returncode
    if code not in generators.MEASURED:
        return code
    sampler.samples.save(samples)
    facts.write_text(json.dumps(_facts(server, engine, command[0]), indent=1) + "\n")
    return 0


def _main():
    directory, engine, *command = sys.argv[1:]
    return measure(server_run.Server(servers.existing(host.host_server()), Path(directory)), engine, command)


if __name__ == "__main__":
    main(_main)
