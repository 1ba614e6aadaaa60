#include "exec/target.h"

namespace nn {
namespace {

std::optional<std::string> WhyIllegal(const Node& node) {
  const auto layout = node.attrs().Get("layout");
  if (layout && std::get<EnumValue>(*layout).name != EnumName(Layout::kNxc))
    return "channels are not last";
  return std::nullopt;
}

}  // namespace

const Target& ExecTarget() {
  static const Rewrite rewrites[] = {{"", "channels last", &SetLayout<Layout::kNxc>}};
  static const Target target = {"exec", WhyIllegal, rewrites};
  return target;
}

}  // namespace nn
