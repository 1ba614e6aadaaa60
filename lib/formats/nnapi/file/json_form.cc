// The .nnapi.json form: the HAL's structs with their field names; enumerators by name (or number if
// unnamed); a constant's elements as a flat list of numbers in "value".
//
// "location", "operandValuesSize" and "poolSizes" are optional: without them, constants are packed
// into operandValues in operand order, each at a multiple of 4 bytes. "poolFiles" names the
// external files of pools, whose operands have no "value". "operandValues" and "poolValues" are
// pools in Base64, for bytes that no operand covers. "request" is a run to validate with the model
// (json_request.cc). Unknown members are ignored: test vectors have examples and notes in the same
// object.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "base/json/base64.h"
#include "base/json/json.h"
#include "base/json/json_parse.h"
#include "base/text/text.h"
#include "formats/nnapi/file/json_fields.h"
#include "formats/nnapi/file/native.h"
#include "ir/types/type.h"

namespace nn::nnapi {
namespace {

constexpr uint32_t kPackedAlignment = 4;

// The maximum of bytes in a pool that no value of the file covers.
constexpr uint64_t kPoolSlack = uint64_t{1} << 16;

// Rejects text whose tree would be too deep or too large, before it is built. Every element except
// the first of each list follows a comma.
Status CheckSize(std::string_view text, const ReadLimits& limits) {
  int depth = 0;
  uint64_t items = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') {
      if (++depth > limits.max_depth)
        return LimitError("JSON values are nested deeper than {} (max-depth)", limits.max_depth);
      ++items;
    }
    if (c == '}' || c == ']') --depth;
    if (c == ',') ++items;
    // Values of weights are items too; they count for a sixteenth.
    if (items / 16 > limits.max_items) return LimitError("too many JSON values (max-items)");
  }
  return {};
}

// ---- Reading ------------------------------------------------------------------------------------

template <typename E>
Status ReadCode(const JsonObject& object, const char* key, E& out) {
  const JsonObject* value = Find(object, key);
  if (value == nullptr) return ParseError("{} is missing", key);
  if (value->is_string()) {
    const auto code = Parse<E>(value->get_ref<const std::string&>());
    if (!code)
      return ParseError("{} is {}, which is unknown", key,
                        Quote(value->get_ref<const std::string&>()));
    out = *code;
    return {};
  }
  NN_ASSIGN(const int32_t number, Integer<int32_t>(*value, key));
  out = static_cast<E>(number);
  return {};
}

// Numbers, and "nan", "inf" and "-inf", which JSON numbers cannot represent.
Result<float> Real(const JsonObject& value, std::string_view what) {
  if (value.is_number()) return static_cast<float>(value.get<double>());
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<float>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<float>::infinity();
    if (text == "-inf") return -std::numeric_limits<float>::infinity();
  }
  return ParseError("{} is {}; expected a number", what, Escape(value.dump().substr(0, 40)));
}

Status ReadName(const JsonObject& object, std::string& out) {
  const JsonObject* value = Find(object, "name");
  if (value == nullptr) return {};
  if (!value->is_string()) return ParseError("name is not a string");
  out = value->get<std::string>();
  return {};
}

template <typename T>
void Append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// The bytes of a constant's elements.
Result<std::string> ReadValue(const JsonObject& list, OperandType type) {
  if (!list.is_array()) return ParseError("value is not a list");
  std::string bytes;
  bytes.reserve(list.size() * ElementSize(type));
  for (const JsonObject& v : list) {
    switch (type) {
      case OperandType::kFloat32:
      case OperandType::kTensorFloat32: {
        NN_ASSIGN(const float value, Real(v, "value"));
        Append(bytes, value);
        break;
      }
      case OperandType::kInt32:
      case OperandType::kTensorInt32: {
        NN_ASSIGN(const int32_t value, Integer<int32_t>(v, "value"));
        Append(bytes, value);
        break;
      }
      case OperandType::kUint32: {
        NN_ASSIGN(const uint32_t value, Integer<uint32_t>(v, "value"));
        Append(bytes, value);
        break;
      }
      default: {  // bytes; other numbers for unknown codes
        if (!NameOf(type) && !Integer<uint8_t>(v, "value")) {
          NN_ASSIGN(const float number, Real(v, "value"));
          Append(bytes, number);
          break;
        }
        NN_ASSIGN(const uint8_t value, Integer<uint8_t>(v, "value"));
        Append(bytes, value);
      }
    }
  }
  return bytes;
}

