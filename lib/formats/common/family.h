// Families of operators in a format. Each file in lib/formats/<format>/ops/ implements one family:
// import, export, and the reasons why some nodes cannot be exported. It defines `Family
// <Name>Family()`, which formats/<format>/family.h lists. No operator is in two families.
//
// Design: docs/design/005-lists-of-families.md.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <unordered_map>

namespace nn {

template <typename ImportRow, typename ExportRow>
struct FamilyOf {
  std::span<const ImportRow> imports = {};
  std::span<const ExportRow> exports = {};  // empty if nothing is exported this way
};

// The rows of all families, keyed by the member with the operator name; without those whose key is
// `none`. Ends the program if two rows have the same key, which would make one of them dead.
template <typename Family, typename Row, typename Key>
std::unordered_map<Key, const Row*> RowsBy(Key Row::*key, std::span<const Row> Family::*rows,
                                           std::span<const Family> families,
                                           const std::optional<Key>& none = std::nullopt) {
  std::unordered_map<Key, const Row*> table;
  for (const Family& family : families)
    for (const Row& row : family.*rows) {
      if (row.*key == none || table.emplace(row.*key, &row).second) continue;
      std::fprintf(stderr, "two families have rows of the same operator\n");
      std::abort();
    }
  return table;
}

// Null if there is none.
template <typename Key, typename Row>
const Row* FindRow(const std::unordered_map<Key, const Row*>& table, const Key& key) {
  const auto it = table.find(key);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace nn
