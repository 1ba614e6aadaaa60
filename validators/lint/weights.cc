// Rules about the contents of constants.
#include <map>
#include <tuple>

#include "base/sha256.h"
#include "base/text/text.h"
#include "validators/lint/rule_context.h"

namespace nn::lint {
namespace {

// Smaller constants are mostly shapes, axes and scalars, which are often equal.
constexpr uint64_t kLarge = 1024;  // bytes

Location Where(const TensorEntry& tensor) {
  return At(tensor.scope.empty() ? tensor.location
                                 : fmt::format("{}, {}", tensor.scope, tensor.location));
}

// Adds a finding for every tensor for which `say` returns a message.
template <typename Say>
void EachContents(const RuleContext& s, Findings& f, const Say& say) {
  const auto& contents = s.contents();
  for (size_t i = 0; i < contents.size(); ++i) {
    const TensorEntry& tensor = s.tensors()[i];
    if (!contents[i]) continue;
    if (const std::string what = say(*contents[i], tensor); !what.empty())
      f.Add(Where(tensor), "{} {}", Title(tensor), what);
  }
}

std::string Holds(uint64_t count, std::string_view what) {
  if (count == 0) return {};
  return fmt::format("holds {} {}{}", WithThousands(count), what, count == 1 ? "" : "s");
}

void NoNans(const RuleContext& s, Findings& f) {
  EachContents(s, f, [](const Contents& c, const TensorEntry&) { return Holds(c.nans, "NaN"); });
}

void Finite(const RuleContext& s, Findings& f) {
  EachContents(s, f, [](const Contents& c, const TensorEntry&) {
    return c.infinities == 0
               ? std::string()
               : fmt::format("holds {} infinite element{}", WithThousands(c.infinities),
                             c.infinities == 1 ? "" : "s");
  });
}

void NoDenormals(const RuleContext& s, Findings& f) {
  EachContents(s, f, [](const Contents& c, const TensorEntry&) {
    return Holds(c.denormals, "denormal number");
  });
}

void NotUniform(const RuleContext& s, Findings& f) {
  EachContents(s, f, [](const Contents& c, const TensorEntry& t) {
    return c.uniform && t.bytes >= kLarge
               ? fmt::format("takes {} but holds a single value", HumanBytes(t.bytes))
               : std::string();
  });
}

void NoDuplicates(const RuleContext& s, Findings& f) {
  using Key = std::tuple<std::string_view, std::vector<int64_t>, uint64_t>;
  std::map<Key, std::vector<const TensorEntry*>> alike;
  for (const TensorEntry& t : s.tensors())
    if (t.bytes >= kLarge) alike[{t.type, t.shape, t.bytes}].push_back(&t);
  for (const auto& [key, tensors] : alike) {
    if (tensors.size() == 1) continue;
    std::map<std::string, const TensorEntry*> first;
    for (const TensorEntry* t : tensors) {
      const auto contents = t->read();
      if (!contents || contents->dtype() == DType::kString) continue;
      Sha256 sha;
      sha.Bytes(std::span(contents->blob().data(), contents->byte_size()));
      const auto [same, added] = first.try_emplace(sha.Finish(), t);
      if (!added && (t->location.empty() || same->second->location != t->location))
        f.Add(Where(*t), "{} has the same contents as {} ({})", Title(*t), Title(*same->second),
              HumanBytes(t->bytes));
    }
  }
}

constexpr Rule kWeightRules[] = {
    {.info =
         {.id = "LINT-WEIGHT-001",
          .severity = Severity::kWarning,
          .statement = "Constants contain no NaN.",
          .clause = "good practice",
          .hint =
              "Train or export the model again; a NaN spreads to every result that depends on it.",
          .lint = true},
     .check = NoNans},
    {.info = {.id = "LINT-WEIGHT-002",
              .severity = Severity::kNote,
              .statement = "Constants contain no infinity.",
              .clause = "good practice",
              .hint = "Replace an infinity that serves as a mask with the lowest finite number.",
              .lint = true},
     .check = Finite},
    {.info =
         {.id = "LINT-WEIGHT-003",
          .severity = Severity::kNote,
          .statement = "Constants of 32-bit and 64-bit floats contain no denormal numbers.",
          .clause = "good practice",
          .hint =
              "Set denormals to 0; they are slow on many processors and flushed to 0 on others.",
          .lint = true},
     .check = NoDenormals},
    {.info = {.id = "LINT-WEIGHT-004",
              .severity = Severity::kNote,
              .statement = "Constants of 1 KiB or more hold more than one distinct value.",
              .clause = "good practice",
              .hint = "Store one element and let the operator broadcast it.",
              .lint = true},
     .check = NotUniform},
    {.info =
         {.id = "LINT-WEIGHT-005",
          .severity = Severity::kNote,
          .statement =
              "Constants of 1 KiB or more with the same type, shape and contents are stored once.",
          .clause = "good practice",
          .hint = "Keep one copy, and let all operators read it.",
          .lint = true},
     .check = NoDuplicates},
};

}  // namespace

std::span<const Rule> WeightRules() {
  return kWeightRules;
}

}  // namespace nn::lint
