// Rules for lookups and hashing.
#include <algorithm>
#include <map>
#include <utility>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

void Check(Findings& f, const OperationAt& op, size_t output, const Dims& want) {
  const Dims* out = op.OutputDims(output);
  if (out != nullptr && !Agree(want, *out))
    f.Add(op.AtOutput(output), "{} has shape {} instead of {}", op.OutputTitle(output),
          DimsText(*out), DimsText(want));
}

// [k, ...]: one slice of `values` for each lookup.
Dims Slices(const Dims& lookups, const Dims& values) {
  Dims out = values;
  out[0] = lookups[0];
  return out;
}

// The smallest and the largest element of each constant; many operations may share one.
class Extents {
 public:
  // nullopt if the input is not a constant of integers.
  std::optional<std::pair<int32_t, int32_t>> Of(const OperationAt& op, size_t input) {
    const auto [it, fresh] = extents_.try_emplace(op.operation->inputs[input]);
    if (!fresh) return it->second;
    const std::vector<int32_t> values = op.Ints(input);
    if (values.empty()) return std::nullopt;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return it->second = std::pair(*low, *high);
  }

 private:
  std::map<uint32_t, std::optional<std::pair<int32_t, int32_t>>> extents_;
};

void Embeddings(const Subject& s, Findings& f) {
  Extents extents;
  EachOperation(s, kEmbeddingLookup, [&](const OperationAt& op) {
    const Dims* lookups = op.InputDims(0);
    const Dims* values = op.InputDims(1);
    if (lookups == nullptr || values == nullptr) return;
    Check(f, op, 0, Slices(*lookups, *values));
    const uint32_t slices = (*values)[0];
    const auto extent = extents.Of(op, 0);
    if (!extent) return;
    const auto [low, high] = *extent;
    if (low < 0 || (slices != 0 && static_cast<uint32_t>(high) >= slices))
      f.Add(op.AtInput(0), "{} looks up slice {} of values with shape {}", op.Title(),
            low < 0 ? low : high, DimsText(*values));
  });
}

void TableShapes(const Subject& s, Findings& f) {
  EachOperation(s, kHashtableLookup, [&](const OperationAt& op) {
    const Dims* lookups = op.InputDims(0);
    const Dims* values = op.InputDims(2);
    if (lookups == nullptr) return;
    if (values != nullptr) Check(f, op, 0, Slices(*lookups, *values));
    Check(f, op, 1, {(*lookups)[0]});
  });
}

void KeysMatchValues(const Subject& s, Findings& f) {
  EachOperation(s, kHashtableLookup, [&](const OperationAt& op) {
    const Dims* keys = op.InputDims(1);
    const Dims* values = op.InputDims(2);
    if (keys != nullptr && values != nullptr && !Agree((*keys)[0], (*values)[0]))
      f.Add(op.AtInput(2), "{} has {} keys but {} slices of values", op.Title(), (*keys)[0],
            (*values)[0]);
  });
}

void HitsAreBooleans(const Subject& s, Findings& f) {
  EachOperation(s, kHashtableLookup, [&](const OperationAt& op) {
    const Operand* hits = op.Output(1);
    if (hits != nullptr && HasQuantization(*hits) && (hits->scale != 1 || hits->zero_point != 0))
      f.Add(op.AtOutput(1), "the hits of {} have scale {} and zeroPoint {} instead of 1 and 0",
            op.Title(), hits->scale, hits->zero_point);
  });
}

void KeysSorted(const Subject& s, Findings& f) {
  // By operand: the first key below its predecessor; 0 if none.
  std::map<uint32_t, size_t> descents;
  EachOperation(s, kHashtableLookup, [&](const OperationAt& op) {
    const auto [it, fresh] = descents.try_emplace(op.operation->inputs[1], 0);
    if (fresh) {
      const std::vector<int32_t> keys = op.Ints(1);
      const auto end = std::is_sorted_until(keys.begin(), keys.end());
      if (end != keys.end()) it->second = static_cast<size_t>(end - keys.begin());
    }
    if (it->second != 0)
      f.Add(op.AtInput(1), "key {} of {} is smaller than the key before it", it->second,
            op.Title());
  });
}

constexpr int32_t kSparse = 1;
constexpr int32_t kDense = 2;

void ProjectionsKnown(const Subject& s, Findings& f) {
  EachOperation(s, kLshProjection, [&](const OperationAt& op) {
    const auto type = op.Int(3);
    if (type && *type != kSparse && *type != kDense)
      f.Add(op.AtInput(3), "the type of {} is {} instead of 1 or 2", op.Title(), *type);
  });
}

void WeightsMatchInputs(const Subject& s, Findings& f) {
  EachOperation(s, kLshProjection, [&](const OperationAt& op) {
    const Dims* in = op.InputDims(1);
    const Dims* weight = op.InputDims(2);
    if (in != nullptr && weight != nullptr && !Agree((*in)[0], (*weight)[0]))
      f.Add(op.AtInput(2), "{} has {} weights; the first dimension of its input is {}", op.Title(),
            (*weight)[0], (*in)[0]);
  });
}

void WeightsWithDense(const Subject& s, Findings& f) {
  EachOperation(s, kLshProjection, [&](const OperationAt& op) {
    const auto type = op.Int(3);
    const auto given = op.Given(2);
    if (type == kDense && given == false)
      f.Add(op.AtInput(2), "{} is dense but has no weights", op.Title());
    if (type == kSparse && given == true)
      f.Add(op.AtInput(2), "{} is sparse but has weights", op.Title());
  });
}

