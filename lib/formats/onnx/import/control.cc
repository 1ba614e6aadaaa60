// If, Loop, Scan and SequenceMap: see formats/common/control_flow.h.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/text/text.h"
#include "formats/onnx/import/dynamic_lstm.h"
#include "formats/onnx/import/importer.h"
#include "formats/onnx/import/scan_loop.h"
#include "ir/op_def.h"
#include "ir/text/number.h"
#include "ops/array/sequence.h"

namespace nn::onnx {

bool IsControlFlow(std::string_view domain, std::string_view op) {
  if (domain == "ai.onnx.preview") return op == "FlexAttention";
  if (domain == "ai.onnx.preview.training") return op == "Gradient";
  return domain.empty() && (op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap");
}

std::string PlaceOf(const Scope& scope, int index) {
  return scope.within.empty() ? scope.place : fmt::format("{} in {}", index, scope.within);
}

Status Importer::ImportControl(ImportContext& ctx, const Scope& scope, int index) {
  if (ctx.opset() == 0)
    return ModelError("the model does not import operator set {}",
                      ctx.node().domain().empty() ? "ai.onnx" : Quote(ctx.node().domain()));
  const std::string& op = ctx.node().op_type();
  const auto import = op == "If"              ? &Importer::ImportIf
                      : op == "Loop"          ? &Importer::ImportLoop
                      : op == "SequenceMap"   ? &Importer::ImportSequenceMap
                      : op == "FlexAttention" ? &Importer::ImportFlexAttention
                      : op == "Gradient"      ? &Importer::ImportGradient
                      : ctx.opset() < 9       ? &Importer::ImportScan8
                                              : &Importer::ImportScan;
  ImportMark mark(graph_, unsupported_);
  Status status = (this->*import)(ctx, scope, index);
  if (!status) mark.Undo(status.error());
  return status;
}

Result<const Subgraph*> Importer::SharedOf(const pb::GraphProto& g) {
  const auto [it, is_new] = subgraphs_.try_emplace(&g);
  Subgraph& out = it->second;
  if (!is_new) return &out;
  Scope scope;
  NN_RETURN_IF_ERROR(ReadInitializers(g, scope));
  out.initializers = std::move(scope.values);
  for (const auto& input : g.input())
    if (!out.initializers.contains(input.name())) out.inputs.push_back(&input);
  const auto declare = [&](const pb::ValueInfoProto& info) {
    Type type = TypeOf(info);
    if (type.dims && !type.const_dims()) type.dims.reset();
    out.declared[info.name()] = std::move(type);
  };
  for (const auto& info : g.value_info()) declare(info);
  for (const auto& info : g.output()) {
    declare(info);
    out.results.insert(info.name());
  }
  return &out;
}

Result<Importer::Body> Importer::BodyOf(const ImportContext& ctx, const Scope& scope, int index,
                                        std::string_view attribute, size_t inputs,
                                        size_t least_outputs) {
  const pb::AttributeProto* const a = ctx.FindAttr(attribute);
  if (a == nullptr || !a->has_g()) return ModelError("attribute {} is missing", attribute);
  const pb::GraphProto& g = a->g();
  NN_ASSIGN(const Subgraph* const shared, SharedOf(g));
  if (shared->inputs.size() != inputs)
    return ModelError("{} has {} inputs; the operator needs {}", attribute, shared->inputs.size(),
                      inputs);
  if (static_cast<size_t>(g.output_size()) < least_outputs)
    return ModelError("{} has {} outputs; the operator needs {}", attribute, g.output_size(),
                      least_outputs);
  const std::string place = PlaceOf(scope, index);
  const int64_t call = scope.call < 0 ? index : scope.call;
  return Body{.attribute = attribute,
              .graph = g,
              .shared = *shared,
              .outer = scope,
              .call = call,
              .within = fmt::format("{} of {} {}", attribute, ctx.node().op_type(),
                                    place.empty() ? std::to_string(call) : place),
              .prefix = PrefixOf(scope, ctx.node(), ctx.node().op_type()),
              .unrolled = scope.unrolled || attribute == "body"};
}

namespace {

// kModel if a tensor is declared as a sequence, or the other way round.
Status CheckKind(const pb::ValueInfoProto& declared, const Value* value, std::string_view role,
                 std::string_view attribute) {
  const bool is_tensor = value->dtype() != DType::kUnknown;
  const char* const kind = KindOf(declared.type());
  if (is_tensor ? kind == nullptr || declared.type().has_optional_type()
                : !IsSequence(value) || !declared.type().has_tensor_type())
    return {};
  return ModelError("{} {} of {} is declared as {}, but is {}", role, Quote(declared.name()),
                    attribute, kind == nullptr ? "a tensor" : kind,
                    is_tensor ? value->type().ToString() : "a sequence");
}

}  // namespace

Result<std::vector<Value*>> Importer::RunBody(const Body& body, std::span<Value* const> inputs,
                                              const std::string& step) {
  const pb::GraphProto& g = body.graph;
  if (depth_ == kMaxCallDepth)
    return LimitError("function calls and subgraphs are nested deeper than {}", kMaxCallDepth);
  const int64_t size = std::max(g.node_size(), g.output_size());
  if (body.unrolled) NN_RETURN_IF_ERROR(unrolled_.Take(size));
  if (body.outer.function != nullptr) NN_RETURN_IF_ERROR(TakeInlined(size));
  Scope scope;
  scope.subgraph = &body.shared;
  scope.outer = &body.outer;
  scope.opsets = body.outer.opsets;
  scope.function = body.outer.function;
  scope.attrs = body.outer.attrs;
  scope.call = body.call;
  scope.within = body.within;
  scope.prefix = body.prefix + step;
  scope.unrolled = body.unrolled;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const pb::ValueInfoProto& input = *body.shared.inputs[i];
    NN_RETURN_IF_ERROR(CheckKind(input, inputs[i], "input", body.attribute));
    const Type declared = TypeOf(input);
    const DType given = inputs[i]->dtype();
    if (declared.dtype != DType::kUnknown && given != DType::kUnknown && given != declared.dtype)
      return ModelError("input {} of {} is declared as {}, but is {}", Quote(input.name()),
                        body.attribute, declared.ToString(), inputs[i]->type().ToString());
    scope.values[input.name()] = inputs[i];
  }
  ++depth_;
  const Status status = ImportNodes(g.node(), scope);
  --depth_;
  if (!status) return tl::unexpected(status.error().In(body.attribute));
  std::vector<Value*> outputs;
  for (const auto& output : g.output()) {
    Value* const* const v = scope.Find(output.name());
    if (v == nullptr || *v == nullptr)
      return ModelError("output {} of {} is not defined", Quote(output.name()), body.attribute);
    NN_RETURN_IF_ERROR(CheckKind(output, *v, "output", body.attribute));
    outputs.push_back(*v);
  }
  return outputs;
}

Result<std::vector<Value*>> Importer::RunIteration(const Body& body, std::span<Value* const> inputs,
                                                   int64_t iteration) {
  const size_t unsupported = unsupported_.size();
  auto results = RunBody(body, inputs, fmt::format("{}/", iteration));
  if (unsupported_.size() > unsupported) return UnsupportedError("the body is unsupported");
  return results;
}

namespace {

// Whether the results of a subgraph may be those of a region.
bool IsPossible(std::span<Value* const> results) {
  return std::ranges::none_of(results,
                              [](const Value* v) { return IsSequence(v) || IsEmptyOptional(v); });
}

}  // namespace

// The result of one of two branches.
Result<Value*> Importer::Selected(ImportContext& ctx, Value* condition, Value* a, Value* b) {
  if (a == b || (IsEmptyOptional(a) && IsEmptyOptional(b))) return a;
  if (IsSequence(a) != IsSequence(b) || IsEmptyOptional(a) != IsEmptyOptional(b))
    return UnsupportedError("branches with results of different kinds are unsupported");
  if (!IsSequence(a)) {
    NN_RETURN_IF_ERROR(CheckAlike(a->type(), b->type()));
    return ctx.Add("select", {condition, a, b});
  }
  const std::span<Value*const> yes = a->def()->inputs(), no = b->def()->inputs();
  if (yes.size() != no.size())
    return UnsupportedError(
        "branches with sequences of different lengths, {} and {}, are unsupported", yes.size(),
        no.size());
  std::vector<Value*> elements;
  for (size_t i = 0; i < yes.size(); ++i) {
    NN_ASSIGN(Value* const element, Selected(ctx, condition, yes[i], no[i]));
    elements.push_back(element);
  }
  return ctx.Add("sequence", std::move(elements), SequenceAttrs{});
}

// All branches are computed if the condition is unknown.
Status Importer::ImportIf(ImportContext& ctx, const Scope& scope, int index) {
  NN_ASSIGN(Value * condition, ctx.Required(0));
  if (const auto known = known_.Bool(condition)) {
    NN_ASSIGN(const Body body, BodyOf(ctx, scope, index, *known ? "then_branch" : "else_branch", 0,
                                      ctx.output_count()));
    NN_ASSIGN(const auto results, RunBody(body, {}));
    ctx.SetOutputs(results);
    return {};
  }
  if (!condition->type().ranked()) return UnsupportedError("the rank of the condition is unknown");
  NN_ASSIGN(const Body then_body, BodyOf(ctx, scope, index, "then_branch", 0, ctx.output_count()));
  NN_ASSIGN(const Body else_body, BodyOf(ctx, scope, index, "else_branch", 0, ctx.output_count()));
  const std::string why = "the condition " + WhyUnknown(condition);
  ImportMark mark(graph_, unsupported_);
  const auto yes = RunBody(then_body, {});
  if (!yes) return tl::unexpected(InBranch(yes.error(), why));
  const auto no = RunBody(else_body, {});
  if (!no) return tl::unexpected(InBranch(no.error(), why));
  Value* const flag = condition;
  NN_ASSIGN(condition, AsScalar(ctx, condition));
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    const auto y = Selected(ctx, condition, (*yes)[i], (*no)[i]);
    if (!y && !mark.HasUnsupported() && IsPossible(*yes) && IsPossible(*no)) {
      mark.EraseNodes();
      return ImportOpenBranch(ctx, then_body, else_body, flag, InBranch(y.error(), why).message());
    }
    if (!y) return tl::unexpected(InBranch(y.error(), why));
    ctx.SetOutput(i, *y);
  }
  return {};
}

