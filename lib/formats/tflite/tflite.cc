#include "formats/tflite/tflite.h"

#include "formats/tflite/export.h"
#include "formats/tflite/import.h"
#include "formats/tflite/native.h"

namespace nn::tflite {

namespace {

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {"schema version 3, identifier TFL3"},
    {"operator codes of 8 bits and of 32"},
    {"quantisation by tensor and by axis"},
    {"quantisation by block", "", true, false, false},
    {"buffers behind the flatbuffer (files above 2 GiB)"},
    {"buffers in other files", "", true, true, false},
    {"sparse tensors", "", true, true, false, "imported as dense"},
    {"signatures", "", true, true, true, "of the first sub-graph"},
    {"sub-graphs after the first", "", true, false, false},
    {"variable tensors", "", true, false, false},
    {"custom operators", "", true, false, false},
    {"metadata buffers, archive of associated files at the end", "", true, false, false},
};

}  // namespace

const Format& TfliteFormat() {
  static const Format format = {
      .name = "tflite",
      .label = "TensorFlow Lite",
      .extensions = {".tflite", ".lite"},
      .sniff = Sniff,
      .read = Read,
      .import = Import,
      .write = Write,
      .target = &TfliteTarget(),
      .summarize = Summarize,
      .summarize_in_full = SummarizeInFull,
      .tensors = Tensors,
      .operators = Operators,
      .features = kFeatures,
      .writes =
          [](const OpDef& op) {
            return FindExport(op.name) != nullptr || op.FindFormat("tflite") != nullptr;
          },
      .dump = Dump,
      .restore = Restore,
      .save = Save,
  };
  return format;
}

}  // namespace nn::tflite
