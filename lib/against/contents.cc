#include "against/contents.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "against/align.h"
#include "against/pairing.h"

namespace nn::against {
namespace {

// What does not depend on the order of the elements.
struct Sketch {
  std::vector<int64_t> dims;
  double least = 0, most = 0;
  double mean = 0, mean_magnitude = 0;
};

// nullopt for text and complex numbers, for numbers that are not finite, and for tensors whose
// elements are all equal, which say nothing about where they come from.
std::optional<Sketch> SketchOf(const Tensor& t) {
  if (!(IsFloat(t.dtype()) || IsInteger(t.dtype())) || t.elements() < 2) return std::nullopt;
  Sketch out;
  out.dims = t.dims();
  out.least = out.most = t.GetDouble(0);
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double v = t.GetDouble(i);
    if (!std::isfinite(v)) return std::nullopt;
    out.least = std::min(out.least, v);
    out.most = std::max(out.most, v);
    out.mean += v;
    out.mean_magnitude += std::fabs(v);
  }
  if (out.least == out.most) return std::nullopt;
  out.mean /= static_cast<double>(t.elements());
  out.mean_magnitude /= static_cast<double>(t.elements());
  return out;
}

// How far values are from each other at least; nullopt if their shapes differ, or if that is more
// than the tolerance for elements allows.
std::optional<double> Distance(const Sketch& want, const Sketch& got, const DriftOptions& options,
                               double step) {
  if (MapsBetween(want.dims, got.dims, 1).empty()) return std::nullopt;
  const double scale = std::max(std::fabs(want.least), std::fabs(want.most));
  const double most = options.atol + options.rtol * scale + step;
  double sum = 0;
  for (const double d : {want.least - got.least, want.most - got.most, want.mean - got.mean,
                         want.mean_magnitude - got.mean_magnitude}) {
    // Sums round.
    if (std::fabs(d) > most + 1e-12 * scale) return std::nullopt;
    sum += std::fabs(d);
  }
  return sum;
}

// By the positions of values in ComparedValues(), and by numbers of the reference.
struct Sketches {
  std::map<size_t, Sketch> here, there;
};

Result<Sketches> SketchBoth(Stepper& model, const std::vector<Tensor>& inputs, Reference& reference,
                            const std::vector<const Value*>& values, const std::set<size_t>& paired,
                            const std::set<size_t>& excluded) {
  Sketches out;
  NN_RETURN_IF_ERROR(model.Start(inputs));
  for (size_t i = 0; i < values.size(); ++i)
    if (!paired.contains(i)) model.Keep(values[i]);
  for (size_t i = 0; i < values.size(); ++i) {
    if (paired.contains(i)) continue;
    const Value* const v = values[i];
    NN_RETURN_IF_ERROR(model.Compute(v));
    NN_ASSIGN(const Tensor real, RealNumbers(model.At(v), v->type()));
    model.Release(v);
    if (auto sketch = SketchOf(real)) out.here.emplace(i, *std::move(sketch));
  }
  NN_RETURN_IF_ERROR(reference.Visit([&](size_t id, const Tensor& real) -> Status {
    if (excluded.contains(id)) return {};
    if (auto sketch = SketchOf(real)) out.there.emplace(id, *std::move(sketch));
    return {};
  }));
  return out;
}

// The nearest of the sketches; nullopt if none is near.
template <typename Fn>
std::optional<size_t> Nearest(const std::map<size_t, Sketch>& sketches, const Fn& distance) {
  std::optional<size_t> best;
  double least = 0;
  for (const auto& [i, sketch] : sketches) {
    const std::optional<double> d = distance(i, sketch);
    if (!d || (best && *d >= least)) continue;
    best = i;
    least = *d;
  }
  return best;
}

}  // namespace

Result<std::vector<CounterpartId>> PairByContents(Stepper& model, const std::vector<Tensor>& inputs,
                                                  Reference& reference,
                                                  std::span<const ComparedPair> compared,
                                                  const DriftOptions& options) {
  const std::vector<const Value*> values = ComparedValues(model.graph());
  std::unordered_map<const Value*, size_t> places;
  for (size_t i = 0; i < values.size(); ++i) places[values[i]] = i;
  std::set<size_t> paired, excluded;
  for (const ComparedPair& c : compared) {
    if (c.suspect) continue;
    paired.insert(places[c.pair.value]);
    if (c.agrees || IsCertain(c.pair.by)) excluded.insert(c.pair.id);
  }
  NN_ASSIGN(Sketches sketches, SketchBoth(model, inputs, reference, values, paired, excluded));
  std::map<size_t, size_t> found;  // numbers of the reference, by place
  const auto take = [&](size_t place, size_t id) {
    found[place] = id;
    sketches.here.erase(place);
    sketches.there.erase(id);
  };
  const auto step_at = [&](size_t place) { return LargestStep(values[place]->type()); };
  for (const ComparedPair& c : compared) {
    const size_t place = places[c.pair.value];
    const auto here = sketches.here.find(place);
    if (!c.suspect || here == sketches.here.end()) continue;
    const auto id = Nearest(sketches.there, [&](size_t other, const Sketch& there) {
      return other == c.pair.id ? std::nullopt
                                : Distance(there, here->second, options, step_at(place));
    });
    if (id) take(place, *id);
  }
  for (const ComparedPair& c : compared) {
    const auto there = sketches.there.find(c.pair.id);
    if (!c.suspect || there == sketches.there.end()) continue;
    const auto place = Nearest(sketches.here, [&](size_t other, const Sketch& here) {
      return values[other] == c.pair.value ? std::nullopt
                                           : Distance(there->second, here, options, step_at(other));
    });
    if (place) take(*place, c.pair.id);
  }
  std::vector<CounterpartId> out;
  out.reserve(found.size());
  for (const auto& [place, id] : found) out.push_back({values[place], id, PairedBy::kContents});
  return out;
}

}  // namespace nn::against
