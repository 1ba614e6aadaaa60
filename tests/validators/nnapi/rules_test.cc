// Rules of NNAPI models, each broken and nearly broken.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "formats/nnapi/spec/constraint.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::nnapi_rules_test {
namespace {

std::string Encode(const std::string& text) {
  return text;
}

TEST_CASE("NNAPI rules") {
  CheckRuleCases({"NNAPI-", "m.nnapi.json", Encode, ExamplesOf("nnapi")});
}

std::vector<nnapi::Label> AllLabels() {
  std::vector<nnapi::Label> all;
  for (size_t i = 0; i < nnapi::kLabels; ++i) all.push_back(static_cast<nnapi::Label>(i));
  return all;
}

TEST_CASE("NNAPI constraints: each has a name, a check, and an operation or operand to check") {
  std::set<std::string_view> names;
  std::set<nnapi::Label> listed;
  for (const nnapi::OperationType type : nnapi::AllOperations())
    for (const nnapi::Signature* s : nnapi::SignaturesOf(type))
      listed.insert(s->constraints.begin(), s->constraints.end());
  for (const nnapi::Label label : AllLabels()) {
    const std::string name(nnapi::NameOf(label));
    CAPTURE(name);
    CHECK(!name.empty());
    CHECK(names.insert(nnapi::NameOf(label)).second);
    CHECK(nnapi::LabelNamed(name) == label);
    const nnapi::Constraint& c = nnapi::ConstraintOf(label);
    CHECK(c.label == label);
    CHECK((c.check != nullptr) != (c.check_operand != nullptr));
    // Of operands, of every operation, or in a signature.
    CHECK(listed.contains(label) == (label > nnapi::Label::kLastOfAll));
  }
}

// One rule reports each constraint, with the constraint's message, and an example breaks each.
TEST_CASE("NNAPI constraints: each is reported by one rule, and broken by an example of it") {
  const RuleExamples examples = ExamplesOf("nnapi");
  std::map<nnapi::Label, std::set<std::string>> rules;
  for (const RuleExample& e : examples.list) {
    CAPTURE(std::string(e.rules));
    const auto text = ExampleText(examples, e.base, e.broken);
    REQUIRE(text.has_value());
    const auto model = nnapi::ReadJson(Blob::CopyOf(std::span<const char>(*text)), {});
    if (!model) continue;  // NNAPI-FILE-001
    std::multimap<std::pair<std::string, std::string>, std::string> findings;
    for (const Finding& f : Validate(**model, *FindFormat("nnapi"), {Profile::kStrict}))
      findings.emplace(std::pair(f.location.element, f.message), f.rule);
    const nnapi::ModelView view(**model);
    nnapi::FindMisfits(view, AllLabels(), [&](const nnapi::Misfit& m) {
      const auto [first, last] = findings.equal_range({m.site.path, m.text});
      CHECK(first != last);
      for (auto it = first; it != last; ++it) rules[m.label].insert(it->second);
    });
  }
  for (const nnapi::Label label : AllLabels()) {
    CAPTURE(std::string(nnapi::NameOf(label)));
    CHECK(rules[label].size() == 1);
  }
}

}  // namespace
}  // namespace nn::test::nnapi_rules_test
