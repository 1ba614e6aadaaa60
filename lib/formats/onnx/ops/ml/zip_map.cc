// ZipMap of ai.onnx.ml. A graph has no maps; a row of scores stands for a map, whose keys are the
// labels that the operator before it also has.
#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"

namespace nn::onnx {
namespace {

Status ImportZipMap(ImportContext& ctx) {
  NN_ASSIGN(Value* const rows, RowsOf(ctx));
  const auto* strings = ctx.FindAttr("classlabels_strings");
  size_t keys = ctx.Ints("classlabels_int64s").size();
  if (strings != nullptr && strings->strings_size() > 0) {
    if (keys > 0) return ModelError("the keys are strings and integers");
    keys = static_cast<size_t>(strings->strings_size());
  }
  const Dim& columns = rows->type().dims->back();
  if (columns.is_const() && columns.value() != static_cast<int64_t>(keys))
    return ModelError("there are {} keys for {} columns", keys, columns.value());
  ctx.SetOutput(0, rows);
  return {};
}

constexpr ImportRow kZipMapImports[] = {
    {.op = "ZipMap", .import = ImportZipMap, .domain = kMlDomain}};

}  // namespace

Family ZipMapFamily() {
  return {.imports = kZipMapImports};
}

}  // namespace nn::onnx
