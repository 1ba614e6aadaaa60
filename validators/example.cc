#include "validators/example.h"

#include <algorithm>
#include <iterator>

#include "base/text/text.h"

namespace nn {
namespace {

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::vector<RuleExample> JoinExamples(std::vector<std::vector<RuleExample>> lists) {
  std::vector<RuleExample> all;
  for (auto& list : lists)
    all.insert(all.end(), std::move_iterator(list.begin()), std::move_iterator(list.end()));
  return all;
}

Result<std::string> ExampleText(const RuleExamples& examples, const char* base,
                                const std::vector<Edit>& edits) {
  std::string text = base;
  for (const Edit& edit : edits) {
    const size_t at = text.find(edit.from);
    if (at == std::string::npos)
      return InternalError("the example does not contain {}", Quote(edit.from));
    text.replace(at, edit.from.size(), edit.to);
  }
  return examples.expand == nullptr ? text : examples.expand(text);
}

std::string ChangedLines(std::string_view base, std::string_view text) {
  const std::vector<std::string_view> a = LinesOf(base);
  const std::vector<std::string_view> b = LinesOf(text);
  // common[i][j]: the length of the longest common subsequence of a[i..] and b[j..].
  std::vector<std::vector<size_t>> common(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string out;
  const auto add = [&](std::string_view mark, std::string_view line) {
    out.append(mark).append(line).append("\n");
  };
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i, ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      add("- ", a[i++]);
    } else {
      add("+ ", b[j++]);
    }
  }
  return out;
}

}  // namespace nn
