#include "cross/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <set>
#include <sstream>

#include "base/random.h"
#include "base/text/text.h"
#include "ir/seeded.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> Values(std::string_view list) {
  std::vector<std::string> values;
  for (;;) {
    const size_t bar = list.find('|');
    values.emplace_back(Trimmed(list.substr(0, bar)));
    if (bar == std::string_view::npos) return values;
    list.remove_prefix(bar + 1);
  }
}

bool IsVariable(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

class RowsReader {
 public:
  RowsReader(std::string_view text, const std::string& family)
      : in_(std::string(text)), family_(family) {}

  Result<std::vector<Row>> Read() {
    for (std::string line; Next(line);) {
      const std::string_view t = Trimmed(line);
      if (t.empty() || t.starts_with('#')) continue;
      NN_RETURN_IF_ERROR(Take(t));
    }
    if (!rows_.empty() && rows_.back().graph.empty()) return Bad("the last row has no graph");
    return std::move(rows_);
  }

 private:
  bool Next(std::string& line) {
    ++number_;
    return static_cast<bool>(std::getline(in_, line));
  }

  std::string Place() const { return fmt::format("{}.rows:{}", family_, number_); }
  tl::unexpected<Error> Bad(std::string_view what) const {
    return ParseError("{}: {}", Place(), what);
  }

  Status Take(std::string_view line) {
    if (line.starts_with("row ")) return TakeName(Trimmed(line.substr(4)));
    if (rows_.empty() || !rows_.back().graph.empty()) return Bad("a row begins with its name");
    if (line.starts_with("for ")) return TakeVariable(line.substr(4));
    if (line.starts_with("range ")) return TakeRange(std::string(line.substr(6)));
    if (line.starts_with("graph")) return TakeGraph(line);
    return Bad("not a line of a row");
  }

  Status TakeName(std::string_view name) {
    if (!rows_.empty() && rows_.back().graph.empty()) return Bad("the row before has no graph");
    if (name.empty()) return Bad("a row without a name");
    rows_.push_back({std::string(name), family_, Place(), {}, {}, {}});
    return {};
  }

  Status TakeVariable(std::string_view rest) {
    const size_t in = rest.find(" in ");
    const std::string_view name = Trimmed(rest.substr(0, in));
    if (in == std::string_view::npos || !IsVariable(name))
      return Bad("expected \"for NAME in VALUE | VALUE\", the name in capitals");
    rows_.back().variables.emplace_back(std::string(name), Values(rest.substr(in + 4)));
    return {};
  }

  Status TakeRange(const std::string& rest) {
    std::istringstream in(rest);
    std::string name;
    double low = 0, high = 0;
    if (!(in >> name >> low >> high) || !(low <= high))
      return Bad("expected \"range NAME LOW HIGH\"");
    rows_.back().ranges[name] = {low, high};
    return {};
  }

  Status TakeGraph(std::string_view first) {
    std::string graph = std::string(first) + "\n";
    for (std::string line; Next(line);) {
      graph += line + "\n";
      if (line == "}") {
        rows_.back().graph = std::move(graph);
        return {};
      }
    }
    return Bad("a graph without an end, which is a line of one \"}\"");
  }

  std::istringstream in_;
  std::string family_;
  int number_ = 0;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<CrossCase> Row::Cases() const {
  std::vector<std::vector<std::string>> choices = {{}};
  for (const auto& [variable, values] : variables) {
    std::vector<std::vector<std::string>> next;
    for (const std::vector<std::string>& chosen : choices)
      for (const std::string& value : values) {
        next.push_back(chosen);
        next.back().push_back(value);
      }
    choices = std::move(next);
  }
  // A name may be a prefix of another, which is replaced first.
  std::vector<size_t> order(variables.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return variables[a].first.size() > variables[b].first.size();
  });
  std::vector<CrossCase> cases;
  for (const std::vector<std::string>& chosen : choices) {
    cases.push_back({fmt::to_string(fmt::join(chosen, ", ")), graph});
    for (const size_t i : order)
      ReplaceAll(cases.back().graph, "$" + variables[i].first, chosen[i]);
  }
  return cases;
}

Result<std::vector<Row>> ParseRows(std::string_view text, const std::string& family) {
  return RowsReader(text, family).Read();
}

Result<std::vector<Row>> ReadRows(const std::string& folder) {
  std::set<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".rows") files.insert(entry.path());
  if (files.empty()) return IoError("{}: no files of rows", folder);
  std::vector<Row> rows;
  std::map<std::string, std::string> places;
  for (const auto& file : files) {
    NN_ASSIGN(std::vector<Row> read, ParseRows(ReadText(file.string()), file.stem().string()));
    for (Row& row : read) {
      const auto [known, is_new] = places.emplace(row.name, row.place);
      if (!is_new)
        return ParseError("{}: row {} is also at {}", row.place, row.name, known->second);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Result<std::vector<Row>> ReadSomeRows(const std::string& folder) {
  NN_ASSIGN(std::vector<Row> all, ReadRows(folder));
  std::vector<Row> some;
  for (size_t i = 0; i < all.size(); i += kRowStep) some.push_back(std::move(all[i]));
  return some;
}

std::string RowsFolder() {
  const char* other = std::getenv("NN_CROSS_ROWS");
  return other != nullptr ? other : SourcePath("tests/cross/rows");
}

Result<Tensor> CaseInput(const Row& row, std::string_view name, const Type& type, size_t i,
                         uint64_t seed) {
  const auto dims = type.const_dims();
  if (!dims) return UsageError("input {} has no known shape", name);
  const auto range = row.ranges.find(name);
  if (range == row.ranges.end()) return SeededTensor(type.dtype, *dims, seed, i);
  const auto [low, high] = range->second;
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(type.dtype, *dims));
  const SeededStream random(seed, i);
  for (int64_t k = 0; k < b.elements(); ++k) {
    const double unit = (static_cast<double>(random.Unit(static_cast<uint64_t>(k))) + 1) / 2;
    if (IsFloat(type.dtype))
      b.SetDouble(k, low + unit * (high - low));
    else
      b.SetInt(k, static_cast<int64_t>(std::floor(low + unit * (high - low + 1))));
  }
  return b.Finish();
}

}  // namespace nn::test
