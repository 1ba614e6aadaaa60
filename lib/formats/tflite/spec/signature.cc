#include "formats/tflite/spec/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "ir/op_def.h"
#include "ops/quant/int8_rules.h"
#include "ops/quant/quantized.h"

namespace nn::tflite {
namespace {

constexpr std::pair<std::string_view, fb::TensorType> kTypes[] = {
    {"f32", fb::TensorType::FLOAT32},   {"f16", fb::TensorType::FLOAT16},
    {"i32", fb::TensorType::INT32},     {"u8", fb::TensorType::UINT8},
    {"i64", fb::TensorType::INT64},     {"str", fb::TensorType::STRING},
    {"bool", fb::TensorType::BOOL},     {"i16", fb::TensorType::INT16},
    {"c64", fb::TensorType::COMPLEX64}, {"i8", fb::TensorType::INT8},
    {"f64", fb::TensorType::FLOAT64},   {"c128", fb::TensorType::COMPLEX128},
    {"u64", fb::TensorType::UINT64},    {"res", fb::TensorType::RESOURCE},
    {"u32", fb::TensorType::UINT32},    {"u16", fb::TensorType::UINT16},
    {"i4", fb::TensorType::INT4},       {"bf16", fb::TensorType::BFLOAT16},
    {"i2", fb::TensorType::INT2},       {"u4", fb::TensorType::UINT4},
};

std::optional<fb::TensorType> TypeNamed(std::string_view name) {
  for (const auto& [known, type] : kTypes)
    if (known == name) return type;
  return std::nullopt;
}

// A cursor over text.
class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) {}

  void SkipSpace() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }
  bool AtEnd() const { return text_.empty(); }
  bool Take(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  // Letters, digits and underscores.
  std::string_view Word() {
    size_t n = 0;
    while (n < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[n])) != 0 || text_[n] == '_'))
      ++n;
    const std::string_view word = text_.substr(0, n);
    text_.remove_prefix(n);
    return word;
  }
  std::optional<int> Number() {
    int value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return value;
  }

 private:
  std::string_view text_;
};

class Line {
 public:
  explicit Line(std::string_view text) : in_(text) {}

  bool Parse() { return Name() && Versions() && Options() && Operands() && AtEnd(); }
  Signature& signature() { return signature_; }

 private:
  using Presence = SignatureOperand::Presence;

  bool AtEnd() {
    in_.SkipSpace();
    return in_.AtEnd();
  }

  bool Name() {
    const auto op = OperatorNamed(in_.Word());
    if (op) signature_.op = *op;
    return op.has_value();
  }

  bool Versions() {
    in_.SkipSpace();
    if (in_.Take("none")) return true;
    const auto first = in_.Number();
    const auto last = in_.Take("-") ? in_.Number() : first;
    if (!first || !last || *first < 1 || *last < *first) return false;
    signature_.min_version = *first;
    signature_.max_version = *last;
    return true;
  }

  bool Options() {
    in_.SkipSpace();
    if (in_.Take("-")) return true;
    const std::string name = std::string(in_.Word()) + "Options";
    for (const fb::BuiltinOptions options : fb::EnumValuesBuiltinOptions())
      if (fb::EnumNameBuiltinOptions(options) == name) signature_.options = options;
    for (const fb::BuiltinOptions2 options : fb::EnumValuesBuiltinOptions2())
      if (fb::EnumNameBuiltinOptions2(options) == name) signature_.options2 = options;
    signature_.needs_options = in_.Take("!");
    return signature_.options != fb::BuiltinOptions::NONE ||
           signature_.options2 != fb::BuiltinOptions2::NONE;
  }

  bool Operands() {
    in_.SkipSpace();
    if (!List(signature_.inputs)) return false;
    in_.SkipSpace();
    if (!in_.Take("->")) return false;
    in_.SkipSpace();
    return List(signature_.outputs);
  }

  bool List(std::vector<SignatureOperand>& list) {
    if (!in_.Take("(")) return false;
    if (in_.Take(")")) return true;
    do {
      in_.SkipSpace();
      if (!Operand(list.emplace_back())) return false;
    } while (in_.Take(","));
    return in_.Take(")");
  }

  bool Operand(SignatureOperand& o) {
    o.name = in_.Word();
    if (o.name.empty()) return false;
    for (;;) {
      if (in_.Take("?")) {
        o.presence = Presence::kOptional;
      } else if (in_.Take("*")) {
        o.repeated = true;
        o.presence = Presence::kOptional;
      } else if (in_.Take("+")) {
        o.repeated = true;
      } else if (in_.Take("~")) {
        o.presence = Presence::kNullable;
      } else if (in_.Take("[")) {
        o.hard = true;
        if (!Types(o, "]")) return false;
      } else if (in_.Take("{")) {
        if (!Types(o, "}")) return false;
      } else if (in_.Take("%")) {
        o.symmetric16 = true;
      } else if (in_.Take("=")) {
        o.same_as = InputNamed(in_.Word());
        if (o.same_as < 0) return false;
      } else if (in_.Take(":")) {
        o.expected = InputNamed(in_.Word());
        if (o.expected < 0) return false;
      } else if (in_.Take("<")) {
        if (!Given(o)) return false;
      } else if (in_.Take("@")) {
        if (!Ranks(o)) return false;
      } else if (in_.Take("#")) {
        o.elements = in_.Number().value_or(-1);
        if (o.elements < 0) return false;
      } else {
        return true;
      }
    }
  }

