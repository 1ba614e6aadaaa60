#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

#include "base/half.h"
#include "base/text/text.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/describe/summary.h"
#include "ir/types/type.h"

namespace nn::coreml {
namespace {

// Constants of up to this many elements are shown inline.
constexpr size_t kShown = 16;
constexpr size_t kShownText = 200;  // bytes

// ---- Types and values ---------------------------------------------------------------------------

std::string DimensionText(const mil::Dimension& d) {
  if (d.has_constant()) return std::to_string(d.constant().size());
  return d.unknown().variadic() ? "..." : "?";
}

std::string TensorText(const mil::TensorType& type) {
  std::string out(TypeName(type.datatype()));
  if (type.rank() < 0) return out + "[*]";
  if (type.dimensions().empty()) return out;
  std::vector<std::string> dims;
  for (const mil::Dimension& d : type.dimensions()) dims.push_back(DimensionText(d));
  return fmt::format("{}[{}]", out, fmt::join(dims, ", "));
}

std::string TypeText(const mil::ValueType& type) {
  switch (type.type_case()) {
    case mil::ValueType::kTensorType:
      return TensorText(type.tensortype());
    case mil::ValueType::kListType:
      return fmt::format("List({}, {})", TypeText(type.listtype().type()),
                         DimensionText(type.listtype().length()));
    case mil::ValueType::kTupleType: {
      std::vector<std::string> parts;
      for (const mil::ValueType& t : type.tupletype().types()) parts.push_back(TypeText(t));
      return fmt::format("Tuple({})", fmt::join(parts, ", "));
    }
    case mil::ValueType::kDictionaryType:
      return fmt::format("Dictionary({} -> {})", TypeText(type.dictionarytype().keytype()),
                         TypeText(type.dictionarytype().valuetype()));
    case mil::ValueType::kStateType:
      return fmt::format("State({})", TypeText(type.statetype().wrappedtype()));
    default:
      return "?";
  }
}

std::string TypesText(const google::protobuf::RepeatedPtrField<mil::NamedValueType>& values) {
  std::vector<std::string> out;
  for (const mil::NamedValueType& v : values) out.push_back(TypeText(v.type()));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string Shortened(const std::string& text) {
  return Quote(text.size() <= kShownText ? text : text.substr(0, kShownText) + "...");
}

// The elements of a bytes value; empty for types that are not shown.
std::vector<std::string> BytesTexts(const Blob& bytes, mil::DataType type) {
  std::vector<std::string> out;
  const auto add = [&]<typename T>(T, auto text) {
    for (size_t at = 0; at + sizeof(T) <= bytes.size() && out.size() <= kShown; at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      out.push_back(text(value));
    }
  };
  const auto number = [](auto v) { return std::to_string(v); };
  if (type == mil::FLOAT16)
    add(uint16_t{}, [](uint16_t v) { return FloatText(HalfToFloat(v)); });
  else if (type == mil::BFLOAT16)
    add(uint16_t{}, [](uint16_t v) { return FloatText(Bfloat16ToFloat(v)); });
  else if (type == mil::INT8)
    add(int8_t{}, number);
  else if (type == mil::UINT8)
    add(uint8_t{}, number);
  else if (type == mil::UINT16)
    add(uint16_t{}, number);
  else if (type == mil::UINT32)
    add(uint32_t{}, number);
  return out;
}

class ValueReader {
 public:
  explicit ValueReader(const PayloadTable& payloads) : payloads_(payloads) {}

  // The value if it is small, "[1, 1]"; else its type and location.
  std::string Text(const mil::Value& value) const {
    std::string type = TypeText(value.type());
    if (value.has_blobfilevalue())
      return fmt::format("{} at {} of {}", type, value.blobfilevalue().offset(),
                         Shortened(value.blobfilevalue().filename()));
    const auto texts = Texts(value);
    if (texts.empty() || texts.size() > kShown) return type;
    if (texts.size() == 1 && value.type().tensortype().dimensions().empty()) return texts[0];
    const std::string list = fmt::format("[{}]", fmt::join(texts, ", "));
    return list.size() > 2 * kShownText ? type : list;
  }

  bool IsSmall(const mil::Value& value) const {
    if (!value.immediatevalue().has_tensor()) return false;
    const size_t n = Texts(value).size();
    return n > 0 && n <= kShown;
  }

  // The size of an immediate tensor in bytes.
  uint64_t BytesOf(const mil::Value& value) const {
    const auto& t = value.immediatevalue().tensor();
    switch (t.value_case()) {
      case mil::TensorValue::kFloats:
        return Floats(t.floats()).size();
      case mil::TensorValue::kDoubles:
        return Doubles(t.doubles()).size();
      case mil::TensorValue::kBytes:
        return Bytes(t.bytes()).size();
      default:
        return 0;
    }
  }

 private:
  Blob Floats(const mil::TensorValue::RepeatedFloats& f) const {
    return Fields(f, payloads_).Bytes("values");
  }
  Blob Doubles(const mil::TensorValue::RepeatedDoubles& d) const {
    return Fields(d, payloads_).Bytes("values");
  }
  Blob Bytes(const mil::TensorValue::RepeatedBytes& b) const {
    return Fields(b, payloads_).Bytes("values");
  }

  // The first elements of a small value; empty if it has no text.
  std::vector<std::string> Texts(const mil::Value& value) const {
    const auto& t = value.immediatevalue().tensor();
    const auto each = [](const auto& list, auto text) {
      std::vector<std::string> out;
      for (const auto& v : list) {
        if (out.size() > kShown) break;
        out.push_back(text(v));
      }
      return out;
    };
    const auto number = [](auto v) { return std::to_string(v); };
    switch (t.value_case()) {
      case mil::TensorValue::kFloats:
        return each(t.floats().values(), FloatText);
      case mil::TensorValue::kDoubles:
        return each(t.doubles().values(), DoubleText);
      case mil::TensorValue::kInts:
        return each(t.ints().values(), number);
      case mil::TensorValue::kLongInts:
        return each(t.longints().values(), number);
      case mil::TensorValue::kBools:
        return each(t.bools().values(), [](bool v) { return std::string(v ? "true" : "false"); });
      case mil::TensorValue::kStrings:
        return each(t.strings().values(), Shortened);
      case mil::TensorValue::kBytes:
        return BytesTexts(Bytes(t.bytes()), value.type().tensortype().datatype());
      default:
        return {};
    }
  }

  const PayloadTable& payloads_;
};

// ---- Weights ------------------------------------------------------------------------------------

// A model's parameters are the tensors in files, and non-scalar floating-point tensors in the
// program. Weights unpacked by constexpr operations count in unpacked form.
class WeightCounter {
 public:
  WeightCounter(const ModelFolder& folder, const ValueReader& values, Summary& out)
      : weights_(folder), values_(values), out_(out) {}

  // `counted`: the value holds the parameters themselves, not a packed form. Returns whether the
  // value is in a file and was seen before.
  bool Add(const mil::Value& value, bool counted) {
    const auto& type = value.type().tensortype();
    const uint64_t elements = ElementsOf(type).value_or(0);
    if (value.has_blobfilevalue()) {
      if (!AddBlob(value, elements)) return true;
      if (counted) out_.parameter_count += elements;
    } else if (const std::string_view name = TypeName(type.datatype());
               !type.dimensions().empty() && name.find("FLOAT") != std::string_view::npos) {
      if (counted) out_.parameter_count += elements;
      Store(name, values_.BytesOf(value));
    }
    return false;
  }

  void AddFacts(Facts& facts) const {
    for (const auto& [name, storage] : weights_.files())
      if (storage)
        facts.emplace_back("weights", fmt::format("{}: {} entries, {}", name, storage->count(),
                                                  HumanBytes(storage->bytes())));
    if (problems_ > 0)
      facts.emplace_back("weights", problems_ == 1 ? problem_
                                                   : fmt::format("{} (and {} more problems)",
                                                                 problem_, problems_ - 1));
    std::string stored;
    for (const auto& [type, store] : stores_)
      stored += fmt::format("{}{} {} ({})", stored.empty() ? "" : ", ", store.tensors, type,
                            HumanBytes(store.bytes));
    if (!stored.empty()) facts.emplace_back("weight storage", stored);
  }

 private:
  struct StoreOf {
    uint64_t tensors = 0, bytes = 0;
  };

  // False if the blob was seen before.
  bool AddBlob(const mil::Value& value, uint64_t elements) {
    const auto& reference = value.blobfilevalue();
    if (!seen_.insert({reference.filename(), reference.offset()}).second) return false;
    if (const auto entry = weights_.Find(value)) {
      Store(entry->type, entry->data.size());
    } else {
      if (problems_++ == 0) problem_ = entry.error().message();
      // From the type; sizes are unchecked.
      const mil::DataType type = value.type().tensortype().datatype();
      Store(TypeName(type), elements / 8 * static_cast<uint64_t>(BitsOf(type)));
    }
    return true;
  }

  void Store(std::string_view type, uint64_t bytes) {
    out_.parameter_bytes += bytes;
    StoreOf& store = stores_[std::string(type)];
    ++store.tensors;
    store.bytes += bytes;
  }

  ProgramWeights weights_;
  const ValueReader& values_;
  Summary& out_;
  std::set<std::pair<std::string, uint64_t>> seen_;
  std::map<std::string, StoreOf> stores_;
  size_t problems_ = 0;
  std::string problem_;
};

// ---- Programs -----------------------------------------------------------------------------------

bool IsConstexpr(const mil::Operation& op) {
  return op.type().starts_with("constexpr_");
}

// Parameters by name, the main one first.
std::vector<const mil::Operation::Input*> InOrder(const mil::Operation& op) {
  std::vector<const mil::Operation::Input*> out;
  for (const auto& input : op.inputs()) out.push_back(&input);
  std::stable_sort(out.begin(), out.end(), [](const auto* a, const auto* b) {
    const bool a_first = a->key() == "x", b_first = b->key() == "x";
    return a_first != b_first ? a_first : a->key() < b->key();
  });
  return out;
}

// Results of constexpr operations by name, and whether those stored in a file were seen before.
using PackedNames = std::unordered_map<std::string_view, std::optional<bool>>;

class ProgramLister {
 public:
  ProgramLister(const Model& model, Summary& out)
      : values_(model.payloads), counter_(model.folder, values_, out), out_(out) {}

  void Run(const mil::Program& program, const std::string& main, const std::string& scope,
           Facts& facts) {
    for (const auto& entry : program.functions()) {
      const mil::Function& function = entry.value();
      const std::string inner = entry.key() == main ? scope : InnerScope(scope, entry.key());
      for (const auto& s : function.block_specializations()) {
        const bool active = s.key() == function.opset();
        const size_t before = out_.operators.size();
        constants_.clear();
        AddBlock(s.value(), active ? inner : InnerScope(inner, "@" + s.key()));
        facts.emplace_back("function " + entry.key(),
                           fmt::format("{}, {} operations{}", s.key(),
                                       out_.operators.size() - before, active ? "" : ", not used"));
      }
    }
    counter_.AddFacts(facts);
  }

 private:
  void AddBlock(const mil::Block& block, const std::string& scope) {
    PackedNames packed;
    for (const mil::Operation& op : block.operations())
      if (IsConstexpr(op))
        for (const auto& input : op.inputs())
          for (const auto& binding : input.value().arguments())
            if (binding.has_name()) packed[binding.name()] = std::nullopt;
    for (const mil::Operation& op : block.operations()) {
      AddOperation(op, scope, packed);
      for (int i = 0; i < op.blocks_size(); ++i)
        AddBlock(op.blocks(i), InnerScope(scope, fmt::format("{}.{}", NameOf(op), i)));
    }
  }

  void AddOperation(const mil::Operation& op, const std::string& scope, PackedNames& packed) {
    OperatorSummary row;
    row.op = op.type().empty() ? "unknown" : op.type();
    row.name = NameOf(op);
    row.scope = scope;
    for (const auto& output : op.outputs()) row.outputs.push_back(output.name());
    for (const auto* input : InOrder(op)) AddInput(*input, row);
    for (const mil::NamedValue& a : op.attributes())
      if (a.key() != "name") row.attributes.emplace_back(a.key(), values_.Text(a.value()));
    if (op.outputs_size() > 0) row.attributes.emplace_back("type", TypesText(op.outputs()));
    CountWeights(op, packed);
    if (op.type() == "const" && op.outputs_size() > 0)
      if (const mil::Value* value = FindAttribute(op, "val"); value && values_.IsSmall(*value))
        constants_[op.outputs(0).name()] = values_.Text(*value);
    out_.operators.push_back(std::move(row));
  }

  // Names become inputs; constants, and names of small ones, attributes.
  void AddInput(const mil::Operation::Input& input, OperatorSummary& row) {
    std::vector<std::string> constants;
    for (const auto& binding : input.value().arguments()) {
      if (binding.has_value()) {
        constants.push_back(values_.Text(binding.value()));
      } else if (const auto it = constants_.find(binding.name()); it != constants_.end()) {
        constants.push_back(it->second);
      } else {
        row.inputs.push_back(binding.name());
      }
    }
    if (!constants.empty())
      row.attributes.emplace_back(input.key(), fmt::format("{}", fmt::join(constants, ", ")));
  }

  // Results of constexpr operations also count once: not if all their weights were seen before.
  void CountWeights(const mil::Operation& op, PackedNames& packed) {
    const bool unpacks = IsConstexpr(op);
    const auto own = op.outputs_size() > 0 ? packed.find(op.outputs(0).name()) : packed.end();
    const bool counted = !unpacks && own == packed.end();
    size_t values = 0, met = 0;
    const auto add = [&](bool met_before) {
      ++values;
      met += met_before ? 1 : 0;
    };
    for (const mil::NamedValue& a : op.attributes()) AddValue(a.value(), counted, add);
    for (const auto& input : op.inputs())
      for (const auto& binding : input.value().arguments()) {
        if (binding.has_value())
          AddValue(binding.value(), counted, add);
        else if (const auto it = packed.find(binding.name()); it != packed.end() && it->second)
          add(*it->second);
      }
    const bool all_met = values > 0 && met == values;
    if (own != packed.end() && values > 0) own->second = all_met;
    if (unpacks && own == packed.end() && !all_met && op.outputs_size() > 0)
      out_.parameter_count += ElementsOf(op.outputs(0).type().tensortype()).value_or(0);
  }

  template <typename Met>
  void AddValue(const mil::Value& value, bool counted, const Met& met) {
    const bool met_before = counter_.Add(value, counted);
    if (value.has_blobfilevalue()) met(met_before);
  }

  ValueReader values_;
  WeightCounter counter_;
  Summary& out_;
  std::unordered_map<std::string, std::string> constants_;  // small ones, by name
};

}  // namespace

void AddProgram(const Model& model, const Fields& program, const std::string& main,
                const std::string& scope, Summary& out, Facts& facts) {
  ProgramLister(model, out)
      .Run(static_cast<const mil::Program&>(program.message()), main, scope, facts);
}

}  // namespace nn::coreml
