"""Random conditions over the columns of a table, mostly over the first columns of a key."""

from test.differential.column_types import quote
from test.differential.sql import Items


# Follows a LIKE that InnoDB must evaluate row by row: by an index, the server's bounds leave out strings that match.
THEIRS_BY_ROW = "/*theirs*/"


def _like(rng, column):
    """LIKE with the start of a value that rows may have."""
    value = column.constant(rng)
    text = value[1:-1] if value.startswith("'") else "a"
    text = text[: rng.choice([0, 1, 1, 2, 2, 3, len(text)])].replace("''", "'").rstrip("'")
    pattern = rng.choice([text + "%", text + "%", text + "_", "%" + text, text[:1] + "_%", text, text + " %", text + "_%"])
    return f"({{}} {rng.choice(['LIKE', 'LIKE', 'LIKE', 'NOT LIKE'])} {quote(pattern)}){THEIRS_BY_ROW}"


def _odd_number(rng):
    return rng.choice(
        ["-1", "256", "300", "-129", "1.5", "0.5", "65536", "4294967296", "18446744073709551615", "-0.5", "1e3"]
    )


def term(rng, column, reference):
    """One comparison of a column, called reference in the query."""
    kind = column.type
    draw = rng.random()
    if draw < 0.09:
        text = rng.choice(["{} IS NULL", "{} IS NOT NULL"])
    elif draw < 0.25 and (kind.text or kind.family in ("binary", "enum")):
        text = _like(rng, column)
    elif draw < 0.37:
        values = ", ".join(column.constant(rng) for _ in range(rng.choice([1, 2, 2, 3, 5])))
        text = f"{{}} {rng.choice(['IN', 'IN', 'IN', 'NOT IN'])} ({values})"
    elif draw < 0.52:
        word = rng.choice(["BETWEEN", "BETWEEN", "BETWEEN", "NOT BETWEEN"])
        text = f"{{}} {word} {column.constant(rng)} AND {column.constant(rng)}"
    elif draw < 0.56 and kind.family == "int":
        text = f"{{}} {rng.choice(['=', '<', '<=', '>', '>=', '<>'])} {_odd_number(rng)}"
    else:
        operator = rng.choice(["=", "=", "=", "<", "<=", ">", ">=", "<>", "<=>"])
        text = f"{{}} {operator} {column.constant(rng)}"
    return text.replace("{}", reference, 1)


def _columns(rng, table):
    """Columns to compare: the first parts of a key, or any."""
    if table.keys and rng.random() < 0.75:
        key = rng.choice(table.keys)
        return [part.column for part in key.parts[: rng.choice([1, 2, 3])]]
    return [rng.choice(table.columns) for _ in range(rng.choice([1, 1, 2]))]


def _of_two(rng, table, prefix):
    """A comparison of row values, of two columns, or of a function's value."""
    one, other = rng.choice(table.columns), rng.choice(table.columns)
    draw = rng.random()
    if draw < 0.4:
        rows = ", ".join(f"({one.constant(rng)}, {other.constant(rng)})" for _ in range(rng.choice([1, 2, 3])))
        return f"({prefix}{one.name}, {prefix}{other.name}) {rng.choice(['IN', 'IN', 'NOT IN'])} ({rows})"
    if draw < 0.6:
        return (
            f"({prefix}{one.name}, {prefix}{other.name}) {rng.choice(['>', '<=', '='])} "
            f"({one.constant(rng)}, {other.constant(rng)})"
        )
    if draw < 0.8 and one.type.sql == other.type.sql:
        return f"{prefix}{one.name} {rng.choice(['=', '<', '<=>'])} {prefix}{other.name}"
    if one.type.family in ("date", "datetime", "timestamp"):
        return rng.choice(
            [
                f"YEAR({prefix}{one.name}) {rng.choice(['=', '<=', '>'])} 2000",
                f"DATE({prefix}{one.name}) {rng.choice(['=', '<', '>='])} '2000-01-01'",
            ]
        )
    if one.type.text:
        return f"{rng.choice(['UPPER', 'LOWER', 'TRIM'])}({prefix}{one.name}) = {one.constant(rng)}"
    return f"NOT ({term(rng, one, prefix + one.name)})"


def condition(rng, table, alias=""):
    """An Items of terms, to follow WHERE or AND."""
    prefix = alias + "." if alias else ""
    terms = [term(rng, column, prefix + column.name) for column in _columns(rng, table)]
    if rng.random() < 0.2:
        column = rng.choice(table.columns)
        terms.append(term(rng, column, prefix + column.name))
    if rng.random() < 0.06:
        terms.append(_of_two(rng, table, prefix))
    if rng.random() < 0.22:
        parts = []
        for _ in range(rng.choice([2, 2, 3])):
            columns = _columns(rng, table)[:2]
            parts.append(Items([term(rng, column, prefix + column.name) for column in columns], " AND "))
        terms.append(Items(parts, " OR ", before="(", after=")"))
        if rng.random() < 0.6:
            terms = terms[-1:]
    return Items(terms, " AND ")
