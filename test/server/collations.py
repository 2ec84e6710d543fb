"""For every collation that the server lists: an index orders and compares strings like the server itself.

Strings of the character set that are hard to sort go into CHAR and VARCHAR columns. The server compares them
row against row, without an index. Then each index (of the whole column, of a prefix, unique) must have the same
order, find the same rows as a scan by =, by ranges and by LIKE, and accept and refuse the same duplicates. If an index
is refused, the error must name the collation.
The bounds of LIKE, and the end of a prefix, come from the server. If an index answers such a question differently from
a scan, InnoDB is asked: if it is wrong too, the answer is counted but is not our fault.
Usage: python3 -m test.server.collations [--only REGEX] [--seed N] [--verbose] [--engine ENGINE].
Environment: see lab/tests/lab_server.py.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

from lab.tests import lab_server
from test.server.collation_strings import characters, has_meaning, percent, strings_for

CHARS_MAX = 10  # Of the columns.
PREFIX_CHARS = 2
CLIENTS = 2
BATCH = 8  # Collations of one table: 4 indexes each, of 64.

REFUSED = re.compile(r"ERROR 1478 \(\w+\) at line \d+: .*does not support an index on .*collation (\w+) ")


class Column:
    """A column of one collation: its index over the whole, and over a prefix."""

    def __init__(self, name, sql_type):
        self.name = name
        self.sql_type = sql_type
        self.whole, self.prefix = f"k{name}", f"p{name}"
        self.prefix_of = f"{name}({PREFIX_CHARS})"


class Collation:
    def __init__(self, charset, name, pads, strings):
        self.charset = charset
        self.name = name
        self.pads = pads
        # Hundreds of languages weigh the same characters, in five character sets.
        self.thorough = "uca1400" not in name or re.fullmatch(r"utf8mb4_uca1400(_nopad)?_a[is]_c[is]", name)
        self.strings = strings if self.thorough else strings[::4]
        self.predicates = predicates(charset, name, self.strings)
        self.columns = []

    def place(self, number):
        """Its number among those that share tables."""
        self.columns = [Column(f"v{number}", "VARCHAR"), Column(f"c{number}", "CHAR")]

    def definition(self, column):
        return f"{column.name} {column.sql_type}({CHARS_MAX}) CHARACTER SET {self.charset} COLLATE `{self.name}`"

    def refused(self, column):
        """The indexes on a column that TidesDB refuses, in the form of CREATE TABLE."""
        if self.name == "tis620_thai_nopad_ci" and column.sql_type == "CHAR":
            return [column.name, column.prefix_of]
        unpadded = not self.pads and self.name != "binary"
        if any(name in self.name for name in ("czech_cs", "tis620_thai")) or (unpadded and column.sql_type == "CHAR"):
            return [column.prefix_of]
        return []

    def tested(self):
        return [column for column in self.columns if column.name not in self.refused(column)]

    def indexes(self, column):
        return [column.whole] + ([column.prefix] if self.thorough and not self.refused(column) else [])


def literal(charset, collation, string):
    return f"(_{charset} X'{string.hex()}' COLLATE `{collation}`)"


def predicates(charset, collation, strings):
    """Conditions on a column, which is {0}: ranges between strings, and LIKE for what they start with."""
    found = []
    step = max(7, len(strings) // 16)
    for i in range(0, len(strings), step):
        one = literal(charset, collation, strings[i])
        other = literal(charset, collation, strings[(i * 7 + 3) % len(strings)])
        found += [f"{{0}} > {one}", f"{{0}} <= {one}", f"{{0}} BETWEEN {one} AND {other}"]
    starts = {}
    for string in strings[::max(5, len(strings) // 30)]:
        letters = characters(charset, string)
        for some in (letters[:1], letters[:2]):
            if some and not any(has_meaning(charset, letter) for letter in some):
                starts[b"".join(some)] = True
    return found + [f"{{0}} LIKE {literal(charset, collation, start + percent(charset))}" for start in starts]


class Script:
    """Statements for one client, one a line, so that an error's line says which; the answers by their tag."""

    def __init__(self, server):
        self.server = server
        self.statements = []

    def add(self, statement):
        self.statements.append(statement + ";\n")

    def run(self):
        """The rows of each tag, and the errors by line."""
        rows, errors = defaultdict(list), {}
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as said, \
                tempfile.TemporaryFile("w+") as wrong:
            given.writelines(self.statements)
            given.seek(0)
            subprocess.run(self.server.reading_client("--force", "--default-character-set=utf8mb4", "test"),
                           stdin=given, stdout=said, stderr=wrong, check=False)
            said.seek(0)
            wrong.seek(0)
            for line in said:
                tag, *values = line.rstrip("\n").split("\t")
                rows[tag].append(values)
            for line in wrong:
                found = re.match(r"ERROR \d+ \(\w+\) at line (\d+)", line)
                errors[int(found.group(1)) if found else 0] = line.strip()
        return rows, errors


