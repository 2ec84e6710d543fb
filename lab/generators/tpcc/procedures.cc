// The five transactions of TPC-C clauses 2.4 to 2.8 as stored procedures. They read and write what
// HammerDB's TPROC-C does, in the same order, so that NOPM and TPM mean the same: items and
// supplying warehouses are drawn in the server, stock keeps only s_quantity, a payment is added to
// the balance, customers keep no counters. (TPC-C's conditions 10 and 12 do not hold under these
// rules.) Three things are stricter than HammerDB's. An error other than the expected missing item
// is never swallowed. A delivery skips a district without a new order, as in clause 2.7.4.2. A
// customer found by name is the one of clause 2.5.2.2.
#include "lab/generators/tpcc/schema.h"

namespace tidesdb::lab::tpcc {
namespace {

// Clause 2.4. p_o_id is 0 if the order was rolled back for its unused item (clause 2.4.1.4). Reads
// all ten s_dist columns, although one is used, as HammerDB does.
constexpr std::string_view kNewOrderProcedure = R"(CREATE PROCEDURE NEWORD (
  IN p_w_id INT, IN p_max_w_id INT, IN p_d_id INT, IN p_c_id INT, IN p_ol_cnt INT,
  OUT p_discount DECIMAL(4,4), OUT p_last VARCHAR(16), OUT p_credit VARCHAR(2),
  OUT p_d_tax DECIMAL(4,4), OUT p_w_tax DECIMAL(4,4), OUT p_o_id INT, IN p_date DATETIME)
BEGIN
  DECLARE v_line INT DEFAULT 1;
  DECLARE v_rollback INT;
  DECLARE v_all_local INT DEFAULT 1;
  DECLARE v_supply_w_id, v_i_id, v_quantity INT;
  DECLARE v_price DECIMAL(5,2);
  DECLARE v_name VARCHAR(24);
  DECLARE v_i_data, v_s_data VARCHAR(50);
  DECLARE v_stock DECIMAL(6);
  DECLARE v_amount DECIMAL(6,2);
  DECLARE v_dist, v_dist_01, v_dist_02, v_dist_03, v_dist_04, v_dist_05,
          v_dist_06, v_dist_07, v_dist_08, v_dist_09, v_dist_10 CHAR(24);
  DECLARE EXIT HANDLER FOR NOT FOUND
  BEGIN
    ROLLBACK;
    SET p_o_id = 0;
    IF v_i_id IS NULL OR v_i_id <> 100001 THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'NEWORD: a row that must be there is missing';
    END IF;
  END;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000'
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  SELECT c_discount, c_last, c_credit, w_tax INTO p_discount, p_last, p_credit, p_w_tax
    FROM customer, warehouse
    WHERE w_id = p_w_id AND c_w_id = w_id AND c_d_id = p_d_id AND c_id = p_c_id;
  START TRANSACTION;
  SELECT d_next_o_id, d_tax INTO p_o_id, p_d_tax
    FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id FOR UPDATE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w_id AND d_id = p_d_id;
  SET v_rollback = FLOOR(1 + RAND() * 99);
  WHILE v_line <= p_ol_cnt DO
    IF v_line = p_ol_cnt AND v_rollback = 1 THEN
      SET v_i_id = 100001;
    ELSE
      SET v_i_id = FLOOR(1 + RAND() * 100000);
    END IF;
    SET v_supply_w_id = p_w_id;
    IF FLOOR(1 + RAND() * 100) = 1 THEN
      SET v_all_local = 0;
      WHILE v_supply_w_id = p_w_id AND p_max_w_id <> 1 DO
        SET v_supply_w_id = FLOOR(1 + RAND() * p_max_w_id);
      END WHILE;
    END IF;
    SET v_quantity = FLOOR(1 + RAND() * 10);
    SELECT i_price, i_name, i_data INTO v_price, v_name, v_i_data
      FROM item WHERE i_id = v_i_id;
    SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
           s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10
      INTO v_stock, v_s_data, v_dist_01, v_dist_02, v_dist_03, v_dist_04, v_dist_05,
           v_dist_06, v_dist_07, v_dist_08, v_dist_09, v_dist_10
      FROM stock WHERE s_w_id = v_supply_w_id AND s_i_id = v_i_id;
    IF v_stock >= v_quantity + 10 THEN
      SET v_stock = v_stock - v_quantity;
    ELSE
      SET v_stock = v_stock - v_quantity + 91;
    END IF;
    UPDATE stock SET s_quantity = v_stock WHERE s_w_id = v_supply_w_id AND s_i_id = v_i_id;
    SET v_amount = v_quantity * v_price * (1 + p_w_tax + p_d_tax) * (1 - p_discount);
    CASE p_d_id
      WHEN 1 THEN SET v_dist = v_dist_01;
      WHEN 2 THEN SET v_dist = v_dist_02;
      WHEN 3 THEN SET v_dist = v_dist_03;
      WHEN 4 THEN SET v_dist = v_dist_04;
      WHEN 5 THEN SET v_dist = v_dist_05;
      WHEN 6 THEN SET v_dist = v_dist_06;
      WHEN 7 THEN SET v_dist = v_dist_07;
      WHEN 8 THEN SET v_dist = v_dist_08;
      WHEN 9 THEN SET v_dist = v_dist_09;
      WHEN 10 THEN SET v_dist = v_dist_10;
    END CASE;
    INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id,
                            ol_quantity, ol_amount, ol_dist_info)
      VALUES (p_w_id, p_d_id, p_o_id, v_line, v_i_id, v_supply_w_id, v_quantity, v_amount, v_dist);
    SET v_line = v_line + 1;
  END WHILE;
  INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (p_w_id, p_d_id, p_o_id, p_c_id, p_date, p_ol_cnt, v_all_local);
  INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (p_w_id, p_d_id, p_o_id);
  COMMIT;
