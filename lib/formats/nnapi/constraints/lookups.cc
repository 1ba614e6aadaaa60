// Constraints on lookups and hashing.
#include "formats/nnapi/spec/constraint.h"

namespace nn::nnapi {
namespace {

void Check(Misfits& f, const OperationAt& op, size_t output, const Shape& want) {
  const Shape* out = op.OutputDims(output);
  if (out != nullptr && !Agree(want, *out))
    f.Add(op.AtOutput(output), "{} has shape {} instead of {}", op.OutputTitle(output),
          DimsText(*out), DimsText(want));
}

// [k, ...]: one slice of `values` for each lookup.
Shape Slices(const Shape& lookups, const Shape& values) {
  Shape out = values;
  out[0] = lookups[0];
  return out;
}

void LookupShape(const OperationAt& op, Misfits& f) {
  const Shape* lookups = op.InputDims(0);
  const Shape* values = op.InputDims(1);
  if (lookups != nullptr && values != nullptr) Check(f, op, 0, Slices(*lookups, *values));
}

void LookupsInRange(const OperationAt& op, Misfits& f) {
  const Shape* lookups = op.InputDims(0);
  const Shape* values = op.InputDims(1);
  const auto extent = op.Extent(0);
  if (lookups == nullptr || values == nullptr || !extent) return;
  const uint32_t slices = (*values)[0];
  const auto [low, high] = *extent;
  if (low < 0 || (slices != 0 && static_cast<uint32_t>(high) >= slices))
    f.Add(op.AtInput(0), "{} looks up slice {} of values with shape {}", op.Title(),
          low < 0 ? low : high, DimsText(*values));
}

void TableShapes(const OperationAt& op, Misfits& f) {
  const Shape* lookups = op.InputDims(0);
  const Shape* values = op.InputDims(2);
  if (lookups == nullptr) return;
  if (values != nullptr) Check(f, op, 0, Slices(*lookups, *values));
  Check(f, op, 1, {(*lookups)[0]});
}

void KeysMatchValues(const OperationAt& op, Misfits& f) {
  const Shape* keys = op.InputDims(1);
  const Shape* values = op.InputDims(2);
  if (keys != nullptr && values != nullptr && !Agree((*keys)[0], (*values)[0]))
    f.Add(op.AtInput(2), "{} has {} keys but {} slices of values", op.Title(), (*keys)[0],
          (*values)[0]);
}

void HitsAreBooleans(const OperationAt& op, Misfits& f) {
  const Operand* hits = op.Output(1);
  if (hits != nullptr && HasQuantization(*hits) && (hits->scale != 1 || hits->zero_point != 0))
    f.Add(op.AtOutput(1), "the hits of {} have scale {} and zeroPoint {} instead of 1 and 0",
          op.Title(), hits->scale, hits->zero_point);
}

void KeysSorted(const OperationAt& op, Misfits& f) {
  if (const size_t key = op.Descent(1); key != 0)
    f.Add(op.AtInput(1), "key {} of {} is smaller than the key before it", key, op.Title());
}

constexpr int32_t kSparse = 1;
constexpr int32_t kDense = 2;

void ProjectionsKnown(const OperationAt& op, Misfits& f) {
  const auto type = op.Int(3);
  if (type && *type != kSparse && *type != kDense)
    f.Add(op.AtInput(3), "the type of {} is {} instead of 1 or 2", op.Title(), *type);
}

void WeightsMatchInputs(const OperationAt& op, Misfits& f) {
  const Shape* in = op.InputDims(1);
  const Shape* weight = op.InputDims(2);
  if (in != nullptr && weight != nullptr && !Agree((*in)[0], (*weight)[0]))
    f.Add(op.AtInput(2), "{} has {} weights; the first dimension of its input is {}", op.Title(),
          (*weight)[0], (*in)[0]);
}

void WeightsWithDense(const OperationAt& op, Misfits& f) {
  const auto type = op.Int(3);
  const auto given = op.Given(2);
  if (type == kDense && given == false)
    f.Add(op.AtInput(2), "{} is dense but has no weights", op.Title());
  if (type == kSparse && given == true)
    f.Add(op.AtInput(2), "{} is sparse but has weights", op.Title());
}

void HashesFit(const OperationAt& op, Misfits& f) {
  const Shape* hash = op.InputDims(0);
  if (hash == nullptr || op.Int(3) != kSparse) return;
  const uint64_t functions = (*hash)[0];
  const uint64_t bits = (*hash)[1];
  uint64_t log = 0;
  while ((uint64_t{1} << log) < functions) ++log;
  if (functions != 0 && bits != 0 && bits + log > 32)
    f.Add(op.AtInput(0),
          "{} has {} hash functions of {} bits, which require {} bits; at most 32 are allowed",
          op.Title(), functions, bits, bits + log);
}

void ProjectionSizes(const OperationAt& op, Misfits& f) {
  const auto type = op.Int(3);
  const Shape* hash = op.InputDims(0);
  if (hash == nullptr) return;
  const uint64_t bits = uint64_t{(*hash)[0]} * (*hash)[1];
  if (type == kDense && bits <= UINT32_MAX) Check(f, op, 0, {static_cast<uint32_t>(bits)});
  if (type == kSparse) Check(f, op, 0, {(*hash)[0]});
}

constexpr Constraint kLookups[] = {
    {.label = Label::kLookupShape, .check = LookupShape},
    {.label = Label::kLookupRange, .check = LookupsInRange},
    {.label = Label::kTableShape, .check = TableShapes},
    {.label = Label::kKeyOrder, .check = KeysSorted},
    {.label = Label::kKeyCount, .check = KeysMatchValues},
    {.label = Label::kHitsQuantization, .check = HitsAreBooleans},
    {.label = Label::kProjectionType, .check = ProjectionsKnown},
    {.label = Label::kProjectionWeightCount, .check = WeightsMatchInputs},
    {.label = Label::kProjectionWeights, .check = WeightsWithDense},
    {.label = Label::kHashBits, .check = HashesFit},
    {.label = Label::kProjectionShape, .check = ProjectionSizes},
};

}  // namespace

std::span<const Constraint> LookupConstraints() {
  return kLookups;
}

}  // namespace nn::nnapi
