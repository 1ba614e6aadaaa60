#include "formats/coreml/coreml.h"

#include "formats/coreml/export.h"
#include "formats/coreml/import.h"
#include "formats/coreml/native.h"

namespace nn::coreml {

const Format& CoremlFormat() {
  static const Format format = {
      .name = "coreml",
      .label = "Core ML",
      .extensions = {".mlmodel"},
      .sniff = Sniff,
      .read = Read,
      .import = Import,
      .write = Write,
      .target = &CoremlTarget(),
      .summarize = Summarize,
      .summarize_in_full = SummarizeInFull,
      .tensors = Tensors,
      .operators = Operators,
      .writes =
          [](const OpDef& op) {
            return FindExport(op.name) != nullptr || op.FindFormat("coreml") != nullptr;
          },
      .dump = Dump,
      .restore = Restore,
      .save = Save,
  };
  return format;
}

}  // namespace nn::coreml
