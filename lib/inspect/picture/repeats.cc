#include "inspect/picture/repeats.h"

#include <algorithm>

namespace nn::inspect {
namespace {

constexpr size_t kMaxPeriod = 1000;
constexpr size_t kMaxComparisons = 20'000'000;
// Fewer operators than this are not worth folding.
constexpr size_t kMinSaved = 3;
constexpr size_t kMinPeriod = 2;
// Limit on failed cuts of one run.
constexpr int kMaxRefused = 8;

class Finder {
 public:
  Finder(const std::vector<Repeatable>& operators, const std::vector<bool>& results)
      : ops_(operators), last_use_(operators.size(), 0) {
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (results[i]) last_use_[i] = ops_.size();
      for (const int64_t from : ops_[i].inputs)
        if (from >= 0)
          last_use_[static_cast<size_t>(from)] = std::max(last_use_[static_cast<size_t>(from)], i);
    }
    // Values alive between operators i - 1 and i.
    alive_.assign(ops_.size() + 1, 0);
    std::vector<int64_t> change(ops_.size() + 2, 0);
    for (size_t i = 0; i < ops_.size(); ++i)
      if (last_use_[i] > i) {
        ++change[i + 1];
        --change[last_use_[i] + 1];
      }
    int64_t alive = 0;
    for (size_t i = 0; i <= ops_.size(); ++i) alive_[i] = alive += change[i];
  }

  std::vector<Repeat> Find() {
    const size_t n = ops_.size();
    size_t limit = std::min(kMaxPeriod, n / 2);
    if (n > 0) limit = std::min(limit, kMaxComparisons / n);
    for (size_t period = kMinPeriod; period <= limit; ++period) FindRuns(period);
    std::stable_sort(found_.begin(), found_.end(), [](const Repeat& a, const Repeat& b) {
      return a.period * (a.times - 1) > b.period * (b.times - 1);
    });
    std::vector<bool> taken(n, false);
    std::vector<Repeat> out;
    for (const Repeat& r : found_) {
      const size_t end = r.start + r.period * r.times;
      if (std::find(taken.begin() + static_cast<std::ptrdiff_t>(r.start),
                    taken.begin() + static_cast<std::ptrdiff_t>(end),
                    true) != taken.begin() + static_cast<std::ptrdiff_t>(end))
        continue;
      std::fill(taken.begin() + static_cast<std::ptrdiff_t>(r.start),
                taken.begin() + static_cast<std::ptrdiff_t>(end), true);
      out.push_back(r);
    }
    std::sort(out.begin(), out.end(),
              [](const Repeat& a, const Repeat& b) { return a.start < b.start; });
    return out;
  }

 private:
  // Whether operator i + period relates to its predecessors as i does to its own.
  bool Matches(size_t i, size_t period) const {
    const Repeatable& a = ops_[i];
    const Repeatable& b = ops_[i + period];
    if (a.token != b.token || a.inputs.size() != b.inputs.size() || a.outside != b.outside)
      return false;
    for (size_t k = 0; k < a.inputs.size(); ++k) {
      const int64_t from = a.inputs[k], to = b.inputs[k];
      if (from != to && (from < 0 || from + static_cast<int64_t>(period) != to)) return false;
    }
    return true;
  }

  void FindRuns(size_t period) {
    size_t run = 0;
    for (size_t i = 0; i + period <= ops_.size(); ++i) {
      if (i + period < ops_.size() && Matches(i, period)) {
        ++run;
        continue;
      }
      if (run >= period) AddRun(i - run, run + period, period);
      run = 0;
    }
  }

  // The best cut of operators [start, start + length), which repeat with the period: as many
  // repetitions as possible, starting where the outermost scopes and the fewest values are alive.
  void AddRun(size_t start, size_t length, size_t period) {
    Repeat best{start, period, 0};
    int64_t fewest = 0;
    size_t outermost = 0;  // scopes that a cut divides
    int refused = 0;
    for (size_t phase = 0; phase < period && phase + 2 * period <= length; ++phase) {
      const Repeat r{start + phase, period, (length - phase) / period};
      // A cut between outer scopes is worth one repetition, and so is a clean cut.
      size_t divided = 0;
      for (size_t k = 1; k < r.times; ++k)
        divided = std::max(divided, ops_[r.start + k * period].shared);
      const bool clean = alive_[r.start] <= 1;
      const bool was_clean = best.times > 0 && fewest <= 1;
      const bool better =
          best.times == 0 || divided < outermost ||
          (divided == outermost &&
           ((clean && !was_clean) ||
            (clean == was_clean &&
             (r.times > best.times || (r.times == best.times && alive_[r.start] < fewest)))));
      if (!better) continue;
      if (!Closed(r)) {
        if (++refused == kMaxRefused) break;
        continue;
      }
      best = r;
      fewest = alive_[r.start];
      outermost = divided;
    }
    if (best.times >= 2 && best.period * (best.times - 1) >= kMinSaved) found_.push_back(best);
  }

  // Whether results of all repetitions but the last stay within the repetitions.
  bool Closed(const Repeat& r) const {
    const size_t end = r.start + r.period * r.times;
    for (size_t i = r.start; i + r.period < end; ++i)
      if (last_use_[i] >= end) return false;
    // Each repetition reads from itself, the previous one, or from before all of them.
    for (size_t i = r.start; i < end; ++i)
      for (const int64_t from : ops_[i].inputs)
        if (from >= static_cast<int64_t>(r.start) &&
            from + static_cast<int64_t>(2 * r.period) <= static_cast<int64_t>(i))
          return false;
    return true;
  }

  const std::vector<Repeatable>& ops_;
  std::vector<size_t> last_use_;
  std::vector<int64_t> alive_;
  std::vector<Repeat> found_;
};

}  // namespace

std::vector<Repeat> FindRepeats(const std::vector<Repeatable>& operators,
                                const std::vector<bool>& results) {
  return Finder(operators, results).Find();
}

}  // namespace nn::inspect