END)";

// Clause 2.5. A customer found by name is the one at n/2, rounded up, by first name. As in
// HammerDB, c_data loses twice the length of the text added to its front.
constexpr std::string_view kPaymentProcedure = R"(CREATE PROCEDURE PAYMENT (
  IN p_w_id INT, IN p_d_id INT, IN p_c_w_id INT, IN p_c_d_id INT, INOUT p_c_id INT,
  IN p_by_name INT, IN p_amount DECIMAL(6,2), INOUT p_last VARCHAR(16),
  OUT p_w_street_1 VARCHAR(20), OUT p_w_street_2 VARCHAR(20), OUT p_w_city VARCHAR(20),
  OUT p_w_state CHAR(2), OUT p_w_zip CHAR(9),
  OUT p_d_street_1 VARCHAR(20), OUT p_d_street_2 VARCHAR(20), OUT p_d_city VARCHAR(20),
  OUT p_d_state CHAR(2), OUT p_d_zip CHAR(9),
  OUT p_first VARCHAR(16), OUT p_middle CHAR(2), OUT p_street_1 VARCHAR(20),
  OUT p_street_2 VARCHAR(20), OUT p_city VARCHAR(20), OUT p_state CHAR(2), OUT p_zip CHAR(9),
  OUT p_phone CHAR(16), OUT p_since DATETIME, OUT p_credit CHAR(2),
  OUT p_credit_lim DECIMAL(12,2), OUT p_discount DECIMAL(4,4), OUT p_balance DECIMAL(12,2),
  OUT p_data VARCHAR(500), IN p_date DATETIME)
