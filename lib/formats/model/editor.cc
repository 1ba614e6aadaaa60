#include "formats/model/editor.h"

namespace nn {

std::vector<std::string> ModelEditor::FunctionsOf(const NativeModel& /*model*/) const {
  return {};
}

std::unique_ptr<NativeModel> ModelEditor::WithFunction(const NativeModel& /*model*/,
                                                       const std::string& /*name*/) const {
  return nullptr;  // there are no functions to choose from
}

}  // namespace nn
