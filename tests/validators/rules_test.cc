#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "formats/format.h"
#include "support/files.h"
#include "support/paths.h"
#include "validators/runner.h"

namespace nn::test::rules_test {
namespace {

std::ptrdiff_t CountWords(std::string_view text) {
  std::istringstream in{std::string(text)};
  return std::distance(std::istream_iterator<std::string>(in), {});
}

TEST_CASE("rules: ids are unique, statements are sentences with a source") {
  std::set<std::string_view> ids;
  const auto rules = AllRules();
  CHECK(rules.size() > 100);
  for (const RuleInfo& rule : rules) {
    CAPTURE(std::string(rule.id));
    CHECK(ids.insert(rule.id).second);
    CHECK(rule.statement.ends_with('.'));
    CHECK(!rule.clause.empty());
  }
}

// Rules may share a hint.
TEST_CASE("rules: each has a hint, a sentence of at least three words") {
  for (const RuleInfo& rule : AllRules()) {
    CAPTURE(std::string(rule.id));
    CAPTURE(std::string(rule.hint));
    CHECK(!rule.hint.empty());
    CHECK(rule.hint.ends_with('.'));
    CHECK(CountWords(rule.hint) >= 3);
  }
}

// Reports and --explain show one rule at a time.
TEST_CASE("rules: statements can be read alone") {
  for (const RuleInfo& rule : AllRules()) {
    CAPTURE(std::string(rule.id));
    CAPTURE(std::string(rule.statement));
    for (const char* start : {"So ", "The same", "Those ", "They ", "It ", "These "})
      CHECK_MESSAGE(!rule.statement.starts_with(start), "begins with \"" << start << "\"");
    for (const char* phrase : {"which is none", "are no "})
      CHECK_MESSAGE(rule.statement.find(phrase) == std::string_view::npos,
                    "contains \"" << phrase << "\"");
  }
}

TEST_CASE("rules: the vendor profile is part of spec, spec part of strict") {
  const auto strict = Rules({Profile::kStrict});
  const auto spec = Rules({Profile::kSpec});
  const auto vendor = Rules({Profile::kVendor});
  CHECK(vendor.size() < spec.size());
  CHECK(spec.size() < strict.size());
  const auto has = [](const std::vector<RuleInfo>& list, std::string_view id) {
    return std::any_of(list.begin(), list.end(), [&](const RuleInfo& r) { return r.id == id; });
  };
  for (const RuleInfo& rule : vendor) CHECK(has(strict, rule.id));
  for (const RuleInfo& rule : spec) CHECK(has(strict, rule.id));
}

TEST_CASE("rules: the safety profile adds its own rules to spec") {
  const auto spec = Rules({Profile::kSpec});
  const auto safety = Rules({Profile::kSafety});
  size_t added = 0;
  for (const RuleInfo& rule : safety) {
    CHECK(!rule.lint);
    added += rule.safety ? 1 : 0;
  }
  CHECK(added >= 10);
  CHECK(safety.size() == spec.size() + added);
  for (const RuleInfo& rule : Rules({Profile::kStrict})) CHECK(!rule.safety);
  for (const std::string_view name : ProfileNames()) CHECK(ParseProfile(name).has_value());
  CHECK(!ParseProfile("lax"));
}

// The *_rules_test.cc run the examples of a format's rules and fail for a rule without one.
TEST_CASE("rules: all belong to a format with examples, or are FILE-001") {
  for (const RuleInfo& rule : AllRules()) {
    CAPTURE(std::string(rule.id));
    const std::string_view format = rule.id.substr(0, rule.id.find('-') + 1);
    CHECK((format == "ONNX-" || format == "TFLITE-" || format == "COREML-" || format == "NNAPI-" ||
           format == "LINT-" || rule.id == "FILE-001"));
  }
  const TempDir folder;
  const std::string path = folder / "model.bin";
  WriteText(path, "no model");
  const auto broken = ReadModelFile(path);
  REQUIRE(!broken.has_value());
  CHECK(UnreadableFile(broken.error(), FormatOfPath(path)).rule == "FILE-001");
  WriteText(path, ReadText(SourcePath("tests/cases/onnx/good.onnx")));
  CHECK(ReadModelFile(path).has_value());  // recognized by its contents
}

TEST_CASE("rules: statements of the documents are checked, or have a reason why not") {
  for (const Format& format : Formats()) {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    CHECK(!ClausesOf(format.name).empty());
    for (const Clause& c : ClausesOf(format.name)) {
      CAPTURE(std::string(c.where));
      CAPTURE(std::string(c.statement));
      CHECK(c.statement.ends_with('.'));
      CHECK(c.rules.empty() != c.reason.empty());
      CHECK(seen.emplace(c.where, c.statement).second);
      std::istringstream ids{std::string(c.rules)};
      for (std::string id; ids >> id;) CHECK_MESSAGE(FindRule(id).has_value(), "no rule " << id);
    }
  }
}

TEST_CASE("rules: validators/RULES.md is what the rules say") {
  CHECK_MESSAGE(ReadText(SourcePath("validators/RULES.md")) == RulesMarkdown(),
                "run scripts/update-rules");
}

}  // namespace
}  // namespace nn::test::rules_test
