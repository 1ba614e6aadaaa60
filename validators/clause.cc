#include "validators/clause.h"

#include <algorithm>

#include "validators/doc_text.h"

namespace nn {

std::vector<Clause> ParseClauses(std::string_view text) {
  std::vector<Clause> clauses;
  std::string where;
  for (const DocLine& line : ReadDocText(text)) {
    const std::string row = line.Joined();
    if (row.starts_with("= ")) {
      where = row.substr(2);
      continue;
    }
    const size_t rules = row.find(" | ");
    const size_t end = std::min({rules, row.find(" ~ "), row.size()});
    const std::string rest = row.substr(std::min(end + 3, row.size()));
    const bool checked = end == rules;
    clauses.push_back({where, row.substr(0, end), checked ? rest : "", checked ? "" : rest});
  }
  return clauses;
}

}  // namespace nn