def setup(script, batch, engine, table):
    """Fills s without an index, t with all indexes that are not unique, u with the unique ones: a row for each value.

    One table of each for all of a batch: to make tables takes longest.
    """
    columns = ", ".join(c.definition(column) for c in batch for column in c.columns)
    names = [column.name for c in batch for column in c.columns]
    values = ",".join(f"({i},X'{s.hex()}')" for i, s in enumerate(batch[0].strings, 1))
    script.add(f"CREATE TABLE b{table} (id INT NOT NULL, b VARBINARY(200)) ENGINE=MEMORY")
    script.add(f"INSERT INTO b{table} VALUES {values}")
    script.add(f"CREATE TABLE s{table} (id INT NOT NULL, {columns}) ENGINE=MEMORY")
    script.add(f"INSERT INTO s{table} SELECT id{', b' * len(names)} FROM b{table}")
    keys = ", ".join(f"KEY {index} ({column.name if index == column.whole else column.prefix_of})"
                     for c in batch for column in c.tested() for index in c.indexes(column))
    script.add(f"CREATE TABLE t{table} (id INT NOT NULL PRIMARY KEY, {columns}, {keys}) ENGINE={engine}")
    script.add(f"INSERT INTO t{table} SELECT * FROM s{table}")
    unique = [column.name for c in batch for column in c.tested()]
    script.add(f"CREATE TABLE u{table} (id INT NOT NULL, {columns}, {', '.join(f'UNIQUE ({name})' for name in unique)}) "
               f"ENGINE={engine}")
    for name in unique:
        script.add(f"INSERT IGNORE INTO u{table} (id, {name}) SELECT id, {name} FROM s{table}")


def ask_scan(script, tag, collation, table):
    for column in collation.columns:
        v = column.name
        script.add(f"SELECT '{tag}.rank.{v}', id, (SELECT CONCAT(SUM(b.{v} < a.{v}), ' ', SUM(b.{v} = a.{v})) "
                   f"FROM s{table} b) FROM s{table} a")
        sums = ", ".join(f"SUM(id * ({p.format(v)}))" for p in collation.predicates)
        script.add(f"SELECT '{tag}.scan.{v}', {sums} FROM s{table}")