BEGIN
  DECLARE v_missing INT DEFAULT 0;
  DECLARE v_count INT;
  DECLARE v_fetched INT DEFAULT 0;
  DECLARE v_w_name, v_d_name VARCHAR(10);
  DECLARE v_new_data VARCHAR(500);
  DECLARE c_named CURSOR FOR
    SELECT c_first, c_middle, c_id, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
           c_credit, c_credit_lim, c_discount, c_balance, c_since
      FROM customer
      WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_last
      ORDER BY c_first;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_missing = 1;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000'
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  START TRANSACTION;
  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id;
  SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name
    INTO p_w_street_1, p_w_street_2, p_w_city, p_w_state, p_w_zip, v_w_name
    FROM warehouse WHERE w_id = p_w_id;
  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id;
  SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name
    INTO p_d_street_1, p_d_street_2, p_d_city, p_d_state, p_d_zip, v_d_name
    FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
  IF p_by_name = 1 THEN
    SELECT COUNT(c_id) INTO v_count
      FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_last;
    OPEN c_named;
    WHILE v_fetched < (v_count + 1) DIV 2 DO
      FETCH c_named INTO p_first, p_middle, p_c_id, p_street_1, p_street_2, p_city, p_state, p_zip,
                         p_phone, p_credit, p_credit_lim, p_discount, p_balance, p_since;
      SET v_fetched = v_fetched + 1;
    END WHILE;
    CLOSE c_named;
  ELSE
    SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
           c_credit, c_credit_lim, c_discount, c_balance, c_since
      INTO p_first, p_middle, p_last, p_street_1, p_street_2, p_city, p_state, p_zip, p_phone,
           p_credit, p_credit_lim, p_discount, p_balance, p_since
      FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
  END IF;
  IF v_missing = 1 OR p_first IS NULL THEN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'PAYMENT: a row that must be there is missing';
  END IF;
  SET p_balance = p_balance + p_amount;
  IF p_credit = 'BC' THEN
    SELECT c_data INTO p_data
      FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
    SET v_new_data = CONCAT_WS(' ', p_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id,
                               FORMAT(p_amount, 2), p_date, v_w_name, v_d_name);
    SET p_data = LEFT(CONCAT(v_new_data, p_data), 500 - LENGTH(v_new_data));
    UPDATE customer SET c_balance = p_balance, c_data = p_data
      WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
  ELSE
    UPDATE customer SET c_balance = p_balance
      WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (p_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, p_date, p_amount,
            CONCAT(v_w_name, '    ', v_d_name));
  COMMIT;
END)";

// Clause 2.6. The lines are concatenated but not returned, as in HammerDB.
constexpr std::string_view kOrderStatusProcedure = R"(CREATE PROCEDURE OSTAT (
  IN p_w_id INT, IN p_d_id INT, INOUT p_c_id INT, IN p_by_name INT, INOUT p_last VARCHAR(16),
  OUT p_first VARCHAR(16), OUT p_middle CHAR(2), OUT p_balance DECIMAL(12,2),
  OUT p_o_id INT, OUT p_entry_d DATETIME, OUT p_carrier_id INT)
BEGIN
  DECLARE v_done INT DEFAULT 0;
  DECLARE v_count INT;
  DECLARE v_fetched INT DEFAULT 0;
  DECLARE v_i_id, v_supply_w_id, v_quantity, v_amount INT;
  DECLARE v_delivery_d DATETIME;
  DECLARE v_items, v_supplies, v_quantities, v_amounts VARCHAR(200) DEFAULT '';
  DECLARE v_deliveries VARCHAR(420) DEFAULT '';
  DECLARE c_named CURSOR FOR
    SELECT c_balance, c_first, c_middle, c_id
      FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_last
      ORDER BY c_first;
  DECLARE c_lines CURSOR FOR
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
      FROM order_line WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = p_o_id;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_done = 1;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000'
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  START TRANSACTION;
  IF p_by_name = 1 THEN
    SELECT COUNT(c_id) INTO v_count
      FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_last;
    OPEN c_named;
    WHILE v_fetched < (v_count + 1) DIV 2 DO
      FETCH c_named INTO p_balance, p_first, p_middle, p_c_id;
      SET v_fetched = v_fetched + 1;
    END WHILE;
    CLOSE c_named;
  ELSE
    SELECT c_balance, c_first, c_middle, c_last INTO p_balance, p_first, p_middle, p_last
      FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;
  END IF;
  SELECT o_id, o_carrier_id, o_entry_d INTO p_o_id, p_carrier_id, p_entry_d
    FROM orders WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = p_c_id
    ORDER BY o_id DESC LIMIT 1;
  IF v_done = 1 OR p_first IS NULL THEN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'OSTAT: a row that must be there is missing';
  END IF;
  OPEN c_lines;
  REPEAT
    FETCH c_lines INTO v_i_id, v_supply_w_id, v_quantity, v_amount, v_delivery_d;
    IF v_done = 0 THEN
      SET v_items = CONCAT(v_items, v_i_id, ',');
      SET v_supplies = CONCAT(v_supplies, v_supply_w_id, ',');
      SET v_quantities = CONCAT(v_quantities, v_quantity, ',');
      SET v_amounts = CONCAT(v_amounts, v_amount, ',');
      SET v_deliveries = CONCAT(v_deliveries, IFNULL(v_delivery_d, ''), ',');
    END IF;
  UNTIL v_done = 1 END REPEAT;
  CLOSE c_lines;
  COMMIT;
