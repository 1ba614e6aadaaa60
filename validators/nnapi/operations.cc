// Rules that compare operations with their signatures.
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
      f.Add(op.Where("type"), "operation {} has unknown type {}", op.index,
            TextOf(op.operation->type));
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
        f.Add(op.AtInput(i), "{} is required but has no value", op.InputTitle(i));
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

bool Accepts(const OperationAt& op, OperandType data) {
  return op.signature->data_types.find(LetterOf(data)) != std::string_view::npos;
}

// The type that an argument must have; nullopt for any numeric tensor.
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
    case Kind::kQuantized:
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
      f.Add(a.Where(), "{} has type {}, which the operation does not support", a.Title(),
            TextOf(*data));
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
      // DataTypeTaken checks the data type itself, and CodesKnown reports unknown types.
      if (!NameOf(type) || (!known && (kind == Kind::kData || kind == Kind::kBias))) return;
      const auto want = TypeOf(a.argument, data);
      if (want ? type != *want : LetterOf(type) == 0)
        f.Add(a.Where(), "{} has type {} instead of {}", a.Title(), TextOf(type),
              want ? TextOf(*want) : "a numeric tensor type");
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

// Checks that constant scalars of some kinds are in a range.
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
        f.Add(op.AtInput(i), "{} is {}; it must be at least {}", op.InputTitle(i), *value, low);
      else
        f.Add(op.AtInput(i), "{} is {}, which is outside [{}, {}]", op.InputTitle(i), *value, low,
              high);
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

constexpr Rule kOperationRules[] = {
    {.info = {.id = "NNAPI-OP-001",
              .statement = "The type of every operation is defined by NNAPI 1.0.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Express the operation by operations of NNAPI 1.0; those of later versions "
                      "are unsupported."},
     .check = TypeKnown},
    {.info = {.id = "NNAPI-OP-002",
              .statement = "An operation has as many inputs as one of its signatures, such as "
                           "those for explicit and implicit padding.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Pass exactly the arguments of NNAPI 1.0, without the trailing ones of later "
                      "versions."},
     .check = InputCount},
    {.info =
         {.id = "NNAPI-OP-003",
          .statement = "An operation has as many outputs as its signature.",
          .clause = "types.hal, OperationType",
          .vendor = true,
          .hint =
              "Add an operand for every result, even if nothing reads it, and remove the others."},
     .check = OutputCount},
    {.info = {.id = "NNAPI-OP-004",
              .statement = "Only optional inputs of an operation have lifetime NO_VALUE.",
              .clause = "types.hal, OperandLifeTime.NO_VALUE",
              .vendor = true,
              .hint = "Give the operand a value; the operation requires this input."},
     .check = OptionalOnly},
    {.info = {.id = "NNAPI-OP-005",
              .statement = "The data tensors of an operation are of a type that it supports.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Use a tensor type that the operation supports; DEQUANTIZE converts "
                      "quantized data to floats."},
     .check = DataTypeTaken},
    {.info = {.id = "NNAPI-OP-006",
              .statement = "Every input and output of an operation has the type that its position "
                           "in the signature requires.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Change the operand's type to the required one; all data tensors of an "
                      "operation have the same type."},
     .check = ArgumentTypes},
    {.info = {.id = "NNAPI-OP-007",
              .statement = "Every tensor has a rank that the operation supports at its position.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Reshape the tensor to a supported rank."},
     .check = Ranks},
    {.info = {.id = "NNAPI-OP-008",
              .statement = "A fused activation is 0 (NONE), 1 (RELU), 2 (RELU1) or 3 (RELU6).",
              .clause = "types.hal, FusedActivationFunc",
              .vendor = true,
              .hint = "Set the fused activation to 0, and add any other activation as an operation "
                      "of its own."},
     .check = ActivationsKnown},
    {.info = {.id = "NNAPI-OP-009",
              .statement = "An implicit padding scheme is 0 (NONE), 1 (SAME) or 2 (VALID).",
              .clause = "types.hal, OperationType.CONV_2D",
              .hint = "Use SAME or VALID, or replace the scheme with four explicit padding sizes."},
     .check = SchemesKnown},
    {.info = {.id = "NNAPI-OP-010",
              .statement = "Strides, window sizes, output sizes of RESIZE_BILINEAR, depth "
                           "multipliers, block sizes and the rank of SVDF are at least 1.",
              .clause = "types.hal, OperationType.DEPTH_TO_SPACE",
              .vendor = true,
              .hint = "Use a value of at least 1, and check the order of the arguments: width "
                      "comes before height."},
     .check = StepsPositive},
    {.info =
         {.id = "NNAPI-OP-011",
          .statement =
              "Explicit padding and the radius of LOCAL_RESPONSE_NORMALIZATION are not negative.",
          .clause = "types.hal, OperationType.CONV_2D",
          .vendor = true,
          .hint = "Use a value of at least 0, and check the order of the arguments: left, right, "
                  "top, bottom."},
     .check = PaddingsNatural},
};

}  // namespace

std::span<const Rule> OperationRules() {
  return kOperationRules;
}

}  // namespace nn::nnapi
