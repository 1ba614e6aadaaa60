#include "validators/assertions.h"

#include <algorithm>
#include <set>

#include "base/file/file.h"
#include "base/text/text.h"
#include "ir/op_def.h"
#include "ir/run_cost.h"
#include "ir/text/text.h"
#include "passes/core/ports.h"
#include "validators/rule.h"

namespace nn {
namespace {

constexpr RuleInfo kOps = {.id = "ASSERT-OPS",
                           .statement = "The model has only the operators that --assert-ops lists.",
                           .clause = "--assert-ops",
                           .hint = "Replace the operator, or add it to --assert-ops."};
constexpr RuleInfo kMaxParams = {
    .id = "ASSERT-MAX-PARAMS",
    .statement = "The model has at most as many parameters as --assert-max-params allows.",
    .clause = "--assert-max-params",
    .hint = "Shrink the model, or raise --assert-max-params."};
constexpr RuleInfo kMaxBytes = {
    .id = "ASSERT-MAX-BYTES",
    .statement = "The files of the model have at most as many bytes as --assert-max-bytes allows.",
    .clause = "--assert-max-bytes",
    .hint = "Shrink or quantize the model, or raise --assert-max-bytes."};
constexpr RuleInfo kMacs = {
    .id = "ASSERT-MACS",
    .statement = "A run of the model takes fewer multiply-adds than --assert-macs-below states.",
    .clause = "--assert-macs-below",
    .hint = "Shrink the model or its input, or raise --assert-macs-below."};
constexpr RuleInfo kStatic = {
    .id = "ASSERT-STATIC-SHAPES",
    .statement = "The inputs and outputs of the model have static shapes.",
    .clause = "--assert-static-shapes",
    .hint = "Export the model with a fixed size for every dimension of its inputs."};
constexpr RuleInfo kDtype = {
    .id = "ASSERT-DTYPE",
    .statement =
        "Inputs, outputs and constants have only the element types that --assert-dtype "
        "lists.",
    .clause = "--assert-dtype",
    .hint = "Convert the tensor to a listed type, or add its type to --assert-dtype."};
constexpr RuleInfo kInput = {
    .id = "ASSERT-INPUT",
    .statement = "The model has the input that --assert-input names, with the type stated there.",
    .clause = "--assert-input",
    .hint = "Export the model with this input, or correct --assert-input."};

class Checker {
 public:
  Checker(const ReadModel& model, const std::string& path, const Assertions& a)
      : model_(model), path_(path), a_(a) {}

  std::vector<Finding> Run() {
    const auto summary = model_.format->describer.Summarize(*model_.model);
    if (!summary) {
      for (const RuleInfo& rule : AssertionRules(a_)) Add(rule, {}, summary.error().message());
      return std::move(out_);
    }
    if (!a_.ops.empty()) CheckOps(*summary);
    if (a_.max_params && summary->parameter_count > *a_.max_params)
      Add(kMaxParams, {},
          fmt::format("the model has {} parameters; at most {} are allowed",
                      WithThousands(summary->parameter_count), WithThousands(*a_.max_params)));
    if (a_.max_bytes) CheckBytes();
    if (a_.static_shapes) {
      CheckStatic("input", summary->inputs);
      CheckStatic("output", summary->outputs);
    }
    if (a_.macs_below || !a_.dtypes.empty() || !a_.inputs.empty()) CheckGraph();
    return std::move(out_);
  }

 private:
  void Add(const RuleInfo& rule, Location where, std::string message) {
    out_.push_back({std::string(rule.id), rule.severity, std::move(message), std::move(where), {}});
  }

  void CheckOps(const ModelSummary& summary) {
    const std::set<std::string_view> allowed(a_.ops.begin(), a_.ops.end());
    for (size_t i = 0; i < summary.operators.size(); ++i) {
      const OperatorSummary& op = summary.operators[i];
      if (allowed.contains(op.op)) continue;
      Add(kOps, At(op.name, static_cast<int64_t>(i)),
          fmt::format("operator {} is not listed by --assert-ops", Quote(op.op)));
    }
  }

  void CheckBytes() {
    const auto on_disk = BytesOnDisk(path_);
    if (!on_disk) return Add(kMaxBytes, {}, "the size of the file is unknown");
    uint64_t bytes = *on_disk;
    if (const auto tensors = model_.format->describer.TensorsOf(*model_.model))
      for (const TensorEntry& t : *tensors) bytes += t.external ? t.bytes : 0;
    if (bytes > *a_.max_bytes)
      Add(kMaxBytes, {},
          fmt::format("the files of the model have {} bytes; at most {} are allowed",
                      WithThousands(bytes), WithThousands(*a_.max_bytes)));
  }

  void CheckStatic(const char* role, const std::vector<TensorSummary>& tensors) {
    const auto is_number = [](const std::string& d) {
      return !d.empty() && d.find_first_not_of("0123456789") == std::string::npos;
    };
    for (const TensorSummary& t : tensors) {
      if (t.shape && std::all_of(t.shape->begin(), t.shape->end(), is_number)) continue;
      Add(kStatic, At(t.name), fmt::format("{} {} has a dynamic shape", role, Quote(t.name)));
    }
  }

