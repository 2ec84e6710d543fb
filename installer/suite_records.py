"""The records of the server's tests, kept from run to run: one file per engine, by test."""

import json
import os

from installer.mtr import Results


def plain(test):
    """The name of a test of the driver without its combination, or of a record: main.x, innodb.x."""
    return test.split()[0] if "/" not in test.split(".")[-1] else ".".join(test.removeprefix("suite/").rsplit("/", 1))


def keep(path, tests, texts, results):
    """Puts the records of a run into the file, in place of its earlier records of the same tests."""
    rerun = set(tests)
    facts = {"texts": texts, "tests": results.tests, "reasons": results.reasons}
    for part, old in _read(path).items():
        facts[part] = {name: value for name, value in old.items() if plain(name) not in rerun} | facts[part]
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(facts))
    os.replace(new, path)


def kept(path, tests):
    """The file's records of the tests, as (texts, Results); nothing for a test that never ran."""
    wanted = set(tests)
    texts, statuses, reasons = ({name: value for name, value in part.items() if plain(name) in wanted}
                                for part in _read(path).values())
    return texts, Results(statuses, reasons)


def _read(path):
    return json.loads(path.read_text()) if path.exists() else {"texts": {}, "tests": {}, "reasons": {}}
