"""Random conditions over the columns of a table, mostly over those that a key begins with."""

from differential.column_types import quote
from differential.sql import Items


def _like(rng, column):
    """LIKE with the start of a value that is there."""
    value = column.constant(rng)
    text = value[1:-1] if value.startswith("'") else "a"
    text = text[:rng.choice([0, 1, 1, 2, 2, 3, len(text)])].replace("''", "'").rstrip("'")
    pattern = rng.choice([text + "%", text + "%", text + "_", "%" + text, text[:1] + "_%", text, text + " %", text + "_%"])
    return f"{{}} {rng.choice(['LIKE', 'LIKE', 'LIKE', 'NOT LIKE'])} {quote(pattern)}"


def _odd_number(rng):
    return rng.choice(["-1", "256", "300", "-129", "1.5", "0.5", "65536", "4294967296", "18446744073709551615", "-0.5", "1e3"])


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
        text = f"{{}} {rng.choice(['BETWEEN', 'BETWEEN', 'BETWEEN', 'NOT BETWEEN'])} {column.constant(rng)} AND {column.constant(rng)}"
    elif draw < 0.56 and kind.family == "int":
        text = f"{{}} {rng.choice(['=', '<', '<=', '>', '>=', '<>'])} {_odd_number(rng)}"
    else:
        operator = rng.choice(["=", "=", "=", "<", "<=", ">", ">=", "<>", "<=>"])
        text = f"{{}} {operator} {column.constant(rng)}"
    return text.replace("{}", reference, 1)


def _columns(rng, table):
    """Columns to speak of: the first parts of a key, or any."""
    if table.keys and rng.random() < 0.75:
        key = rng.choice(table.keys)
        return [part.column for part in key.parts[:rng.choice([1, 2, 3])]]
    return [rng.choice(table.columns) for _ in range(rng.choice([1, 1, 2]))]


def condition(rng, table, alias=""):
    """An Items of terms, to be put behind WHERE or AND."""
    prefix = alias + "." if alias else ""
    terms = [term(rng, column, prefix + column.name) for column in _columns(rng, table)]
    if rng.random() < 0.2:
        column = rng.choice(table.columns)
        terms.append(term(rng, column, prefix + column.name))
    if rng.random() < 0.22:
        parts = []
        for _ in range(rng.choice([2, 2, 3])):
            columns = _columns(rng, table)[:2]
            parts.append(Items([term(rng, column, prefix + column.name) for column in columns], " AND "))
        terms.append(Items(parts, " OR ", before="(", after=")"))
        if rng.random() < 0.6:
            terms = terms[-1:]
    return Items(terms, " AND ")

