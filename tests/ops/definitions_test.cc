// Compares the properties of operators (ir/op_def.h) with their behavior.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/support/window.h"
#include "support/run_graph.h"

namespace nn::test::definitions_test {
namespace {

TEST_CASE("definitions: properties are complete and agree with the operands") {
  for (const OpDef* op : Ops().All()) {
    CAPTURE(op->name);
    CHECK(op->category != Category::kUnset);
    CHECK(op->is_opaque == (op->eval == nullptr && !op->is_composition()));
    if (op->movement != Movement::kNone) {
      REQUIRE(!op->inputs.empty());
      CHECK(op->inputs[0].elements == Elements::kAny);
    }
    if (op->quant_rule == QuantRule::kElementwise)
      CHECK((op->inputs.size() == 1 || op->inputs.size() == 2));
    if (op->quant_rule == QuantRule::kProduct) {
      REQUIRE(op->inputs.size() == 3);
      CHECK(op->inputs[2].name == "bias");
      CHECK(op->inputs[2].arity == Arity::kOptional);
    }
    if (op->has_quantized_form != nullptr || op->quantized_arithmetic != nullptr)
      CHECK((op->quant_rule != QuantRule::kNone && op->quant_rule != QuantRule::kStored));
    if (op->takes_unit_axes) {
      const Attrs attrs(op->attrs);
      CHECK(attrs.Get("layout").has_value());
      CHECK(WithUnitAxes(attrs, 1).has_value());
    }
  }
}

TEST_CASE("definitions: operators that only move elements keep them and their quantization") {
  const std::map<std::string_view, std::string> calls = {
      {"transpose", "transpose(%x) {perm = [2, 0, 1]}"},
      {"reshape", "reshape(%x) {dims = [6, 4]}"},
      {"expand_dims", "expand_dims(%x) {axes = [1]}"},
      {"squeeze", "squeeze(%x) {axes = [0]}"},
      {"assume_shape", "assume_shape(%x) {dims = [1, 6, 4]}"},
  };
  for (const OpDef* op : Ops().All()) {
    if (op->movement == Movement::kNone) continue;
    CAPTURE(op->name);
    REQUIRE(calls.contains(op->name));
    const Graph g = Parse(OneOp("u8[1, 6, 4]{scale=0.5, zp=3}", calls.at(op->name)));
    const Tensor x = InputsOf(g, {})[0];
    const Type& type = g.outputs()[0].value->type();
    CHECK(type.dtype == DType::kU8);
    REQUIRE(type.quantized());
    CHECK(type.quant->SameMapping(*g.inputs()[0].value->type().quant));
    const auto y = EvalNode(g.nodes().front(), {&x});
    REQUIRE_MESSAGE(y.has_value(), y.error().message());
    std::vector<int64_t> before = x.ToInts();
    std::vector<int64_t> after = (*y)[0].ToInts();
    CHECK((before == after) == (op->movement == Movement::kInOrder));
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    CHECK(before == after);
  }
}

TEST_CASE("definitions: operators with bounds clamp to them") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::Of<float>({8}, {-kInfinity, -3, -1.5f, -0.25f, 0, 1.75f, 6, kInfinity});
  for (const OpDef* op : Ops().All()) {
    if (op->clamp == nullptr) continue;
    CAPTURE(op->name);
    Attrs attrs(op->attrs);
    for (const auto& [name, value] : {std::pair("min", -1.5f), std::pair("max", 2.0f)})
      if (attrs.Get(name)) attrs = *attrs.With(name, value);
    Graph g;
    const auto node = g.Append(op->name, {g.AddInput("x", Type(DType::kF32, {Dim(8)}))}, attrs);
    REQUIRE_MESSAGE(node.has_value(), node.error().message());
    const auto y = EvalNode(**node, {&x});
    REQUIRE_MESSAGE(y.has_value(), y.error().message());
    const Interval bounds = op->clamp(**node);
    std::vector<double> want = x.ToDoubles();
    for (double& v : want) v = std::clamp(v, bounds.min, bounds.max);
    CHECK((*y)[0].ToDoubles() == want);
  }
}

TEST_CASE("definitions: floats represent integers where the definition says so") {
  std::vector<int32_t> a, b;
  for (int32_t i = -6; i <= 6; ++i)
    for (int32_t k = -6; k <= 6; ++k)
      if (k != 0) {
        a.push_back(i);
        b.push_back(k);
      }
  const auto n = static_cast<int64_t>(a.size());
  const auto run = [&](const OpDef& op, DType dtype, const Tensor& x, const Tensor& y) {
    Graph g;
    const Type type(dtype, {Dim(n)});
    const auto node = g.Append(op.name, {g.AddInput("a", type), g.AddInput("b", type)});
    REQUIRE_MESSAGE(node.has_value(), node.error().message());
    const auto z = EvalNode(**node, {&x, &y});
    REQUIRE_MESSAGE(z.has_value(), z.error().message());
    return (*z)[0].ToDoubles();
  };
  const std::vector<float> real_a(a.begin(), a.end()), real_b(b.begin(), b.end());
  for (const OpDef* op : Ops().All()) {
    CHECK((!op->keeps_integers || op->exact_integers));
    if (!op->keeps_integers) continue;
    CAPTURE(op->name);
    const auto integers = run(*op, DType::kI32, Tensor::Of({n}, a), Tensor::Of({n}, b));
    const auto reals = run(*op, DType::kF32, Tensor::Of({n}, real_a), Tensor::Of({n}, real_b));
    CHECK(integers == reals);
  }
}

// Integers at the ends of the 8-bit types and others, in all pairs, in a type with these ends or a
// wider one.
std::vector<Tensor> PairsOf(DType narrow, DType dtype) {
  constexpr int64_t kBits[] = {0, 1, 2, 3, 100, 127, 128, 255};
  constexpr int64_t kSide = std::size(kBits);
  auto a = TensorBuilder::Create(dtype, {kSide, kSide});
  auto b = TensorBuilder::Create(dtype, {kSide, kSide});
  const auto number = [&](int64_t i) {
    return IsSigned(narrow) ? int64_t{static_cast<int8_t>(kBits[i])} : kBits[i];
  };
  for (int64_t i = 0; i < kSide; ++i)
    for (int64_t k = 0; k < kSide; ++k) {
      a->SetInt(kSide * i + k, number(i));
      b->SetInt(kSide * i + k, number(k));
    }
  return {a->Finish(), b->Finish()};
}

// The first result of an operator on such integers and small constants, as bits of an 8-bit type.
std::vector<int64_t> BitsOfResult(const OpDef& op, DType narrow, DType dtype) {
  const std::map<std::string_view, std::vector<Tensor>> constants = {
      {"gather", {Tensor::Of<int64_t>({2}, {1, 0})}},
      {"gather_elements", {Tensor::Of<int64_t>({1, 2}, {1, 0})}},
      {"gather_nd", {Tensor::Of<int64_t>({2, 1}, {1, 0})}},
      {"reverse_sequence", {Tensor::Of<int64_t>({8}, {1, 2, 3, 4, 5, 6, 7, 8})}},
      {"scatter_elements", {Tensor::Of<int64_t>({8, 8}, std::vector<int64_t>(64, 1))}},
      {"scatter_nd", {Tensor::Of<int64_t>({8, 1}, {3, 1, 2, 0, 7, 6, 5, 4})}},
      {"slice_update", {Tensor::Of<int64_t>({0}, {})}},
      {"split", {Tensor::Of<int64_t>({2}, {3, 5})}},
      {"top_k", {Tensor::Of<int64_t>({}, {5})}},
  };
  const std::vector<Tensor> pairs = PairsOf(narrow, dtype);
  Graph g;
  std::vector<Value*> inputs = {g.AddConstant(pairs[0])};
  if (const auto it = constants.find(op.name); it != constants.end())
    for (const Tensor& t : it->second) inputs.push_back(g.AddConstant(t));
  while (inputs.size() < op.inputs.size() && op.inputs[inputs.size()].arity == Arity::kRequired)
    inputs.push_back(g.AddConstant(pairs[1]));
  std::vector<const Tensor*> tensors;
  for (const Value* v : inputs) tensors.push_back(&v->constant());
  const size_t outputs = op.outputs[0].arity == Arity::kVariadic ? 2 : op.outputs.size();
  const auto node = g.Append(op.name, inputs, Attrs(op.attrs), outputs);
  REQUIRE_MESSAGE(node.has_value(), node.error().message());
  const auto y = EvalNode(**node, tensors);
  REQUIRE_MESSAGE(y.has_value(), y.error().message());
  std::vector<int64_t> bits;
  for (const Tensor& t : *y)
    for (const int64_t v : t.ToInts()) bits.push_back(t.dtype() == dtype ? v & 0xff : v);
  return bits;
}

TEST_CASE(
    "definitions: narrow integers can be computed in wide ones where the definition says so") {
  for (const OpDef* op : Ops().All()) {
    if (!op->wraps_integers) continue;
    CAPTURE(op->name);
    for (const DType narrow : {DType::kI8, DType::kU8})
      for (const DType wide : {DType::kI32, DType::kI64})
        CHECK(BitsOfResult(*op, narrow, narrow) == BitsOfResult(*op, narrow, wide));
  }
}

Tensor Ones(DType dtype) {
  if (dtype == DType::kString) return Tensor({2}, std::vector<std::string>{"a", "b"});
  auto b = TensorBuilder::Create(dtype, {2});
  if (IsComplex(dtype)) std::memset(b->data(), 0, static_cast<size_t>(DTypeBits(dtype)) / 4);
  for (int64_t i = 0; i < 2 && !IsComplex(dtype); ++i)
    IsFloat(dtype) ? b->SetDouble(i, 1) : b->SetInt(i, 1);
  return b->Finish();
}

// Whether the definition says which types the evaluation accepts.
bool StatesElements(const OperandDef& operand) {
  return !(operand.elements == Elements::kNumbers) && !(operand.elements == Elements::kAny);
}

// Whether inference and evaluation accept operands of a type; those whose types are not stated are
// 1.
bool Accepts(const OpDef& op, DType dtype) {
  Graph g;
  std::vector<Tensor> tensors;
  for (const OperandDef& operand : op.inputs)
    if (operand.arity == Arity::kRequired)
      tensors.push_back(StatesElements(operand) ? Ones(dtype) : Tensor::Scalar<int64_t>(1));
  std::vector<Value*> inputs;
  std::vector<const Tensor*> pointers;
  std::vector<Type> types;
  for (const Tensor& t : tensors) {
    inputs.push_back(g.AddConstant(t));
    pointers.push_back(&t);
    types.push_back(inputs.back()->type());
  }
  const auto node = g.Append(op.name, inputs);
  if (!node) return false;
  EvalBudget budget;
  EvalContext context(**node, pointers, types, {(*node)->output()->type()}, budget);
  return op.eval(context).has_value();
}

TEST_CASE("definitions: the evaluation accepts the element types of the definition") {
  for (const OpDef* op : Ops().All()) {
    if (op->inputs.empty() || !StatesElements(op->inputs[0]) || op->name == "select") continue;
    CAPTURE(op->name);
    for (int t = 1; t < kDTypeCount; ++t) {
      const auto dtype = static_cast<DType>(t);
      CAPTURE(DTypeName(dtype));
      CHECK(Accepts(*op, dtype) == op->inputs[0].elements.Has(dtype));
    }
  }
}

TEST_CASE("definitions: element types that the definition lacks are refused by name") {
  const Graph g = Parse(OneOp("bool[2]", "abs(%x)"));
  const Node& node = g.nodes().front();
  CHECK(WhyNotElements(node) == "bool is not supported as input x");
  const Tensor x = Ones(DType::kBool);
  const auto y = EvalNode(node, {&x});
  REQUIRE_FALSE(y.has_value());
  CHECK(y.error().code() == ErrorCode::kUnsupported);
  CHECK(y.error().message().find("bool is not supported as input x") != std::string::npos);
}

// Numbers at which functions branch or have poles, and others.
std::vector<double> SamplesOf(const Interval& range) {
  std::vector<double> samples;
  for (const double x :
       {-1e30, -90.0, -3.0, -1.0, -0.5, -1e-3, 0.0, 1e-3, 0.25, 0.5, 1.0, 2.0, 7.0, 90.0, 1e30})
    if (range.Contains(x)) samples.push_back(x);
  return samples;
}

class FixedRange : public RangeContext {
 public:
  FixedRange(const Node& node, Interval all) : RangeContext(node), all_(all) {}
  Interval Of(const Value*) override { return all_; }