class JsonReader {
 public:
  explicit JsonReader(size_t text_size) : max_pool_bytes_(2 * uint64_t{text_size} + kPoolSlack) {}

  Result<std::unique_ptr<Model>> Run(const JsonObject& in) {
    if (!in.is_object()) return ParseError("not a JSON object");
    auto model = std::make_unique<Model>();
    NN_RETURN_IF_ERROR(ReadInteger(in, "version", model->version));
    NN_RETURN_IF_ERROR(ReadName(in, model->name));
    NN_RETURN_IF_ERROR(ReadIntegers(in, "inputIndexes", model->input_indexes));
    NN_RETURN_IF_ERROR(ReadIntegers(in, "outputIndexes", model->output_indexes));
    NN_RETURN_IF_ERROR(ReadPoolSizes(in));
    NN_RETURN_IF_ERROR(ForEach(in, "operands", [&](const JsonObject& o) {
      return ReadOperand(o, model->operands.emplace_back());
    }));
    NN_RETURN_IF_ERROR(ForEach(in, "operations", [&](const JsonObject& o) {
      return ReadOperation(o, model->operations.emplace_back());
    }));
    NN_RETURN_IF_ERROR(ReadWhole(in, "operandValues", 0, values_));
    for (size_t i = 0; i < pools_.size(); ++i)
      NN_RETURN_IF_ERROR(ReadWhole(in, "poolValues", i, pools_[i]));
    model->operand_values = Blob::CopyOf(std::span<const char>(values_));
    for (const std::string& p : pools_)
      model->pools.push_back({Blob::CopyOf(std::span<const char>(p)), {}});
    NN_RETURN_IF_ERROR(ReadPoolFiles(in, model->pools));
    if (const JsonObject* request = Find(in, "request")) {
      NN_ASSIGN(model->request, ReadRequest(*request));
    }
    return model;
  }

 private:
  template <typename Fn>
  static Status ForEach(const JsonObject& in, const char* key, Fn fn) {
    const JsonObject* list = Find(in, key);
    if (list == nullptr || !list->is_array()) return ParseError("the list {} is missing", key);
    size_t index = 0;
    for (const JsonObject& entry : *list) {
      const Status status = entry.is_object() ? fn(entry) : Status(ParseError("not a JSON object"));
      if (!status) return tl::unexpected(status.error().In(fmt::format("{}[{}]", key, index)));
      ++index;
    }
    return {};
  }

  Status ReadPoolSizes(const JsonObject& in) {
    uint64_t size = 0;
    NN_RETURN_IF_ERROR(ReadInteger(in, "operandValuesSize", size));
    std::vector<uint64_t> sizes;
    NN_RETURN_IF_ERROR(ReadIntegers(in, "poolSizes", sizes));
    NN_RETURN_IF_ERROR(Resize(values_, size));
    for (const uint64_t s : sizes) NN_RETURN_IF_ERROR(Resize(pools_.emplace_back(), s));
    return {};
  }

  // Entry i of the list is a pool's bytes in Base64, or "" if its operands' values cover them.
  static Status ReadWhole(const JsonObject& in, const char* key, size_t i, std::string& pool) {
    const JsonObject* list = Find(in, key);
    if (list == nullptr) return {};
    if (!list->is_array() || i >= list->size() || !(*list)[i].is_string())
      return ParseError("{} must be a list with one string per pool", key);
    const auto& text = (*list)[i].get_ref<const std::string&>();
    if (text.empty()) return {};
    const auto bytes = FromBase64(text);
    if (!bytes || bytes->size() != pool.size())
      return ParseError("{}[{}] must be Base64 of {} bytes", key, i, pool.size());
    std::memcpy(pool.data(), bytes->data(), pool.size());
    return {};
  }

