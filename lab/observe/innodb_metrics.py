"""InnoDB's own counters, information_schema.INNODB_METRICS: those that are enabled, beside the status variables."""

_PREFIX = "INNODB_METRICS: "
# As MariaDB and MySQL say which are counting; innodb_monitor_enable enables more.
_ENABLED = {"ENABLED": "ENABLED = 1", "STATUS": "STATUS = 'enabled'"}


def statement(server):
    """What is to be asked each second, rows of a name and a number; "" of a server without InnoDB."""
    names = ", ".join(f"'{name}'" for name in _ENABLED)
    found = server.sql("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND "
                       f"TABLE_NAME = 'INNODB_METRICS' AND COLUMN_NAME IN ({names})").split()
    return (f"SELECT CONCAT('{_PREFIX}', NAME), COUNT FROM information_schema.INNODB_METRICS WHERE {_ENABLED[found[0]]}"
            if found else "")
