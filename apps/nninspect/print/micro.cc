#include "apps/nninspect/print/micro.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text/table.h"
#include "base/text/text.h"

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

}  // namespace nn::app