Result<Value*> Importer::NumberInput(const Body& body, size_t i, DType dtype, int64_t v) {
  NN_ASSIGN(Tensor number, Number(dtype, static_cast<double>(v)));
  const auto dims = TypeOf(*body.shared.inputs[i]).const_dims();
  if (dims && std::ranges::all_of(*dims, [](int64_t d) { return d == 1; })) {
    NN_ASSIGN(number, number.Reshaped(*dims));
  }
  return graph_.AddConstant(std::move(number));
}

Result<std::vector<Value*>> Importer::EmptyStacks(const Body& body, std::span<Value* const> inputs,
                                                  size_t first) {
  ImportMark mark(graph_, unsupported_);
  const auto results = RunIteration(body, inputs, 0);
  std::vector<Type> types;
  if (results)
    for (size_t i = first; i < results->size(); ++i) types.push_back((*results)[i]->type());
  mark.EraseNodes();
  if (!results) return tl::unexpected(results.error());
  std::vector<Value*> stacks;
  for (const Type& type : types) {
    auto dims = type.const_dims();
    if (!dims)
      return UnsupportedError(
          "the loop has no iterations, and the shape of scan output {} is unknown", stacks.size());
    dims->insert(dims->begin(), 0);
    NN_ASSIGN(TensorBuilder empty, TensorBuilder::Create(type.dtype, *std::move(dims)));
    stacks.push_back(graph_.AddConstant(empty.Finish()));
  }
  return stacks;
}

