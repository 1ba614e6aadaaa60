#include "formats/onnx/onnx.h"

#include "formats/onnx/export.h"
#include "formats/onnx/import.h"
#include "formats/onnx/native.h"

namespace nn::onnx {

const Format& OnnxFormat() {
  static const Format format = {
      .name = "onnx",
      .label = "ONNX",
      .extensions = {".onnx"},
      .sniff = Sniff,
      .read = Read,
      .import = Import,
      .write = Write,
      .target = &OnnxTarget(),
      .summarize = Summarize,
      .summarize_in_full = SummarizeInFull,
      .tensors = Tensors,
      .operators = Operators,
      .writes =
          [](const OpDef& op) {
            return FindExport(op.name) != nullptr || op.FindFormat("onnx") != nullptr;
          },
      .dump = Dump,
      .restore = Restore,
      .save = Save,
  };
  return format;
}

}  // namespace nn::onnx
