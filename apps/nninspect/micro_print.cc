#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/common/table.h"
#include "apps/nninspect/print.h"
#include "base/text.h"

namespace nn::app {

std::string MicroText(const Result<MicroModel>& micro) {
  std::string out = "\nMicrocontrollers\n";
  if (!micro) return out + "  " + EscapeControls(micro.error().message()) + "\n";
  Table totals({{""}, {""}});
  totals.Add(
      {"Arena for tensors", fmt::format("{} bytes, plus what kernels and the interpreter need",
                                        WithThousands(micro->arena_bytes))});
  totals.Add({"No plan needs less than", WithThousands(micro->live_bytes) + " bytes"});
  std::vector<std::string> methods, missing;
  for (const MicroModel::Operator& op : micro->operators)
    (op.registration.empty() ? missing : methods)
        .push_back(op.registration.empty() ? Escape(op.name) : op.registration);
  totals.Add({fmt::format("MicroMutableOpResolver<{}>", micro->operators.size()),
              fmt::format("{}", fmt::join(methods, ", "))});
  if (!missing.empty())
    totals.Add({"Not in the resolver", fmt::format("{}", fmt::join(missing, ", "))});
  return out + totals.Text(2);
}

Json MicroJson(const Result<MicroModel>& micro) {
  if (!micro) return {{"error", micro.error().message()}};
  Json operators = Json::array();
  for (const MicroModel::Operator& op : micro->operators)
    operators.push_back(
        {{"operator", op.name},
         {"count", op.count},
         {"registration", op.registration.empty() ? Json(nullptr) : Json(op.registration)}});
  Json tensors = Json::array();
  for (const MicroModel::Placement& t : micro->placements)
    tensors.push_back({{"name", t.tensor},
                       {"subgraph", t.subgraph},
                       {"offset", t.offset},
                       {"bytes", t.bytes},
                       {"first", t.first},
                       {"last", t.last}});
  return {{"arena_bytes", micro->arena_bytes},
          {"live_bytes", micro->live_bytes},
          {"alignment", MicroModel::kAlignment},
          {"operators", std::move(operators)},
          {"tensors", std::move(tensors)}};
}

}  // namespace nn::app