// The inputs are the trip count, the condition, both optional, and the carried values; the body
// returns the next condition, the carried values and the scan outputs. Without the condition, the
// one that the body returns is ignored (as the operator's table of cases says).
Status Importer::ImportLoop(ImportContext& ctx, const Scope& scope, int index) {
  const size_t carried = ctx.input_count() < 2 ? 0 : ctx.input_count() - 2;
  if (carried > ctx.output_count())
    return ModelError("there are {} carried values but {} outputs", carried, ctx.output_count());
  NN_ASSIGN(const Body body,
            BodyOf(ctx, scope, index, "body", carried + 2, ctx.output_count() + 1));
  const bool conditional = ctx.input(1) != nullptr;
  std::vector<Value*> values;
  for (size_t i = 0; i < carried; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i + 2));
    values.push_back(v);
  }
  const auto open = [&](std::string why) {
    return ImportOpenLoop(ctx, body, values, std::move(why));
  };
  const auto start = conditional ? known_.Bool(ctx.input(1)) : std::optional(true);
  if (!start) return open("the condition " + WhyUnknown(ctx.input(1)));
  int64_t trips = *start ? std::numeric_limits<int64_t>::max() : 0;
  if (*start && ctx.input(0) != nullptr) {
    const auto count = known_.Int(ctx.input(0));
    if (!count) return open("the trip count " + WhyUnknown(ctx.input(0)));
    trips = *count;
  }
  if (!conditional && ctx.input(0) == nullptr)
    return UnsupportedError("the loop has neither a trip count nor a condition");
  if (!conditional && !unrolled_.Has(trips, body.graph.node_size())) return unrolled_.TakeAll();
  const std::vector<Value*> initial = values;
  ImportMark mark(graph_, unsupported_);
  NN_ASSIGN(Value* const yes, NumberInput(body, 1, DType::kBool, 1));
  const auto inputs_of = [&](int64_t i) -> Result<std::vector<Value*>> {
    NN_ASSIGN(Value* const number, NumberInput(body, 0, DType::kI64, i));
    std::vector<Value*> inputs = {number, yes};
    inputs.insert(inputs.end(), values.begin(), values.end());
    return inputs;
  };
  std::vector<std::vector<Value*>> scanned(ctx.output_count() - carried);
  for (int64_t i = 0; i < trips; ++i) {
    NN_ASSIGN(const auto inputs, inputs_of(i));
    NN_ASSIGN(const auto results, RunIteration(body, inputs, i));
    values.assign(results.begin() + 1, results.begin() + 1 + static_cast<ptrdiff_t>(carried));
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(results[1 + carried + k]);
    if (!conditional || i + 1 == trips) continue;
    const auto next = known_.Bool(results[0]);
    if (!next) {
      std::string why =
          fmt::format("the condition after iteration {} {}", i, WhyUnknown(results[0]));
      mark.EraseNodes();
      values = initial;
      return open(std::move(why));
    }
    if (!*next) break;
  }
  ctx.SetOutputs(std::span(values).first(carried));
  if (scanned.empty()) return {};
  if (scanned[0].empty()) {
    NN_ASSIGN(const auto inputs, inputs_of(0));
    NN_ASSIGN(const auto stacks, EmptyStacks(body, inputs, 1 + carried));
    for (size_t k = 0; k < scanned.size(); ++k) ctx.SetOutput(carried + k, stacks[k]);
    return {};
  }
  for (size_t k = 0; k < scanned.size(); ++k) {
    NN_ASSIGN(Value* const y, Stack(ctx, scanned[k], 0));
    ctx.SetOutput(carried + k, y);
  }
  return {};
}

