#include "apps/nnvalidate/assertions.h"

#include <algorithm>
#include <set>

#include "apps/common/model.h"
#include "base/text.h"
#include "ir/text.h"
#include "validators/rule.h"

namespace nn::app {
namespace {

constexpr RuleInfo Asserted(std::string_view id, std::string_view statement,
                            std::string_view option) {
  return {.id = id, .severity = Severity::kError, .statement = statement, .clause = option};
}
constexpr RuleInfo kOps =
    Asserted("ASSERT-OPS", "The model has no other operators.", "--assert-ops");
constexpr RuleInfo kMaxParams =
    Asserted("ASSERT-MAX-PARAMS", "The model has no more parameters.", "--assert-max-params");
constexpr RuleInfo kMaxBytes =
    Asserted("ASSERT-MAX-BYTES", "The model's files are not larger.", "--assert-max-bytes");
constexpr RuleInfo kMacs =
    Asserted("ASSERT-MACS", "A run takes fewer multiply-adds.", "--assert-macs-below");
constexpr RuleInfo kStatic = Asserted(
    "ASSERT-STATIC-SHAPES", "Inputs and outputs have known shapes.", "--assert-static-shapes");
constexpr RuleInfo kDtype = Asserted(
    "ASSERT-DTYPE", "Inputs, outputs and constants have no other element types.", "--assert-dtype");
constexpr RuleInfo kInput =
    Asserted("ASSERT-INPUT", "The model has this input, of this type.", "--assert-input");

class Checker {
 public:
  Checker(const ReadModel& model, const std::string& path, const Assertions& a)
      : model_(model), path_(path), a_(a) {}

  std::vector<Finding> Run() {
    const auto summary = model_.format->summarize(*model_.model);
    if (!summary) {
      for (const RuleInfo& rule : AssertionRules(a_)) Add(rule, {}, summary.error().message());
      return std::move(out_);
    }
    if (!a_.ops.empty()) CheckOps(*summary);
    if (a_.max_params && summary->parameter_count > *a_.max_params)
      Add(kMaxParams, {},
          fmt::format("{} parameters, more than {}", WithThousands(summary->parameter_count),
                      WithThousands(*a_.max_params)));
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
          fmt::format("operator {} is not among those asserted", Quote(op.op)));
    }
  }

  void CheckBytes() {
    const auto on_disk = BytesOnDisk(path_);
    if (!on_disk) return Add(kMaxBytes, {}, "the size of the file is not known");
    uint64_t bytes = *on_disk;
    if (const auto tensors = model_.format->tensors(*model_.model))
      for (const TensorEntry& t : *tensors) bytes += t.external ? t.bytes : 0;
    if (bytes > *a_.max_bytes)
      Add(kMaxBytes, {},
          fmt::format("{} bytes, more than {}", WithThousands(bytes),
                      WithThousands(*a_.max_bytes)));
  }

  void CheckStatic(const char* role, const std::vector<TensorSummary>& tensors) {
    const auto is_number = [](const std::string& d) {
      return !d.empty() && d.find_first_not_of("0123456789") == std::string::npos;
    };
    for (const TensorSummary& t : tensors) {
      if (t.shape && std::all_of(t.shape->begin(), t.shape->end(), is_number)) continue;
      Add(kStatic, At(t.name), fmt::format("{} {} has no shape of numbers", role, Quote(t.name)));
    }
  }

  // What is known of the model as a graph only.
  void CheckGraph() {
    const auto imported = model_.format->import(*model_.model);
    if (!imported) {
      for (const RuleInfo& rule : AssertionRules(a_))
        if (rule.id == kMacs.id || rule.id == kDtype.id || rule.id == kInput.id)
          Add(rule, {}, "this cannot be told: " + imported.error().message());
      return;
    }
    const Graph& graph = imported->graph;
    if (a_.macs_below) CheckMacs(graph);
    if (!a_.dtypes.empty()) CheckDtypes(graph);
    for (const std::string& text : a_.inputs) CheckInput(graph, text);
  }

  void CheckMacs(const Graph& graph) {
    uint64_t total = 0;
    for (const Node& node : graph.nodes()) {
      const auto n = MultiplyAddsOf(node);
      if (!n)
        return Add(kMacs, {},
                   fmt::format("the multiply-adds of {} are not known", node.Describe()));
      total += *n;
    }
    if (total >= *a_.macs_below)
      Add(kMacs, {},
          fmt::format("{} multiply-adds, not below {}", WithThousands(total),
                      WithThousands(*a_.macs_below)));
  }

  void CheckDtypes(const Graph& graph) {
    const std::set<std::string_view> allowed(a_.dtypes.begin(), a_.dtypes.end());
    const auto check = [&](const char* role, const std::string& name, const Value& v) {
      if (allowed.contains(DTypeName(v.dtype()))) return;
      Add(kDtype, At(name), fmt::format("{} {} is {}", role, Quote(name), v.type().ToString()));
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
            fmt::format("input {} is {}, not {}", Quote(name), type.ToString(), want.ToString()));
      return;
    }
    Add(kInput, At(name),
        fmt::format("there is no input {}, only {}", Quote(name), NameList(graph.inputs())));
  }

  const ReadModel& model_;
  const std::string& path_;
  const Assertions& a_;
  std::vector<Finding> out_;
};

}  // namespace

bool Assertions::empty() const {
  return ops.empty() && !max_params && !max_bytes && !macs_below && !static_shapes &&
         dtypes.empty() && inputs.empty();
}

void AddAssertionOptions(CommandLine& command, Assertions& a) {
  CLI::Option_group* group = command.options().add_option_group(
      "Assertions", "What a project wants of its models; findings are errors");
  group->add_option("--assert-ops", a.ops, "The model has no operators but these")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B,C");
  group->add_option("--assert-max-params", a.max_params, "It has at most N parameters")
      ->type_name("N");
  group
      ->add_option("--assert-max-bytes", a.max_bytes,
                   "Its files, external data included, have at most N bytes")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("N");
  group->add_option("--assert-macs-below", a.macs_below, "A run takes fewer multiply-adds than N")
      ->type_name("N");
  group->add_flag("--assert-static-shapes", a.static_shapes,
                  "Its inputs and outputs have shapes of numbers");
  group
      ->add_option("--assert-dtype", a.dtypes,
                   "Its inputs, outputs and constants have no element types but these: f32,i64")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("TYPE,TYPE");
  group
      ->add_option("--assert-input", a.inputs,
                   "It has this input, as NAME:f32[1,3,224,224]; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME:TYPE");
}

Status CheckUsage(const Assertions& a) {
  for (const std::string& name : a.dtypes)
    if (!ParseDType(name))
      return UsageError("--assert-dtype: there is no element type {}", Quote(name));
  for (const std::string& text : a.inputs) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos)
      return UsageError("--assert-input {}: NAME:TYPE is expected, as in x:f32[1,3]", Quote(text));
    if (const auto type = ParseType(text.substr(colon + 1)); !type)
      return UsageError("--assert-input {}: {}", Quote(text), type.error().message());
  }
  return {};
}

std::vector<Finding> CheckAssertions(const ReadModel& model, const std::string& path,
                                     const Assertions& assertions) {
  if (assertions.empty()) return {};
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

}  // namespace nn::app
