#include "formats/nnapi/nnapi.h"

#include "formats/nnapi/describe/holdings.h"
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
  static const Format format = {
      .name = "nnapi",
      .label = "NNAPI",
      .extensions = {".nnapi.json", ".nnapi"},
      .likeness = LikenessOf,
      .read = Read,
      .import = Import,
      .import_with = ImportWith,
      .write = Write,
      .external_data = true,
      .target = &NnapiTarget(),
      .summarize = Summarize,
      .summarize_in_full = Summarize,
      .holdings = HoldingsOf,
      .tensors = Tensors,
      .operator_lists = {"operations"},
      .operators = Operators,
      .features = kFeatures,
      .dump = Dump,
      .restore = Restore,
      .save = Save,
      .port_names = NamesOfPorts,
      .rename = Rename,
      .flow = FlowOf,
      .edit = ApplyEdit,
  };
  return format;
}

}  // namespace nn::nnapi