def ask_index(script, tag, collation, table):
    for column in collation.tested():
        v = column.name
        for index in collation.indexes(column):
            t = f"t{table} FORCE INDEX ({index})"
            script.add(f"SELECT '{tag}.equal.{index}', a.id, COUNT(*), SUM(b.id) FROM s{table} a STRAIGHT_JOIN "
                       f"t{table} b FORCE INDEX ({index}) ON b.{v} = a.{v} GROUP BY a.id")
            sums = ", ".join(f"(SELECT SUM(id) FROM {t} WHERE {p.format(v)})" for p in collation.predicates)
            script.add(f"SELECT '{tag}.found.{index}', {sums}")
        t = f"t{table} FORCE INDEX (k{v})"
        script.add(f"SELECT '{tag}.order.{v}', id, HEX({v}) FROM {t} ORDER BY {v}")
        script.add(f"SELECT '{tag}.groups.{v}', COUNT(*) FROM (SELECT {v} FROM {t} GROUP BY {v}) g")
        script.add(f"SELECT '{tag}.ends.{v}', (SELECT MIN(id) FROM s{table} WHERE {v} = (SELECT MIN({v}) FROM {t})), "
                   f"(SELECT MIN(id) FROM s{table} WHERE {v} = (SELECT MAX({v}) FROM {t}))")
        script.add(f"SELECT '{tag}.unique.{v}', id FROM u{table} WHERE {v} IS NOT NULL")


def drop(script, table):
    script.add(f"DROP TABLE IF EXISTS b{table}, s{table}, t{table}, u{table}")


class Truth:
    """The server's comparison of the strings of one column, row against row."""

    def __init__(self, rows, scan):
        self.less, self.same = {}, {}
        for number, counts in rows:
            less, same = counts.split(" ")
            self.less[int(number)], self.same[int(number)] = int(less), int(same)
        self.scan = scan
        self.classes = defaultdict(list)
        for number, less in sorted(self.less.items()):
            self.classes[less].append(number)

    def is_an_order(self):
        """Equal strings have as many before them, and there are as many of them as each says."""
        return all(self.same[n] == len(ids) for ids in self.classes.values() for n in ids)


def differences(rows, tag, collation, truths):
    """Wrong answers of indexes: pairs of question and answer."""
    for column in collation.tested():
        v = column.name
        truth = truths[v]
        order = [int(number) for number, _ in rows[f"{tag}.order.{v}"]]
        ranks = [truth.less[number] for number in order]
        if len(ranks) != len(truth.less):
            yield f"rows by index of {v}", str(len(ranks))
        for i, (one, other) in enumerate(zip(ranks, ranks[1:])):
            if one > other:
                yield f"order of {v}: {order[i]} before {order[i + 1]}", ""
        yield from _equal(rows, tag, column, collation, truth)
        yield from _found(rows, tag, column, collation, truth)
        # The server forms groups of CHAR with the spaces that fill it, whatever the collation.
        groups = column.sql_type == "VARCHAR" or (collation.pads and collation.charset != "tis620")
        if groups and rows[f"{tag}.groups.{v}"] != [[str(len(truth.classes))]]:
            yield f"groups of {v}", str(rows[f"{tag}.groups.{v}"])
        ends = [str(truth.classes[less][0]) for less in (min(truth.classes), max(truth.classes))]
        if rows[f"{tag}.ends.{v}"] != [ends]:
            yield f"ends of {v}", str(rows[f"{tag}.ends.{v}"])
        unique = {int(number) for number, in rows[f"{tag}.unique.{v}"]}
        for number in sorted(unique ^ {ids[0] for ids in truth.classes.values()}):
            yield f"unique {v} of {number}", "taken" if number in unique else "refused"


def _equal(rows, tag, column, collation, truth):
    for index in collation.indexes(column):
        answers = {int(row[0]): row[1:] for row in rows[f"{tag}.equal.{index}"]}
        for number, less in truth.less.items():
            ids = truth.classes[less]
            answer = answers.get(number, [])
            if answer != [str(len(ids)), str(sum(ids))]:
                yield f"= {number} by {index}", str(answer)


def _found(rows, tag, column, collation, truth):
    for index in collation.indexes(column):
        found = rows[f"{tag}.found.{index}"]
        if len(found) != 1:
            yield f"predicates by {index}", "no answer"
            continue
        for predicate, expected, answer in zip(collation.predicates, truth.scan, found[0]):
            if (answer if answer != "NULL" else "0") != expected:
                yield f"{predicate.format(column.name)} by {index}", answer


