// Branches and loops that a run decides about, as operations with blocks, in which the names around
// them are visible. The importer reads the operations cond and while_loop itself
// (import/control.cc).
#include "ops/control/loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "formats/coreml/program/family.h"
#include "ops/control/region.h"

namespace nn::coreml::program {
namespace {

// A value that may be a vector of one element.
Result<std::string> ScalarOf(ExportContext& ctx, const Value* v, const Node& node) {
  if (v->type().rank() == 0) return ctx.NameFor(v);
  return ctx.Add("squeeze").In("x", v).Ints("axes", {0}).Helper(Type(v->dtype(), {}), node);
}

// Gives operands names, before blocks use them.
Status NameOperands(ExportContext& ctx, std::span<Value* const> operands) {
  for (const Value* const v : operands)
    if (v != nullptr) NN_RETURN_IF_ERROR(ctx.NameFor(v));
  return {};
}

bool IsResultIn(const mil::Block& block, const std::string& name) {
  return std::ranges::any_of(block.operations(), [&](const mil::Operation& operation) {
    return std::ranges::any_of(operation.outputs(),
                               [&](const auto& output) { return output.name() == name; });
  });
}

// A result of the present block, of an operation of the block and unlike the other ones.
Status AddResult(ExportContext& ctx, std::string name, const Type& type, const Node& node) {
  mil::Block& block = ctx.block();
  if (!IsResultIn(block, name) || std::ranges::count(block.outputs(), name) > 0) {
    NN_ASSIGN(name, ctx.Add("identity").In("x", name).Helper(type, node));
  }
  block.add_outputs(std::move(name));
  return {};
}

Status AddResult(ExportContext& ctx, const Value* v, const Node& node) {
  NN_ASSIGN(std::string name, ctx.NameFor(v));
  return AddResult(ctx, std::move(name), v->type(), node);
}

Status WriteRegion(ExportContext& ctx, const Graph& region) {
  for (const Node& node : region.nodes())
    if (auto s = WriteNode(ctx, node); !s) return tl::unexpected(s.error().In(node.Describe()));
  return {};
}

Status WriteBranch(ExportContext& ctx, const Node& node) {
  // Regions may hold nodes that are still to be rewritten.
  if (ctx.trial()) return {};
  NN_RETURN_IF_ERROR(NameOperands(ctx, node.inputs()));
  NN_ASSIGN(const std::string condition, ScalarOf(ctx, node.input(0), node));
  OperationWriter op = ctx.Add("cond");
  op.In("pred", condition);
  for (const auto& region : node.regions()) {
    ctx.CaptureOperands(node, *region, 0);
    mil::Block* const around = ctx.Enter(op.operation().add_blocks());
    NN_RETURN_IF_ERROR(WriteRegion(ctx, *region));
    for (const Port& p : region->outputs()) NN_RETURN_IF_ERROR(AddResult(ctx, p.value, node));
    ctx.Enter(around);
  }
  return op.To(node);
}

std::optional<std::string> WhyNotBranch(const Node& node) {
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Type& yes = node.regions()[0]->outputs()[i].value->type();
    const Type& no = node.regions()[1]->outputs()[i].value->type();
    if (!Compatible(yes, no))
      return fmt::format("ML Programs have no branches with results of different shapes, {} and {}",
                         yes.ToString(), no.ToString());
  }
  return std::nullopt;
}

// A variable of a loop.
struct Variable {
  std::string name;     // in the blocks
  std::string initial;  // around them
  std::string result;
  Type type;
};

class LoopWriter {
 public:
  LoopWriter(ExportContext& ctx, const Node& node)
      : ctx_(ctx), node_(node), body_(*node.regions()[0]), ports_(node) {}

  Status Write() {
    NN_RETURN_IF_ERROR(NameOperands(ctx_, node_.inputs().subspan(1)));
    NN_RETURN_IF_ERROR(AddVariables());
    OperationWriter op = ctx_.Add("while_loop");
    std::vector<std::string> results;
    std::vector<Type> types;
    for (const Variable& v : variables_) {
      op.In("loop_vars", v.initial);
      results.push_back(v.result);
      types.push_back(v.type);
    }
    EnterBlock(op);
    NN_RETURN_IF_ERROR(WriteCondition());
    ctx_.Enter(around_);
    EnterBlock(op);
    NN_RETURN_IF_ERROR(WriteBody());
    ctx_.Enter(around_);
    return op.To(results, types, node_);
  }

 private:
  const Value* trips() const { return node_.input(0); }
  const Value* condition() const { return node_.input(1); }
  // A limit beyond 32 bits is none beside a condition.
  bool HasLimit() const {
    return trips() != nullptr &&
           !(condition() != nullptr && trips()->is_constant() &&
             trips()->constant().GetInt(0) > std::numeric_limits<int32_t>::max());
  }

