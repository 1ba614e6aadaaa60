#include "formats/nnapi/nnapi.h"

#include "formats/nnapi/export.h"
#include "formats/nnapi/import.h"
#include "formats/nnapi/native.h"

namespace nn::nnapi {

const Format& NnapiFormat() {
  static const Format format = {
      .name = "nnapi",
      .label = "NNAPI",
      .extensions = {".nnapi.json", ".nnapi"},
      .sniff = Sniff,
      .read = Read,
      .import = Import,
      .write = Write,
      .target = &NnapiTarget(),
      .summarize = Summarize,
      .summarize_in_full = Summarize,
      .tensors = Tensors,
      .operators = Operators,
      .writes =
          [](const OpDef& op) {
            return FindExport(op.name) != nullptr || op.FindFormat("nnapi") != nullptr;
          },
      .dump = Dump,
      .restore = Restore,
      .save = Save,
  };
  return format;
}

}  // namespace nn::nnapi
