"""What the server's tests recorded with one engine, kept from run to run: a file an engine, by test."""

import json
import os

from installer.mtr import Results


def plain(test):
    """The name of a test of the driver without its combination, or of a record: main.x, innodb.x."""
    return test.split()[0] if "/" not in test.split(".")[-1] else ".".join(test.removeprefix("suite/").rsplit("/", 1))


def keep(path, tests, texts, results):
    """Puts the records of a run of the tests into the file, in place of what it had of these tests."""
    rerun = set(tests)
    facts = {"texts": texts, "tests": results.tests, "reasons": results.reasons}
    for part, old in _read(path).items():
        facts[part] = {name: value for name, value in old.items() if plain(name) not in rerun} | facts[part]
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(facts))
    os.replace(new, path)


def kept(path, tests):
    """What the file has of the tests, as (texts, Results); nothing of a test that never ran."""
    wanted = set(tests)
    texts, statuses, reasons = ({name: value for name, value in part.items() if plain(name) in wanted}
                                for part in _read(path).values())
    return texts, Results(statuses, reasons)


def _read(path):
    return json.loads(path.read_text()) if path.exists() else {"texts": {}, "tests": {}, "reasons": {}}