  Status AddVariables() {
    const Value* const number = body_.inputs()[0].value;
    const Type counter(DType::kI32, {}), flag(DType::kBool, {});
    if (HasLimit()) {
      NN_ASSIGN(limit_, ScalarOf(ctx_, trips(), node_));
    }
    if (HasLimit() || body_.HasUses(number)) {
      NN_ASSIGN(std::string zero, ctx_.AddConstant(Tensor::Scalar(int32_t{0}), "first"));
      AddVariable("iteration", std::move(zero), ctx_.NewIdentifier("iterations"), counter);
      number_ = variables_.back().name;
    }
    if (condition() != nullptr) {
      NN_ASSIGN(std::string initial, ScalarOf(ctx_, condition(), node_));
      AddVariable("condition", std::move(initial), ctx_.NewIdentifier("last_condition"), flag);
      condition_ = variables_.back().name;
    }
    for (size_t k = 0; k < ports_.carried(); ++k) {
      NN_ASSIGN(std::string initial, ctx_.NameFor(node_.input(ports_.first_carried() + k)));
      NN_ASSIGN(std::string result, ctx_.NameFor(node_.output(k)));
      const Value* const inside = body_.inputs()[1 + k].value;
      AddVariable(inside->name(), std::move(initial), std::move(result), inside->type());
      ctx_.SetName(inside, variables_.back().name);
    }
    ctx_.CaptureOperands(node_, body_, 1 + ports_.carried());
    return {};
  }

  void AddVariable(std::string_view hint, std::string initial, std::string result, Type type) {
    Variable v{ctx_.NewIdentifier(hint), std::move(initial), std::move(result), std::move(type)};
    ctx_.Declare(v.name, ValueTypeOf(v.type));
    variables_.push_back(std::move(v));
  }

  // Both blocks have the variables as inputs.
  void EnterBlock(OperationWriter& op) {
    mil::Block* const block = op.operation().add_blocks();
    for (const Variable& v : variables_) {
      mil::NamedValueType& input = *block->add_inputs();
      input.set_name(v.name);
      *input.mutable_type() = ValueTypeOf(v.type);
    }
    around_ = ctx_.Enter(block);
  }

  Status WriteCondition() {
    const Type flag(DType::kBool, {});
    std::string go_on = condition_;
    if (!limit_.empty()) {
      NN_ASSIGN(go_on, ctx_.Add("less").In("x", number_).In("y", limit_).Helper(flag, node_));
      if (!condition_.empty()) {
        NN_ASSIGN(go_on,
                  ctx_.Add("logical_and").In("x", condition_).In("y", go_on).Helper(flag, node_));
      }
    }
    return AddResult(ctx_, std::move(go_on), flag, node_);
  }

  Status WriteBody() {
    const Value* const number = body_.inputs()[0].value;
    if (body_.HasUses(number)) NN_RETURN_IF_ERROR(SetNumber(number));
    NN_RETURN_IF_ERROR(WriteRegion(ctx_, body_));
    if (!number_.empty()) {
      NN_ASSIGN(
          std::string next,
          ctx_.Add("add").In("x", number_).Number("y", 1).Helper(Type(DType::kI32, {}), node_));
      NN_RETURN_IF_ERROR(AddResult(ctx_, std::move(next), Type(DType::kI32, {}), node_));
    }
    if (!condition_.empty()) {
      NN_ASSIGN(std::string next, ScalarOf(ctx_, body_.outputs()[0].value, node_));
      NN_RETURN_IF_ERROR(AddResult(ctx_, std::move(next), Type(DType::kBool, {}), node_));
    }
    for (size_t k = 0; k < ports_.carried(); ++k)
      NN_RETURN_IF_ERROR(AddResult(ctx_, body_.outputs()[1 + k].value, node_));
    return {};
  }

  Status SetNumber(const Value* number) {
    std::string name = number_;
    if (number->type().rank() == 1) {
      NN_ASSIGN(
          name,
          ctx_.Add("expand_dims").In("x", name).Ints("axes", {0}).Helper(number->type(), node_));
    }
    ctx_.SetName(number, std::move(name));
    return {};
  }

  ExportContext& ctx_;
  const Node& node_;
  const Graph& body_;
  RegionPorts ports_;
  mil::Block* around_ = nullptr;
  std::vector<Variable> variables_;
  std::string number_, limit_, condition_;  // "": the loop has none
};

Status WriteLoop(ExportContext& ctx, const Node& node) {
  return ctx.trial() ? Status() : LoopWriter(ctx, node).Write();
}

std::optional<std::string> WhyNotLoop(const Node& node) {
  if (node.input(0) == nullptr && node.input(1) == nullptr)
    return "it has neither a trip count nor a condition";
  if (RegionPorts(node).carried() < node.outputs().size())
    return "ML Programs have no lists of the results of iterations of unknown length; their number "
           "and shapes must be constant, without a condition";
  return std::nullopt;
}

}  // namespace

Family ControlFamily() {
  static constexpr ExportRow kExports[] = {
      {"branch", WriteBranch, WhyNotBranch},
      {"loop", WriteLoop, WhyNotLoop},
  };
  return {{}, kExports};
}

}  // namespace nn::coreml::program
