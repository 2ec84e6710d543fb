"""Looks up in the seeds' texts what the lab quotes from them: figures, quotations, configurations, command lines.

The seeds are not part of the tree: shared/seeds is beside it, or beside a folder that contains it. Without the seeds these
tests are skipped.
"""

import csv
import re
import shlex
import unittest

from installer.shell import TREE
from lab.runners.seeds import seed_figures
from lab.server import profiles

_SEEDS = next((parent / "shared" / "seeds" for parent in TREE.parents if (parent / "shared" / "seeds").is_dir()), None)
_OF_THE_REPOSITORY = "raw logs of its repository"  # Of seed 003, whose text does not print them.
# Options of the printed my.cnf that a private server sets itself, and the profile's words for them.
_PATHS = ("basedir", "datadir", "socket", "pid-file", "log-error", "slow_query_log_file")
_LEFT_OUT = {**dict.fromkeys(_PATHS, "paths"), "port": "port", "user": "user", "bind-address": "bind-address",
             "default_storage_engine": "the default engine", "plugin_load_add": "its plugin"}


def seed(name):
    """A seed's text, with all white space as single blanks, and a blank between table cells that touch: 199,90314,723."""
    path, = _SEEDS.glob(f"{name}_*.txt")
    return re.sub(r"(,\d{3})(?=\d)", r"\1 ", " ".join(path.read_text(encoding="utf-8").split()))


def numbers(text):
    """The numbers of a text: 1,024 and 16k and 1.35M; in "2 to 3k" both are thousands."""
    text = re.sub(r"(\d+) to (\d+)k", r"\1k to \2k", text)
    factor = {"": 1, "k": 1e3, "M": 1e6}
    return [float(digits.replace(",", "")) * factor[unit]
            for digits, unit in re.findall(r"(\d[\d,]*(?:\.\d+)?)([kM]?)", text)]


def follows(value, text):
    """Whether value is a number of the text, its inverse, 1 minus it in percent, or follows from two of its numbers."""
    of = [number for number in numbers(text) if number]
    made = [one for n in of for one in (n, 1 / n, 1 - n / 100)]
    made += [one for a in of for b in of if a != b for one in (a / b, a * b, (a + b) / 2, a / (1 + b / 100))]
    return any(abs(value - one) <= 0.005 * abs(value) for one in made)


def is_printed(value, text):
    """Whether the text has value, as it was typed, as a separate number."""
    whole, point, rest = value.partition(".")
    return re.search(rf"(?<![\d.,]){re.escape(f'{int(whole):,}{point}{rest}')}(?![\d]|[.,]\d)", text) is not None


class Arithmetic(unittest.TestCase):
    def test_what_is_printed_and_what_follows(self):
        for value, text in ((939, "1.35M rows by t = 1437 s"), (0.149, "6.7x faster"), (3000, "2 to 3k"),
                            (2000, "2 to 3k"), (0.37, "63% faster"), (54.5, "54-55%"), (149600, "35.9M QPS, of 240 s")):
            self.assertTrue(follows(value, text), text)
        self.assertFalse(follows(0.139, "6.7x faster"))
        self.assertFalse(is_printed("8.6", "18.6 8.61 8.6.1 8,600"))
        self.assertTrue(is_printed("-12.00", "5.00 -> 4.40 ms on jemalloc (-12.00%)."))
        self.assertTrue(is_printed("39324", "from 39,324 to"))


@unittest.skipUnless(_SEEDS, "the seeds are not here: no shared/seeds beside this tree")
class Figures(unittest.TestCase):
    def rows(self):
        """The rows of the CSV, as typed, whose figures are in a seed's text."""
        with open(seed_figures.FILE, encoding="utf-8", newline="") as file:
            return [row for row in csv.DictReader(file, strict=True) if not row["place"].startswith(_OF_THE_REPOSITORY)]

    def test_every_place_is_there(self):
        for row in self.rows():
            named = re.search(r"seed (\d{3})", row["place"])
            text = seed(row["study"][:3]) + (seed(named.group(1)) if named else "")
            heading = re.split(r"[:;,]", row["place"].removeprefix("seed 001, "))[0]
            self.assertIn(heading, text, row)
            for quoted in re.findall(r'"([^"]+)"', row["place"]):
                self.assertIn(quoted, text, row)

    def test_every_figure_follows_from_its_quotation_or_is_printed(self):
        for row in self.rows():
            if ': "' in row["place"]:
                self.assertTrue(follows(float(row["value"]), row["place"]), row)
            else:
                of = "001" if row["place"].startswith("seed 001") else row["study"][:3]
                self.assertTrue(is_printed(row["value"], seed(of)), row)


@unittest.skipUnless(_SEEDS, "the seeds are not here: no shared/seeds beside this tree")
class Configurations(unittest.TestCase):
    def printed(self, name):
        """From the seed's my.cnf: (the settings of [mysqld], in order; the names of the other groups)."""
        path, = _SEEDS.glob(f"{name}_*.txt")
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        begin = lines.index("[mysqld]")
        lines = lines[begin:lines.index("[mariadb-backup]") + 1]
        groups = [at for at, line in enumerate(lines) if line.startswith("[")]
        settings = [[part.strip() for part in line.partition("=")] for line in lines[1:groups[1]]
                    if line and not line.startswith("#")]
        return settings, [lines[at] for at in groups[1:]]

    def test_a_printed_my_cnf_is_the_profile_but_for_what_that_says(self):
        for name in ("000", "001"):
            settings, groups = self.printed(name)
            profile = profiles.read_profile((profiles.PROFILES / f"seed-{name}.cnf").read_text(), name)
            kept = [f"--{key}={value}" if value else f"--{key}" for key, _, value in settings if key not in _LEFT_OUT]
            self.assertEqual(kept, profile["server"] + profile["TidesDB"])
            said = profiles.about(f"seed-{name}")
            for words in (*_LEFT_OUT.values(), *groups, "plugin_maturity", "default-character-set = utf8mb4"):
                self.assertIn(words, said)

    def test_the_sizes_of_hammerdb_are_those_of_the_command_line(self):
        for name in ("000", "001", "002"):
            line = re.search(r"\./(?:hammerdb_runner|run_tpcc_mariadb)\.sh -b tpcc (.*?) -H", seed(name)).group(1)
            words = shlex.split(line)
            printed = dict(zip((word.removeprefix("--") for word in words[::2]), words[1::2]))
            self.assertEqual(profiles.defaults(f"seed-{name}", "hammerdb_runner"), printed)

    def test_the_variables_of_sqlbench_are_those_of_the_command_line(self):
        line = re.search(r"nohup env (.*?) \./sqlbench\.sh", seed("004")).group(1).replace("\\", "")
        printed = dict(word.split("=", 1) for word in shlex.split(line))
        sizes = profiles.defaults("seed-004", "sqlbench")
        self.assertEqual({name: printed[name] for name in sizes}, sizes)
        file = (profiles.PROFILES / "seed-004.cnf").read_text()
        for name in printed:  # Each one is a size, or in the profile's text, or a path.
            self.assertTrue(name in sizes or f"{name}={printed[name]}" in file or printed[name].startswith("/"), name)
