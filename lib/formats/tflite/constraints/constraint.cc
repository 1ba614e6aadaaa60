#include "formats/tflite/constraints/constraint.h"

#include <map>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite {
namespace constraints {
namespace {

using Op = fb::BuiltinOperator;

const std::map<Op, std::vector<PrepareFn>>& Preparations() {
  static const auto all = [] {
    std::map<Op, std::vector<PrepareFn>> map;
    for (const auto& list :
         {ElementwisePreparations(), WindowPreparations(), MatrixPreparations(),
          ShapePreparations(), SlicePreparations(), IndexPreparations(), ReductionPreparations(),
          RecurrentPreparations(), ControlPreparations(), QuantizationPreparations(),
          StableHloPreparations()})
      for (const Preparation& p : list) map[p.op].push_back(p.prepare);
    return map;
  }();
  return all;
}

// The shape of a tensor before any operator is prepared. Tensors that operators write get theirs
// later.
std::optional<Dims> DeclaredDims(const fb::Tensor& tensor, bool constant) {
  Dims dims = ListOf<int64_t>(tensor.shape());
  if (dims.empty() && !constant && !tensor.has_rank()) return std::nullopt;
  const auto open = ListOf<int32_t>(tensor.shape_signature());
  for (size_t i = 0; i < dims.size(); ++i)
    if ((!constant && i < open.size() && open[i] < 0) || dims[i] < 0) dims[i] = -1;
  return dims;
}

std::vector<Value> InitialValues(const ModelView& model, const fb::SubGraph& graph) {
  std::vector<Value> values(static_cast<size_t>(SizeOf(graph.tensors())));
  for (size_t i = 0; i < values.size(); ++i) {
    const fb::Tensor* tensor = At(graph.tensors(), static_cast<int64_t>(i));
    if (tensor == nullptr) continue;
    const bool constant = model.is_constant(*tensor);
    values[i] = {tensor, static_cast<int32_t>(i), tensor->type(), DeclaredDims(*tensor, constant),
                 constant};
  }
  return values;
}

void CheckCounts(Operation& o, const Signature& s) {
  const auto check = [&](Check which, int n, const std::vector<SignatureOperand>& list,
                         std::string_view what) {
    const int low = MinOperands(list);
    const int high = MaxOperands(list);
    if (n < low || (high >= 0 && n > high))
      o.Fail(which, "the number of {} is {}; expected {}", what, n,
             spec::Range(low, high).ToString());
  };
  check(Check::kInputCount, o.inputs(), s.inputs, "inputs");
  check(Check::kOutputCount, o.outputs(), s.outputs, "outputs");
}

void CheckOptions(Operation& o, const Signature& s) {
  const fb::Operator& op = *o.at().op;
  const bool has = op.builtin_options() != nullptr;
  const bool has2 = op.builtin_options_2() != nullptr;
  if (has && op.builtin_options_type() != s.options &&
      op.builtin_options_type() != decltype(s.options)::NONE)
    o.Note(Check::kOptionsType, "builtin_options is {}; expected {}",
           fb::EnumNameBuiltinOptions(op.builtin_options_type()),
           s.options2 != fb::BuiltinOptions2::NONE ? fb::EnumNameBuiltinOptions2(s.options2)
                                                   : fb::EnumNameBuiltinOptions(s.options));
  if (has2 && op.builtin_options_2_type() != s.options2)
    o.Note(Check::kOptionsType, "builtin_options_2 is {}; expected {}",
           fb::EnumNameBuiltinOptions2(op.builtin_options_2_type()),
           fb::EnumNameBuiltinOptions2(s.options2));
  if (!s.needs_options) return;
  const bool there = s.options2 != fb::BuiltinOptions2::NONE
                         ? has2 && op.builtin_options_2_type() == s.options2
                         : has && op.builtin_options_type() == s.options;
  if (!there)
    o.Fail(Check::kOptionsMissing, "it has no {}, which the kernel requires",
           s.options2 != fb::BuiltinOptions2::NONE ? fb::EnumNameBuiltinOptions2(s.options2)
                                                   : fb::EnumNameBuiltinOptions(s.options));
}

// Whether a tensor needs a scale is judged of a trial only: kernels compute with integers that have
// none, but not what the graph says.
OperandFacts FactsOf(const Operation& o, const Value& v) {
  OperandFacts facts{v.type, v.rank(), v.elements(), std::nullopt, ZeroPointOf(v)};
  if (o.model().trial) facts.scaled = AffineOf(*v.tensor) != nullptr;
  return facts;
}

Check CheckOf(Misfit::Kind kind, bool output) {
  switch (kind) {
    case Misfit::Kind::kTypes:
      return output ? Check::kOutputTypes : Check::kInputTypes;
    case Misfit::Kind::kKernelTypes:
      return Check::kKernelTypes;
    case Misfit::Kind::kSameType:
      return Check::kTypeAgreement;
    case Misfit::Kind::kRank:
      return Check::kRanks;
    case Misfit::Kind::kElements:
      return Check::kElementCounts;
    case Misfit::Kind::kScale:
      return Check::kQuantized;
    case Misfit::Kind::kZeroPoint:
      break;
  }
  return Check::kInt16ZeroPoint;
}

void CheckOperand(Operation& o, const SignatureOperand& operand, const Value& v, bool output) {
  const Value* other = operand.same_as >= 0 ? o.in(operand.same_as) : nullptr;
  const OperandFacts other_facts = other != nullptr ? FactsOf(o, *other) : OperandFacts();
  for (const Misfit& m :
       MisfitsOf(operand, FactsOf(o, v), output, other != nullptr ? &other_facts : nullptr,
                 other != nullptr ? other->Text() : std::string())) {
    const Check check = CheckOf(m.kind, output);
    if (check == Check::kKernelTypes)
      o.Note(check, "{}", m.text);
    else
      o.Fail(check, "{}", m.text);
  }
}

// Sets the output types that the interpreter determines, and reports a different declared type.
void GiveTypes(Operation& o, const SignatureOperand& operand, Value& v) {
  const int source = operand.given_by >= 0 ? operand.given_by : operand.expected;
  const Value* giver = source >= 0 ? o.in(source) : nullptr;
  if (giver == nullptr && !operand.has_given_type) return;
  const fb::TensorType type = giver != nullptr ? giver->type : operand.given_type;
  if (type != v.type && !o.failed())
    o.Note(Check::kDeclaredTypes, "{} is declared as {}; the operator produces {}", v.Text(),
           fb::EnumNameTensorType(v.type), fb::EnumNameTensorType(type));
  if (operand.expected < 0) v.type = type;
}

void CheckOperands(Operation& o, const Signature& s) {
  for (int i = 0; i < o.inputs(); ++i) {
    const SignatureOperand* operand = OperandAt(s.inputs, static_cast<size_t>(i));
    if (operand == nullptr) break;
    using enum SignatureOperand::Presence;
    const bool nullable =
        operand->presence == kNullable || (operand->presence == kOptional && !operand->repeated);
    if (const Value* v = o.in(i))
      CheckOperand(o, *operand, *v, false);
    else if (!nullable && o.at().op->inputs()->Get(static_cast<flatbuffers::uoffset_t>(i)) == -1)
      o.Fail(Check::kInputAbsent, "required input {} ({}) is -1", i, operand->name);
  }
  for (int i = 0; i < o.outputs(); ++i) {
    const SignatureOperand* operand = OperandAt(s.outputs, static_cast<size_t>(i));
    if (operand == nullptr) break;
    if (Value* v = o.out(i)) {
      CheckOperand(o, *operand, *v, true);
      GiveTypes(o, *operand, *v);
    }
  }
}

// Reports an output whose declared shape differs from the computed one.
void CompareDeclared(Operation& o, const Value& v) {
  const auto declared = DeclaredDims(*v.tensor, false);
  if (!declared || !v.dims || o.failed()) return;
  bool differ = declared->size() != v.dims->size();
  for (size_t i = 0; !differ && i < declared->size(); ++i)
    differ = Differ((*declared)[i], (*v.dims)[i]);
  if (differ)
    o.Note(Check::kDeclaredShapes, "{} is declared with shape {}; the computed shape is {}",
           v.Text(), ShapeText(declared), ShapeText(v.dims));
}

// Names the operands of an operator as its signature does.
void NameOperands(const Operation& o, const Signature& s) {
  for (int i = 0; i < o.inputs() + o.outputs(); ++i) {
    const bool is_output = i >= o.inputs();
    const int at = is_output ? i - o.inputs() : i;
    const auto* operand = OperandAt(is_output ? s.outputs : s.inputs, static_cast<size_t>(at));
    if (Value* const v = is_output ? o.out(at) : o.in(at); v != nullptr && operand != nullptr)
      v->role = is_output && o.outputs() == 1 ? "the result" : operand->name;
  }
}

void PrepareOperator(const ModelView& model, const OperatorAt& at, std::vector<Value>& values,
                     const std::function<void(Violation)>& report) {
  if (at.code == nullptr) return;
  Operation o(model, at, values, report);
  const auto forget = [&] {
    for (int i = 0; i < o.outputs(); ++i) o.Give(i, std::nullopt);
  };
  const Signature* signature = FindSignature(o.op());
  if (signature == nullptr) return forget();
  if (model.trial) NameOperands(o, *signature);
  CheckCounts(o, *signature);
  if (o.failed()) return forget();
  CheckOptions(o, *signature);
  CheckOperands(o, *signature);
  forget();
  const auto it = Preparations().find(o.op());
  if (o.failed() || it == Preparations().end()) return;
  for (const PrepareFn prepare : it->second) {
    prepare(o);
    if (o.failed()) return forget();
  }
  for (int i = 0; i < o.outputs(); ++i)
    if (const Value* v = o.out(i)) CompareDeclared(o, *v);
}

}  // namespace
}  // namespace constraints

std::vector<OperatorAt> OperatorsOf(const fb::Model& model) {
  std::vector<OperatorAt> out;
  for (int64_t g = 0; g < SizeOf(model.subgraphs()); ++g) {
    const fb::SubGraph* graph = At(model.subgraphs(), g);
    for (int64_t i = 0; graph != nullptr && i < SizeOf(graph->operators()); ++i)
      if (const fb::Operator* op = At(graph->operators(), i))
        out.push_back({op, graph, At(model.operator_codes(), op->opcode_index()), g, i});
  }
  return out;
}

void FindViolations(const ModelView& model, std::span<const OperatorAt> operators,
                    const std::function<void(Violation)>& report) {
  int64_t graph = -1;
  std::vector<constraints::Value> values;
  for (const OperatorAt& at : operators) {
    if (at.graph != graph) values = constraints::InitialValues(model, *at.subgraph);
    graph = at.graph;
    constraints::PrepareOperator(model, at, values, report);
  }
}

}  // namespace nn::tflite
