// Rules of lookups and hashing.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

template <typename Visit>
void Each(const Subject& s, OperationType type, const Visit& visit) {
  for (const OperationAt& op : s.operations())
    if (op.operation->type == type && op.signature != nullptr) visit(op);
}

void Check(Findings& f, const OperationAt& op, size_t output, const Dims& want) {
  const Dims* out = op.OutputDims(output);
  if (out != nullptr && !Agree(want, *out))
    f.Add(op.Where(fmt::format("outputs[{}]", output)), "{} gives {}, its output is {}", op.Title(),
          DimsText(want), DimsText(*out));
}

// [k, ...]: as many slices of `values` as there are lookups.
Dims Slices(const Dims& lookups, const Dims& values) {
  Dims out = values;
  out[0] = lookups[0];
  return out;
}

void Embeddings(const Subject& s, Findings& f) {
  Each(s, kEmbeddingLookup, [&](const OperationAt& op) {
    const Dims* lookups = op.InputDims(0);
    const Dims* values = op.InputDims(1);
    if (lookups == nullptr || values == nullptr) return;
    Check(f, op, 0, Slices(*lookups, *values));
    for (const int32_t i : op.Ints(0))
      if (i < 0 || ((*values)[0] != 0 && static_cast<uint32_t>(i) >= (*values)[0]))
        f.Add(op.Where("inputs[0]"), "{} looks up {} of {}", op.Title(), i, (*values)[0]);
  });
}

void Hashtables(const Subject& s, Findings& f) {
  Each(s, kHashtableLookup, [&](const OperationAt& op) {
    const Dims* lookups = op.InputDims(0);
    const Dims* keys = op.InputDims(1);
    const Dims* values = op.InputDims(2);
    if (lookups == nullptr || keys == nullptr || values == nullptr) return;
    if (!Agree((*keys)[0], (*values)[0]))
      f.Add(op.Where("inputs[2]"), "{} has {} keys and {} values", op.Title(), (*keys)[0],
            (*values)[0]);
    Check(f, op, 0, Slices(*lookups, *values));
    Check(f, op, 1, {(*lookups)[0]});
  });
}

void KeysSorted(const Subject& s, Findings& f) {
  Each(s, kHashtableLookup, [&](const OperationAt& op) {
    const std::vector<int32_t> keys = op.Ints(1);
    for (size_t i = 1; i < keys.size(); ++i)
      if (keys[i] <= keys[i - 1]) {
        f.Add(op.Where("inputs[1]"), "key {} of {} is {} after {}", i, op.Title(), keys[i],
              keys[i - 1]);
        break;
      }
  });
}

void Projections(const Subject& s, Findings& f) {
  constexpr int32_t kSparse = 1;
  constexpr int32_t kDense = 2;
  Each(s, kLshProjection, [&](const OperationAt& op) {
    const auto type = op.Int(3);
    const Dims* hash = op.InputDims(0);
    const Dims* in = op.InputDims(1);
    const Dims* weight = op.InputDims(2);
    if (type && *type != kSparse && *type != kDense)
      f.Add(op.Where("inputs[3]"), "the type of {} is {}", op.Title(), *type);
    if (in != nullptr && weight != nullptr && !Agree((*in)[0], (*weight)[0]))
      f.Add(op.Where("inputs[2]"), "{} has {} inputs and {} weights", op.Title(), (*in)[0],
            (*weight)[0]);
    if (!type || hash == nullptr || hash->size() != 2) return;
    const uint64_t functions = (*hash)[0];
    const uint64_t bits = (*hash)[1];
    if (*type == kDense && functions * bits <= UINT32_MAX)
      Check(f, op, 0, {static_cast<uint32_t>(functions * bits)});
    if (*type != kSparse) return;
    Check(f, op, 0, {(*hash)[0]});
    uint64_t log = 0;
    while ((uint64_t{1} << log) < functions) ++log;
    if (functions != 0 && bits != 0 && bits + log > 32)
      f.Add(op.Where("inputs[0]"), "{} functions of {} bits in {} need more than 32 bits",
            functions, bits, op.Title());
  });
}

constexpr Rule kRules[] = {
    {{"NNAPI-LOOKUP-001", Severity::kError,
      "EMBEDDING_LOOKUP gives one slice for each lookup, and constant lookups are in range.",
      "types.hal, OperationType.EMBEDDING_LOOKUP", true, ""},
     Embeddings},
    {{"NNAPI-LOOKUP-002", Severity::kError,
      "HASHTABLE_LOOKUP has as many values as keys and gives one slice and one hit a lookup.",
      "types.hal, OperationType.HASHTABLE_LOOKUP", true, ""},
     Hashtables},
    {{"NNAPI-LOOKUP-003", Severity::kError, "Keys of HASHTABLE_LOOKUP ascend.",
      "types.hal, OperationType.HASHTABLE_LOOKUP", true, "Sort keys and values together."},
     KeysSorted},
    {{"NNAPI-LOOKUP-004", Severity::kError,
      "LSH_PROJECTION has type 1 or 2, a weight for each input, and the output of its type.",
      "types.hal, OperationType.LSH_PROJECTION", true, ""},
     Projections},
};

}  // namespace

std::span<const Rule> LookupRules() {
  return kRules;
}

}  // namespace nn::nnapi
