// Preparation of matrix products and table lookups.
#include <algorithm>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;
using Activation = fb::ActivationFunctionType;

const char* Name(const Value& v) {
  return fb::EnumNameTensorType(v.type);
}

bool IsPacked(fb::TensorType type) {
  return type == fb::TensorType::UINT8 || type == fb::TensorType::INT8 ||
         type == fb::TensorType::INT4 || type == fb::TensorType::INT2;
}

// Checks that FULLY_CONNECTED supports the combination of types.
void CheckDenseTypes(Operation& o, const Value& x, const Value& w, const Value* bias,
                     const Value* y, bool shuffled) {
  const fb::TensorType out = y != nullptr ? y->type : x.type;
  const auto is_integer = [](fb::TensorType t) { return IsQuantizedType(t); };
  bool fits = true;
  bool float_bias = false;
  if (w.type == fb::TensorType::FLOAT32 ||
      (x.type == fb::TensorType::FLOAT32 && IsPacked(w.type))) {
    fits = x.type == fb::TensorType::FLOAT32 && out == fb::TensorType::FLOAT32;
    float_bias = true;
  } else if (shuffled) {
    fits = x.type == fb::TensorType::UINT8 && w.type == fb::TensorType::UINT8 &&
           out == fb::TensorType::INT16;
  } else if (w.type == fb::TensorType::INT16) {
    fits = x.type == fb::TensorType::INT16 && out == fb::TensorType::INT16;
  } else {
    fits = IsPacked(w.type) && is_integer(x.type) && is_integer(out);
  }
  if (!fits)
    return o.Fail(Check::kWeights,
                  "x is {}, the weights are {} and the output is {}, which is not supported",
                  Name(x), Name(w), fb::EnumNameTensorType(out));
  if (bias == nullptr) return;
  const bool bias_fits =
      float_bias ? bias->type == fb::TensorType::FLOAT32
                 : bias->type == fb::TensorType::INT32 || bias->type == fb::TensorType::INT64;
  if (!bias_fits)
    o.Fail(Check::kBias, "the bias is {}, which does not go with x of type {}", Name(*bias),
           Name(x));
}

void CheckDenseOptions(Operation& o, const fb::FullyConnectedOptions* options, const Value& x,
                       const Value& w) {
  const bool hybrid = x.type == fb::TensorType::FLOAT32 && IsPacked(w.type);
  const auto activation =
      options != nullptr ? options->fused_activation_function() : Activation::NONE;
  if (!hybrid && activation > Activation::RELU6)
    o.Fail(Check::kActivation,
           "fused_activation_function is {}; expected NONE, RELU, RELU_N1_TO_1 or RELU6",
           fb::EnumNameActivationFunctionType(activation));
  const auto format = options != nullptr ? options->weights_format()
                                         : fb::FullyConnectedOptionsWeightsFormat::DEFAULT;
  const int wanted = format == fb::FullyConnectedOptionsWeightsFormat::DEFAULT ? 1 : 2;
  if (o.outputs() != wanted)
    o.Fail(Check::kWeightsFormat, "the number of outputs with weights_format {} is {}; expected {}",
           fb::EnumNameFullyConnectedOptionsWeightsFormat(format), o.outputs(), wanted);
}

void FullyConnected(Operation& o) {
  if (!o.AllPresent(2)) return;
  const auto* options = o.at().op->builtin_options_as_FullyConnectedOptions();
  const Value& x = *o.in(0);
  const Value& w = *o.in(1);
  CheckDenseOptions(o, options, x, w);
  if (o.failed()) return;
  CheckDenseTypes(o, x, w, o.in(2), o.out(0), o.outputs() == 2);
  const int64_t units = w.dim(0);
  const int64_t depth = w.dim(1);
  if (const Value* bias = o.in(2); bias != nullptr && Differ(bias->elements(), units))
    o.Fail(Check::kBias, "the bias has {} elements; expected {}", bias->elements(), units);
  if (x.elements() >= 0 && depth > 0 && x.elements() % depth != 0)
    o.Note(Check::kAtRun,
           "x has {} elements, which is not a multiple of the {} columns of the weights",
           x.elements(), depth);
  if (options != nullptr && options->keep_num_dims()) {
    if (Differ(x.dim(-1), depth))
      o.Fail(Check::kWeights, "the last axis of x has {} elements; the weights have {} columns",
             x.dim(-1), depth);
    if (!x.dims || x.dims->empty()) return;
    Dims dims = *x.dims;
    dims.back() = units;
    return o.Give(0, dims);
  }
  o.Give(0, Dims{x.elements() >= 0 && depth > 0 ? x.elements() / depth : -1, units});
}