END)";

// Clause 2.7. p_delivered lists the delivered orders: "district:order,".
constexpr std::string_view kDeliveryProcedure = R"(CREATE PROCEDURE DELIVERY (
  IN p_w_id INT, IN p_carrier_id INT, IN p_date DATETIME, OUT p_delivered VARCHAR(200))
BEGIN
  DECLARE v_missing INT DEFAULT 0;
  DECLARE v_d_id INT DEFAULT 1;
  DECLARE v_o_id, v_c_id, v_total INT;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_missing = 1;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000'
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  SET p_delivered = '';
  START TRANSACTION;
  WHILE v_d_id <= 10 DO
    SET v_missing = 0;
    SELECT no_o_id INTO v_o_id
      FROM new_order WHERE no_w_id = p_w_id AND no_d_id = v_d_id ORDER BY no_o_id LIMIT 1;
    IF v_missing = 0 THEN
      DELETE FROM new_order WHERE no_w_id = p_w_id AND no_d_id = v_d_id AND no_o_id = v_o_id;
      SELECT o_c_id INTO v_c_id
        FROM orders WHERE o_w_id = p_w_id AND o_d_id = v_d_id AND o_id = v_o_id;
      IF v_missing = 1 THEN
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'DELIVERY: a row that must be there is missing';
      END IF;
      UPDATE orders SET o_carrier_id = p_carrier_id
        WHERE o_w_id = p_w_id AND o_d_id = v_d_id AND o_id = v_o_id;
      UPDATE order_line SET ol_delivery_d = p_date
        WHERE ol_w_id = p_w_id AND ol_d_id = v_d_id AND ol_o_id = v_o_id;
      SELECT SUM(ol_amount) INTO v_total
        FROM order_line WHERE ol_w_id = p_w_id AND ol_d_id = v_d_id AND ol_o_id = v_o_id;
      UPDATE customer SET c_balance = c_balance + v_total
        WHERE c_w_id = p_w_id AND c_d_id = v_d_id AND c_id = v_c_id;
      SET p_delivered = CONCAT(p_delivered, v_d_id, ':', v_o_id, ',');
    END IF;
    SET v_d_id = v_d_id + 1;
  END WHILE;
  COMMIT;
END)";

// Clause 2.8: items of the district's last 20 orders whose stock is below the threshold.
constexpr std::string_view kStockLevelProcedure = R"(CREATE PROCEDURE SLEV (
  IN p_w_id INT, IN p_d_id INT, IN p_threshold INT, OUT p_count INT)
BEGIN
  DECLARE v_next_o_id INT;
  DECLARE EXIT HANDLER FOR NOT FOUND
  BEGIN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'SLEV: a row that must be there is missing';
  END;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000'
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  START TRANSACTION;
  SELECT d_next_o_id INTO v_next_o_id
    FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
  SELECT COUNT(DISTINCT s_i_id) INTO p_count
    FROM order_line, stock
    WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id
      AND ol_o_id < v_next_o_id AND ol_o_id >= v_next_o_id - 20
      AND s_w_id = p_w_id AND s_i_id = ol_i_id AND s_quantity < p_threshold;
  COMMIT;
END)";

}  // namespace

std::vector<std::string> CreateProcedureStatements() {
  return {std::string(kNewOrderProcedure), std::string(kPaymentProcedure),
          std::string(kOrderStatusProcedure), std::string(kDeliveryProcedure),
          std::string(kStockLevelProcedure)};
}

}  // namespace tidesdb::lab::tpcc
