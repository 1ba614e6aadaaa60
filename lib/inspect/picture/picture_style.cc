#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text/text.h"
#include "inspect/picture/picture.h"

namespace nn::inspect {
namespace {

struct KindRow {
  std::string_view part;  // of the operator's name in lower case
  BoxKind kind;
};

// For operators that are not imported. The first matching row applies.
constexpr KindRow kKinds[] = {
    {"quant", BoxKind::kQuantization},
    {"softmax", BoxKind::kActivation},
    {"norm", BoxKind::kNorm},
    {"lrn", BoxKind::kNorm},
    {"conv", BoxKind::kConvolution},
    {"matmul", BoxKind::kMatmul},
    {"gemm", BoxKind::kMatmul},
    {"fully_connected", BoxKind::kMatmul},
    {"innerproduct", BoxKind::kMatmul},
    {"einsum", BoxKind::kMatmul},
    {"attention", BoxKind::kMatmul},
    {"lstm", BoxKind::kMatmul},
    {"gru", BoxKind::kMatmul},
    {"rnn", BoxKind::kMatmul},
    {"recurrent", BoxKind::kMatmul},
    {"svdf", BoxKind::kMatmul},
    {"unpool", BoxKind::kShape},
    {"pool", BoxKind::kPool},
    {"pooling", BoxKind::kPool},
    {"reduce", BoxKind::kPool},
    {"mean", BoxKind::kPool},
    {"sum", BoxKind::kPool},
    {"argm", BoxKind::kPool},
    {"arg_m", BoxKind::kPool},
    {"topk", BoxKind::kPool},
    {"activation", BoxKind::kActivation},
    {"elu", BoxKind::kActivation},
    {"sigmoid", BoxKind::kActivation},
    {"tanh", BoxKind::kActivation},
    {"logistic", BoxKind::kActivation},
    {"swish", BoxKind::kActivation},
    {"clip", BoxKind::kActivation},
    {"softplus", BoxKind::kActivation},
    {"softsign", BoxKind::kActivation},
    {"mish", BoxKind::kActivation},
    {"erf", BoxKind::kActivation},
    {"reshape", BoxKind::kShape},
    {"transpose", BoxKind::kShape},
    {"permute", BoxKind::kShape},
    {"concat", BoxKind::kShape},
    {"split", BoxKind::kShape},
    {"slice", BoxKind::kShape},
    {"gather", BoxKind::kShape},
    {"scatter", BoxKind::kShape},
    {"squeeze", BoxKind::kShape},
    {"expand", BoxKind::kShape},
    {"flatten", BoxKind::kShape},
    {"shape", BoxKind::kShape},
    {"pad", BoxKind::kShape},
    {"tile", BoxKind::kShape},
    {"resize", BoxKind::kShape},
    {"upsample", BoxKind::kShape},
    {"space", BoxKind::kShape},
    {"depth", BoxKind::kShape},
    {"pack", BoxKind::kShape},
    {"stack", BoxKind::kShape},
    {"cast", BoxKind::kShape},
    {"identity", BoxKind::kShape},
    {"copy", BoxKind::kShape},
    {"crop", BoxKind::kShape},
    {"reverse", BoxKind::kShape},
    {"embedding", BoxKind::kShape},
    {"lookup", BoxKind::kShape},
    {"broadcast", BoxKind::kShape},
    {"add", BoxKind::kArithmetic},
    {"sub", BoxKind::kArithmetic},
    {"mul", BoxKind::kArithmetic},
    {"div", BoxKind::kArithmetic},
    {"pow", BoxKind::kArithmetic},
    {"sqrt", BoxKind::kArithmetic},
    {"exp", BoxKind::kArithmetic},
    {"log", BoxKind::kArithmetic},
    {"max", BoxKind::kArithmetic},
    {"min", BoxKind::kArithmetic},
    {"abs", BoxKind::kArithmetic},
    {"neg", BoxKind::kArithmetic},
    {"equal", BoxKind::kArithmetic},
    {"greater", BoxKind::kArithmetic},
    {"less", BoxKind::kArithmetic},
    {"where", BoxKind::kArithmetic},
    {"select", BoxKind::kArithmetic},
    {"unary", BoxKind::kArithmetic},
    {"reciprocal", BoxKind::kArithmetic},
    {"floor", BoxKind::kArithmetic},
    {"round", BoxKind::kArithmetic},
    {"ceil", BoxKind::kArithmetic},
};

constexpr std::array<BoxColors, 11> kColors = {{
    {"convolution", "#d6e6fa", "#3f78b8"},
    {"matrix product", "#dcdcf8", "#5b56b8"},
    {"activation", "#fbdcd7", "#c0574a"},
    {"normalization", "#d9efdc", "#4b8f57"},
    {"pooling, reduction", "#d2edee", "#3c8d92"},
    {"arithmetic", "#fff0cc", "#b98a1e"},
    {"shape, data movement", "#ececec", "#7a7a7a"},
    {"quantization", "#f2dcf3", "#9a4f9e"},
    {"other", "#ffffff", "#555555"},
    {"input", "#2f3b4a", "#2f3b4a"},
    {"output", "#2f3b4a", "#2f3b4a"},
}};

struct AttributeRow {
  std::string_view name;
  std::string_view label;  // several rows with one label make one value: "stride 2x1"
  std::string_view usual;  // the default, not shown; after equal sizes are merged
};

constexpr AttributeRow kAttributes[] = {
    // ONNX
    {"kernel_shape", "kernel", ""},
    {"strides", "stride", "1"},
    {"pads", "pad", "0"},
    {"dilations", "dilation", "1"},
    {"group", "groups", "1"},
    {"axis", "axis", ""},
    {"axes", "axes", ""},
    {"perm", "axes", ""},
    {"alpha", "alpha", "1"},
    {"mode", "mode", ""},
    {"hidden_size", "hidden", ""},
    {"direction", "", "\"forward\""},
    {"equation", "", ""},
    {"blocksize", "block", ""},
    {"num_heads", "heads", ""},
    // TensorFlow Lite
    {"filter_height", "kernel", ""},
    {"filter_width", "kernel", ""},
    {"stride_h", "stride", "1"},
    {"stride_w", "stride", "1"},
    {"dilation_h_factor", "dilation", "1"},
    {"dilation_w_factor", "dilation", "1"},
    {"padding", "", "VALID"},
    {"fused_activation_function", "", "NONE"},
    {"depth_multiplier", "multiplier", "1"},
    {"num_splits", "parts", ""},
    {"block_size", "block", ""},
    // Core ML
    {"kernelSize", "kernel", ""},
    {"stride", "stride", "1"},
    {"dilationFactor", "dilation", "1"},
    {"nGroups", "groups", "1"},
    {"isDeconvolution", "transposed", "false"},
    {"type", "", ""},
    {"axesAscending", "axes", ""},
};

// "[3, 3]" -> "3", "[3, 1]" -> "3×1"; of axes "0, 2, 1".
std::string Compact(const std::string& value, bool axes) {
  if (value.size() < 2 || value.front() != '[') return value;
  if (axes) return value.substr(1, value.size() - 2);
  std::vector<std::string> parts;
  std::string part;
  for (const char c : value.substr(1, value.size() - 2)) {
    if (c == ' ') continue;
    if (c == ',') {
      parts.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(part);
  if (parts.size() > 1 &&
      std::count(parts.begin(), parts.end(), parts[0]) == static_cast<std::ptrdiff_t>(parts.size()))
    return parts[0];
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : "×") + p;
  return out;
}

}  // namespace

BoxKind KindOfCategory(Category category) {
  switch (category) {
    case Category::kConvolution:
      return BoxKind::kConvolution;
    case Category::kMatmul:
    case Category::kRecurrent:
      return BoxKind::kMatmul;
    case Category::kActivation:
      return BoxKind::kActivation;
    case Category::kNormalization:
      return BoxKind::kNorm;
    case Category::kPooling:
    case Category::kReduction:
      return BoxKind::kPool;
    case Category::kArithmetic:
      return BoxKind::kArithmetic;
    case Category::kMovement:
      return BoxKind::kShape;
    case Category::kQuantization:
      return BoxKind::kQuantization;
    case Category::kUnset:
    case Category::kOther:
      break;
  }
  return BoxKind::kOther;
}

BoxKind KindOfOperator(std::string_view op) {
  std::string lower(op);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const KindRow& row : kKinds)
    if (lower.find(row.part) != std::string::npos) return row.kind;
  return BoxKind::kOther;
}

const BoxColors& ColorsOf(BoxKind kind) {
  return kColors[static_cast<size_t>(kind)];
}

std::vector<std::string> ShownAttributes(const OperatorSummary& op) {
  constexpr size_t kLongest = 28;
  struct Shown {
    std::string_view label;
    std::string_view usual;
    std::vector<std::string> values;
  };
  std::vector<Shown> shown;
  for (const AttributeRow& row : kAttributes)
    for (const auto& [name, value] : op.attributes) {
      if (name != row.name) continue;
      const std::string compact = Compact(value, row.label == "axes");
      const auto same = std::find_if(shown.begin(), shown.end(), [&](const Shown& s) {
        return !row.label.empty() && s.label == row.label;
      });
      if (same != shown.end())
        same->values.push_back(compact);
      else
        shown.push_back({row.label, row.usual, {compact}});
    }
  std::vector<std::string> out;
  for (const Shown& s : shown) {
    std::string value = s.values[0];
    if (s.values.size() > 1 && s.values[1] != value) value += "×" + s.values[1];
    if (value == s.usual || value.size() > kLongest) continue;
    // A kernel has two sides.
    if (s.label == "kernel" && value.find("×") == std::string::npos) value += "×" + value;
    out.push_back(EscapeControls(s.label.empty() ? value : fmt::format("{} {}", s.label, value)));
  }
  return out;
}

}  // namespace nn::inspect
