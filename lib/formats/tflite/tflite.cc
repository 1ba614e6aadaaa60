#include "formats/tflite/tflite.h"
#include "formats/tflite/roles.h"

#include "formats/tflite/export/export.h"
#include "formats/tflite/file/frame.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/import/import.h"

namespace nn::tflite {

namespace {

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {.name = "schema version 3, identifier TFL3"},
    {.name = "8-bit and 32-bit operator codes"},
    {.name = "per-tensor and per-axis quantization"},
    {.name = "blockwise quantization",
     .exported = false,
     .note = "of weights of FULLY_CONNECTED, which is computed in floating point; the kernels also "
             "quantize the input in each run"},
    {.name = "buffers after the flatbuffer (files above 2 GiB)"},
    {.name = "external buffers", .exported = false},
    {.name = "sparse tensors", .note = "as in the source, where it is a TensorFlow Lite model"},
    {.name = "signatures", .note = "of the first subgraph"},
    {.name = "subgraphs after the first",
     .note = "imported where operators call them; WHILE is unrolled if its trip count is known; "
             "written for IF and WHILE"},
    {.name = "variable tensors",
     .note = "as states of recurrent layers, which are zeros when a run begins, or inputs and "
             "outputs with --states"},
    {.name = "resource variables", .exported = false, .note = "imported as inputs and outputs"},
    {.name = "custom operators", .exported = false, .note = "those in the list of operators"},
    {.name = "metadata buffers, archive of associated files at the end",
     .imported = false,
     .exported = false},
};

}  // namespace

const Format& TfliteFormat() {
  static const TfliteReader reader;
  static const TfliteImporter importer;
  static const TfliteDescriber describer;
  static const TfliteWriter writer;
  static const TfliteEditor editor;
  static const Format format = {
      .name = "tflite",
      .label = "TensorFlow Lite",
      .extensions = {".tflite", ".lite"},
      .reader = reader,
      .importer = importer,
      .describer = describer,
      .writer = writer,
      .editor = editor,
      .target = &TfliteTarget(),
      .operator_lists = {"subgraphs[0].operators"},
      .operators = Operators,
      .features = kFeatures,
  };
  return format;
}

}  // namespace nn::tflite
