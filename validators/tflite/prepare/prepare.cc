#include "validators/tflite/prepare/prepare.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/checked_math.h"
#include "validators/tflite/operation.h"

namespace nn::tflite {
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

bool HasContents(const RuleContext& s, const fb::Tensor& tensor) {
  const fb::Buffer* buffer = At(s.root().buffers(), tensor.buffer());
  return tensor.external_buffer() != 0 || (tensor.buffer() != 0 && buffer != nullptr &&
                                           (buffer->data() != nullptr || buffer->offset() > 1));
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

std::vector<Value> InitialValues(const RuleContext& s, const fb::SubGraph& graph) {
  std::vector<Value> values(static_cast<size_t>(SizeOf(graph.tensors())));
  for (size_t i = 0; i < values.size(); ++i) {
    const fb::Tensor* tensor = At(graph.tensors(), static_cast<int64_t>(i));
    if (tensor == nullptr) continue;
    const bool constant = HasContents(s, *tensor);
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

OperandFacts FactsOf(const Value& v) {
  return {v.type, v.rank(), v.elements(), std::nullopt, std::nullopt};
}

void CheckOperand(Operation& o, const SignatureOperand& operand, const Value& v, bool output) {
  const Value* other = operand.same_as >= 0 ? o.in(operand.same_as) : nullptr;
  const OperandFacts other_facts = other != nullptr ? FactsOf(*other) : OperandFacts();
  for (const Misfit& m :
       MisfitsOf(operand, FactsOf(v), output, other != nullptr ? &other_facts : nullptr,
                 other != nullptr ? other->Text() : std::string())) {
    switch (m.kind) {
      case Misfit::Kind::kTypes:
        o.Fail(output ? Check::kOutputTypes : Check::kInputTypes, "{}", m.text);
        break;
      case Misfit::Kind::kKernelTypes:
        o.Note(Check::kKernelTypes, "{}", m.text);
        break;
      case Misfit::Kind::kSameType:
        o.Fail(Check::kTypeAgreement, "{}", m.text);
        break;
      case Misfit::Kind::kRank:
        o.Fail(Check::kRanks, "{}", m.text);
        break;
      case Misfit::Kind::kElements:
        o.Fail(Check::kElementCounts, "{}", m.text);
        break;
      case Misfit::Kind::kScale:
      case Misfit::Kind::kZeroPoint:
        break;  // not judged: FactsOf does not give them (prepare_quantized.cc)
    }
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

void PrepareOperator(const RuleContext& s, const OperatorAt& at, std::vector<Value>& values,
                     Problems& problems) {
  if (at.code == nullptr) return;
  Operation o(s, at, values, problems);
  const auto forget = [&] {
    for (int i = 0; i < o.outputs(); ++i) o.Give(i, std::nullopt);
  };
  const Signature* signature = FindSignature(o.op());
  if (signature == nullptr) return forget();
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

void CheckCodes(const RuleContext& s, Problems& problems) {
  std::set<uint32_t> used;
  for (const OperatorAt& at : s.operators()) used.insert(at.op->opcode_index());
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    const Signature* signature = code != nullptr ? FindSignature(OperatorOf(*code)) : nullptr;
    if (signature == nullptr) continue;
    const Location where = nn::At(fmt::format("operator_codes[{}]", i));
    if (signature->max_version == 0)
      problems.Add(Check::kNoKernel, where,
                   fmt::format("the interpreter has no kernel for {}", OperatorName(code)));
    else if (code->version() < signature->min_version || code->version() > signature->max_version)
      problems.Add(
          Check::kVersion, where,
          fmt::format("{} has version {}; expected {}", OperatorName(code), code->version(),
                      spec::Range(signature->min_version, signature->max_version).ToString()));
  }
}

}  // namespace

Problems Prepare(const RuleContext& s) {
  Problems problems;
  CheckCodes(s, problems);
  int64_t graph = -1;
  std::vector<Value> values;
  for (const OperatorAt& at : s.operators()) {
    if (at.graph != graph) values = InitialValues(s, *at.subgraph);
    graph = at.graph;
    PrepareOperator(s, at, values, problems);
  }
  return problems;
}

}  // namespace nn::tflite
