#include "formats/onnx/onnx.h"

#include "formats/onnx/export.h"
#include "formats/onnx/import.h"
#include "formats/onnx/infer.h"
#include "formats/onnx/native.h"

namespace nn::onnx {

namespace {

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {"binary (.onnx)", "IR 1 to 14"},
    {"protobuf text (.textproto, .txtpb, .pbtxt, .prototxt)"},
    {"protobuf JSON (.onnxjson)"},
    {"external data", "IR 4 on", true, true, true, "made by --external-data, or above 2 GiB"},
    {"raw_data and every typed list"},
    {"all element types of TensorProto", "", true, true, true, "execution: see the operators"},
    {"sparse initializers and attributes", "IR 6 on", true, true, false, "imported as dense"},
    {"functions of the model", "IR 8 on", true, true, false, "imported as their bodies"},
    {"segments", "", true, false, false},
    {"sub-graphs (If, Loop, Scan)", "", true, false, false},
    {"sequences, optionals, maps", "", true, false, false},
    {"training information", "IR 7 on", true, false, false},
    {"quantisation annotations", "IR 5 on", true, false, false},
    {"metadata", "", true, true, true},
};

}  // namespace

const Format& OnnxFormat() {
  static const Format format = {
      .name = "onnx",
      .label = "ONNX",
      .extensions = {".onnx", ".textproto", ".txtpb", ".pbtxt", ".prototxt", ".onnxjson"},
      .sniff = Sniff,
      .read = Read,
      .import = Import,
      .check_types = CheckTypes,
      .write = Write,
      .external_data = true,
      .target = &OnnxTarget(),
      .summarize = Summarize,
      .summarize_in_full = SummarizeInFull,
      .tensors = Tensors,
      .operators = Operators,
      .features = kFeatures,
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
