#include "lab/generators/common/json.h"

#include <cmath>
#include <cstdio>

namespace tidesdb::lab {

void JsonWriter::NewLine() {
  text_ += '\n';
  text_.append(levels_.size(), ' ');
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (!level.empty) text_ += level.compact ? ", " : ",";
  level.empty = false;
  if (!level.compact) NewLine();
}

JsonWriter& JsonWriter::BeginObject() {
  BeforeValue();
  text_ += '{';
  const bool compact = !levels_.empty() && levels_.back().compact;
  levels_.push_back({compact, true});
  return *this;
}

JsonWriter& JsonWriter::BeginArray(bool compact) {
  BeforeValue();
  text_ += '[';
  levels_.push_back({compact || (!levels_.empty() && levels_.back().compact), true});
  return *this;
}

void JsonWriter::End(char bracket) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty && !level.compact) NewLine();
  text_ += bracket;
  if (levels_.empty()) text_ += '\n';
}

JsonWriter& JsonWriter::EndObject() {
  End('}');
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  End(']');
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  BeforeValue();
  Quote(key);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

void JsonWriter::Quote(std::string_view value) {
  text_ += '"';
  for (const char c : value) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      text_ += escaped;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

JsonWriter& JsonWriter::Text(std::string_view value) {
  BeforeValue();
  Quote(value);
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  BeforeValue();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::Unsigned(uint64_t value) {
  BeforeValue();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::Real(double value, int decimals) {
  if (!std::isfinite(value)) return Null();
  BeforeValue();
  char number[64];
  std::snprintf(number, sizeof number, "%.*f", decimals, value);
  text_ += number;
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  BeforeValue();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  BeforeValue();
  text_ += "null";
  return *this;
}

}  // namespace tidesdb::lab
