#include "formats/nnapi/nnapi.h"

#include "formats/nnapi/export.h"
#include "formats/nnapi/import.h"
#include "formats/nnapi/native.h"

namespace nn::nnapi {

namespace {

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {"flatbuffer (.nnapi)"},
    {"JSON (.nnapi.json)"},
    {"constants by copy"},
    {"constants in memory pools"},
    {"pools in files beside the model", "", true, true, true, "made by --external-data"},
    {"operands without a value"},
    {"requests", "", true, false, false, "in .nnapi.json; nnvalidate checks them"},
};

}  // namespace

const Format& NnapiFormat() {
  static const Format format = {
      .name = "nnapi",
      .label = "NNAPI",
      .extensions = {".nnapi.json", ".nnapi"},
      .sniff = Sniff,
      .read = Read,
      .import = Import,
      .write = Write,
      .external_data = true,
      .target = &NnapiTarget(),
      .summarize = Summarize,
      .summarize_in_full = Summarize,
      .tensors = Tensors,
      .operators = Operators,
      .features = kFeatures,
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
