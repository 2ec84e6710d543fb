"""INSERT ... SELECT during writes: a copy, whole or in pieces within one transaction, shows one moment.

Writers move amounts between two rows of a table, and rows to other keys, in transactions whose sum is zero; some of them
spill. Copiers copy the table, in one statement or in ranges of its primary key, and note the sum and the number of copied
rows: both must always be the same. After a deadlock or a lock wait timeout they try again.
Environment: see lab/tests/lab_server.py.
"""

import argparse
import subprocess
import sys
import time

from lab.tests import lab_server

ROWS, AMOUNT = 400, 100
WRITERS, COPIERS = 3, 2
COPIES_MIN = 5  # Per level, on any machine.
LEVELS = ("REPEATABLE READ", "SERIALIZABLE")

SCHEMA = f"""
CREATE DATABASE test; USE test;
CREATE TABLE s (id INT PRIMARY KEY, v INT NOT NULL, c VARCHAR(2000) NOT NULL DEFAULT '', KEY (v)) ENGINE=TidesDB;
CREATE TABLE noted (sum INT, number INT, pieces INT, KEY (sum)) ENGINE=TidesDB;
CREATE TABLE ends (name VARCHAR(10), KEY (name)) ENGINE=TidesDB;
CREATE TABLE stop (stop INT) ENGINE=MEMORY;  -- InnoDB refuses who reads it while it is written (1020).
INSERT INTO s (id, v) SELECT 2 * seq, {AMOUNT} FROM seq_1_to_{ROWS};
DELIMITER |
CREATE PROCEDURE writer()
BEGIN
  DECLARE a, b, n INT;
  DECLARE EXIT HANDLER FOR 1020, 1205, 1213 BEGIN ROLLBACK; INSERT INTO ends VALUES ('undone'); END;
  START TRANSACTION;
  SET a = 2 + FLOOR(RAND() * {2 * ROWS}), b = 2 + FLOOR(RAND() * {2 * ROWS}), n = FLOOR(RAND() * 50);
  CASE FLOOR(RAND() * 4)
  WHEN 0 THEN
    UPDATE s SET v = v - n WHERE id = a;
    UPDATE s SET v = v + n * (SELECT COUNT(*) FROM s WHERE id = a) WHERE id = b;
    IF ROW_COUNT() = 0 THEN ROLLBACK; END IF;
  WHEN 1 THEN UPDATE IGNORE s SET id = b WHERE id = a;
  WHEN 2 THEN
    SELECT v INTO @v FROM s WHERE id = a FOR UPDATE;
    IF FOUND_ROWS() = 1 THEN DELETE FROM s WHERE id = a; INSERT INTO s (id, v) VALUES (a, @v); END IF;
  ELSE UPDATE s SET c = REPEAT('c', FLOOR(RAND() * 2000)) WHERE id BETWEEN a AND a + 40;
  END CASE;
  COMMIT;
  INSERT INTO ends VALUES ('written');
END|
CREATE PROCEDURE copier(d INT, pieces INT)
BEGIN
  DECLARE i INT DEFAULT 0;
  DECLARE EXIT HANDLER FOR 1020, 1205, 1213 BEGIN ROLLBACK; INSERT INTO ends VALUES ('not copied'); END;
  START TRANSACTION;
  WHILE i < pieces DO
    INSERT INTO d (copier, id, v, c) SELECT d, id, v, c FROM s FORCE INDEX (PRIMARY)
      WHERE id >= i * {2 * ROWS + 2} / pieces AND id < (i + 1) * {2 * ROWS + 2} / pieces;
    SET i = i + 1;
  END WHILE;
  INSERT INTO noted SELECT SUM(v), COUNT(*), pieces FROM d WHERE copier = d;
  DELETE FROM d WHERE copier = d;
  COMMIT;
END|
CREATE PROCEDURE work(d INT)
BEGIN
  WHILE NOT EXISTS (SELECT * FROM stop) DO
    IF d < 0 THEN CALL writer(); ELSE CALL copier(d, 1 + 4 * FLOOR(RAND() * 2)); END IF;
  END WHILE;
END|
DELIMITER ;
CREATE TABLE d (copier INT, id INT, v INT, c VARCHAR(2000), PRIMARY KEY (copier, id)) ENGINE=TidesDB;
"""


def run(server, level, seconds):
    """The problems; "" if none."""
    server.sql("USE test; DELETE FROM stop; DELETE FROM noted; DELETE FROM ends")
    clients = []
    for number in range(WRITERS + COPIERS):
        spills = "SET tidesdb_bulk_staging_size = 1;" if number % 2 else ""
        script = (f"USE test; SET SESSION TRANSACTION ISOLATION LEVEL {level}; {spills}"
                  f"CALL work({number if number < COPIERS else -1})")
        clients.append(subprocess.Popen(server.client_command(script), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True))
    time.sleep(seconds)
    while int(server.value("SELECT COUNT(*) FROM test.noted")) < COPIES_MIN and all(c.poll() is None for c in clients):
        time.sleep(0.2)
    server.sql("INSERT INTO test.stop VALUES (1)")
    said = "".join(client.communicate()[1] for client in clients)
    ends = server.sql("SELECT name, COUNT(*) FROM test.ends GROUP BY name ORDER BY name").split("\n")
    sums = server.sql("SELECT sum, number, COUNT(*) FROM test.noted GROUP BY sum, number").strip()
    print(f"{level}: copies with their sums and numbers {sums.split()}; {', '.join(filter(None, ends))}", flush=True)
    if said:
        return f"{level}: {said}"
    wanted = f"{ROWS * AMOUNT}\t{ROWS}\t"
    if not sums.startswith(wanted) or "\n" in sums:
        return f"{level}: every copy is {ROWS} rows with {ROWS * AMOUNT} in all; there are\n{sums}\n"
    checked = server.sql("CHECK TABLE test.s, test.d, test.noted")
    return "" if checked.count("\tOK") == 3 else f"{level}: {checked}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6, help="of each level")
    options = parser.parse_args()
    problems = ""
    with lab_server.LabServer(lab_server.environment()) as server:
        subprocess.run(server.reading_client(), input=SCHEMA, text=True, check=True)
        server.sql("SET GLOBAL tidesdb_lock_wait_timeout_ms = 2000")
        for level in LEVELS:
            problems += run(server, level, options.seconds)
    print(problems or f"{len(LEVELS)} levels: every copy is of one moment")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