 private:
  Interval all_;
};

TEST_CASE("definitions: results of functions are within the bounds of the definition") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Interval ranges[] = {
      {-kInfinity, kInfinity}, {0, kInfinity}, {-kInfinity, 0}, {0.25, 7}, {-3, -0.5}, {-0.5, 2}};
  for (const OpDef* op : Ops().All()) {
    if (op->range == nullptr || op->quant_rule != QuantRule::kElementwise) continue;
    CAPTURE(op->name);
    for (const Interval& range : ranges) {
      const std::vector<double> samples = SamplesOf(range);
      const size_t n = samples.size();
      std::vector<float> a, b;
      for (const double x : samples)
        for (const double y : samples) {
          a.push_back(static_cast<float>(x));
          b.push_back(static_cast<float>(y));
        }
      const auto count = static_cast<int64_t>(n * n);
      const std::vector<Tensor> tensors = {Tensor::Of({count}, a), Tensor::Of({count}, b)};
      Graph g;
      std::vector<Value*> inputs;
      std::vector<const Tensor*> pointers;
      for (size_t i = 0; i < op->inputs.size(); ++i) {
        inputs.push_back(g.AddInput("", Type(DType::kF32, {Dim(count)})));
        pointers.push_back(&tensors[i]);
      }
      const auto node = g.Append(op->name, inputs);
      REQUIRE_MESSAGE(node.has_value(), node.error().message());
      const auto y = EvalNode(**node, pointers);
      REQUIRE_MESSAGE(y.has_value(), y.error().message());
      FixedRange context(**node, range);
      const Interval bounds = op->range(context, 0);
      CAPTURE(range.min);
      CAPTURE(range.max);
      for (const double v : (*y)[0].ToDoubles()) {
        if (std::isnan(v)) continue;
        const double slack = std::fabs(v) * 0x1p-18;
        CHECK((v >= bounds.min || v + slack >= bounds.min));
        CHECK((v <= bounds.max || v - slack <= bounds.max));
      }
    }
  }
}

TEST_CASE("definitions: functions are NaN outside of their domain only") {
  for (const OpDef* op : Ops().All()) {
    if (op->category == Category::kUnset || op->inputs.size() != 1 ||
        op->quant_rule != QuantRule::kElementwise)
      continue;
    CAPTURE(op->name);
    const RealDomain domain = op->real_domain.value_or(RealDomain());
    for (const double x : SamplesOf({-90, 90})) {
      CAPTURE(x);
      Graph g;
      const auto node = g.Append(op->name, {g.AddInput("x", Type(DType::kF32, {}))});
      REQUIRE_MESSAGE(node.has_value(), node.error().message());
      const Tensor t = Tensor::Scalar(static_cast<float>(x));
      const auto y = EvalNode(**node, {&t});
      REQUIRE_MESSAGE(y.has_value(), y.error().message());
      CHECK(std::isnan((*y)[0].GetDouble(0)) == !(x >= domain.min && x <= domain.max));
    }
  }
}

}  // namespace
}  // namespace nn::test::definitions_test
