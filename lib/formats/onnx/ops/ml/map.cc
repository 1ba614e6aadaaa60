// CastMap and DictVectorizer of ai.onnx.ml. A map is a vector of keys and one of values
// (Importer::ReadMapInput). The results have a first axis of 1, as in ONNX Runtime.
#include <string>
#include <vector>

#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "ir/text/number.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/sequence.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// Limit of ONNX: max_map of CastMap, the size of the vector that a sparse map becomes.
constexpr int64_t kMaxMap = int64_t{1} << 24;

struct MapOperand {
  Value* keys = nullptr;
  Value* values = nullptr;
};

Result<MapOperand> RequiredMap(ImportContext& ctx) {
  Value* const map = ctx.input(0);
  if (!IsMap(map))
    return UnsupportedError("{} of what is not an input of the model", ctx.node().op_type());
  return MapOperand{map->def()->input(0), map->def()->input(1)};
}

// The values of these keys, as one row; those of keys that the map lacks are `other`.
Status EmitValues(ImportContext& ctx, Term keys, const MapOperand& map, Term values, Tensor other) {
  return ctx.Emit(
      "lookup", {ExpandDims(std::move(keys), {0}), map.keys, std::move(values), std::move(other)});
}

Result<Tensor> ZeroOf(DType dtype, std::string text) {
  if (dtype == DType::kString) return Tensor({}, {std::move(text)});
  return Number(dtype, 0);
}

// Without map_form SPARSE, the values are in the order of the keys. With it, they are at the
// positions that the keys are, among zeros; keys beyond max_map are ignored. ONNX Runtime has the
// text "0.f" for a zero.
Status ImportCastMap(ImportContext& ctx) {
  NN_ASSIGN(const MapOperand map, RequiredMap(ctx));
  const std::string to = ctx.String("cast_to", "TO_FLOAT");
  const DType dtype = to == "TO_FLOAT"    ? DType::kF32
                      : to == "TO_INT64"  ? DType::kI64
                      : to == "TO_STRING" ? DType::kString
                                          : DType::kUnknown;
  if (dtype == DType::kUnknown) return ModelError("unknown cast_to {}", Quote(to));
  NN_ASSIGN(Tensor zero, ZeroOf(dtype, "0.f"));
  const Term values = As(map.values, dtype);
  const std::string form = ctx.String("map_form", "DENSE");
  if (form == "DENSE")
    return EmitValues(ctx, Apply("unique", {map.keys}, UniqueAttrs{}), map, values,
                      std::move(zero));
  if (form != "SPARSE") return ModelError("unknown map_form {}", Quote(form));
  const int64_t size = ctx.Int("max_map", 1);
  if (size < 1 || size > kMaxMap)
    return ModelError("max_map is {}; must be 1 to {}", size, kMaxMap);
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < size; ++i) positions.push_back(i);
  return EmitValues(ctx, Tensor::Ints(positions), map, values, std::move(zero));
}

// The values of the keys in the vocabulary, in its order.
Status ImportDictVectorizer(ImportContext& ctx) {
  NN_ASSIGN(const MapOperand map, RequiredMap(ctx));
  const auto* texts = ctx.FindAttr("string_vocabulary");
  const bool has_texts = texts != nullptr && texts->strings_size() > 0;
  const std::vector<int64_t> numbers = ctx.Ints("int64_vocabulary");
  if (has_texts != numbers.empty())
    return ModelError("exactly one of string_vocabulary and int64_vocabulary is required");
  const DType dtype = has_texts ? DType::kString : DType::kI64;
  if (map.keys->dtype() != dtype)
    return ModelError("the keys are {} and the vocabulary is {}", DTypeName(map.keys->dtype()),
                      DTypeName(dtype));
  Tensor vocabulary = has_texts ? Tensor({texts->strings_size()},
                                         {texts->strings().begin(), texts->strings().end()})
                                : Tensor::Ints(numbers);
  NN_ASSIGN(Tensor zero, ZeroOf(map.values->dtype(), ""));
  return EmitValues(ctx, std::move(vocabulary), map, map.values, std::move(zero));
}

constexpr ImportRow kMapImports[] = {
    {.op = "CastMap", .import = ImportCastMap, .inputs = 1, .domain = kMlDomain},
    {.op = "DictVectorizer", .import = ImportDictVectorizer, .inputs = 1, .domain = kMlDomain},
};

}  // namespace

Family MapFamily() {
  return {.imports = kMapImports};
}

}  // namespace nn::onnx
