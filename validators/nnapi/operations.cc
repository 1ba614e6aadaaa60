// Rules of operations against their signatures.
#include <algorithm>

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
    f.Add(op.Where("inputs"), "{} has {} inputs instead of {}", op.Title(), op.input_count(),
          InputCounts(op.operation->type));
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
        f.Add(op.AtInput(i), "{} has no value", op.InputTitle(i));
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

// An operand with its place in an operation's signature.
struct ArgumentAt {
  const OperationAt& op;
  const Operand& operand;
  const Argument& argument;
  bool input;
  size_t i;

  std::string Title() const { return input ? op.InputTitle(i) : op.OutputTitle(i); }
  Location Where() const { return input ? op.AtInput(i) : op.AtOutput(i); }
};

// Calls visit(ArgumentAt) for all operands that exist, with a value or without.
template <typename Visit>
void EachArgument(const OperationAt& op, const Visit& visit) {
  if (op.signature == nullptr) return;
  const Operation& o = *op.operation;
  for (size_t i = 0; i < o.inputs.size(); ++i)
    if (const Operand* operand = op.subject->FindOperand(o.inputs[i]))
      visit(ArgumentAt{op, *operand, op.signature->InputAt(i, o.inputs.size()), true, i});
  for (size_t i = 0; i < o.outputs.size() && i < op.signature->outputs.size(); ++i)
    if (const Operand* operand = op.Output(i))
      visit(ArgumentAt{op, *operand, op.signature->outputs[i], false, i});
}

// The type that data tensors of an operation share: the one that most have, the first of those that
// as many have. Codes that are not known have no vote.
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

bool Accepts(const OperationAt& op, OperandType data) {
  return op.signature->data_types.find(LetterOf(data)) != std::string_view::npos;
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

void DataTypeTaken(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const auto data = DataType(op);
    if (!data || Accepts(op, *data)) continue;
    bool found = false;
    EachArgument(op, [&](const ArgumentAt& a) {
      if (found || a.argument.kind != Kind::kData || a.operand.type != *data) return;
      found = true;
      f.Add(a.Where(), "{} is {}, which the operation does not take", a.Title(), TextOf(*data));
    });
  }
}

void ArgumentTypes(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const auto data = DataType(op);
    const bool known = data && Accepts(op, *data);
    EachArgument(op, [&](const ArgumentAt& a) {
      const OperandType type = a.operand.type;
      const Kind kind = a.argument.kind;
      // What the data are to be is DataTypeTaken's question, what a code means CodesKnown's.
      if (!NameOf(type) || (!known && (kind == Kind::kData || kind == Kind::kBias))) return;
      const auto want = TypeOf(a.argument, data);
      if (want ? type != *want : LetterOf(type) == 0)
        f.Add(a.Where(), "{} is {} instead of {}", a.Title(), TextOf(type),
              want ? TextOf(*want) : "a tensor of numbers");
    });
  }
}

void Ranks(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations())
    EachArgument(op, [&](const ArgumentAt& a) {
      const Operand& o = a.operand;
      if (!a.argument.is_tensor() || !IsTensor(o.type) || o.dimensions.empty() ||
          o.lifetime == LifeTime::kNoValue)
        return;
      if (const size_t rank = o.dimensions.size(); !a.argument.TakesRank(rank))
        f.Add(a.Where(), "{} has rank {} instead of {}", a.Title(), rank, a.argument.RanksText());
    });
}

// Constant scalars of these kinds are in a range.
void CheckScalars(const Subject& s, Findings& f, std::initializer_list<Kind> kinds, int32_t low,
                  int32_t high) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr) continue;
    for (size_t i = 0; i < op.input_count(); ++i) {
      const Kind kind = op.signature->InputAt(i, op.input_count()).kind;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
      const auto value = op.Int(i);
      if (!value || (*value >= low && *value <= high)) continue;
      if (high == INT32_MAX)
        f.Add(op.AtInput(i), "{} is {}, below {}", op.InputTitle(i), *value, low);
      else
        f.Add(op.AtInput(i), "{} is {}, outside of [{}, {}]", op.InputTitle(i), *value, low, high);
    }
  }
}

void ActivationsKnown(const Subject& s, Findings& f) {
  CheckScalars(s, f, {Kind::kActivation}, 0, 3);
}

void SchemesKnown(const Subject& s, Findings& f) {
  CheckScalars(s, f, {Kind::kScheme}, 0, 2);
}

void StepsPositive(const Subject& s, Findings& f) {
  CheckScalars(s, f, {Kind::kPositive}, 1, INT32_MAX);
}

void PaddingsNatural(const Subject& s, Findings& f) {
  CheckScalars(s, f, {Kind::kNatural}, 0, INT32_MAX);
}

constexpr Rule kRules[] = {
    {{"NNAPI-OP-001", Severity::kError, "Operations are ones of version 1.0.",
      "types.hal, OperationType", true,
      "Operations of later versions are not in 1.0: write them in terms of others."},
     TypeKnown},
    {{"NNAPI-OP-002", Severity::kError,
      "An operation has as many inputs as one of its signatures, explicit or implicit padding.",
      "types.hal, OperationType", true, "Trailing arguments of later versions are not in 1.0."},
     InputCount},
    {{"NNAPI-OP-003", Severity::kError, "An operation has as many outputs as its signature.",
      "types.hal, OperationType", true,
      "Name an operand for each result, also for those that nobody reads."},
     OutputCount},
    {{"NNAPI-OP-004", Severity::kError, "Only optional inputs have the lifetime NO_VALUE.",
      "types.hal, OperandLifeTime.NO_VALUE", true, "Give the operand a value."},
     OptionalOnly},
    {{"NNAPI-OP-005", Severity::kError, "The operation takes tensors of the type it is given.",
      "types.hal, OperationType", true, "Dequantise or convert the data first."},
     DataTypeTaken},
    {{"NNAPI-OP-006", Severity::kError, "Every operand has the type that its position asks for.",
      "types.hal, OperationType", true, "Data tensors of an operation share their type."},
     ArgumentTypes},
    {{"NNAPI-OP-007", Severity::kError, "Tensors have a rank that the operation takes.",
      "types.hal, OperationType", true, "Reshape the tensor first."},
     Ranks},
    {{"NNAPI-OP-008", Severity::kError,
      "Fused activations are 0 (NONE), 1 (RELU), 2 (RELU1) or 3 (RELU6).",
      "types.hal, FusedActivationFunc", true,
      "Write other activations as operations of their own."},
     ActivationsKnown},
    {{"NNAPI-OP-009", Severity::kError, "Implicit paddings are 0 (NONE), 1 (SAME) or 2 (VALID).",
      "types.hal, OperationType.CONV_2D", false,
      "Other paddings are given as four numbers in its place."},
     SchemesKnown},
    {{"NNAPI-OP-010", Severity::kError,
      "Strides, sizes of windows and images, depth multipliers, block sizes and ranks are at least "
      "1.",
      "types.hal, OperationType.DEPTH_TO_SPACE", true,
      "Check the order of the arguments: width stands before height."},
     StepsPositive},
    {{"NNAPI-OP-011", Severity::kError, "Explicit paddings and radii are not negative.",
      "types.hal, OperationType.CONV_2D", true,
      "Check the order of the arguments: left, right, top, bottom."},
     PaddingsNatural},
};

}  // namespace

std::span<const Rule> OperationRules() {
  return kRules;
}

}  // namespace nn::nnapi