  bool Types(SignatureOperand& o, std::string_view end) {
    do {
      std::string_view word = in_.Word();
      const bool scaled = word.ends_with('q');
      if (scaled) word.remove_suffix(1);
      const auto type = TypeNamed(word);
      if (!type) return false;
      o.types.Add(*type);
      if (scaled) o.scaled.Add(*type);
    } while (in_.Take(","));
    return in_.Take(end);
  }

  bool Given(SignatureOperand& o) {
    const std::string_view name = in_.Word();
    o.given_by = InputNamed(name);
    if (o.given_by >= 0) return true;
    const auto type = TypeNamed(name);
    o.has_given_type = type.has_value();
    if (type) o.given_type = *type;
    return o.has_given_type;
  }

  bool Ranks(SignatureOperand& o) {
    const auto low = in_.Number();
    if (!low) return false;
    o.min_rank = o.max_rank = *low;
    if (in_.Take("-")) o.max_rank = in_.Number().value_or(-1);
    return true;
  }

  int InputNamed(std::string_view name) const {
    for (size_t i = 0; i < signature_.inputs.size(); ++i)
      if (signature_.inputs[i].name == name) return static_cast<int>(i);
    return -1;
  }

  SignatureReader in_;
  Signature signature_;
};

std::map<fb::BuiltinOperator, Signature> ByOperator() {
  std::map<fb::BuiltinOperator, Signature> all;
  auto list = ParseSignatures(kSignatures);
  if (list)
    for (Signature& s : *list) all.emplace(s.op, std::move(s));
  return all;
}

}  // namespace

std::string TypeSet::Text() const {
  std::string text;
  for (const fb::TensorType type : fb::EnumValuesTensorType())
    if (Has(type)) text += fmt::format("{}{}", text.empty() ? "" : ", ", EnumNameTensorType(type));
  return text;
}

int MinOperands(const std::vector<SignatureOperand>& list) {
  int n = 0;
  for (const SignatureOperand& o : list)
    if (o.presence != SignatureOperand::Presence::kOptional) ++n;
  return n;
}

int MaxOperands(const std::vector<SignatureOperand>& list) {
  for (const SignatureOperand& o : list)
    if (o.repeated) return -1;
  return static_cast<int>(list.size());
}

const SignatureOperand* OperandAt(const std::vector<SignatureOperand>& list, size_t i) {
  if (i < list.size()) return &list[i];
  return !list.empty() && list.back().repeated ? &list.back() : nullptr;
}

std::optional<std::string> FixedQuantMisfit(fb::BuiltinOperator op, fb::TensorType from,
                                            fb::TensorType to, float scale, int64_t zero_point) {
  using Op = fb::BuiltinOperator;
  using DataType = fb::TensorType;
  struct Fixed {
    Op op;
    DataType from, to;
    double scale;
    int64_t zero_point;
    double slack = 1e-9;  // relative
    bool any_zero_point = false;
  };
  static constexpr double kSlack = 0.001;
  // SOFTMAX of UINT8: the kernels check nothing, and only with this range they agree.
  static constexpr Fixed kFixed[] = {
      {Op::LOGISTIC, DataType::UINT8, DataType::UINT8, 1.0 / 256, 0, 1e-9, true},
      {Op::LOGISTIC, DataType::INT8, DataType::INT8, 1.0 / 256, 0, 1e-9, true},
      {Op::LOGISTIC, DataType::INT16, DataType::INT16, 1.0 / 32768, 0},
      {Op::TANH, DataType::INT16, DataType::INT16, 1.0 / 32768, 0, kSlack},
      {Op::SOFTMAX, DataType::UINT8, DataType::UINT8, 1.0 / 256, 0, kSlack},
      {Op::SOFTMAX, DataType::UINT8, DataType::INT16, 1.0 / 65536, -32768, kSlack},
      {Op::SOFTMAX, DataType::INT8, DataType::INT8, 1.0 / 256, -128, kSlack},
      {Op::SOFTMAX, DataType::INT8, DataType::INT16, 1.0 / 65536, -32768, kSlack},
      {Op::SOFTMAX, DataType::INT16, DataType::INT16, 1.0 / 32768, 0, kSlack},
      {Op::LOG_SOFTMAX, DataType::UINT8, DataType::UINT8, 16.0 / 256, 255},
      {Op::LOG_SOFTMAX, DataType::INT8, DataType::INT8, 16.0 / 256, 127},
      {Op::L2_NORMALIZATION, DataType::UINT8, DataType::UINT8, 1.0 / 128, 128},
      {Op::L2_NORMALIZATION, DataType::INT8, DataType::INT8, 1.0 / 128, 0},
  };
  TypeSet expected;
  for (const Fixed& f : kFixed) {
    if (f.op != op || f.from != from) continue;
    expected.Add(f.to);
    if (f.to != to) continue;
    if (std::abs(scale - f.scale) <= f.slack * f.scale &&
        (f.any_zero_point || zero_point == f.zero_point))
      return std::nullopt;
    return fmt::format("scale {} and zero point {}; expected scale {}{}", double{scale}, zero_point,
                       f.scale,
                       f.any_zero_point ? "" : fmt::format(" and zero point {}", f.zero_point));
  }
  if (expected.empty()) return std::nullopt;
  return fmt::format("type {}; expected {}", fb::EnumNameTensorType(to), expected.Text());
}