class Result:
    def __init__(self, collation):
        self.collation = collation
        self.refused = 0
        self.problems = []    # Ours.
        self.shared = []      # Answers that are wrong on InnoDB too.


def test(server, engine, batch):
    """The results of some collations with the same strings."""
    script = Script(server)
    table = f"_{batch[0].name}"
    for i, collation in enumerate(batch):
        collation.place(i)
    setup(script, batch, engine, table)
    common = range(1, len(script.statements) + 1)
    lines, refused = {}, defaultdict(list)
    for collation in batch:
        first = len(script.statements) + 1
        ask_scan(script, collation.name, collation, table)
        ask_index(script, collation.name, collation, table)
        lines[collation] = [*common, *range(first, len(script.statements) + 1)]
        for column in collation.columns if engine == "TidesDB" else []:
            for key in collation.refused(column):
                script.add(f"CREATE TABLE r{table} ({collation.definition(column)}, KEY ({key})) ENGINE={engine}")
                refused[collation].append(len(script.statements))
    drop(script, table)
    rows, errors = script.run()
    results, different = [], {}
    for collation in batch:
        result = Result(collation)
        results.append(result)
        mine = [errors[line] for line in lines[collation] if line in errors]
        result.problems = [f"{len(mine)} errors, the first: {mine[0]}"] if mine else []
        for line in refused[collation]:
            found = REFUSED.match(errors.get(line, ""))
            if found and found.group(1) == collation.name:
                result.refused += 1
            else:
                result.problems.append(f"an index is not refused: {errors.get(line)}")
        truths = known(collation, rows, result)
        found = list(differences(rows, collation.name, collation, truths)) if truths else []
        if found:
            different[result] = truths, found
    ask_innodb(server, f"{table}_i", different)
    return results


def known(collation, rows, result):
    """The server's comparison of the strings of each column; None without one."""
    truths = {}
    for column in collation.columns:
        v = f"{collation.name}.%s.{column.name}"
        truth = truths[column.name] = Truth(rows[v % "rank"], (rows[v % "scan"] or [[]])[0])
        if len(truth.less) != len(collation.strings):
            result.problems.append("the server did not say how the strings compare")
            return None
        if not truth.is_an_order():
            result.problems.append("the server's comparison is no order of these strings")
    return truths


def ask_innodb(server, table, different):
    """Whether InnoDB is wrong too. different: what is known, and the differences, by result."""
    if not different:
        return
    script = Script(server)
    setup(script, [result.collation for result in different], "InnoDB", table)
    for result in different:
        ask_index(script, result.collation.name, result.collation, table)
    drop(script, table)
    rows, _ = script.run()
    for result, (truths, found) in different.items():
        wrong = dict(differences(rows, result.collation.name, result.collation, truths))
        for question, answer in found:
            (result.shared if excused(question, answer, wrong) else result.problems).append(f"{question} -> {answer}")


def excused(question, answer, innodb):
    """Whether the server's part in an answer is what is wrong; innodb: its wrong answers by question.

    CHAR that is not padded it takes for padded when it asks whether a range is empty. LIKE that begins with as many
    characters as the prefix has comes as an equality.
    """
    if " LIKE " in question:
        return " by p" in question and answer == innodb.get(question)
    return " BETWEEN " in question and answer == innodb.get(question)


def listed(server):
    """Each character set with each of its collations. A collation that COLLATIONS has and no character set is an error."""
    rows = [line.split("\t") for line in server.sql(
        "SELECT CHARACTER_SET_NAME, FULL_COLLATION_NAME, COLLATION_NAME "
        "FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY ORDER BY 1, 2").splitlines()]
    names = set(server.sql("SELECT COLLATION_NAME FROM information_schema.COLLATIONS").split())
    left_out = names - {row[2] for row in rows}
    if left_out:
        sys.exit(f"no character set has the collations {', '.join(sorted(left_out))}")
    return [row[:2] for row in rows]