void BatchMatMul(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& a = *o.in(0);
  const Value& b = *o.in(1);
  const bool types =
      a.type == b.type || (b.type == fb::TensorType::INT8 && a.type != fb::TensorType::INT8);
  if (!types)
    return o.Fail(Check::kTypeAgreement, "a is {} and b is {}; expected equal types, or INT8 for b",
                  Name(a), Name(b));
  if (!a.dims || !b.dims) return;
  const auto* options = o.at().op->builtin_options_as_BatchMatMulOptions();
  const bool adj_x = options != nullptr && options->adj_x();
  const bool adj_y = options != nullptr && options->adj_y();
  if (Differ(a.dim(adj_x ? -2 : -1), b.dim(adj_y ? -1 : -2)))
    return o.Fail(Check::kMatrixShapes,
                  "a{} of shape {} and b{} of shape {} have {} columns and {} rows; expected equal "
                  "numbers",
                  adj_x ? " (adjoint)" : "", ShapeText(a.dims), adj_y ? " (adjoint)" : "",
                  ShapeText(b.dims), a.dim(adj_x ? -2 : -1), b.dim(adj_y ? -1 : -2));
  Dims dims(static_cast<size_t>(std::max(a.rank(), b.rank())), -1);
  const auto rank = static_cast<int64_t>(dims.size());
  for (int64_t i = 3; i <= rank; ++i) {
    const int64_t da = i <= a.rank() ? a.dim(-i) : 1;
    const int64_t db = i <= b.rank() ? b.dim(-i) : 1;
    if (Differ(da, db) && da != 1 && db != 1)
      return o.Fail(Check::kMatrixShapes,
                    "the batch dimensions of shapes {} and {} cannot be broadcast",
                    ShapeText(a.dims), ShapeText(b.dims));
    dims[static_cast<size_t>(rank - i)] = da == 1 ? db : db == 1 ? da : std::max(da, db);
  }
  dims[dims.size() - 2] = a.dim(adj_x ? -1 : -2);
  dims[dims.size() - 1] = b.dim(adj_y ? -2 : -1);
  o.Give(0, dims);
}

// The shape of a table with `rows` as the first dimension.
Dims RowsOf(const Value& table, int64_t rows) {
  Dims dims = *table.dims;
  dims[0] = rows;
  return dims;
}

void EmbeddingLookup(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& ids = *o.in(0);
  const Value& table = *o.in(1);
  const auto* q = AffineOf(*table.tensor);
  if (q != nullptr) {
    const auto zeros = ListOf<int64_t>(q->zero_point());
    const int64_t scales = SizeOf(q->scale());
    if (IsPacked(table.type) && o.out(0) != nullptr && o.out(0)->type == fb::TensorType::FLOAT32 &&
        !zeros.empty() && zeros[0] != 0)
      o.Fail(Check::kLookup, "the table has zero point {}; expected 0 with a FLOAT32 output",
             zeros[0]);
    if (scales > 1 && (q->quantized_dimension() != 0 || Differ(table.dim(0), scales)))
      o.Fail(Check::kLookup,
             "the table has {} scales along axis {} and {} rows; expected one scale for each row",
             scales, q->quantized_dimension(), table.dim(0));
  }
  if (table.dims && !table.dims->empty()) o.Give(0, RowsOf(table, ids.dim(0)));
}

void EmbeddingLookupSparse(Operation& o) {
  if (!o.AllPresent(5)) return;
  const int64_t n = o.in(1)->dim(0);
  if (Differ(n, o.in(0)->dim(0)) || Differ(n, o.in(3)->dim(0)))
    o.Fail(Check::kLookup, "there are {} indices, {} ids and {} weights; expected equal numbers", n,
           o.in(0)->dim(0), o.in(3)->dim(0));
}

void HashtableLookup(Operation& o) {
  if (!o.AllPresent(3)) return;
  const Value& lookup = *o.in(0);
  const Value& values = *o.in(2);
  if (Differ(o.in(1)->dim(0), values.dim(0)))
    return o.Fail(Check::kLookup, "there are {} keys but {} values", o.in(1)->dim(0),
                  values.dim(0));
  if (values.type == fb::TensorType::STRING && Differ(values.rank(), 1))
    return o.Fail(Check::kLookup, "the STRING values have rank {}; expected 1", values.rank());
  if (values.dims && values.type != fb::TensorType::STRING)
    o.Give(0, RowsOf(values, lookup.dim(0)));
  o.Give(1, Dims{lookup.dim(0)});
}

void LshProjection(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& hash = *o.in(0);
  const Value& x = *o.in(1);
  if (hash.dim(1) > 32)
    o.Fail(Check::kLookup, "the hash has {} bits; expected at most 32", hash.dim(1));
  if (x.dim(0) == 0) o.Fail(Check::kLookup, "x has no elements");
  if (o.in(2) != nullptr && Differ(o.in(2)->dim(0), x.dim(0)))
    o.Fail(Check::kLookup, "there are {} weights for {} inputs", o.in(2)->dim(0), x.dim(0));
  const auto* options = o.at().op->builtin_options_as_LSHProjectionOptions();
  if (options == nullptr || o.failed()) return;
  if (options->type() == fb::LSHProjectionType::SPARSE)
    o.Give(0, Dims{hash.dim(0)});
  else if (options->type() == fb::LSHProjectionType::DENSE)
    o.Give(0, Dims{hash.dim(0) < 0 || hash.dim(1) < 0 ? -1 : hash.dim(0) * hash.dim(1)});
  else
    o.Fail(Check::kOptionValues, "the projection type is neither SPARSE nor DENSE");
}

constexpr Preparation kMatrixPreparations[] = {
    {Op::FULLY_CONNECTED, FullyConnected},   {Op::BATCH_MATMUL, BatchMatMul},
    {Op::EMBEDDING_LOOKUP, EmbeddingLookup}, {Op::EMBEDDING_LOOKUP_SPARSE, EmbeddingLookupSparse},
    {Op::HASHTABLE_LOOKUP, HashtableLookup}, {Op::LSH_PROJECTION, LshProjection},
};

}  // namespace

std::span<const Preparation> MatrixPreparations() {
  return kMatrixPreparations;
}

}  // namespace nn::tflite::constraints
