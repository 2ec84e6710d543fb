// Writes JSON text: objects, arrays and values, indented, in the order of the calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidesdb::lab {

// Bytes over 127 are taken for Latin-1, the character set of our connections, and written as
// \u00XX, so the text is valid whatever a server's message holds.
// Invariant: Begin and End calls nest; Key is called exactly before each member of an object.
class JsonWriter {
 public:
  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  // A compact array stays on one line.
  JsonWriter& BeginArray(bool compact = false);
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);

  JsonWriter& Text(std::string_view value);
  JsonWriter& Int(int64_t value);
  JsonWriter& Unsigned(uint64_t value);
  JsonWriter& Real(double value, int decimals = 3);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();

  const std::string& text() const { return text_; }

 private:
  struct Level {
    bool compact;
    bool empty;
  };
  void BeforeValue();
  void NewLine();
  void Quote(std::string_view value);
  void End(char bracket);

  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace tidesdb::lab
