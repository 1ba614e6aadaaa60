#include "formats/tflite/tflite.h"

#include "formats/tflite/export.h"
#include "formats/tflite/import.h"
#include "formats/tflite/native.h"

namespace nn::tflite {

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
      .summarize_in_full = Summarize,
      .tensors = Tensors,
      .operators = Operators,
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