  // Checks what requires the model as a graph.
  void CheckGraph() {
    const auto imported = model_.format->importer.Import(*model_.model);
    if (!imported) {
      for (const RuleInfo& rule : AssertionRules(a_))
        if (rule.id == kMacs.id || rule.id == kDtype.id || rule.id == kInput.id)
          Add(rule, {}, "the assertion cannot be checked: " + imported.error().message());
      return;
    }
    const Graph& graph = imported->graph;
    if (a_.macs_below) CheckMacs(graph);
    if (!a_.dtypes.empty()) CheckDtypes(graph);
    for (const std::string& text : a_.inputs) CheckInput(graph, text);
  }

  void CheckMacs(const Graph& graph) {
    for (const Node& node : graph.nodes())
      if (!MultiplyAddsOf(node))
        return Add(kMacs, {},
                   fmt::format("the number of multiply-adds of {} is unknown", node.Describe()));
    const uint64_t total = MultiplyAddsOf(graph).value_or(UINT64_MAX);
    if (total >= *a_.macs_below)
      Add(kMacs, {},
          fmt::format("a run takes {} multiply-adds; fewer than {} are allowed",
                      WithThousands(total), WithThousands(*a_.macs_below)));
  }

  void CheckDtypes(const Graph& graph) {
    const std::set<std::string_view> allowed(a_.dtypes.begin(), a_.dtypes.end());
    const auto check = [&](const char* role, std::string_view name, const Value& v) {
      if (allowed.contains(DTypeName(v.dtype()))) return;
      Add(kDtype, At(std::string(name)),
          fmt::format("{} {} is {}, which --assert-dtype does not list", role, Quote(name),
                      v.type().ToString()));
    };
    for (const Port& p : graph.inputs()) check("input", p.name, *p.value);
    for (const Port& p : graph.outputs()) check("output", p.name, *p.value);
    for (const Value& v : graph.values())
      if (v.is_constant() && !v.uses().empty()) check("constant", v.name(), v);
  }

  void CheckInput(const Graph& graph, const std::string& text) {
    const size_t colon = text.rfind(':');
    const std::string name = text.substr(0, colon);
    const Type want = *ParseType(text.substr(colon + 1));
    for (const Port& p : graph.inputs()) {
      if (p.name != name) continue;
      const Type& type = p.value->type();
      if (type.dtype != want.dtype || type.dims != want.dims)
        Add(kInput, At(name),
            fmt::format("input {} is {} instead of {}", Quote(name), type.ToString(),
                        want.ToString()));
      return;
    }
    Add(kInput, At(name),
        fmt::format("the model has no input {}; its inputs are {}", Quote(name),
                    NameList(graph.inputs())));
  }

  const ReadModel& model_;
  const std::string& path_;
  const Assertions& a_;
  std::vector<Finding> out_;
};

}  // namespace

OptionTable AssertionTable() {
  static const std::vector<OptionField> fields = {
      Option<&Assertions::ops>(
          "assert-ops", {.help = "Allow only these operators", .value = "A,B,C", .lists = true}),
      Option<&Assertions::max_params>("assert-max-params",
                                      {.help = "Allow at most N parameters", .value = "N"}),
      Option<&Assertions::max_bytes>(
          "assert-max-bytes",
          {.help = "Allow at most N bytes in the files of the model, including external data",
           .value = "N",
           .bytes = true}),
      Option<&Assertions::macs_below>(
          "assert-macs-below",
          {.help = "Require that a run takes fewer than N multiply-adds", .value = "N"}),
      Option<&Assertions::static_shapes>("assert-static-shapes",
                                         {.help = "Require static shapes of inputs and outputs"}),
      Option<&Assertions::dtypes>("assert-dtype",
                                  {.help = "Allow only these element types of inputs, outputs and "
                                           "constants, such as f32,i64",
                                   .value = "TYPE,TYPE",
                                   .lists = true}),
      Option<&Assertions::inputs>(
          "assert-input", {.help = "Require this input, such as x:f32[1,3,224,224]; repeatable",
                           .value = "NAME:TYPE"}),
  };
  return fields;
}

Status CheckUsage(const Assertions& a) {
  for (const std::string& name : a.dtypes)
    if (!ParseDType(name))
      return UsageError("--assert-dtype: unknown element type {}", Quote(name));
  for (const std::string& text : a.inputs) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos)
      return UsageError("--assert-input {}: expected NAME:TYPE, such as x:f32[1,3]", Quote(text));
    if (const auto type = ParseType(text.substr(colon + 1)); !type)
      return UsageError("--assert-input {}: {}", Quote(text), type.error().message());
  }
  return {};
}

std::vector<Finding> CheckAssertions(const ReadModel& model, const std::string& path,
                                     const Assertions& assertions) {
  if (AssertionRules(assertions).empty()) return {};
  return Checker(model, path, assertions).Run();
}

std::vector<RuleInfo> AssertionRules(const Assertions& a) {
  std::vector<RuleInfo> rules;
  if (!a.ops.empty()) rules.push_back(kOps);
  if (a.max_params) rules.push_back(kMaxParams);
  if (a.max_bytes) rules.push_back(kMaxBytes);
  if (a.macs_below) rules.push_back(kMacs);
  if (a.static_shapes) rules.push_back(kStatic);
  if (!a.dtypes.empty()) rules.push_back(kDtype);
  if (!a.inputs.empty()) rules.push_back(kInput);
  return rules;
}

std::vector<RuleInfo> AllAssertionRules() {
  return {kOps, kMaxParams, kMaxBytes, kMacs, kStatic, kDtype, kInput};
}

}  // namespace nn
