// Rules of the contents of constants.
#include <map>
#include <tuple>

#include "base/sha256.h"
#include "base/text.h"
#include "validators/lint/subject.h"

namespace nn::lint {
namespace {

// Smaller constants are shapes, axes and scalars, which repeat.
constexpr uint64_t kLarge = 1024;  // bytes

Location Where(const TensorEntry& tensor) {
  return At(tensor.scope.empty() ? tensor.location
                                 : fmt::format("{}, {}", tensor.scope, tensor.location));
}

// Adds a finding for every tensor for whose contents `say` has something to say.
template <typename Say>
void EachContents(const Subject& s, Findings& f, const Say& say) {
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

void NoNans(const Subject& s, Findings& f) {
  EachContents(s, f, [](const Contents& c, const TensorEntry&) { return Holds(c.nans, "NaN"); });
}

void Finite(const Subject& s, Findings& f) {
  EachContents(s, f, [](const Contents& c, const TensorEntry&) {
    return c.infinities == 0
               ? std::string()
               : fmt::format("holds {} infinite element{}", WithThousands(c.infinities),
                             c.infinities == 1 ? "" : "s");
  });
}

void NoDenormals(const Subject& s, Findings& f) {
  EachContents(s, f, [](const Contents& c, const TensorEntry&) {
    return Holds(c.denormals, "denormal number");
  });
}

void NotUniform(const Subject& s, Findings& f) {
  EachContents(s, f, [](const Contents& c, const TensorEntry& t) {
    return c.uniform && t.bytes >= kLarge
               ? fmt::format("takes {} and holds one value throughout", HumanBytes(t.bytes))
               : std::string();
  });
}

void NoDuplicates(const Subject& s, Findings& f) {
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
        f.Add(Where(*t), "{} has the contents of {}, {}", Title(*t), Title(*same->second),
              HumanBytes(t->bytes));
    }
  }
}

constexpr Rule kRules[] = {
    {{"LINT-WEIGHT-001", Severity::kWarning, "Constants hold no NaN.", "good practice", false,
      "Train or export again; one NaN makes NaN of all that depends on it.", true},
     NoNans},
    {{"LINT-WEIGHT-002", Severity::kNote, "Constants are finite.", "good practice", false,
      "Where infinity is meant as a mask, the lowest finite number does as well.", true},
     Finite},
    {{"LINT-WEIGHT-003", Severity::kNote, "Constants hold no denormal numbers.", "good practice",
      false, "Set them to 0: they are slow on many processors, and 0 on others.", true},
     NoDenormals},
    {{"LINT-WEIGHT-004", Severity::kNote, "Large constants hold more than one value.",
      "good practice", false, "Let a scalar be broadcast.", true},
     NotUniform},
    {{"LINT-WEIGHT-005", Severity::kNote, "Large constants are stored once.", "good practice",
      false, "Let both readers use the first one.", true},
     NoDuplicates},
};

}  // namespace

std::span<const Rule> WeightRules() {
  return kRules;
}

}  // namespace nn::lint
