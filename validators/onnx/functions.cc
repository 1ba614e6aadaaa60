// Rules for functions that a model defines.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text/text.h"
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

std::string FunctionPath(int i, std::string_view field = {}) {
  return fmt::format("functions[{}]{}{}", i, field.empty() ? "" : ".", field);
}

template <typename Visit>
void EachFunction(const RuleContext& s, const Visit& visit) {
  if (!s.HasFunctions()) return;
  for (int i = 0; i < s.proto().functions_size(); ++i) visit(i, s.proto().functions(i));
}

void VersionHasFunctions(const RuleContext& s, Findings& f) {
  if (s.ir_version() < kFirstIrWithFunctions && s.proto().functions_size() > 0)
    f.Add(At("functions"), "the model has functions, which IR version {} does not support",
          s.ir_version());
}

void FunctionNamed(const RuleContext& s, Findings& f) {
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    if (function.name().empty()) f.Add(At(FunctionPath(i, "name")), "the function has no name");
    if (!function.has_domain()) f.Add(At(FunctionPath(i, "domain")), "the function has no domain");
  });
}

void FunctionUnique(const RuleContext& s, Findings& f) {
  std::set<Key> seen;
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    if (!seen.insert(KeyOf(function)).second)
      f.Add(At(FunctionPath(i)),
            "another function is already named {} in domain {}, with the same overload",
            Quote(function.name()), Quote(function.domain()));
  });
}

void ListsUnique(const RuleContext& s, Findings& f) {
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    const auto check = [&](const auto& names, std::string_view field) {
      std::set<std::string_view> seen;
      for (const std::string& name : names)
        if (!seen.insert(name).second)
          f.Add(At(FunctionPath(i, field)), "{} lists {} more than once", field, Quote(name));
    };
    check(function.input(), "input");
    check(function.output(), "output");
    check(function.attribute(), "attribute");
  });
}

void FunctionOutputsProduced(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->kind != Body::Kind::kFunction) continue;
    for (int i = 0; i < body->function->output_size(); ++i)
      if (!body->defined.contains(body->function->output(i)))
        f.Add(At(fmt::format("{}.output[{}]", body->path, i)),
              "output {} is not defined in function {}", Quote(body->function->output(i)),
              Quote(body->function->name()));
  }
}

// Callees and callers of each function, by index.
struct CallGraph {
  std::vector<std::set<int>> callees;
  std::vector<std::set<int>> callers;
};

CallGraph Calls(const RuleContext& s) {
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

// For each function, the number of functions in the longest chain of calls that starts with it; 0
// if its calls lead into a cycle.
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

// All functions, each after those that its calls lead to, except within cycles.
std::vector<int> CalleesFirst(const CallGraph& calls) {
  std::vector<int> order;
  std::vector<bool> seen(calls.callees.size());
  using Rest = std::pair<int, std::set<int>::const_iterator>;
  std::vector<Rest> path;
  for (size_t start = 0; start < seen.size(); ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    path.emplace_back(static_cast<int>(start), calls.callees[start].begin());
    while (!path.empty()) {
      auto& [function, next] = path.back();
      if (next == calls.callees[static_cast<size_t>(function)].end()) {
        order.push_back(function);
        path.pop_back();
      } else if (const auto callee = static_cast<size_t>(*next++); !seen[callee]) {
        seen[callee] = true;
        path.emplace_back(static_cast<int>(callee), calls.callees[callee].begin());
      }
    }
  }
  return order;
}

// Whether each function is part of a cycle, not only leads into one: the strongly connected
// components, after Kosaraju.
std::vector<bool> Recursive(const CallGraph& calls) {
  const std::vector<int> order = CalleesFirst(calls);
  std::vector<bool> seen(order.size()), recursive(order.size());
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (seen[static_cast<size_t>(*it)]) continue;
    seen[static_cast<size_t>(*it)] = true;
    std::vector<int> component = {*it};
    for (size_t i = 0; i < component.size(); ++i)
      for (const int caller : calls.callers[static_cast<size_t>(component[i])])
        if (!seen[static_cast<size_t>(caller)]) {
          seen[static_cast<size_t>(caller)] = true;
          component.push_back(caller);
        }
    const bool is_cycle =
        component.size() > 1 || calls.callees[static_cast<size_t>(*it)].contains(*it);
    for (const int function : component) recursive[static_cast<size_t>(function)] = is_cycle;
  }
  return recursive;
}

