// Constraints on every operation, from its signature.
#include <algorithm>

#include "formats/nnapi/spec/constraint.h"

namespace nn::nnapi {
namespace {

using Kind = Argument::Kind;

bool IsOem(const OperationAt& op) {
  return op.operation->type == OperationType::kOemOperation;
}

void TypeKnown(const OperationAt& op, Misfits& f) {
  if (!NameOf(op.operation->type))
    f.Add(op.Where("type"), "operation {} has unknown type {}", op.index,
          TextOf(op.operation->type));
}

void InputCount(const OperationAt& op, Misfits& f) {
  if (!NameOf(op.operation->type) || IsOem(op) || op.signature != nullptr) return;
  f.Add(op.Where("inputs"), "{} has {} inputs instead of {}", op.Title(), op.input_count(),
        InputCounts(op.operation->type));
}

void OutputCount(const OperationAt& op, Misfits& f) {
  if (op.signature != nullptr && op.operation->outputs.size() != op.signature->outputs.size())
    f.Add(op.Where("outputs"), "{} has {} outputs instead of {}", op.Title(),
          op.operation->outputs.size(), op.signature->outputs.size());
}

void OptionalOnly(const OperationAt& op, Misfits& f) {
  if (op.signature == nullptr) return;
  for (size_t i = 0; i < op.input_count(); ++i) {
    const Operand* o = op.view->FindOperand(op.operation->inputs[i]);
    if (o != nullptr && o->lifetime == LifeTime::kNoValue &&
        !op.signature->InputAt(i, op.input_count()).optional)
      f.Add(op.AtInput(i), "{} is required but has no value", op.InputTitle(i));
  }
}

bool IsNumericTensor(OperandType type) {
  return type == OperandType::kTensorFloat32 || type == OperandType::kTensorQuant8Asymm ||
         type == OperandType::kTensorInt32;
}

// An operand with its place in an operation's signature.
struct ArgumentAt {
  const OperationAt& op;
  const Operand& operand;
  const Argument& argument;
  bool input;
  size_t i;

  std::string Title() const { return input ? op.InputTitle(i) : op.OutputTitle(i); }
  Site Where() const { return input ? op.AtInput(i) : op.AtOutput(i); }
};

// Calls visit(ArgumentAt) for all operands that exist, with a value or without.
template <typename Visit>
void EachArgument(const OperationAt& op, const Visit& visit) {
  if (op.signature == nullptr) return;
  const Operation& o = *op.operation;
  for (size_t i = 0; i < o.inputs.size(); ++i)
    if (const Operand* operand = op.view->FindOperand(o.inputs[i]))
      visit(ArgumentAt{op, *operand, op.signature->InputAt(i, o.inputs.size()), true, i});
  for (size_t i = 0; i < o.outputs.size() && i < op.signature->outputs.size(); ++i)
    if (const Operand* operand = op.Output(i))
      visit(ArgumentAt{op, *operand, op.signature->outputs[i], false, i});
}

// The type of an operation's data tensors: the most frequent one, and the first of several that are
// equally frequent. Unknown types are not counted.
std::optional<OperandType> DataType(const OperationAt& op) {
  std::vector<std::pair<OperandType, size_t>> votes;
  EachArgument(op, [&](const ArgumentAt& a) {
    const Operand& o = a.operand;
    if (a.argument.kind != Kind::kData || !NameOf(o.type)) return;
    const auto it = std::find_if(votes.begin(), votes.end(),
                                 [&](const auto& vote) { return vote.first == o.type; });
    if (it != votes.end())
      ++it->second;
    else
      votes.emplace_back(o.type, 1);
  });
  if (votes.empty()) return std::nullopt;
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  return most->first;
}

void DataTypeTaken(const OperationAt& op, Misfits& f) {
  const auto data = DataType(op);
  if (!data || op.signature->TakesData(*data)) return;
  bool found = false;
  EachArgument(op, [&](const ArgumentAt& a) {
    if (found || a.argument.kind != Kind::kData || a.operand.type != *data) return;
    found = true;
    f.Add(a.Where(), "{} has type {}, which the operation does not support", a.Title(),
          TextOf(*data));
  });
}

void ArgumentTypes(const OperationAt& op, Misfits& f) {
  const auto data = DataType(op);
  const bool known = data && op.signature->TakesData(*data);
  EachArgument(op, [&](const ArgumentAt& a) {
    const OperandType type = a.operand.type;
    const Kind kind = a.argument.kind;
    // DataTypeTaken checks the data type itself, and CodesKnown reports unknown types.
    if (!NameOf(type) || (!known && (kind == Kind::kData || kind == Kind::kBias))) return;
    const auto want = TypeOf(a.argument, data);
    if (want ? type != *want : !IsNumericTensor(type))
      f.Add(a.Where(), "{} has type {} instead of {}", a.Title(), TextOf(type),
            want ? TextOf(*want) : "a numeric tensor type");
  });
}

void Ranks(const OperationAt& op, Misfits& f) {
  EachArgument(op, [&](const ArgumentAt& a) {
    const Operand& o = a.operand;
    if (!a.argument.is_tensor() || !IsTensor(o.type) || o.dimensions.empty() ||
        o.lifetime == LifeTime::kNoValue)
      return;
    if (const size_t rank = o.dimensions.size(); !a.argument.ranks.Has(static_cast<int64_t>(rank)))
      f.Add(a.Where(), "{} has rank {} instead of {}", a.Title(), rank,
            a.argument.ranks.ToString());
  });
}

// Checks that constant scalars of a kind are in a range.
template <Kind kind, int32_t low, int32_t high>
void Scalars(const OperationAt& op, Misfits& f) {
  for (size_t i = 0; op.signature != nullptr && i < op.input_count(); ++i) {
    if (op.signature->InputAt(i, op.input_count()).kind != kind) continue;
    const auto value = op.Int(i);
    if (!value || (*value >= low && *value <= high)) continue;
    if (high == INT32_MAX)
      f.Add(op.AtInput(i), "{} is {}; it must be at least {}", op.InputTitle(i), *value, low);
    else
      f.Add(op.AtInput(i), "{} is {}, which is outside [{}, {}]", op.InputTitle(i), *value, low,
            high);
  }
}

constexpr Constraint kArguments[] = {
    {.label = Label::kKnownOperation, .check = TypeKnown},
    {.label = Label::kInputCount, .check = InputCount},
    {.label = Label::kOutputCount, .check = OutputCount},
    {.label = Label::kRequiredValue, .check = OptionalOnly},
    {.label = Label::kDataType, .check = DataTypeTaken},
    {.label = Label::kArgumentType, .check = ArgumentTypes},
    {.label = Label::kRank, .check = Ranks},
    {.label = Label::kActivationCode, .check = Scalars<Kind::kActivation, 0, 3>},
    {.label = Label::kPaddingCode, .check = Scalars<Kind::kScheme, 0, 2>},
    {.label = Label::kPositive, .check = Scalars<Kind::kPositive, 1, INT32_MAX>},
    {.label = Label::kNonNegative, .check = Scalars<Kind::kNatural, 0, INT32_MAX>},
};

}  // namespace

std::span<const Constraint> ArgumentConstraints() {
  return kArguments;
}

}  // namespace nn::nnapi