  // Entry i is the file of pool i, "" if it has none.
  static Status ReadPoolFiles(const JsonObject& in, std::vector<Pool>& pools) {
    const JsonObject* list = Find(in, "poolFiles");
    if (list == nullptr) return {};
    if (!list->is_array() || list->size() != pools.size())
      return ParseError("poolFiles must be a list as long as poolSizes");
    for (size_t i = 0; i < pools.size(); ++i) {
      if (!(*list)[i].is_string()) return ParseError("poolFiles[{}] is not a string", i);
      pools[i].file = (*list)[i].get<std::string>();
    }
    return {};
  }

  Status Resize(std::string& pool, uint64_t size) {
    if (size > max_pool_bytes_)
      return LimitError("a pool has {} bytes, most of which no value of the file covers", size);
    max_pool_bytes_ -= size;
    pool.resize(size, '\0');
    return {};
  }

  Status ReadOperand(const JsonObject& in, Operand& out) {
    NN_RETURN_IF_ERROR(ReadCode(in, "type", out.type));
    NN_RETURN_IF_ERROR(ReadCode(in, "lifetime", out.lifetime));
    NN_RETURN_IF_ERROR(ReadIntegers(in, "dimensions", out.dimensions));
    NN_RETURN_IF_ERROR(ReadInteger(in, "numberOfConsumers", out.number_of_consumers));
    NN_RETURN_IF_ERROR(ReadInteger(in, "zeroPoint", out.zero_point));
    NN_RETURN_IF_ERROR(ReadName(in, out.name));
    if (const JsonObject* scale = Find(in, "scale")) {
      NN_ASSIGN(out.scale, Real(*scale, "scale"));
    }
    std::string value;
    if (const JsonObject* list = Find(in, "value")) {
      NN_ASSIGN(value, ReadValue(*list, out.type));
    }
    if (const JsonObject* location = Find(in, "location"))
      return ReadLocation(*location, value, out);
    if (out.lifetime == LifeTime::kConstantCopy) return Pack(value, out);
    if (out.lifetime == LifeTime::kConstantReference)
      return ParseError("a CONSTANT_REFERENCE operand has no location");
    return {};
  }

  // A value whose location is outside its pool is dropped; the location is kept.
  Status ReadLocation(const JsonObject& in, const std::string& value, Operand& out) {
    NN_RETURN_IF_ERROR(ReadDataLocation(in, out.location));
    std::string* pool = nullptr;
    if (out.lifetime != LifeTime::kConstantReference)
      pool = &values_;
    else if (out.location.pool_index < pools_.size())
      pool = &pools_[out.location.pool_index];
    if (pool != nullptr && InRange(out.location.offset, value.size(), pool->size()))
      std::memcpy(pool->data() + out.location.offset, value.data(), value.size());
    return {};
  }

  Status Pack(const std::string& value, Operand& out) {
    values_.resize(RoundUp(values_.size(), kPackedAlignment), '\0');
    if (values_.size() + value.size() > std::numeric_limits<uint32_t>::max())
      return LimitError("the model has more than 4 GiB of constants");
    out.location.offset = static_cast<uint32_t>(values_.size());
    out.location.length = static_cast<uint32_t>(value.size());
    values_ += value;
    return {};
  }

  static Status ReadOperation(const JsonObject& in, Operation& out) {
    NN_RETURN_IF_ERROR(ReadCode(in, "type", out.type));
    NN_RETURN_IF_ERROR(ReadIntegers(in, "inputs", out.inputs));
    return ReadIntegers(in, "outputs", out.outputs);
  }

  uint64_t max_pool_bytes_;
  std::string values_;
  std::vector<std::string> pools_;
};

// ---- Writing ------------------------------------------------------------------------------------

template <typename E>
Json CodeJson(E code) {
  const auto name = NameOf(code);
  return name ? Json(*name) : Json(static_cast<int32_t>(code));
}