// By scan input or output.
struct Importer::ScanAxes {
  std::vector<int64_t> in, out;
  std::vector<int64_t> in_directions, out_directions;  // 1: from the end
};

namespace {

// An attribute with an entry for each of `count` values; all 0 if it is absent.
Result<std::vector<int64_t>> EntryForEach(const ImportContext& ctx, std::string_view name,
                                          size_t count) {
  if (!ctx.HasAttr(name)) return std::vector<int64_t>(count, 0);
  auto entries = ctx.Ints(name);
  if (entries.size() != count)
    return ModelError("{} has {} entries; expected {}", name, entries.size(), count);
  return entries;
}

// The numbers of scan inputs and states, of `inputs` in all.
Result<size_t> StateCount(const ImportContext& ctx, size_t inputs) {
  NN_ASSIGN(const int64_t scanned, ctx.RequiredInt("num_scan_inputs"));
  if (scanned < 1 || static_cast<uint64_t>(scanned) > inputs)
    return ModelError("num_scan_inputs is {}, but there are {} inputs", scanned, inputs);
  const size_t states = inputs - static_cast<size_t>(scanned);
  if (states > ctx.output_count())
    return ModelError("there are {} carried values but {} outputs", states, ctx.output_count());
  return states;
}

Result<std::vector<Value*>> InputsFrom(const ImportContext& ctx, size_t first) {
  std::vector<Value*> values;
  for (size_t i = first; i < ctx.input_count(); ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    values.push_back(v);
  }
  return values;
}

}  // namespace

