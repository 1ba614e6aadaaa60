// The refusals in the grid files follow the grammar of docs/pages/reference/conversion.md.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nnconvert/options.h"
#include "base/text/refusal.h"
#include "cross/rows.h"
#include "formats/format.h"
#include "ir/op_def.h"
#include "nnsuite/options.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test::refusals_test {
namespace {

using Labels = std::set<std::string, std::less<>>;  // of a row's cases

std::vector<std::string_view> PartsOf(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

// The text of a cell without the cases at its end: "refused: ... [f16 | f64]".
std::string_view WithoutCases(std::string_view text, const Labels& labels) {
  if (!text.ends_with(']')) return text;
  for (size_t at = text.find(" ["); at != std::string_view::npos; at = text.find(" [", at + 1)) {
    const std::string_view cases = text.substr(at + 2, text.size() - at - 3);
    const auto is_label = [&](std::string_view label) { return labels.contains(label); };
    if (std::ranges::all_of(PartsOf(cases, " | "), is_label)) return text.substr(0, at);
  }
  return text;
}

// Whether the text begins with the subject of a refusal.
bool HasSubject(std::string_view text) {
  const std::string_view subject = text.substr(0, text.find(": "));
  if (subject == "model" || Ops().Find(subject) != nullptr) return true;
  return subject.ends_with('"') &&
         (subject.starts_with("input \"") || subject.starts_with("output \"") ||
          subject.starts_with("tensor \""));
}

// The refusals of a cell, which are separated like their parts.
std::vector<std::string> RefusalsOf(std::string_view cell) {
  std::vector<std::string> refusals;
  for (const std::string_view part : PartsOf(cell, "; ")) {
    if (refusals.empty() || HasSubject(part))
      refusals.emplace_back(part);
    else
      refusals.back() += fmt::format("; {}", part);
  }
  return refusals;
}

// By text, with a place in the grid files.
std::map<std::string, std::string> RecordedRefusals() {
  constexpr std::string_view kRefused = "refused: ";
  // The conversion is not refused, but its verification: a run is, as the end of the text says.
  constexpr std::string_view kUnverified = "written, but not verified: ";
  constexpr std::string_view kBeforeRun = "): ";
  const auto rows = ReadRows(RowsFolder());
  REQUIRE_MESSAGE(rows.has_value(), rows.error().message());
  std::map<std::string, Labels, std::less<>> labels;
  std::set<std::string> families;
  for (const Row& row : *rows) {
    families.insert(row.family);
    for (const CrossCase& c : row.Cases()) labels[row.name].insert(c.label);
  }
  std::map<std::string, std::string> refusals;
  for (const std::string& family : families) {
    std::istringstream in(ReadText(fmt::format("{}/{}.grid", RowsFolder(), family)));
    std::string row;
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("  ")) row = line.substr(0, line.rfind(" ("));
      const size_t at = line.find(kRefused);
      if (at != std::string::npos && line.find_first_not_of(' ', 2) == 2) {
        std::string_view cell =
            WithoutCases(std::string_view(line).substr(at + kRefused.size()), labels[row]);
        if (cell.starts_with(kUnverified))
          cell.remove_prefix(cell.find(kBeforeRun) + kBeforeRun.size());
        for (std::string& refusal : RefusalsOf(cell))
          refusals.emplace(std::move(refusal), fmt::format("{}.grid, {}", family, row));
      }
    }
  }
  return refusals;
}

// The operators of all formats, without the domains of ONNX.
std::set<std::string, std::less<>> NamesOfOperators() {
  std::set<std::string, std::less<>> names;
  for (const Format& format : Formats())
    for (const OperatorSupport& op : format.operators())
      names.insert(op.name.substr(op.name.rfind('.') + 1));
  return names;
}

// "ONNX's LSTM ...", "RESHAPE ...".
bool BeginsWithName(std::string_view clause) {
  static const std::set<std::string, std::less<>> kOperators = NamesOfOperators();
  const auto is_format = [&](const OutputKind& kind) { return clause.starts_with(kind.label); };
  return std::ranges::any_of(OutputKinds(), is_format) ||
         kOperators.contains(clause.substr(0, clause.find(' ')));
}

