// Rules of functions that a model defines.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

constexpr int64_t kFirstIrWithFunctions = 8;

using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

Key KeyOf(const pb::FunctionProto& f) {
  return {PlainDomain(f.domain()), f.name(), f.overload()};
}

Key CalleeOf(const pb::NodeProto& n) {
  return {PlainDomain(n.domain()), n.op_type(), n.overload()};
}

std::string Path(int i, std::string_view field = {}) {
  return fmt::format("functions[{}]{}{}", i, field.empty() ? "" : ".", field);
}

template <typename Visit>
void EachFunction(const Subject& s, const Visit& visit) {
  if (!s.HasFunctions()) return;
  for (int i = 0; i < s.proto().functions_size(); ++i) visit(i, s.proto().functions(i));
}

void VersionHasFunctions(const Subject& s, Findings& f) {
  if (s.ir_version() < kFirstIrWithFunctions && s.proto().functions_size() > 0)
    f.Add(At("functions"), "IR version {} has no functions", s.ir_version());
}

void Named(const Subject& s, Findings& f) {
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    if (function.name().empty()) f.Add(At(Path(i, "name")), "the function has no name");
    if (!function.has_domain()) f.Add(At(Path(i, "domain")), "the function has no domain");
  });
}

void Unique(const Subject& s, Findings& f) {
  std::set<Key> seen;
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    if (!seen.insert(KeyOf(function)).second)
      f.Add(At(Path(i)), "a second function is {} of domain {}", Quote(function.name()),
            Quote(function.domain()));
  });
}

void ListsUnique(const Subject& s, Findings& f) {
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    const auto check = [&](const auto& names, std::string_view field) {
      std::set<std::string_view> seen;
      for (const std::string& name : names)
        if (!seen.insert(name).second)
          f.Add(At(Path(i, field)), "{} lists {} twice", field, Quote(name));
    };
    check(function.input(), "input");
    check(function.output(), "output");
    check(function.attribute(), "attribute");
  });
}

void OutputsProduced(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->kind != Body::Kind::kFunction) continue;
    for (int i = 0; i < body->function->output_size(); ++i)
      if (!body->defined.contains(body->function->output(i)))
        f.Add(At(fmt::format("{}.output[{}]", body->path, i)),
              "output {} is written by no node of function {}", Quote(body->function->output(i)),
              Quote(body->function->name()));
  }
}

// Who calls whom, by number.
struct CallGraph {
  std::vector<std::set<int>> callees;
  std::vector<std::set<int>> callers;
};

CallGraph Calls(const Subject& s) {
  const auto& functions = s.proto().functions();
  std::map<Key, int> numbers;
  for (int i = 0; i < functions.size(); ++i) numbers.try_emplace(KeyOf(functions[i]), i);
  CallGraph calls;
  calls.callees.resize(static_cast<size_t>(functions.size()));
  calls.callers.resize(static_cast<size_t>(functions.size()));
  for (const NodeAt& node : s.nodes()) {
    if (node.body->function == nullptr) continue;
    const auto callee = numbers.find(CalleeOf(*node.node));
    if (callee == numbers.end()) continue;
    const int caller = numbers.at(KeyOf(*node.body->function));
    calls.callees[static_cast<size_t>(caller)].insert(callee->second);
    calls.callers[static_cast<size_t>(callee->second)].insert(caller);
  }
  return calls;
}

// How many functions the longest chain of calls from each has; 0 for those whose calls lead into a
// cycle.
std::vector<int> Depths(const CallGraph& calls) {
  const size_t n = calls.callees.size();
  std::vector<int> depths(n);
  std::vector<size_t> open(n);
  std::vector<int> ready;
  for (size_t i = 0; i < n; ++i)
    if ((open[i] = calls.callees[i].size()) == 0) ready.push_back(static_cast<int>(i));
  while (!ready.empty()) {
    const auto i = static_cast<size_t>(ready.back());
    ready.pop_back();
    for (const int callee : calls.callees[i])
      depths[i] = std::max(depths[i], depths[static_cast<size_t>(callee)]);
    ++depths[i];
    for (const int caller : calls.callers[i])
      if (--open[static_cast<size_t>(caller)] == 0) ready.push_back(caller);
  }
  return depths;
}