std::string RealText(float v) {
  if (std::isnan(v)) return "\"nan\"";
  if (std::isinf(v)) return v > 0 ? "\"inf\"" : "\"-inf\"";
  return FloatText(v);
}

template <typename T, typename Fn>
std::string ListJson(const Blob& bytes, Fn text) {
  std::string out = "[";
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T v;
    std::memcpy(&v, bytes.data() + i, sizeof(T));
    if (i != 0) out += ',';
    out += text(v);
  }
  return out + "]";
}

std::string ValueJson(const Blob& bytes, OperandType type) {
  const auto integer = [](auto v) { return std::to_string(v); };
  switch (type) {
    case OperandType::kFloat32:
    case OperandType::kTensorFloat32:
      return ListJson<float>(bytes, RealText);
    case OperandType::kInt32:
    case OperandType::kTensorInt32:
      return ListJson<int32_t>(bytes, integer);
    case OperandType::kUint32:
      return ListJson<uint32_t>(bytes, integer);
    default:
      return ListJson<uint8_t>(bytes, integer);
  }
}

// Whether an operand's bytes are in an external file.
bool IsOutside(const Model& model, const Operand& o) {
  return o.lifetime == LifeTime::kConstantReference &&
         !model.pools[o.location.pool_index].file.empty();
}

// One line per operand. The elements of constants, the bulk of the text, are written without a
// tree.
std::string OperandText(const Model& model, const Operand& o) {
  const Json json = {{"name", o.name},
                     {"type", CodeJson(o.type)},
                     {"dimensions", o.dimensions},
                     {"numberOfConsumers", o.number_of_consumers},
                     {"zeroPoint", o.zero_point},
                     {"lifetime", CodeJson(o.lifetime)},
                     {"location", DataLocationJson(o.location)}};
  std::string text = json.dump();
  text.pop_back();
  text += ",\"scale\":" + RealText(o.scale);
  if (const auto bytes = BytesOf(model, o); bytes && !IsOutside(model, o))
    text += ",\"value\":" + ValueJson(*bytes, o.type);
  return text + "}";
}

std::string OperationText(const Operation& o) {
  return Json{{"type", CodeJson(o.type)}, {"inputs", o.inputs}, {"outputs", o.outputs}}.dump();
}

// Shared bytes are written for each operand.
Status CheckSharing(const Model& model) {
  // Limit of NNAPI: data of the operands in .nnapi.json, as a multiple of the data in the model,
  // plus 1 MiB.
  constexpr uint64_t kMaxGrowth = 16, kSlack = uint64_t{1} << 20;
  uint64_t left = kMaxGrowth * model.operand_values.size() + kSlack;
  for (const Pool& p : model.pools) left += kMaxGrowth * p.bytes.size();
  for (const Operand& o : model.operands) {
    const auto bytes = BytesOf(model, o);
    if (bytes && bytes->size() > left)
      return LimitError("operands share data too often; the text would be too large");
    if (bytes) left -= bytes->size();
  }
  return {};
}

// Whether the text of a float loses bits: NaNs with non-default bits.
bool LosesBits(float value) {
  constexpr auto kNan = std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
  return std::isnan(value) && std::bit_cast<uint32_t>(value) != kNan;
}

// Copies the bytes of an operand that its value in the text covers: whole elements.
void CopyTold(OperandType type, std::span<const std::byte> from, std::byte* to) {
  if (type != OperandType::kFloat32 && type != OperandType::kTensorFloat32) {
    const bool words = type == OperandType::kInt32 || type == OperandType::kTensorInt32 ||
                       type == OperandType::kUint32;
    const size_t unit = words ? sizeof(int32_t) : 1;
    std::copy_n(from.begin(), from.size() / unit * unit, to);
    return;
  }
  for (size_t at = 0; at + sizeof(float) <= from.size(); at += sizeof(float)) {
    float value;
    std::memcpy(&value, from.data() + at, sizeof(value));
    if (!LosesBits(value)) std::memcpy(to + at, &value, sizeof(value));
  }
}

