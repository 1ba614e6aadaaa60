#include "formats/model/describer.h"

#include "formats/common/describe/micro.h"
#include "formats/common/describe/port_kind.h"

namespace nn {

Result<ModelSummary> ModelDescriber::SummarizeInFull(const NativeModel& model) const {
  return Summarize(model);
}

PortKinds ModelDescriber::PortKindsOf(const NativeModel& model) const {
  PortKinds kinds;
  const auto names = PortNamesOf(model);
  if (!names) return kinds;
  for (const std::string& name : names->inputs) kinds.inputs.emplace_back(name, PortKind::kTensor);
  for (const std::string& name : names->outputs)
    kinds.outputs.emplace_back(name, PortKind::kTensor);
  return kinds;
}

std::vector<TypeDefect> ModelDescriber::CheckTypes(const NativeModel& /*model*/) const {
  return {};
}

std::vector<ValueEntry> ModelDescriber::ValuesOf(
    const NativeModel& /*model*/,
    const std::map<std::string, Type, std::less<>>& /*inputs*/) const {
  return {};
}

std::optional<Result<MicroModel>> ModelDescriber::MicroModelOf(const NativeModel& /*model*/) const {
  return std::nullopt;
}

}  // namespace nn
