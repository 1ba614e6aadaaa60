#include "validators/example.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text/text.h"
#include "validators/doc_text.h"

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

constexpr std::string_view kModel = "model ";

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string WithNewLines(std::string text) {
  ReplaceAll(text, "\\n", "\n");
  return text;
}

// "= FROM => TO", where " TO" may be missing.
Edit ParseEdit(const std::string& line) {
  constexpr std::string_view kArrow = " =>";
  const size_t arrow = std::min(line.find(kArrow), line.size());
  Edit edit = {WithNewLines(line.substr(2, arrow - 2)),
               WithNewLines(line.substr(std::min(arrow + kArrow.size() + 1, line.size())))};
  ReplaceAll(edit.to, "&", edit.from);
  return edit;
}

}  // namespace

std::vector<RuleExample> ParseExamples(std::string_view text) {
  std::map<std::string, std::string, std::less<>> models;
  std::vector<RuleExample> examples;
  const std::vector<DocLine> lines = ReadDocText(text);
  for (const DocLine& line : lines)
    if (line.line.starts_with(kModel))
      models.emplace(line.line.substr(kModel.size()), WithNewLines(line.Block()));
  for (const DocLine& line : lines) {
    if (line.line.starts_with(kModel)) continue;
    const char mark = line.line[0];
    if (examples.empty() || std::string_view("=-+").find(mark) == std::string_view::npos) {
      const size_t colon = std::min(line.line.find(':'), line.line.size());
      const auto model = models.find(line.line.substr(std::min(colon + 2, line.line.size())));
      examples.push_back({std::string(line.line.substr(0, colon)),
                          model != models.end() ? model->second : WithNewLines(line.Block()),
                          {},
                          {}});
      continue;
    }
    const Edit edit = ParseEdit(line.Joined());
    if (mark != '+') examples.back().broken.push_back(edit);
    if (mark != '-') examples.back().near.push_back(edit);
  }
  return examples;
}

Result<std::string> ExampleText(const RuleExamples& examples, const std::string& base,
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