// The memory in Base64 if it has bytes that no operand's value covers; else "".
std::string WholeMemory(const Model& model, const Memory& memory) {
  std::vector<std::byte> told(memory.size());
  for (const Operand& o : model.operands)
    if (MemoryOf(model, o) == &memory)
      if (const auto bytes = BytesOf(model, o); bytes && !bytes->empty())
        CopyTold(o.type, bytes->bytes(), told.data() + o.location.offset);
  const Blob all = memory.Joined();
  return std::ranges::equal(told, all.bytes()) ? std::string() : Base64(all.bytes());
}

// A list of WholeMemory() as a member; "" if all are empty.
std::string WholeMemories(const char* key, const std::vector<std::string>& texts) {
  if (std::all_of(texts.begin(), texts.end(), [](const std::string& t) { return t.empty(); }))
    return {};
  return fmt::format(",\n\"{}\":{}", key, Json(texts).dump());
}

template <typename T, typename Fn>
std::string Lines(const std::vector<T>& list, Fn text) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += (i == 0 ? "\n" : ",\n") + text(list[i]);
  return out + "\n]";
}

}  // namespace

Result<std::unique_ptr<Model>> ReadJson(const Blob& file, const ReadLimits& limits) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  NN_RETURN_IF_ERROR(CheckSize(text, limits));
  try {
    return JsonReader(text.size()).Run(JsonObject::parse(text));
  } catch (const JsonObject::exception& e) {
    return ParseError("not JSON: {}", JsonErrorText(e));
  } catch (const std::bad_alloc&) {
    return LimitError("not enough memory for {} of JSON", HumanBytes(file.size()));
  }
}

namespace {

// JSON is UTF-8; other bytes would be lost.
Status CheckTexts(const Model& model) {
  const auto check = [](const std::string& text, std::string_view what) -> Status {
    if (IsUtf8(text)) return {};
    return UnsupportedError("{} {} is not UTF-8, which the JSON form needs; write a .nnapi file",
                            what, Quote(text));
  };
  NN_RETURN_IF_ERROR(check(model.name, "the name of the model"));
  for (const Operand& o : model.operands)
    NN_RETURN_IF_ERROR(check(o.name, "the name of an operand"));
  for (const Pool& p : model.pools) NN_RETURN_IF_ERROR(check(p.file, "the file of a pool"));
  return {};
}

}  // namespace

Result<Blob> WriteJson(const Model& model) {
  NN_RETURN_IF_ERROR(CheckSharing(model));
  NN_RETURN_IF_ERROR(CheckTexts(model));
  std::vector<size_t> pools;
  std::vector<std::string> files;
  for (const Pool& p : model.pools) {
    pools.push_back(p.file.empty() ? p.bytes.size() : 0);
    files.push_back(p.file);
  }
  const bool outside = std::any_of(files.begin(), files.end(),
                                   [](const std::string& file) { return !file.empty(); });
  std::string out = "{\n\"version\":" + std::to_string(model.version);
  out += ",\n\"operands\":" +
         Lines(model.operands, [&](const Operand& o) { return OperandText(model, o); });
  out += ",\n\"operations\":" + Lines(model.operations, OperationText);
  out += ",\n\"inputIndexes\":" + Json(model.input_indexes).dump();
  out += ",\n\"outputIndexes\":" + Json(model.output_indexes).dump();
  out += ",\n\"operandValuesSize\":" + std::to_string(model.operand_values.size());
  out += ",\n\"poolSizes\":" + Json(pools).dump();
  if (outside) out += ",\n\"poolFiles\":" + Json(files).dump();
  out += WholeMemories("operandValues", {WholeMemory(model, model.operand_values)});
  std::vector<std::string> inside;
  for (const Pool& p : model.pools)
    inside.push_back(p.file.empty() ? WholeMemory(model, p.bytes) : std::string());
  out += WholeMemories("poolValues", inside);
  if (model.request) out += ",\n\"request\":" + RequestJson(*model.request).dump();
  out += ",\n\"name\":" + Json(model.name).dump();
  out += "\n}\n";
  return Blob::CopyOf(std::span<const char>(out));
}

}  // namespace nn::nnapi
