// Whether a model can be converted to another format: nnvalidate --for.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "validators/finding.h"

namespace nn {

// A format, or a version of it: an opset of ONNX, a specification version of Core ML.
struct TargetVersion {
  const Format* format = nullptr;
  int64_t version = 0;  // 0: any
  RuleInfo rule;        // "FOR-TFLITE"
};

// "tflite", "coreml", "coreml:4", "nnapi", "nnapi-1.0", "onnx", "onnx:13". kUsage for other text.
Result<TargetVersion> ParseTarget(const std::string& text);

// The rules of all targets.
std::vector<RuleInfo> TargetRules();

// Why a conversion would fail: one finding for each unsupported operator. kInternal for defects of
// the conversion, which are not findings about the model.
Result<std::vector<Finding>> CheckTarget(const ReadModel& model, const TargetVersion& target);

}  // namespace nn
