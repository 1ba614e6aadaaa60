#include "formats/nnapi/nnapi.h"
#include "formats/nnapi/roles.h"

#include "formats/nnapi/export/export.h"
#include "formats/nnapi/file/native.h"
#include "formats/nnapi/import/import.h"

namespace nn::nnapi {

namespace {

// name, versions, copied, imported, exported, note
constexpr FeatureSupport kFeatures[] = {
    {.name = "flatbuffer (.nnapi)"},
    {.name = "JSON (.nnapi.json)"},
    {.name = "constants in operandValues"},
    {.name = "constants in memory pools"},
    {.name = "pools in external files", .note = "written with --external-data"},
    {.name = "omitted operands (NO_VALUE)"},
    {.name = "requests",
     .imported = false,
     .exported = false,
     .note = "in .nnapi.json; nnvalidate checks them"},
};

}  // namespace

const Format& NnapiFormat() {
  static const NnapiReader reader;
  static const NnapiImporter importer;
  static const NnapiDescriber describer;
  static const NnapiWriter writer;
  static const NnapiEditor editor;
  static const Format format = {
      .name = "nnapi",
      .label = "NNAPI",
      .extensions = {".nnapi.json", ".nnapi"},
      .reader = reader,
      .importer = importer,
      .describer = describer,
      .writer = writer,
      .editor = editor,
      .target = &NnapiTarget(),
      .operator_lists = {"operations"},
      .operators = Operators,
      .features = kFeatures,
  };
  return format;
}

}  // namespace nn::nnapi