void NotRecursive(const Subject& s, Findings& f) {
  if (!s.HasFunctions()) return;
  const CallGraph calls = Calls(s);
  const std::vector<int> depths = Depths(calls);
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    const auto& callers = calls.callers[static_cast<size_t>(i)];
    // What calls a function of a cycle has no depth either; such a caller must call this one.
    if (depths[static_cast<size_t>(i)] == 0 &&
        std::any_of(callers.begin(), callers.end(),
                    [&](int c) { return depths[static_cast<size_t>(c)] == 0; }))
      f.Add(At(Path(i)), "function {} calls itself, directly or through others",
            Quote(function.name()));
  });
}

// Limits of onnx.checker.
constexpr int kMostFunctions = 10000;
constexpr int kMostCalls = 100;

void CallsLimited(const Subject& s, Findings& f) {
  if (!s.HasFunctions()) return;
  if (s.proto().functions_size() > kMostFunctions)
    f.Add(At("functions"), "the model has {} functions, more than {}", s.proto().functions_size(),
          kMostFunctions);
  const std::vector<int> depths = Depths(Calls(s));
  const auto deepest = std::max_element(depths.begin(), depths.end());
  if (deepest != depths.end() && *deepest > kMostCalls) {
    const auto i = static_cast<int>(deepest - depths.begin());
    f.Add(At(Path(i)), "calls of function {} are {} deep, more than {}",
          Quote(s.proto().functions(i).name()), *deepest, kMostCalls);
  }
}

// The versions that the model imports, and for further domains those of the first function that
// imports them.
OpsetMap AllImports(const Subject& s) {
  OpsetMap imports = *s.bodies().front()->opsets;
  for (const auto& body : s.bodies())
    if (body->kind == Body::Kind::kFunction)
      for (const auto& id : body->function->opset_import())
        imports.try_emplace(id.domain(), id.version());
  return imports;
}

void FindOtherVersions(const Subject& s, Findings& f, Body::Kind kind) {
  if (!s.HasFunctions()) return;
  const OpsetMap imports = AllImports(s);
  for (const NodeAt& node : s.nodes()) {
    if (node.body->function == nullptr || node.body->kind != kind) continue;
    const auto imported = imports.find(node.node->domain());
    if (imported == imports.end() || !node.imported || imported->second == node.opset) continue;
    const std::string_view domain = PlainDomain(node.node->domain());
    const Schema* other = FindSchema(domain, node.node->op_type(), imported->second);
    if (other != node.standard)
      f.Add(s.Where(node), "{} is of opset {}, but of opset {} in the model around the function",
            Title(node), node.standard != nullptr ? node.standard->since : 0,
            other != nullptr ? other->since : 0);
  }
}

void SameOperators(const Subject& s, Findings& f) {
  FindOtherVersions(s, f, Body::Kind::kFunction);
}

void SameOperatorsInSubGraphs(const Subject& s, Findings& f) {
  FindOtherVersions(s, f, Body::Kind::kSubGraph);
}

void DomainsNamedAlike(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.body->kind == Body::Kind::kFunction && node.imported &&
        !node.body->opsets->contains(node.node->domain()))
      f.Add(s.Where(node, "domain"), "{} is of domain {}, which function {} imports as {}",
            Title(node), Quote(node.node->domain()), Quote(node.body->function->name()),
            node.node->domain().empty() ? "\"ai.onnx\"" : "\"\"");
}

void CallsFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.function == nullptr) continue;
    if (node.node->input_size() > node.function->input_size())
      f.Add(s.Where(node, "input"), "{} has {} inputs; the function has {}", Title(node),
            node.node->input_size(), node.function->input_size());
    if (node.node->output_size() > node.function->output_size())
      f.Add(s.Where(node, "output"), "{} has {} outputs; the function has {}", Title(node),
            node.node->output_size(), node.function->output_size());
  }
}

void AttributesOnce(const Subject& s, Findings& f) {
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    std::set<std::string_view> seen(function.attribute().begin(), function.attribute().end());
    for (int k = 0; k < function.attribute_proto_size(); ++k)
      if (!seen.insert(function.attribute_proto(k).name()).second)
        f.Add(At(Path(i, fmt::format("attribute_proto[{}]", k))),
              "attribute {} of function {} is listed again",
              Quote(function.attribute_proto(k).name()), Quote(function.name()));
  });
}

