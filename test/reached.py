"""How far a run came into the engine: flushes, compactions and spills, by the server's own count."""

_VARIABLES = {"flush_count": "flushes", "compaction_count": "compactions", "spills": "spills"}


def reached(server):
    """By name, how often the server has done it since its start. server: an installer.server_run.Server that runs."""
    rows = (row.lower().split("\t") for row in server.sql("SHOW GLOBAL STATUS LIKE 'tidesdb%'").splitlines())
    counts = {name.removeprefix("tidesdb_"): value for name, value in rows}
    return {name: int(counts[variable]) for variable, name in _VARIABLES.items()}


def said(counts):
    return ", ".join(f"{count} {name}" for name, count in counts.items())
