#include "formats/common/edit/rename.h"

#include <fmt/core.h>

#include "formats/nnapi/file/native.h"
#include "formats/nnapi/roles.h"
#include "passes/core/ports.h"

namespace nn::nnapi {

Result<PortNames> NnapiDescriber::PortNamesOf(const NativeModel& native) const {
  const auto& model = ModelOf(native);
  PortNames names;
  const auto add = [&](const std::vector<uint32_t>& indexes, std::vector<std::string>& out,
                       std::string_view prefix) -> Status {
    for (const uint32_t i : indexes) {
      if (i >= model.operands.size())
        return ModelError("operand {} does not exist; the model has {}", i, model.operands.size());
      out.push_back(model.operands[i].name);
    }
    NameUnnamed(out, prefix);
    return {};
  };
  NN_RETURN_IF_ERROR(add(model.input_indexes, names.inputs, "in"));
  NN_RETURN_IF_ERROR(add(model.output_indexes, names.outputs, "out"));
  return names;
}

Result<FileImage> NnapiEditor::Rename(const NativeModel& native, const PortNames& names,
                                      const ExportOptions& options) const {
  Model model = ModelOf(native);
  NN_ASSIGN(const PortNames present, NnapiDescriber().PortNamesOf(native));
  NN_ASSIGN(const auto changes,
            NewNames(model.input_indexes, model.output_indexes, present, names));
  const auto targets = TargetsOf(changes);
  for (size_t i = 0; i < model.operands.size(); ++i) {
    std::string& name = model.operands[i].name;
    if (const auto it = changes.find(static_cast<uint32_t>(i)); it != changes.end())
      name = it->second;
    else if (targets.contains(name))
      return NameIsTaken(name, fmt::format("operand {}", i));
  }
  return Assemble(std::move(model), options);
}

}  // namespace nn::nnapi
