// What became of all that a model's file held beside its graph.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "formats/holdings.h"

namespace nn {

// Each holding of the source is in one of the lists.
struct Accounts {
  std::vector<Holding> kept;     // the written model has the same
  std::vector<Holding> adapted;  // it has other contents under that name, or Holding::becomes
  std::vector<Holding> dropped;

  bool empty() const { return kept.empty() && adapted.empty() && dropped.empty(); }
};

// Holdings are compared by kind, name and contents. Other contents under the same name are adapted
// ones only within a format. A holding that nothing in the written model stands for is dropped,
// whatever it is.
Accounts AccountFor(std::vector<Holding> source, const std::vector<Holding>& written,
                    bool same_format);

// What was dropped, a text for each kind: 'dropped: metadata "a", "b"', with Holding::loss.
std::vector<std::string> DroppedTexts(const Accounts& accounts);

// `holdings` in schemas/nnconvert-report.schema.json.
Json AccountsJson(const Accounts& accounts);

}  // namespace nn
