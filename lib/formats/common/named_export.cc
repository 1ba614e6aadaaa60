#include "formats/common/named_export.h"

#include "base/text/text.h"

namespace nn {

std::string FileNames::NewName(std::string_view hint) {
  if (hint.empty()) return used_.New("value");
  return utf8_ && !IsUtf8(hint) ? used_.New(Escape(hint)) : used_.New(hint);
}

bool NamedExport::Claim(const Value* value, const std::string& name) {
  if (HasName(value)) return false;
  Reserve(name);
  SetName(value, name);
  return true;
}

void NamedExport::CaptureOperands(const Node& node, const Graph& region, size_t first) {
  const auto operands = node.inputs().last(region.inputs().size() - first);
  for (size_t i = 0; i < operands.size(); ++i)
    SetName(region.inputs()[first + i].value, NameOf(operands[i]));
}

const std::string* NamedExport::FindName(const Value* value) const {
  const auto it = names_.find(value);
  return it == names_.end() ? nullptr : &it->second;
}

}  // namespace nn
