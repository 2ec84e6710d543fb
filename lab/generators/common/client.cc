#include "lab/generators/common/client.h"

#include <mysql.h>

#include <charconv>

namespace tidesdb::lab {
namespace {

struct ResultFreer {
  void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
};
using ResultPtr = std::unique_ptr<MYSQL_RES, ResultFreer>;

void ReadRow(MYSQL_RES* result, MYSQL_ROW fields, Row* row) {
  const unsigned count = mysql_num_fields(result);
  const unsigned long* lengths = mysql_fetch_lengths(result);
  row->clear();
  row->reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    if (fields[i] == nullptr) {
      row->emplace_back(std::nullopt);
    } else {
      row->emplace_back(std::string(fields[i], lengths[i]));
    }
  }
}

}  // namespace

void Client::Closer::operator()(st_mysql* handle) const { mysql_close(handle); }

Outcome Client::Connect(const ConnectOptions& options) {
  handle_.reset(mysql_init(nullptr));
  if (!handle_) return Outcome::Fail("out of memory for a connection");
  const bool by_socket = !options.socket.empty();
  const unsigned protocol = by_socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
  mysql_optionsv(handle_.get(), MYSQL_OPT_PROTOCOL, &protocol);
  // Newer client libraries reject a server's self-signed certificate; a benchmark's server has no
  // other.
  const my_bool verify = 0;
  mysql_optionsv(handle_.get(), MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
  mysql_optionsv(handle_.get(), MYSQL_SET_CHARSET_NAME, "latin1");
  if (options.read_timeout_s != 0) {
    mysql_optionsv(handle_.get(), MYSQL_OPT_READ_TIMEOUT, &options.read_timeout_s);
  }
  const char* database = options.database.empty() ? nullptr : options.database.c_str();
  if (mysql_real_connect(handle_.get(), by_socket ? nullptr : options.host.c_str(),
                         options.user.c_str(),
                         options.password.empty() ? nullptr : options.password.c_str(), database,
                         by_socket ? 0 : options.port, by_socket ? options.socket.c_str() : nullptr,
                         CLIENT_MULTI_RESULTS) == nullptr) {
    Outcome error = LastError();
    handle_.reset();
    return error;
  }
  return {};
}

Outcome Client::LastError() const {
  const unsigned code = mysql_errno(handle_.get());
  // The library has been seen to fail without an error number if a server dies at the wrong moment.
  if (code == 0) return {2013, "HY000", "the connection failed without an error number"};
  return {code, mysql_sqlstate(handle_.get()), mysql_error(handle_.get())};
}

Outcome Client::Send(std::string_view sql) {
  if (!handle_) return {2006, "HY000", "not connected"};
  if (mysql_real_query(handle_.get(), sql.data(), sql.size()) != 0) return LastError();
  return {};
}

Outcome Client::Drain() {
  for (;;) {
    const int next = mysql_next_result(handle_.get());
    if (next < 0) return {};
    if (next > 0) return LastError();
    ResultPtr dropped(mysql_store_result(handle_.get()));
    if (!dropped && mysql_field_count(handle_.get()) != 0) return LastError();
  }
}

Outcome Client::Exec(std::string_view sql) {
  Changes ignored;
  return Exec(sql, &ignored);
}

Outcome Client::Exec(std::string_view sql, Changes* changes) {
  LAB_TRY(Send(sql));
  ResultPtr dropped(mysql_store_result(handle_.get()));
  if (!dropped && mysql_field_count(handle_.get()) != 0) return LastError();
  changes->rows = static_cast<int64_t>(mysql_affected_rows(handle_.get()));
  changes->insert_id = static_cast<int64_t>(mysql_insert_id(handle_.get()));
  return Drain();
}

Outcome Client::Query(std::string_view sql, Rows* rows) {
  rows->clear();
  return Stream(sql, [rows](const Row& row) { rows->push_back(row); });
}

Outcome Client::Stream(std::string_view sql, const std::function<void(const Row&)>& on_row) {
  LAB_TRY(Send(sql));
  {
    ResultPtr result(mysql_use_result(handle_.get()));
    if (!result) {
      if (mysql_field_count(handle_.get()) != 0) return LastError();
      return Drain();
    }
    Row row;
    while (MYSQL_ROW fields = mysql_fetch_row(result.get())) {
      ReadRow(result.get(), fields, &row);
      on_row(row);
    }
    if (mysql_errno(handle_.get()) != 0) return LastError();
  }
  return Drain();
}

Outcome Client::QueryText(std::string_view sql, std::string* value) {
  Rows rows;
  LAB_TRY(Query(sql, &rows));
  if (rows.size() != 1 || rows[0].empty() || !rows[0][0]) {
    return Outcome::Fail("no value from: " + std::string(sql));
  }
  *value = *rows[0][0];
  return {};
}

Outcome Client::QueryInt(std::string_view sql, int64_t* value) {
  std::string text;
  LAB_TRY(QueryText(sql, &text));
  *value = ToInt(text);
  return {};
}

int64_t ToInt(const std::optional<std::string>& field) {
  if (!field) return 0;
  int64_t value = 0;
  std::from_chars(field->data(), field->data() + field->size(), value);
  return value;
}

std::string QuoteName(std::string_view name) {
  std::string quoted = "`";
  for (const char c : name) {
    if (c == '`') quoted += '`';
    quoted += c;
  }
  return quoted + "`";
}

std::string DateText(std::time_t when) {
  std::tm parts{};
  localtime_r(&when, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string QuoteText(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

Outcome InitClientLibrary() {
  if (mysql_library_init(0, nullptr, nullptr) != 0) {
    return Outcome::Fail("the MariaDB client library cannot be initialized");
  }
  return {};
}

}  // namespace tidesdb::lab