void NotRecursive(const RuleContext& s, Findings& f) {
  if (!s.HasFunctions()) return;
  const std::vector<bool> recursive = Recursive(Calls(s));
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    if (recursive[static_cast<size_t>(i)])
      f.Add(At(FunctionPath(i)), "function {} calls itself, directly or through other functions",
            Quote(function.name()));
  });
}

// Limit of validation: functions of an ONNX model, as in onnx.checker.
constexpr int kMaxFunctions = 10000;
// Limit of validation: nested function calls of an ONNX model, as in onnx.checker.
constexpr int kMaxCalls = 100;

void CallsLimited(const RuleContext& s, Findings& f) {
  if (!s.HasFunctions()) return;
  if (s.proto().functions_size() > kMaxFunctions)
    f.Add(At("functions"), "the model has {} functions; at most {} are allowed",
          s.proto().functions_size(), kMaxFunctions);
  const std::vector<int> depths = Depths(Calls(s));
  const auto deepest = std::max_element(depths.begin(), depths.end());
  if (deepest != depths.end() && *deepest > kMaxCalls) {
    const auto i = static_cast<int>(deepest - depths.begin());
    f.Add(At(FunctionPath(i)), "calls from function {} are {} deep; at most {} are allowed",
          Quote(s.proto().functions(i).name()), *deepest, kMaxCalls);
  }
}

// The opset versions that the model imports; for other domains, those of the first function that
// imports them.
OpsetMap AllImports(const RuleContext& s) {
  OpsetMap imports = *s.bodies().front()->opsets;
  for (const auto& body : s.bodies())
    if (body->kind == Body::Kind::kFunction)
      for (const auto& id : body->function->opset_import())
        imports.try_emplace(id.domain(), id.version());
  return imports;
}

// Of a signature, for messages.
std::string VersionText(const Schema* schema) {
  return schema != nullptr ? fmt::format("version {}", schema->since) : "no operator";
}

void FindOtherVersions(const RuleContext& s, Findings& f, Body::Kind kind) {
  if (!s.HasFunctions()) return;
  const OpsetMap imports = AllImports(s);
  for (const NodeAt& node : s.nodes()) {
    if (node.body->function == nullptr || node.body->kind != kind) continue;
    const auto imported = imports.find(node.node->domain());
    if (imported == imports.end() || !node.imported || imported->second == node.opset) continue;
    const std::string_view domain = PlainDomain(node.node->domain());
    const Schema* other = FindSchema(domain, node.node->op_type(), imported->second);
    if (other != node.standard)
      f.Add(s.Where(node),
            "{} resolves to {} in function {}, but to {} with the imports of the model",
            Title(node), VersionText(node.standard), Quote(node.body->function->name()),
            VersionText(other));
  }
}

void SameOperators(const RuleContext& s, Findings& f) {
  FindOtherVersions(s, f, Body::Kind::kFunction);
}

void SameOperatorsInSubGraphs(const RuleContext& s, Findings& f) {
  FindOtherVersions(s, f, Body::Kind::kSubGraph);
}

void DomainsNamedAlike(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.body->kind == Body::Kind::kFunction && node.imported &&
        !node.body->opsets->contains(node.node->domain()))
      f.Add(s.Where(node, "domain"), "{} has domain {}, which function {} imports as {}",
            Title(node), Quote(node.node->domain()), Quote(node.body->function->name()),
            node.node->domain().empty() ? "\"ai.onnx\"" : "\"\"");
}

void CallsFit(const RuleContext& s, Findings& f) {
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

void AttributesOnce(const RuleContext& s, Findings& f) {
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    std::set<std::string_view> seen(function.attribute().begin(), function.attribute().end());
    for (int k = 0; k < function.attribute_proto_size(); ++k)
      if (!seen.insert(function.attribute_proto(k).name()).second)
        f.Add(At(FunctionPath(i, fmt::format("attribute_proto[{}]", k))),
              "attribute {} of function {} is listed more than once",
              Quote(function.attribute_proto(k).name()), Quote(function.name()));
  });
}

void InfosOfValues(const RuleContext& s, Findings& f) {
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

void CallAttributesKnown(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    const std::string& name = a.attribute->name();
    if (node.function != nullptr && !name.empty() && !name.starts_with("__") &&
        !HasAttribute(*node.function, name))
      f.Add(s.Where(a, "name"), "{} has attribute {}, which the function does not have",
            Title(node), Quote(name));
  }
}

