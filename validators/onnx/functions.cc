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

using CallGraph = std::map<Key, std::set<Key>>;

CallGraph Calls(const Subject& s) {
  CallGraph calls;
  EachFunction(s, [&](int, const pb::FunctionProto& function) { calls[KeyOf(function)]; });
  for (const NodeAt& node : s.nodes())
    if (node.body->function != nullptr && calls.contains(CalleeOf(*node.node)))
      calls[KeyOf(*node.body->function)].insert(CalleeOf(*node.node));
  return calls;
}

// The functions that are reached from themselves: what is left when those without open calls are
// taken away, again and again, and then those that are only called.
std::set<Key> Recursive(CallGraph calls) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = calls.begin(); it != calls.end();) {
      std::erase_if(it->second, [&](const Key& k) { return !calls.contains(k); });
      const bool leaf = it->second.empty();
      changed = changed || leaf;
      it = leaf ? calls.erase(it) : std::next(it);
    }
  }
  std::set<Key> left;
  for (const auto& [key, callees] : calls) left.insert(callees.begin(), callees.end());
  return left;
}

void NotRecursive(const Subject& s, Findings& f) {
  const std::set<Key> recursive = Recursive(Calls(s));
  EachFunction(s, [&](int i, const pb::FunctionProto& function) {
    if (recursive.contains(KeyOf(function)))
      f.Add(At(Path(i)), "function {} calls itself, directly or through others",
            Quote(function.name()));
  });
}

void SameOperators(const Subject& s, Findings& f) {
  if (s.bodies().empty()) return;
  const OpsetMap& model = *s.bodies().front()->opsets;
  for (const NodeAt& node : s.nodes()) {
    if (node.body->function == nullptr || node.function != nullptr) continue;
    const std::string_view domain = PlainDomain(node.node->domain());
    const auto imported = model.find(domain);
    if (imported == model.end() || node.opset <= 0 || imported->second == node.opset) continue;
    const Schema* other = FindSchema(domain, node.node->op_type(), imported->second);
    if (other != node.schema)
      f.Add(s.Where(node), "{} is of opset {}, but of opset {} in the model around the function",
            Title(node), node.schema != nullptr ? node.schema->since : 0,
            other != nullptr ? other->since : 0);
  }
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
};

}  // namespace

std::span<const Rule> FunctionRules() {
  return kRules;
}

}  // namespace nn::onnx
