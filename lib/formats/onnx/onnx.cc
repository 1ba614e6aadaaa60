#include "formats/onnx/onnx.h"
#include "formats/onnx/roles.h"

#include "formats/onnx/export/export.h"
#include "formats/onnx/export/schema_fit.h"
#include "formats/onnx/file/frame.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/import/import.h"
#include "formats/onnx/infer/infer.h"

namespace nn::onnx {

namespace {

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {.name = "binary (.onnx)", .versions = "IR 1 to 14"},
    {.name = "protobuf text (.textproto, .txtpb, .pbtxt, .prototxt)"},
    {.name = "protobuf JSON (.onnxjson)"},
    {.name = "external data",
     .versions = "IR 4 on",
     .note = "written with --external-data, or above 2 GiB"},
    {.name = "raw_data and every typed list"},
    {.name = "all element types of TensorProto", .note = "execution: see the operators"},
    {.name = "sparse initializers and attributes",
     .versions = "IR 6 on",
     .exported = false,
     .note = "imported as dense"},
    {.name = "model-local functions",
     .versions = "IR 8 on",
     .exported = false,
     .note = "inlined on import"},
    {.name = "segments", .imported = false, .exported = false},
    {.name = "subgraphs (If, Loop, Scan)",
     .note = "inlined and unrolled on import if known then, else the results of If are selected; "
             "the others are written as If and Loop"},
    {.name = "sequences, optionals",
     .exported = false,
     .note = "of known lengths; an input or output becomes one for each element"},
    {.name = "maps",
     .exported = false,
     .note = "only those of ZipMap, as a tensor of the values with a row for each map"},
    {.name = "training information", .versions = "IR 7 on", .imported = false, .exported = false},
    {.name = "quantization annotations",
     .versions = "IR 5 on",
     .imported = false,
     .exported = false},
    {.name = "metadata"},
};

}  // namespace

const Format& OnnxFormat() {
  static const OnnxReader reader;
  static const OnnxImporter importer;
  static const OnnxDescriber describer;
  static const OnnxWriter writer;
  static const OnnxEditor editor;
  static const Format format = {
      .name = "onnx",
      .label = "ONNX",
      .extensions = {".onnx", ".textproto", ".txtpb", ".pbtxt", ".prototxt", ".onnxjson"},
      .reader = reader,
      .importer = importer,
      .describer = describer,
      .writer = writer,
      .editor = editor,
      .target = &OnnxTarget(),
      .operator_lists = {"graph.node"},
      .operators = Operators,
      .features = kFeatures,
  };
  return format;
}

}  // namespace nn::onnx
