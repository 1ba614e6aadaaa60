// Rules of lookups and hashing.
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
    f.Add(op.AtOutput(output), "{} gives {}, its output is {}", op.Title(), DimsText(want),
          DimsText(*out));
}

// [k, ...]: as many slices of `values` as there are lookups.
Dims Slices(const Dims& lookups, const Dims& values) {
  Dims out = values;
  out[0] = lookups[0];
  return out;
}

// The smallest and the largest element of each constant; many operations may share one.
class Extents {
 public:
  // nullopt if the input is no constant of integers.
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
      f.Add(op.AtInput(0), "{} looks up slice {} of {}", op.Title(), low < 0 ? low : high, slices);
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
      f.Add(op.AtInput(2), "{} has {} keys and {} values", op.Title(), (*keys)[0], (*values)[0]);
  });
}

void HitsAreBooleans(const Subject& s, Findings& f) {
  EachOperation(s, kHashtableLookup, [&](const OperationAt& op) {
    const Operand* hits = op.Output(1);
    if (hits != nullptr && HasQuantisation(*hits) && (hits->scale != 1 || hits->zero_point != 0))
      f.Add(op.AtOutput(1), "the hits of {} have scale {} and zeroPoint {} instead of 1 and 0",
            op.Title(), hits->scale, hits->zero_point);
  });
}

void KeysSorted(const Subject& s, Findings& f) {
  std::map<uint32_t, size_t> descents;  // by operand: the first key below the one before; 0 if none
  EachOperation(s, kHashtableLookup, [&](const OperationAt& op) {
    const auto [it, fresh] = descents.try_emplace(op.operation->inputs[1], 0);
    if (fresh) {
      const std::vector<int32_t> keys = op.Ints(1);
      const auto end = std::is_sorted_until(keys.begin(), keys.end());
      if (end != keys.end()) it->second = static_cast<size_t>(end - keys.begin());
    }
    if (it->second != 0)
      f.Add(op.AtInput(1), "key {} of {} is below the key before it", it->second, op.Title());
  });
}

constexpr int32_t kSparse = 1;
constexpr int32_t kDense = 2;

void ProjectionsKnown(const Subject& s, Findings& f) {
  EachOperation(s, kLshProjection, [&](const OperationAt& op) {
    const auto type = op.Int(3);
    if (type && *type != kSparse && *type != kDense)
      f.Add(op.AtInput(3), "the type of {} is {}", op.Title(), *type);
  });
}

void WeightsMatchInputs(const Subject& s, Findings& f) {
  EachOperation(s, kLshProjection, [&](const OperationAt& op) {
    const Dims* in = op.InputDims(1);
    const Dims* weight = op.InputDims(2);
    if (in != nullptr && weight != nullptr && !Agree((*in)[0], (*weight)[0]))
      f.Add(op.AtInput(2), "{} has {} inputs and {} weights", op.Title(), (*in)[0], (*weight)[0]);
  });
}

void WeightsWithDense(const Subject& s, Findings& f) {
  EachOperation(s, kLshProjection, [&](const OperationAt& op) {
    const auto type = op.Int(3);
    const auto given = op.Given(2);
    if (type == kDense && given == false)
      f.Add(op.AtInput(2), "{} is dense and has no weights", op.Title());
    if (type == kSparse && given == true)
      f.Add(op.AtInput(2), "{} is sparse and has weights", op.Title());
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
      f.Add(op.AtInput(0), "{} functions of {} bits in {} need more than 32 bits", functions, bits,
            op.Title());
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

constexpr Rule kRules[] = {
    {{"NNAPI-LOOKUP-001", Severity::kError,
      "EMBEDDING_LOOKUP gives one slice for each lookup, and constant lookups are in range.",
      "types.hal, OperationType.EMBEDDING_LOOKUP", true,
      "Check the order of the inputs: lookups, then values."},
     Embeddings},
    {{"NNAPI-LOOKUP-002", Severity::kError,
      "HASHTABLE_LOOKUP gives one slice and one hit for each lookup.",
      "types.hal, OperationType.HASHTABLE_LOOKUP", true,
      "Check the order of the inputs: lookups, keys, values."},
     TableShapes},
    {{"NNAPI-LOOKUP-003", Severity::kError, "Keys of HASHTABLE_LOOKUP ascend.",
      "types.hal, OperationType.HASHTABLE_LOOKUP", false, "Sort keys and values together."},
     KeysSorted},
    {{"NNAPI-LOOKUP-004", Severity::kError,
      "The type of LSH_PROJECTION is 1 (sparse) or 2 (dense).",
      "types.hal, OperationType.LSH_PROJECTION", true, "Other types are of later versions."},
     ProjectionsKnown},
    {{"NNAPI-LOOKUP-005", Severity::kError, "HASHTABLE_LOOKUP has as many values as keys.",
      "types.hal, OperationType.HASHTABLE_LOOKUP", false,
      "Key i belongs to slice i of the values."},
     KeysMatchValues},
    {{"NNAPI-LOOKUP-006", Severity::kError,
      "Hits of HASHTABLE_LOOKUP have scale 1 and zeroPoint 0.",
      "types.hal, OperationType.HASHTABLE_LOOKUP", true, "Hits are booleans, 0 or not."},
     HitsAreBooleans},
    {{"NNAPI-LOOKUP-007", Severity::kError, "LSH_PROJECTION has a weight for each input.",
      "types.hal, OperationType.LSH_PROJECTION", true,
      "Weights belong to the first dimension of the input."},
     WeightsMatchInputs},
    {{"NNAPI-LOOKUP-008", Severity::kError,
      "Dense LSH_PROJECTION has weights, sparse LSH_PROJECTION has none.",
      "NNAPI reference executor, LSH projection", true, "Weights of 1 change nothing."},
     WeightsWithDense},
    {{"NNAPI-LOOKUP-009", Severity::kError,
      "Hashes of sparse LSH_PROJECTION and the numbers of their functions fit 32 bits.",
      "types.hal, OperationType.LSH_PROJECTION", false, "Take fewer functions or fewer bits."},
     HashesFit},
    {{"NNAPI-LOOKUP-010", Severity::kError,
      "LSH_PROJECTION gives an element for each function, or if dense for each bit.",
      "types.hal, OperationType.LSH_PROJECTION", true, "Declare that size."},
     ProjectionSizes},
};

}  // namespace

std::span<const Rule> LookupRules() {
  return kRules;
}

}  // namespace nn::nnapi