// The last states and the stacked scan outputs.
Result<std::vector<Value*>> Importer::RunScan(ImportContext& ctx, const Body& body,
                                              std::vector<Value*> states,
                                              std::span<Value* const> scanned, int64_t length,
                                              const ScanAxes& axes) {
  const size_t carried = states.size();
  std::vector<std::vector<Value*>> stacks(axes.out.size());
  for (int64_t t = 0; t < length; ++t) {
    for (size_t k = 0; k < scanned.size(); ++k) {
      const int64_t at = axes.in_directions[k] == 0 ? t : length - 1 - t;
      NN_ASSIGN(Value* const x, ElementAt(ctx, scanned[k], axes.in[k], at));
      states.push_back(x);
    }
    NN_ASSIGN(const auto results, RunIteration(body, states, t));
    states.assign(results.begin(), results.begin() + static_cast<ptrdiff_t>(carried));
    for (size_t k = 0; k < stacks.size(); ++k) stacks[k].push_back(results[carried + k]);
  }
  for (size_t k = 0; k < stacks.size(); ++k) {
    if (axes.out_directions[k] != 0) std::ranges::reverse(stacks[k]);
    NN_ASSIGN(Value* const y, Stack(ctx, stacks[k], axes.out[k]));
    states.push_back(y);
  }
  return states;
}

bool Importer::IsBuilt(const Scope& scope) const {
  return std::ranges::any_of(built_, [&](const auto& f) { return &f == scope.function; });
}

Status Importer::ImportScan(ImportContext& ctx, const Scope& scope, int index) {
  NN_ASSIGN(const auto inputs, InputsFrom(ctx, 0));
  NN_ASSIGN(const size_t states, StateCount(ctx, inputs.size()));
  NN_ASSIGN(const Body body, BodyOf(ctx, scope, index, "body", inputs.size(), ctx.output_count()));
  const size_t in = inputs.size() - states, out = ctx.output_count() - states;
  ScanAxes axes;
  NN_ASSIGN(axes.in, EntryForEach(ctx, "scan_input_axes", in));
  NN_ASSIGN(axes.out, EntryForEach(ctx, "scan_output_axes", out));
  NN_ASSIGN(axes.in_directions, EntryForEach(ctx, "scan_input_directions", in));
  NN_ASSIGN(axes.out_directions, EntryForEach(ctx, "scan_output_directions", out));
  const auto scanned = std::span<Value* const>(inputs).subspan(states);
  std::string open;
  NN_ASSIGN(const int64_t length, CommonLength(scanned, axes.in, &open));
  if (open.empty() && length > kMaxUnrolledSteps && IsBuilt(scope))
    open = fmt::format("it has {} steps", length);
  if (!open.empty()) {
    Body region = body;
    region.unrolled = false;
    const auto run = [&](std::span<Value* const> values) { return RunRegion(region, values); };
    return EmitScanLoop(ctx, graph_, unsupported_,
                        {std::span<Value* const>(inputs).first(states), scanned, axes.in, axes.out,
                         axes.in_directions, axes.out_directions, run, std::move(open)});
  }
  NN_ASSIGN(const auto results,
            RunScan(ctx, body, {inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(states)},
                    scanned, length, axes));
  ctx.SetOutputs(results);
  return {};
}