// What is wrong with a clause of a reason; "" if nothing is.
std::string FaultOfClause(std::string_view clause, std::string_view subject) {
  if (clause.empty()) return "an empty clause";
  const auto first = static_cast<unsigned char>(clause.front());
  if (std::isupper(first) != 0 && !BeginsWithName(clause)) return "an upper-case letter";
  if (std::isalnum(first) == 0 && first != '"') return "no word at the beginning";
  if (std::ispunct(static_cast<unsigned char>(clause.back())) != 0 &&
      std::string_view(")]}\"").find(clause.back()) == std::string_view::npos)
    return "punctuation at the end";
  if (clause.find(": ") != std::string_view::npos) return "a colon in the reason";
  if (clause.find("--") != std::string_view::npos) return "an option in the reason";
  if (clause.starts_with(fmt::format("{} ", subject))) return "the subject again";
  for (const std::string_view word : PartsOf(clause, " "))
    for (const std::string_view past : {"did", "had", "was", "were", "will", "would", "could"})
      if (word == past) return "not the present tense";
  return {};
}

std::string FaultOfRemedy(std::string_view remedy) {
  const size_t at = remedy.find("--");
  if (at == std::string_view::npos)
    return remedy.find(" in the model") != std::string_view::npos ? "" : "no option";
  for (const std::string_view word : PartsOf(remedy.substr(at), " ")) {
    if (!word.starts_with("--")) continue;
    const std::string name(word.substr(2, word.find_last_not_of(",.") - 1));
    if (FindOption(app::ArgumentTable(), name) == nullptr) return "unknown option --" + name;
  }
  return {};
}

// What is wrong with a refusal; "" if nothing is.
std::string FaultOf(std::string_view refusal) {
  if (!HasSubject(refusal)) return "no subject";
  const size_t at = refusal.find(": ");
  if (at == std::string_view::npos) return "no reason";
  const std::string_view subject = refusal.substr(0, at);
  const std::string_view reason = refusal.substr(at + 2);
  std::vector<std::string_view> clauses = PartsOf(reason, "; ");
  const std::string_view remedy = RemedyOf(reason);
  if (!remedy.empty()) {
    clauses.pop_back();
    if (std::string fault = FaultOfRemedy(remedy); !fault.empty()) return fault;
  }
  for (const std::string_view clause : clauses) {
    if (!RemedyOf(fmt::format("; {}", clause)).empty()) return "several remedies";
    if (std::string fault = FaultOfClause(clause, subject); !fault.empty()) return fault;
  }
  return {};
}

TEST_CASE("refusals: those of the grid files follow the grammar") {
  const std::map<std::string, std::string> refusals = RecordedRefusals();
  CHECK(refusals.size() > 1000);
  for (const auto& [refusal, place] : refusals)
    if (const std::string fault = FaultOf(refusal); !fault.empty())
      FAIL_CHECK(fmt::format("{}: {} ({})", fault, refusal, place));
}

TEST_CASE("refusals: the documentation names the verbs of remedies") {
  std::vector<std::string> verbs;
  for (const std::string_view verb : kRemedyVerbs) verbs.push_back(fmt::format("`{}`", verb));
  const std::string last = verbs.back();
  verbs.pop_back();
  CHECK(ReadText(SourcePath("docs/pages/reference/conversion.md"))
            .find(fmt::format("begins with {} or {}", fmt::join(verbs, ", "), last)) !=
        std::string::npos);
}

TEST_CASE("refusals: each fault is found") {
  struct Row {
    const char* refusal;
    const char* fault;
  };
  for (const Row& row :
       {Row{"the model has no inputs", "no subject"}, Row{"relu", "no reason"},
        Row{"pow: There is none for f16", "an upper-case letter"},
        Row{"pow: (f16) is not supported", "no word at the beginning"},
        Row{"pow: f16 is not supported.", "punctuation at the end"},
        Row{"pow: of POW: f16 is not supported", "a colon in the reason"},
        Row{"pow: f16 needs --float32", "an option in the reason"},
        Row{"pow: pow does not support f16", "the subject again"},
        Row{"pow: f16 was found", "not the present tense"},
        Row{"pow: f16 is not supported; use floats", "no option"},
        Row{"pow: f16 is not supported; use --floats", "unknown option --floats"},
        Row{"pow: its size is open; use --batch; set it with --input-shape", "several remedies"},
        Row{"pow: f16 is not supported; ", "an empty clause"},
        Row{"pow: NNAPI 1.0 has no f16 tensors", ""},
        Row{"pow: Pow of ONNX does not support u2 as X", ""},
        Row{"pow: POW takes floats; the exponent is i64; cast it to f32 in the model", ""},
        Row{"input \"x\": it is f32[n]; use --batch or --input-shape", ""},
        Row{"model: it has no inputs", ""}}) {
    CAPTURE(row.refusal);
    CHECK(FaultOf(row.refusal) == row.fault);
  }
}

}  // namespace
}  // namespace nn::test::refusals_test