std::optional<std::string> SpecifiedQuantMisfit(fb::BuiltinOperator op, float scale,
                                                int64_t zero_point) {
  const auto encoding = Ops().FindEncoding("tflite", fb::EnumNameBuiltinOperator(op), 1);
  const auto fixed = encoding.first == nullptr ? nullptr : FixedResultQuant(encoding.first->name);
  if (fixed == nullptr ||
      (scale > 0 && SameButForRounding(*fixed, *Quant::PerTensor(scale, zero_point))))
    return std::nullopt;
  return fmt::format("scale {} and zero point {}; expected scale {} and zero point {}",
                     double{scale}, zero_point, double{fixed->scale()}, fixed->zero_point());
}

std::string RangeText(int low, int high) {
  if (high < 0) return fmt::format("{} or more", low);
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

std::vector<Misfit> MisfitsOf(const SignatureOperand& operand, const OperandFacts& facts,
                              bool is_output, const OperandFacts* other,
                              std::string_view other_name) {
  using enum Misfit::Kind;
  std::vector<Misfit> out;
  const char* type = fb::EnumNameTensorType(facts.type);
  // A type that the schema lacks is a fault of the tensor.
  if (!operand.types.empty() && !operand.types.Has(facts.type) && *type != '\0')
    out.push_back({operand.hard ? kTypes : kKernelTypes,
                   fmt::format("{} is {}; {} {}", operand.name, type,
                               operand.hard ? "expected one of" : "the kernel computes only",
                               operand.types.Text())});
  if (other != nullptr && other->type != facts.type)
    out.push_back(
        {kSameType, fmt::format("{} is {} but {} is {}; expected equal types", operand.name, type,
                                other_name, fb::EnumNameTensorType(other->type))});
  if (operand.scaled.Has(facts.type) && facts.scaled == false)
    out.push_back({kScale, fmt::format("{} is {} without a scale", operand.name, type)});
  if (operand.symmetric16 && facts.type == fb::TensorType::INT16 &&
      facts.zero_point.value_or(0) != 0)
    out.push_back({kZeroPoint, fmt::format("{} is {} with zero point {}; expected 0", operand.name,
                                           type, *facts.zero_point)});
  if (is_output) return out;
  if (facts.rank >= 0 &&
      (facts.rank < operand.min_rank || (operand.max_rank >= 0 && facts.rank > operand.max_rank)))
    out.push_back({kRank, fmt::format("{} has rank {}; expected {}", operand.name, facts.rank,
                                      RangeText(operand.min_rank, operand.max_rank))});
  if (operand.elements >= 0 && facts.elements >= 0 && facts.elements != operand.elements)
    out.push_back({kElements, fmt::format("{} has {} elements; expected {}", operand.name,
                                          facts.elements, operand.elements)});
  return out;
}

const Signature* FindSignature(fb::BuiltinOperator op) {
  static const auto all = ByOperator();
  const auto it = all.find(op);
  return it == all.end() ? nullptr : &it->second;
}

std::optional<fb::BuiltinOperator> OperatorNamed(std::string_view name) {
  for (const fb::BuiltinOperator op : fb::EnumValuesBuiltinOperator())
    if (fb::EnumNameBuiltinOperator(op) == name) return op;
  return std::nullopt;
}

Result<std::vector<Signature>> ParseSignatures(std::string_view text) {
  std::vector<Signature> all;
  while (!text.empty()) {
    // Lines that begin with a space continue the previous one.
    size_t end = 0;
    do {
      end = std::min(text.find('\n', end + 1), text.size());
    } while (end + 1 < text.size() && text[end + 1] == ' ');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of('\n'), line.size()));
    if (line.empty()) continue;
    Line parser(line);
    if (!parser.Parse()) return ParseError("{} is not a valid signature", Quote(line));
    all.push_back(std::move(parser.signature()));
  }
  return all;
}

}  // namespace nn::tflite