void HashesFit(const Subject& s, Findings& f) {
  EachOperation(s, kLshProjection, [&](const OperationAt& op) {
    const Dims* hash = op.InputDims(0);
    if (hash == nullptr || op.Int(3) != kSparse) return;
    const uint64_t functions = (*hash)[0];
    const uint64_t bits = (*hash)[1];
    uint64_t log = 0;
    while ((uint64_t{1} << log) < functions) ++log;
    if (functions != 0 && bits != 0 && bits + log > 32)
      f.Add(op.AtInput(0),
            "{} has {} hash functions of {} bits, which require {} bits; at most 32 are allowed",
            op.Title(), functions, bits, bits + log);
  });
}

void ProjectionSizes(const Subject& s, Findings& f) {
  EachOperation(s, kLshProjection, [&](const OperationAt& op) {
    const auto type = op.Int(3);
    const Dims* hash = op.InputDims(0);
    if (hash == nullptr) return;
    const uint64_t bits = uint64_t{(*hash)[0]} * (*hash)[1];
    if (type == kDense && bits <= UINT32_MAX) Check(f, op, 0, {static_cast<uint32_t>(bits)});
    if (type == kSparse) Check(f, op, 0, {(*hash)[0]});
  });
}

constexpr Rule kLookupRules[] = {
    {.info = {.id = "NNAPI-LOOKUP-001",
              .statement = "EMBEDDING_LOOKUP outputs one slice of the values for each lookup, and "
                           "constant lookups are indexes of slices.",
              .clause = "types.hal, OperationType.EMBEDDING_LOOKUP",
              .vendor = true,
              .hint = "Pass the lookups as input 0 and the values as input 1; a lookup must be "
                      "below the first dimension of the values."},
     .check = Embeddings},
    {.info = {.id = "NNAPI-LOOKUP-002",
              .statement =
                  "HASHTABLE_LOOKUP outputs one slice of the values and one hit for each lookup.",
              .clause = "types.hal, OperationType.HASHTABLE_LOOKUP",
              .vendor = true,
              .hint = "Pass lookups, keys and values in this order, and declare the number of "
                      "lookups as the first dimension of both outputs."},
     .check = TableShapes},
    {.info = {.id = "NNAPI-LOOKUP-003",
              .statement = "The keys of HASHTABLE_LOOKUP are in ascending order.",
              .clause = "types.hal, OperationType.HASHTABLE_LOOKUP",
              .hint = "Sort the keys, and reorder the values with them."},
     .check = KeysSorted},
    {.info = {.id = "NNAPI-LOOKUP-004",
              .statement = "The type of LSH_PROJECTION is 1 (sparse) or 2 (dense).",
              .clause = "types.hal, OperationType.LSH_PROJECTION",
              .vendor = true,
              .hint = "Set the type to 1 or 2; the types of later versions are unsupported."},
     .check = ProjectionsKnown},
    {.info = {.id = "NNAPI-LOOKUP-005",
              .statement = "HASHTABLE_LOOKUP has as many slices of values as keys.",
              .clause = "types.hal, OperationType.HASHTABLE_LOOKUP",
              .hint = "Provide one slice of values for each key; key i belongs to slice i."},
     .check = KeysMatchValues},
    {.info = {.id = "NNAPI-LOOKUP-006",
              .statement = "The hits output of HASHTABLE_LOOKUP has scale 1 and zeroPoint 0.",
              .clause = "types.hal, OperationType.HASHTABLE_LOOKUP",
              .vendor = true,
              .hint = "Set the scale of the hits to 1 and their zeroPoint to 0."},
     .check = HitsAreBooleans},
    {.info = {.id = "NNAPI-LOOKUP-007",
              .statement = "The weights of LSH_PROJECTION have as many elements as the first "
                           "dimension of the input.",
              .clause = "types.hal, OperationType.LSH_PROJECTION",
              .vendor = true,
              .hint = "Provide one weight for each index of the first dimension of the input."},
     .check = WeightsMatchInputs},
    {.info = {.id = "NNAPI-LOOKUP-008",
              .statement =
                  "A dense LSH_PROJECTION has weights, and a sparse LSH_PROJECTION has none.",
              .clause = "NNAPI reference executor, LSH projection",
              .vendor = true,
              .hint = "Give a dense projection weights (1 has no effect), and use NO_VALUE for the "
                      "weights of a sparse projection."},
     .check = WeightsWithDense},
    {.info = {.id = "NNAPI-LOOKUP-009",
              .statement = "In a sparse LSH_PROJECTION, the bits of a hash and the bits needed to "
                           "number the hash functions are at most 32 together.",
              .clause = "types.hal, OperationType.LSH_PROJECTION",
              .hint = "Use fewer hash functions, or fewer bits for each."},
     .check = HashesFit},
    {.info =
         {.id = "NNAPI-LOOKUP-010",
          .statement =
              "The output of LSH_PROJECTION has one element for each hash function if the "
              "projection is sparse, and one for each bit of every hash function if it is dense.",
          .clause = "types.hal, OperationType.LSH_PROJECTION",
          .vendor = true,
          .hint = "Declare [functions] for a sparse projection and [functions * bits] for a dense "
                  "one."},
     .check = ProjectionSizes},
};

}  // namespace

std::span<const Rule> LookupRules() {
  return kLookupRules;
}

}  // namespace nn::nnapi