def padding(server, rows):
    """The names of the collations that do not count spaces at the end."""
    script = Script(server)
    for charset, name in rows:
        one, other = (f"CONVERT('{text}' USING {charset}) COLLATE `{name}`" for text in ("a", "a "))
        script.add(f"SELECT 'pads', '{name}', {one} = {other}")
    answers, _ = script.run()
    return {name for name, pads in answers["pads"] if pads == "1"}


def well_formed(server, charset, candidates):
    """The strings that a column of the character set stores unchanged."""
    script = Script(server)
    script.add("SET sql_mode = ''")
    script.add(f"CREATE TABLE f_{charset} (id INT, b VARBINARY(200), v VARCHAR({CHARS_MAX}) CHARACTER SET {charset}, "
               f"c CHAR({CHARS_MAX}) CHARACTER SET {charset}) ENGINE=MEMORY")
    script.add(f"INSERT INTO f_{charset} VALUES " +
               ",".join(f"({i},X'{s.hex()}',X'{s.hex()}',X'{s.hex()}')" for i, s in enumerate(candidates)))
    script.add(f"SELECT 'ok', id FROM f_{charset} WHERE HEX(v) = HEX(b)")
    script.add(f"DROP TABLE f_{charset}")
    rows, _ = script.run()
    return [candidates[int(number)] for number, in rows["ok"]]


def kind(problem):
    """A few words for the kind of a problem."""
    for word in (" LIKE ", " BETWEEN ", " > ", " <= "):
        if word in problem:
            return word.strip()
    return problem.split(" ")[0]


def show(result, verbose):
    for problem in result.problems[:1000 if verbose else 3]:
        print(f"{result.collation.name}: {problem}", flush=True)
    if len(result.problems) > 3 and not verbose:
        print(f"{result.collation.name}: {len(result.problems)} problems in all", flush=True)
    if verbose and result.shared:
        print(f"wrong on InnoDB too: {result.collation.name}: {len(result.shared)}, {result.shared[:3]}", flush=True)


def summary(results, seconds):
    """Prints the results; returns the number of collations with problems."""
    kinds = Counter(kind(problem) for result in results for problem in result.shared)
    print(f"wrong on InnoDB too: {sum(kinds.values())} answers, {dict(kinds)}")
    bad = sum(1 for result in results if result.problems)
    refused = sum(result.refused for result in results)
    print(f"{len(results)} collations, {len(results) - bad} right, {bad} wrong; {refused} indexes refused; {seconds:.0f} s")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the collations' names, a regular expression")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="TidesDB", help="another one to look at")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    begin = time.monotonic()
    more = ["--max-allowed-packet=64M"]
    if options.engine == "TidesDB":
        more += lab_server.sync_options("TidesDB", "NONE")
    with lab_server.LabServer(lab_server.environment(), more) as server:
        server.sql("CREATE DATABASE IF NOT EXISTS test; SET GLOBAL optimizer_switch = 'subquery_cache=off'")
        wanted = [row for row in listed(server) if re.search(options.only, row[1])]
        pads = padding(server, wanted)
        collations = []
        for charset in sorted({charset for charset, _ in wanted}):
            strings = well_formed(server, charset, strings_for(charset, options.seed, 150))
            collations += [Collation(charset, name, name in pads, strings) for of, name in wanted if of == charset]
        batches = []
        for collation in sorted(collations, key=lambda c: (c.charset, bool(c.thorough), c.name)):
            last = batches[-1] if batches else []
            if not last or len(last) == BATCH or last[0].strings != collation.strings:
                batches.append([])
            batches[-1].append(collation)
        with ThreadPoolExecutor(CLIENTS) as pool:
            results = []
            for found in pool.map(lambda batch: test(server, options.engine, batch), batches):
                for result in found:
                    show(result, options.verbose)
                    results.append(result)
    return 1 if summary(results, time.monotonic() - begin) else 0


if __name__ == "__main__":
    sys.exit(main())