void InfosOfValues(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->kind != Body::Kind::kFunction) continue;
    for (int i = 0; i < body->function->value_info_size(); ++i)
      if (!body->defined.contains(body->function->value_info(i).name()))
        f.Add(At(fmt::format("{}.value_info[{}]", body->path, i)), "function {} has no value {}",
              Quote(body->function->name()), Quote(body->function->value_info(i).name()));
  }
}

bool HasAttribute(const pb::FunctionProto& function, const std::string& name) {
  const auto& names = function.attribute();
  const auto& protos = function.attribute_proto();
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(protos.begin(), protos.end(), [&](const auto& a) { return a.name() == name; });
}

void CallAttributesKnown(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    const std::string& name = a.attribute->name();
    if (node.function != nullptr && !name.empty() && !name.starts_with("__") &&
        !HasAttribute(*node.function, name))
      f.Add(s.Where(a, "name"), "{} has attribute {}, which the function does not have",
            Title(node), Quote(name));
  }
}

constexpr Rule kRules[] = {
    {{"ONNX-FUNC-001", Severity::kWarning, "Models with functions have IR version 8 or later.",
      "onnx.proto, ModelProto.functions", false, "Raise ir_version."},
     VersionHasFunctions},
    {{"ONNX-FUNC-002", Severity::kError, "Functions have a name and a domain.", "IR.md, Functions",
      true, ""},
     Named},
    {{"ONNX-FUNC-003", Severity::kError, "Domain, name and overload tell functions apart.",
      "IR.md, Functions", true, ""},
     Unique},
    {{"ONNX-FUNC-004", Severity::kError,
      "Inputs, outputs and attributes of a function are listed once.", "IR.md, Functions", true,
      ""},
     ListsUnique},
    {{"ONNX-FUNC-005", Severity::kError, "Every output of a function is defined in it.",
      "IR.md, Functions", false, ""},
     OutputsProduced},
    {{"ONNX-FUNC-006", Severity::kError, "Functions are not recursive.", "IR.md, Functions", true,
      "Write the recursion as a Loop."},
     NotRecursive},
    {{"ONNX-FUNC-007", Severity::kError,
      "An operator in a function has the version that it has in the model.",
      "onnx.proto, FunctionProto.opset_import", true, "Import the same version in both."},
     SameOperators},
    {{"ONNX-FUNC-008", Severity::kError,
      "A node that calls a function has no more inputs and outputs than the function.",
      "IR.md, Functions", false, ""},
     CallsFit},
    {{"ONNX-FUNC-009", Severity::kError,
      "An operator in a sub-graph of a function has the version that it has in the model.",
      "onnx.proto, FunctionProto.opset_import", false, "Import the same version in both."},
     SameOperatorsInSubGraphs},
    {{"ONNX-FUNC-010", Severity::kError,
      "A function imports the domains of its nodes by the names that the nodes give.",
      "onnx.proto, FunctionProto.opset_import", true, "Import the standard operators as \"\"."},
     DomainsNamedAlike},
    {{"ONNX-FUNC-011", Severity::kError,
      "A model has at most 10,000 functions, whose calls are at most 100 deep.",
      "onnx.checker, limits", true, "Write the innermost functions out."},
     CallsLimited},
    {{"ONNX-FUNC-012", Severity::kError,
      "Attributes of a function are listed once, with a default value or without.",
      "onnx.proto, FunctionProto.attribute_proto", false, "Remove one of them."},
     AttributesOnce},
    {{"ONNX-FUNC-013", Severity::kError, "value_info of a function describes values of it.",
      "onnx.proto, FunctionProto.value_info", false, ""},
     InfosOfValues},
    {{"ONNX-FUNC-014", Severity::kError,
      "A node that calls a function has only attributes that the function has.", "IR.md, Nodes",
      false, "Remove the attribute, or list it in the function."},
     CallAttributesKnown},
};

}  // namespace

std::span<const Rule> FunctionRules() {
  return kRules;
}

}  // namespace nn::onnx
