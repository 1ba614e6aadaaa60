#include "formats/tflite/spec/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "formats/common/spec/table.h"
#include "formats/tflite/spec/words.h"
#include "ir/op_def.h"
#include "ops/quant/int8_rules.h"
#include "ops/quant/quantized.h"

namespace nn::tflite {
namespace {

TypeSet TypesIn(const spec::TypeBits& bits) {
  TypeSet types;
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (bits.Has(static_cast<int>(i))) types.Add(kTypes[i].type);
  return types;
}

SignatureOperand OperandOf(const spec::Operand& o) {
  SignatureOperand operand;
  operand.name = o.name;
  operand.presence = static_cast<SignatureOperand::Presence>(o.presence);
  operand.repeated = o.repeats;
  operand.types = TypesIn(o.types);
  operand.scaled = TypesIn(o.scaled);
  operand.hard = !o.type_text.empty() && !o.checked_late;
  operand.symmetric16 = o.symmetric;
  operand.same_as = o.same_as;
  operand.given_by = o.given_by;
  operand.expected = o.expected;
  operand.has_given_type = o.given_type >= 0;
  if (operand.has_given_type) operand.given_type = kTypes[o.given_type].type;
  operand.ranks = o.ranks.range;
  operand.elements = o.elements;
  return operand;
}

Signature SignatureOf(const spec::Row& row) {
  Signature s;
  s.op = *OperatorNamed(row.name);
  s.min_version = row.first_version;
  s.max_version = row.last_version;
  s.needs_options = row.needs_option;
  if (!row.option.empty()) {
    const int option = spec::PositionOf(kOptionWords, row.option);
    const int second = option - static_cast<int>(kFirstOptions);
    if (second < 0)
      s.options = static_cast<fb::BuiltinOptions>(option);
    else
      s.options2 = static_cast<fb::BuiltinOptions2>(second);
  }
  for (const spec::Operand& o : row.inputs) s.inputs.push_back(OperandOf(o));
  for (const spec::Operand& o : row.outputs) s.outputs.push_back(OperandOf(o));
  return s;
}

std::map<fb::BuiltinOperator, Signature> ByOperator() {
  std::map<fb::BuiltinOperator, Signature> all;
  for (const spec::Text& text : SpecTexts())
    spec::EachRow(text.text, kWords, [&](const spec::Row& row) {
      Signature s = SignatureOf(row);
      all.emplace(s.op, std::move(s));
    });
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
  using Builtin = fb::BuiltinOperator;
  using DataType = fb::TensorType;
  struct Fixed {
    Builtin op;
    DataType from, to;
    double scale;
    int64_t zero_point;
    double slack = 1e-9;  // relative
    bool any_zero_point = false;
  };
  static constexpr double kSlack = 0.001;
  // SOFTMAX of UINT8: the kernels check nothing, and only with this range they agree.
  static constexpr Fixed kFixed[] = {
      {Builtin::LOGISTIC, DataType::UINT8, DataType::UINT8, 1.0 / 256, 0, 1e-9, true},
      {Builtin::LOGISTIC, DataType::INT8, DataType::INT8, 1.0 / 256, 0, 1e-9, true},
      {Builtin::LOGISTIC, DataType::INT16, DataType::INT16, 1.0 / 32768, 0},
      {Builtin::TANH, DataType::INT16, DataType::INT16, 1.0 / 32768, 0, kSlack},
      {Builtin::SOFTMAX, DataType::UINT8, DataType::UINT8, 1.0 / 256, 0, kSlack},
      {Builtin::SOFTMAX, DataType::UINT8, DataType::INT16, 1.0 / 65536, -32768, kSlack},
      {Builtin::SOFTMAX, DataType::INT8, DataType::INT8, 1.0 / 256, -128, kSlack},
      {Builtin::SOFTMAX, DataType::INT8, DataType::INT16, 1.0 / 65536, -32768, kSlack},
      {Builtin::SOFTMAX, DataType::INT16, DataType::INT16, 1.0 / 32768, 0, kSlack},
      {Builtin::LOG_SOFTMAX, DataType::UINT8, DataType::UINT8, 16.0 / 256, 255},
      {Builtin::LOG_SOFTMAX, DataType::INT8, DataType::INT8, 16.0 / 256, 127},
      {Builtin::L2_NORMALIZATION, DataType::UINT8, DataType::UINT8, 1.0 / 128, 128},
      {Builtin::L2_NORMALIZATION, DataType::INT8, DataType::INT8, 1.0 / 128, 0},
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
  const auto fixed = encoding.first == nullptr ? nullptr : FixedResultQuant(*encoding.first);
  if (fixed == nullptr ||
      (scale > 0 && SameButForRounding(*fixed, *Quant::PerTensor(scale, zero_point))))
    return std::nullopt;
  return fmt::format("scale {} and zero point {}; expected scale {} and zero point {}",
                     double{scale}, zero_point, double{fixed->scale()}, fixed->zero_point());
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
  if (facts.rank >= 0 && !operand.ranks.Has(facts.rank))
    out.push_back({kRank, fmt::format("{} has rank {}; expected {}", operand.name, facts.rank,
                                      operand.ranks.ToString())});
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
  const int number = spec::PositionOf(kOperatorWords, name);
  if (number < 0 || name.empty()) return std::nullopt;
  return static_cast<fb::BuiltinOperator>(number);
}

}  // namespace nn::tflite
