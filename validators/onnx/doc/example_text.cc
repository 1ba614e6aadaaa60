#include "validators/onnx/doc/example_text.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace nn::onnx {
namespace {

// Functions F1 to Fn, each of which calls the next; the last one calls F.
std::string CallChain(int n) {
  std::string text;
  for (int i = 1; i <= n; ++i)
    text += fmt::format(
        "functions {{ name: \"F{}\" domain: \"f\" input: \"a\" output: \"b\" opset_import {{ "
        "domain: "
        "\"f\" version: 1 }} node {{ input: \"a\" output: \"b\" op_type: \"{}\" domain: \"f\" }} "
        "}}\n",
        i, i == n ? "F" : fmt::format("F{}", i + 1));
  return text;
}

}  // namespace

std::string ExpandModel(const std::string& text) {
  const std::pair<std::string_view, std::string> marks[] = {
      {"$T", "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"},
      {"$D", "data_type: 1 dims: 2 float_data: [1, 2]"},
      {"$Calls100", CallChain(100)},
      {"$Calls99", CallChain(99)}};
  std::string full = text;
  for (const auto& [mark, expansion] : marks)
    for (size_t at = 0; (at = full.find(mark, at)) != std::string::npos; at += expansion.size())
      full.replace(at, mark.size(), expansion);
  return full;
}

}  // namespace nn::onnx
