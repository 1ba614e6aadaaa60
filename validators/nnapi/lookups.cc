// Rules for lookups and hashing.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr Rule kLookupRules[] = {
    {.info = {.id = "NNAPI-LOOKUP-001",
              .statement = "EMBEDDING_LOOKUP outputs one slice of the values for each lookup, and "
                           "constant lookups are indexes of slices.",
              .clause = "types.hal, OperationType.EMBEDDING_LOOKUP",
              .vendor = true,
              .hint = "Pass the lookups as input 0 and the values as input 1; a lookup must be "
                      "below the first dimension of the values."},
     .check = Report<Label::kLookupShape, Label::kLookupRange>},
    {.info = {.id = "NNAPI-LOOKUP-002",
              .statement =
                  "HASHTABLE_LOOKUP outputs one slice of the values and one hit for each lookup.",
              .clause = "types.hal, OperationType.HASHTABLE_LOOKUP",
              .vendor = true,
              .hint = "Pass lookups, keys and values in this order, and declare the number of "
                      "lookups as the first dimension of both outputs."},
     .check = Report<Label::kTableShape>},
    {.info = {.id = "NNAPI-LOOKUP-003",
              .statement = "The keys of HASHTABLE_LOOKUP are in ascending order.",
              .clause = "types.hal, OperationType.HASHTABLE_LOOKUP",
              .hint = "Sort the keys, and reorder the values with them."},
     .check = Report<Label::kKeyOrder>},
    {.info = {.id = "NNAPI-LOOKUP-004",
              .statement = "The type of LSH_PROJECTION is 1 (sparse) or 2 (dense).",
              .clause = "types.hal, OperationType.LSH_PROJECTION",
              .vendor = true,
              .hint = "Set the type to 1 or 2; the types of later versions are unsupported."},
     .check = Report<Label::kProjectionType>},
    {.info = {.id = "NNAPI-LOOKUP-005",
              .statement = "HASHTABLE_LOOKUP has as many slices of values as keys.",
              .clause = "types.hal, OperationType.HASHTABLE_LOOKUP",
              .hint = "Provide one slice of values for each key; key i belongs to slice i."},
     .check = Report<Label::kKeyCount>},
    {.info = {.id = "NNAPI-LOOKUP-006",
              .statement = "The hits output of HASHTABLE_LOOKUP has scale 1 and zeroPoint 0.",
              .clause = "types.hal, OperationType.HASHTABLE_LOOKUP",
              .vendor = true,
              .hint = "Set the scale of the hits to 1 and their zeroPoint to 0."},
     .check = Report<Label::kHitsQuantization>},
    {.info = {.id = "NNAPI-LOOKUP-007",
              .statement = "The weights of LSH_PROJECTION have as many elements as the first "
                           "dimension of the input.",
              .clause = "types.hal, OperationType.LSH_PROJECTION",
              .vendor = true,
              .hint = "Provide one weight for each index of the first dimension of the input."},
     .check = Report<Label::kProjectionWeightCount>},
    {.info = {.id = "NNAPI-LOOKUP-008",
              .statement =
                  "A dense LSH_PROJECTION has weights, and a sparse LSH_PROJECTION has none.",
              .clause = "NNAPI reference executor, LSH projection",
              .vendor = true,
              .hint = "Give a dense projection weights (1 has no effect), and use NO_VALUE for the "
                      "weights of a sparse projection."},
     .check = Report<Label::kProjectionWeights>},
    {.info = {.id = "NNAPI-LOOKUP-009",
              .statement = "In a sparse LSH_PROJECTION, the bits of a hash and the bits needed to "
                           "number the hash functions are at most 32 together.",
              .clause = "types.hal, OperationType.LSH_PROJECTION",
              .hint = "Use fewer hash functions, or fewer bits for each."},
     .check = Report<Label::kHashBits>},
    {.info =
         {.id = "NNAPI-LOOKUP-010",
          .statement =
              "The output of LSH_PROJECTION has one element for each hash function if the "
              "projection is sparse, and one for each bit of every hash function if it is dense.",
          .clause = "types.hal, OperationType.LSH_PROJECTION",
          .vendor = true,
          .hint = "Declare [functions] for a sparse projection and [functions * bits] for a dense "
                  "one."},
     .check = Report<Label::kProjectionShape>},
};

}  // namespace

std::span<const Rule> LookupRules() {
  return kLookupRules;
}

}  // namespace nn::nnapi
