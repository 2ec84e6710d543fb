"""The server's three engine suites run with TidesDB, scored against InnoDB on the same server."""

import json
from pathlib import Path

from installer import mtr, rr_trx
from installer.shell import Step

RR_TRX_S = 60


def _run(environment, plugin, directory, suite, engine, log):
    if suite == "engines/rr_trx":
        return rr_trx.run(environment, plugin, directory / f"rr_trx-{engine}", engine, RR_TRX_S)
    return mtr.run(environment, plugin, directory / "mtr", [suite], log, engine=engine)


def _baseline(environment, plugin, directory, suite, log):
    """InnoDB's own score; kept with the server's files, because it changes only with the server."""
    kept = environment.prefix / f"innodb-{suite.replace('/', '-')}.json"
    if kept.exists():
        return mtr.Results(json.loads(kept.read_text()))
    results = _run(environment, plugin, directory, suite, "InnoDB", log)
    kept.write_text(json.dumps(results.tests, indent=1) + "\n")
    return results


def score(environment, plugin, directory, suites=(*mtr.ENGINE_SUITES, "engines/rr_trx")):
    """Runs the suites; logs go to directory. Returns suite -> (our Results, InnoDB's)."""
    directory = Path(directory)
    scores = {}
    for suite in suites:
        label = suite.replace("/", "-")
        with Step(f"{suite} on MariaDB {environment.version} with InnoDB"):
            innodb = _baseline(environment, plugin, directory, suite, directory / f"{label}-innodb.log")
        with Step(f"{suite} on MariaDB {environment.version} with TidesDB"):
            ours = _run(environment, plugin, directory, suite, "TidesDB", directory / f"{label}-tidesdb.log")
        scores[suite] = (ours, innodb)
    return scores


def compare(ours, innodb):
    """The tests that InnoDB passes and TidesDB does not, by name with our status."""
    return {name: ours.tests.get(name, "not run") for name, status in sorted(innodb.tests.items())
            if status == "pass" and ours.tests.get(name) != "pass"}


def write_comparison(environment, scores, path):
    """Writes path.json and path.md, and returns the path of path.md."""
    report = {"server": environment.name, "version": environment.version, "suites": {}}
    lines = [f"# Engine suites on MariaDB {environment.version}", "",
             "| suite | InnoDB passes | TidesDB of these | share |", "|---|---|---|---|"]
    details = []
    for suite, (ours, innodb) in scores.items():
        behind = compare(ours, innodb)
        base = innodb.count("pass")
        share = 100.0 * (base - len(behind)) / base if base else 100.0
        report["suites"][suite] = {"innodb_pass": base, "tidesdb_pass": base - len(behind),
                                   "share_percent": round(share, 2), "behind": behind}
        lines.append(f"| {suite} | {base} | {base - len(behind)} | {share:.1f} % |")
        details += [f"- {name}: {status} {ours.reasons.get(name, '')}".rstrip()
                    for name, status in behind.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
    text = "\n".join([*lines, "", "Passed by InnoDB and not by TidesDB:", "", *(details or ["none"])])
    path.with_suffix(".md").write_text(text + "\n")
    return path.with_suffix(".md")
