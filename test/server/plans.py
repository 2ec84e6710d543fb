"""Compares the optimizer's plans of all TPROC-C and sysbench queries on TidesDB with those on InnoDB.

Both engines have the same rows in one server; the plans are compared after the load and after a restart.
Environment: see lab/tests/lab_server.py.
"""

import argparse
import subprocess
import sys

from lab.tests import lab_server

ENGINES = ["InnoDB", "TidesDB"]

# Row estimates are guesses on both sides; if both exceed this, they may differ by the factor.
ROWS_FEW = 20
ROWS_FACTOR = 3

TPCC = [
    # NEWORD
    "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse "
    "WHERE w_id = 1 AND c_w_id = w_id AND c_d_id = 3 AND c_id = 77",
    "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = 1 AND d_id = 3 FOR UPDATE",
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 3",
    "SELECT i_price, i_name, i_data FROM item WHERE i_id = 4711",
    "SELECT s_quantity, s_data, s_dist_01, s_dist_10 FROM stock WHERE s_w_id = 1 AND s_i_id = 4711",
    "UPDATE stock SET s_quantity = 5 WHERE s_w_id = 1 AND s_i_id = 4711",
    # PAYMENT
    "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1",
    "SELECT w_street_1, w_city, w_name FROM warehouse WHERE w_id = 1",
    "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_w_id = 1 AND d_id = 3",
    "SELECT d_street_1, d_city, d_name FROM district WHERE d_w_id = 1 AND d_id = 3",
    "SELECT COUNT(c_id) FROM customer WHERE c_w_id = 1 AND c_d_id = 3 AND c_last = 'BARBARBAR'",
    "SELECT c_first, c_middle, c_id, c_street_1, c_balance, c_since FROM customer "
    "WHERE c_w_id = 1 AND c_d_id = 3 AND c_last = 'BARBARBAR' ORDER BY c_first",
    "SELECT c_first, c_last, c_credit, c_balance FROM customer WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = 77",
    "SELECT c_data FROM customer WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = 77",
    "UPDATE customer SET c_balance = 1, c_data = 'x' WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = 77",
    "UPDATE customer SET c_balance = 1 WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = 77",
    # OSTAT
    "SELECT c_balance, c_first, c_middle, c_id FROM customer "
    "WHERE c_w_id = 1 AND c_d_id = 3 AND c_last = 'BARBARBAR' ORDER BY c_first",
    "SELECT o_id, o_carrier_id, o_entry_d FROM orders "
    "WHERE o_w_id = 1 AND o_d_id = 3 AND o_c_id = 77 ORDER BY o_id DESC LIMIT 1",
    "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line "
    "WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 99",
    # DELIVERY
    "SELECT no_o_id FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 ORDER BY no_o_id LIMIT 1",
    "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id = 2500",
    "SELECT o_c_id FROM orders WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = 2500",
    "UPDATE orders SET o_carrier_id = 4 WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = 2500",
    "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 2500",
    "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 2500",
    "UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = 77",
    # SLEV
    "SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 3",
    "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = 1 AND ol_d_id = 3 "
    "AND ol_o_id < 3001 AND ol_o_id >= 2981 AND s_w_id = 1 AND s_i_id = ol_i_id AND s_quantity < 15",
]

SYSBENCH = [
    "SELECT c FROM sbtest1 WHERE id = 500",
    "SELECT c FROM sbtest1 WHERE id BETWEEN 500 AND 599",
    "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 500 AND 599",
    "SELECT c FROM sbtest1 WHERE id BETWEEN 500 AND 599 ORDER BY c",
    "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 500 AND 599 ORDER BY c",
    "UPDATE sbtest1 SET k = k + 1 WHERE id = 500",
    "UPDATE sbtest1 SET c = 'x' WHERE id = 500",
    "DELETE FROM sbtest1 WHERE id = 500",
    # select_random_points, select_random_ranges, covering index and count variants.
    "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (1, 50, 700, 701, 4000, 9999, 12345, 20000, 30000, 49999)",
    "SELECT COUNT(k) FROM sbtest1 WHERE k BETWEEN 100 AND 109 OR k BETWEEN 5000 AND 5009 "
    "OR k BETWEEN 20000 AND 20009 OR k BETWEEN 40000 AND 40009",
    "SELECT COUNT(*) FROM sbtest1",
    "SELECT AVG(k) FROM sbtest1",
    "SELECT MAX(id), MIN(k) FROM sbtest1",
]

SBTEST = ("CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, "
          "c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id), KEY k_1 (k)) "
          "ENGINE = {engine} DEFAULT CHARACTER SET latin1; "
          "INSERT INTO sbtest1 SELECT seq, 1 + CRC32(seq) % {rows}, RPAD(SHA2(seq, 512), 119, '-'), "
          "RPAD(MD5(seq), 59, '-') FROM seq_1_to_{rows}")


def database(engine):
    return f"plans_{engine.lower()}"


def load(server, rows):
    for engine in ENGINES:
        command = server.tpcc("build", "--engine", engine, "-w", "1", "--build-vu", "2", "-q",
                              "--db", database(engine))
        if subprocess.run(command, check=False).returncode != lab_server.OK:
            sys.exit(f"the build for {engine} went wrong")
        server.sql(f"USE {database(engine)}; {SBTEST.format(engine=engine, rows=rows)}; ANALYZE TABLE sbtest1")


def explain(server, engine, query):
    """One tuple per table of the plan: table, type, key, key_len, ref, rows, Extra."""
    lines = server.sql(f"USE {database(engine)}; EXPLAIN {query}").splitlines()
    plan = []
    for line in lines:
        _, _, table, kind, _, key, key_len, ref, rows, extra = line.split("\t")
        plan.append((table, kind, key, key_len, ref.replace(database(engine), "db"), extra, rows))
    return plan


def rows_alike(ours, theirs):
    if "NULL" in (ours, theirs):
        return ours == theirs
    small, large = sorted((int(ours), int(theirs)))
    return large <= max(ROWS_FEW, ROWS_FACTOR * small)


def alike(ours, theirs):
    return len(ours) == len(theirs) and all(
        a[:-1] == b[:-1] and rows_alike(a[-1], b[-1]) for a, b in zip(ours, theirs))


def compare(server, when):
    """Prints the queries whose plans differ, and returns their number."""
    different = 0
    for query in TPCC + SYSBENCH:
        theirs, ours = (explain(server, engine, query) for engine in ENGINES)
        if not alike(ours, theirs):
            different += 1
            print(f"{when}: {query}\n  InnoDB:  {theirs}\n  TidesDB: {ours}")
    total = len(TPCC) + len(SYSBENCH)
    print(f"{when}: {total - different} of {total} plans are InnoDB's", flush=True)
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100000, help="of sysbench's table")
    options = parser.parse_args()
    with lab_server.LabServer(lab_server.environment(), ["--default-storage-engine=InnoDB"]) as server:
        load(server, options.rows)
        different = compare(server, "after the load")
        server.stop()
        server.start()
        different += compare(server, "after a restart")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
