// Rules of operations against their signatures.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using Kind = Argument::Kind;

bool IsOem(const OperationAt& op) {
  return op.operation->type == OperationType::kOemOperation;
}

void TypeKnown(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations())
    if (!NameOf(op.operation->type))
      f.Add(op.Where("type"), "operation {} has type {}", op.index, TextOf(op.operation->type));
}

void InputCount(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (!NameOf(op.operation->type) || IsOem(op) || op.signature != nullptr) continue;
    std::string allowed;
    for (const Signature* sig : SignaturesOf(op.operation->type))
      allowed += fmt::format("{}{}{}", allowed.empty() ? "" : " or ", sig->inputs.size(),
                             sig->inputs.front().repeats ? " or more" : "");
    f.Add(op.Where("inputs"), "{} has {} inputs instead of {}", op.Title(), op.input_count(),
          allowed);
  }
}

void OutputCount(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations())
    if (op.signature != nullptr && op.operation->outputs.size() != op.signature->outputs.size())
      f.Add(op.Where("outputs"), "{} has {} outputs instead of {}", op.Title(),
            op.operation->outputs.size(), op.signature->outputs.size());
}

void OptionalOnly(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr) continue;
    for (size_t i = 0; i < op.input_count(); ++i) {
      const Operand* o = s.FindOperand(op.operation->inputs[i]);
      if (o != nullptr && o->lifetime == LifeTime::kNoValue &&
          !op.signature->InputAt(i, op.input_count()).optional)
        f.Add(op.Where(fmt::format("inputs[{}]", i)), "input {} of {} has no value", i, op.Title());
    }
  }
}

char LetterOf(OperandType type) {
  switch (type) {
    case OperandType::kTensorFloat32:
      return 'f';
    case OperandType::kTensorQuant8Asymm:
      return 'q';
    case OperandType::kTensorInt32:
      return 'i';
    default:
      return 0;
  }
}

// The type that data tensors of an operation share: that of the first one.
std::optional<OperandType> DataType(const OperationAt& op) {
  for (size_t i = 0; i < op.input_count(); ++i)
    if (op.signature->InputAt(i, op.input_count()).kind == Kind::kData)
      if (const Operand* o = op.Input(i)) return o->type;
  return std::nullopt;
}

// The type an argument is to have; nullopt for any tensor.
std::optional<OperandType> TypeOf(const Argument& a, std::optional<OperandType> data) {
  switch (a.kind) {
    case Kind::kData:
      return data;
    case Kind::kBias:
      return data == OperandType::kTensorQuant8Asymm ? OperandType::kTensorInt32
                                                     : OperandType::kTensorFloat32;
    case Kind::kFloats:
      return OperandType::kTensorFloat32;
    case Kind::kInts:
      return OperandType::kTensorInt32;
    case Kind::kQuantised:
      return OperandType::kTensorQuant8Asymm;
    case Kind::kReal:
      return OperandType::kFloat32;
    case Kind::kAnyTensor:
      return std::nullopt;
    default:
      return OperandType::kInt32;
  }
}

// Calls visit(operand, argument, "inputs"/"outputs", position) for operands that are there.
template <typename Visit>
void EachArgument(const OperationAt& op, const Visit& visit) {
  if (op.signature == nullptr) return;
  for (size_t i = 0; i < op.input_count(); ++i)
    if (const Operand* o = op.Input(i))
      visit(*o, op.signature->InputAt(i, op.input_count()), "inputs", i);
  for (size_t i = 0; i < op.operation->outputs.size() && i < op.signature->outputs.size(); ++i)
    if (const Operand* o = op.Output(i)) visit(*o, op.signature->outputs[i], "outputs", i);
}

void DataTypeTaken(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr) continue;
    const auto data = DataType(op);
    if (data && op.signature->data_types.find(LetterOf(*data)) == std::string_view::npos)
      f.Add(op.Where("inputs"), "{} does not take {}", op.Title(), TextOf(*data));
  }
}

void ArgumentTypes(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr) continue;
    const auto data = DataType(op);
    EachArgument(op, [&](const Operand& o, const Argument& a, std::string_view list, size_t i) {
      const auto want = TypeOf(a, data);
      if (want ? o.type != *want : a.is_tensor() && !IsTensor(o.type))
        f.Add(op.Where(fmt::format("{}[{}]", list, i)), "{} {} of {} is {} instead of {}", list, i,
              op.Title(), TextOf(o.type), want ? TextOf(*want) : "a tensor");
    });
  }
}

void Ranks(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations())
    EachArgument(op, [&](const Operand& o, const Argument& a, std::string_view list, size_t i) {
      if (!a.is_tensor() || !IsTensor(o.type) || o.dimensions.empty()) return;
      const int rank = static_cast<int>(o.dimensions.size());
      const bool softmax = op.operation->type == OperationType::kSoftmax && rank == 3;
      if (rank < a.min_rank || (a.max_rank > 0 && rank > a.max_rank) || softmax)
        f.Add(op.Where(fmt::format("{}[{}]", list, i)), "{} {} of {} has rank {}", list, i,
              op.Title(), rank);
    });
}

// The range of an INT32 argument.
std::pair<int32_t, int32_t> RangeOf(Kind kind) {
  switch (kind) {
    case Kind::kActivation:
      return {0, 3};
    case Kind::kScheme:
      return {0, 2};
    case Kind::kPositive:
      return {1, INT32_MAX};
    case Kind::kNatural:
      return {0, INT32_MAX};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

void ScalarValues(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr) continue;
    for (size_t i = 0; i < op.input_count(); ++i) {
      const auto value = op.Int(i);
      const Kind kind = op.signature->InputAt(i, op.input_count()).kind;
      const auto [low, high] = RangeOf(kind);
      if (value && (*value < low || *value > high))
        f.Add(op.Where(fmt::format("inputs[{}]", i)), "input {} of {} is {}, outside of [{}, {}]",
              i, op.Title(), *value, low, high);
    }
  }
}

constexpr Rule kRules[] = {
    {{"NNAPI-OP-001", Severity::kError, "Operations are ones of version 1.0.",
      "types.hal, OperationType", true, ""},
     TypeKnown},
    {{"NNAPI-OP-002", Severity::kError,
      "An operation has as many inputs as one of its signatures, explicit or implicit padding.",
      "types.hal, OperationType", true, "Trailing arguments of later versions are not in 1.0."},
     InputCount},
    {{"NNAPI-OP-003", Severity::kError, "An operation has as many outputs as its signature.",
      "types.hal, OperationType", true, ""},
     OutputCount},
    {{"NNAPI-OP-004", Severity::kError, "Only optional inputs have the lifetime NO_VALUE.",
      "types.hal, OperandLifeTime.NO_VALUE", true, ""},
     OptionalOnly},
    {{"NNAPI-OP-005", Severity::kError, "The operation takes tensors of the type it is given.",
      "types.hal, OperationType", true, ""},
     DataTypeTaken},
    {{"NNAPI-OP-006", Severity::kError, "Every operand has the type that its position asks for.",
      "types.hal, OperationType", true, ""},
     ArgumentTypes},
    {{"NNAPI-OP-007", Severity::kError, "Tensors have a rank that the operation takes.",
      "types.hal, OperationType", true, ""},
     Ranks},
    {{"NNAPI-OP-008", Severity::kError,
      "Activation and padding codes exist; strides, sizes and blocks are positive, pads not "
      "negative.",
      "types.hal, FusedActivationFunc", true, ""},
     ScalarValues},
};

}  // namespace

std::span<const Rule> OperationRules() {
  return kRules;
}

}  // namespace nn::nnapi
