// Readers for members of the .nnapi.json form.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/text/text.h"
#include "formats/nnapi/file/native.h"

namespace nn::nnapi {

using JsonObject = nlohmann::json;

// A member that is present and not null; else nullptr.
inline const JsonObject* Find(const JsonObject& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

template <typename T>
Result<T> Integer(const JsonObject& value, std::string_view what) {
  if (value.is_number_unsigned()) {
    const auto v = value.get<uint64_t>();
    if (v <= static_cast<uint64_t>(std::numeric_limits<T>::max())) return static_cast<T>(v);
  } else if (value.is_number_integer()) {
    const auto v = value.get<int64_t>();
    if (v >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
        (v < 0 || static_cast<uint64_t>(v) <= static_cast<uint64_t>(std::numeric_limits<T>::max())))
      return static_cast<T>(v);
  }
  return ParseError("{} is {}; expected an integer of {} bits", what,
                    Escape(value.dump().substr(0, 40)), sizeof(T) * 8);
}

template <typename T>
Status ReadInteger(const JsonObject& object, const char* key, T& out) {
  const JsonObject* value = Find(object, key);
  if (value == nullptr) return {};
  NN_ASSIGN(out, Integer<T>(*value, key));
  return {};
}

template <typename T>
Status ReadIntegers(const JsonObject& object, const char* key, std::vector<T>& out) {
  const JsonObject* list = Find(object, key);
  if (list == nullptr) return {};
  if (!list->is_array()) return ParseError("{} is not a list", key);
  for (const JsonObject& v : *list) {
    NN_ASSIGN(const T value, Integer<T>(v, key));
    out.push_back(value);
  }
  return {};
}

inline Status ReadDataLocation(const JsonObject& in, DataLocation& out) {
  if (!in.is_object()) return ParseError("location is not a JSON object");
  NN_RETURN_IF_ERROR(ReadInteger(in, "poolIndex", out.pool_index));
  NN_RETURN_IF_ERROR(ReadInteger(in, "offset", out.offset));
  return ReadInteger(in, "length", out.length);
}

inline Json DataLocationJson(const DataLocation& l) {
  return {{"poolIndex", l.pool_index}, {"offset", l.offset}, {"length", l.length}};
}

// {"inputs": [{"hasNoValue", "location", "dimensions"}], "outputs": [...], "poolSizes": [...]}
Result<Request> ReadRequest(const JsonObject& in);
Json RequestJson(const Request& request);

}  // namespace nn::nnapi