// Version 8 has batches, on the first axis of all values, which it scans one after the other along
// the second axis. Its first input is the lengths of the sequences.
Status Importer::ImportScan8(ImportContext& ctx, const Scope& scope, int index) {
  NN_ASSIGN(const auto inputs, InputsFrom(ctx, 1));
  NN_ASSIGN(const size_t states, StateCount(ctx, inputs.size()));
  NN_ASSIGN(const Body body, BodyOf(ctx, scope, index, "body", inputs.size(), ctx.output_count()));
  const size_t in = inputs.size() - states, out = ctx.output_count() - states;
  std::vector<int64_t> first(inputs.size(), 0), second(in, 1);
  NN_ASSIGN(const int64_t batch, CommonLength(inputs, first));
  const auto scanned = std::span<Value* const>(inputs).subspan(states);
  NN_ASSIGN(const int64_t length, CommonLength(scanned, second));
  if (ctx.input(0) != nullptr) {
    const Tensor* const lengths = known_.Of(ctx.input(0));
    if (lengths == nullptr)
      return UnsupportedError("the lengths of the sequences {}", WhyUnknown(ctx.input(0)));
    for (const int64_t n : lengths->ToInts())
      if (n != length) return UnsupportedError("sequences of different lengths are unsupported");
  }
  ScanAxes axes{.in = std::vector<int64_t>(in, 0),
                .out = std::vector<int64_t>(out, 0),
                .in_directions = {},
                .out_directions = std::vector<int64_t>(out, 0)};
  NN_ASSIGN(axes.in_directions, EntryForEach(ctx, "directions", in));
  std::vector<std::vector<Value*>> stacks(ctx.output_count());
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Value*> own;
    for (Value* v : inputs) {
      NN_ASSIGN(Value* const x, ElementAt(ctx, v, 0, b));
      own.push_back(x);
    }
    const auto middle = own.begin() + static_cast<ptrdiff_t>(states);
    const std::vector<Value*> sequences(middle, own.end());
    NN_ASSIGN(const auto results,
              RunScan(ctx, body, {own.begin(), middle}, sequences, length, axes));
    for (size_t i = 0; i < results.size(); ++i) stacks[i].push_back(results[i]);
  }
  for (size_t i = 0; i < stacks.size(); ++i) {
    NN_ASSIGN(Value* const y, Stack(ctx, stacks[i], 0));
    ctx.SetOutput(i, y);
  }
  return {};
}

// The body takes an element of each input that is a sequence, and all of the other inputs.
Status Importer::ImportSequenceMap(ImportContext& ctx, const Scope& scope, int index) {
  NN_ASSIGN(const auto inputs, InputsFrom(ctx, 0));
  if (inputs.empty() || !IsSequence(inputs[0]))
    return UnsupportedError("input 0 is no sequence of known length");
  NN_ASSIGN(const Body body, BodyOf(ctx, scope, index, "body", inputs.size(), ctx.output_count()));
  const size_t length = inputs[0]->def()->inputs().size();
  std::vector<std::vector<Value*>> results(ctx.output_count());
  for (size_t at = 0; at < length; ++at) {
    std::vector<Value*> elements;
    for (Value* v : inputs) {
      if (IsSequence(v) && v->def()->inputs().size() != length)
        return ModelError("the sequences have different lengths, {} and {}", length,
                          v->def()->inputs().size());
      elements.push_back(IsSequence(v) ? v->def()->input(at) : v);
    }
    NN_ASSIGN(const auto outputs, RunIteration(body, elements, static_cast<int64_t>(at)));
    for (size_t k = 0; k < results.size(); ++k) results[k].push_back(outputs[k]);
  }
  for (size_t k = 0; k < results.size(); ++k) {
    NN_ASSIGN(Value* const y, ctx.Add("sequence", std::move(results[k]), SequenceAttrs{}));
    ctx.SetOutput(k, y);
  }
  return {};
}

}  // namespace nn::onnx