constexpr Rule kFunctionRules[] = {
    {.info = {.id = "ONNX-FUNC-001",
              .severity = Severity::kWarning,
              .statement = "A model with functions has IR version 8 or later.",
              .clause = "onnx.proto, ModelProto.functions",
              .hint = "Raise ir_version to 8 or later."},
     .check = VersionHasFunctions},
    {.info = {.id = "ONNX-FUNC-002",
              .statement = "Every function has a name and a domain.",
              .clause = "IR.md, Functions",
              .vendor = true,
              .hint = "Set the name and the domain of the function."},
     .check = FunctionNamed},
    {.info = {.id = "ONNX-FUNC-003",
              .statement = "No two functions have the same domain, name and overload.",
              .clause = "IR.md, Functions",
              .vendor = true,
              .hint = "Rename or remove one of the functions, or give them different overloads."},
     .check = FunctionUnique},
    {.info = {.id = "ONNX-FUNC-004",
              .statement = "The inputs, outputs and attributes of a function are each listed once.",
              .clause = "IR.md, Functions",
              .vendor = true,
              .hint = "Rename or remove the repeated name."},
     .check = ListsUnique},
    {.info = {.id = "ONNX-FUNC-005",
              .statement = "Every output of a function is defined in that function.",
              .clause = "IR.md, Functions",
              .hint = "Correct the output name, or add the node that computes the output."},
     .check = FunctionOutputsProduced},
    {.info = {.id = "ONNX-FUNC-006",
              .statement = "No function calls itself, directly or through other functions.",
              .clause = "IR.md, Functions",
              .vendor = true,
              .hint = "Replace the recursion with a Loop."},
     .check = NotRecursive},
    {.info = {.id = "ONNX-FUNC-007",
              .statement = "In a function, every operator has the version that the imports of the "
                           "model give it.",
              .clause = "onnx.proto, FunctionProto.opset_import",
              .vendor = true,
              .hint = "Import the same opset version in the model and the function."},
     .check = SameOperators},
    {.info = {.id = "ONNX-FUNC-008",
              .statement =
                  "A node that calls a function has no more inputs and outputs than the function.",
              .clause = "IR.md, Functions",
              .hint = "Remove the extra inputs or outputs, or add them to the function."},
     .check = CallsFit},
    {.info = {.id = "ONNX-FUNC-009",
              .statement = "In a subgraph of a function, every operator has the version that the "
                           "imports of the model give it.",
              .clause = "onnx.proto, FunctionProto.opset_import",
              .hint = "Import the same opset version in the model and the function."},
     .check = SameOperatorsInSubGraphs},
    {.info =
         {.id = "ONNX-FUNC-010",
          .statement = "A function imports the default domain by the name that its nodes use: \"\" "
                       "or its alias \"ai.onnx\".",
          .clause = "onnx.proto, FunctionProto.opset_import",
          .vendor = true,
          .hint =
              "Import the standard operators as \"\", and leave the domain of their nodes empty."},
     .check = DomainsNamedAlike},
    {.info =
         {.id = "ONNX-FUNC-011",
          .statement =
              "A model has at most 10,000 functions, and calls of functions are at most 100 deep.",
          .clause = "onnx.checker, limits",
          .vendor = true,
          .hint = "Inline the innermost functions."},
     .check = CallsLimited},
    {.info =
         {.id = "ONNX-FUNC-012",
          .statement = "Each attribute of a function is listed once, either in attribute or in "
                       "attribute_proto.",
          .clause = "onnx.proto, FunctionProto.attribute_proto",
          .hint =
              "Remove one of the entries; attribute_proto is for attributes with a default value."},
     .check = AttributesOnce},
    {.info = {.id = "ONNX-FUNC-013",
              .statement = "Every value_info entry of a function names a value of that function.",
              .clause = "onnx.proto, FunctionProto.value_info",
              .hint = "Correct the name, or remove the entry."},
     .check = InfosOfValues},
    {.info = {.id = "ONNX-FUNC-014",
              .statement = "Every attribute of a node that calls a function is an attribute of the "
                           "function, or has a name that begins with \"__\".",
              .clause = "IR.md, Nodes",
              .hint = "Remove the attribute, or add it to the function."},
     .check = CallAttributesKnown},
};

}  // namespace

std::span<const Rule> FunctionRules() {
  return kFunctionRules;
}

}  // namespace nn::onnx
