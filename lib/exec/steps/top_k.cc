// An element and its index become one number whose order is that of the results. While the row is
// read, only those are kept that come before the worst of k; when twice as many have come together,
// half of them are dropped. In rows in random order, few elements are kept after the first ones.
#include "exec/steps/top_k.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <type_traits>
#include <utility>

#include "base/per_thread.h"

namespace nn {
namespace {

// Ascending if x is descending or, unless kLargest, ascending; NaN is 0.
template <bool kLargest, typename T>
auto OrderOf(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
    if (x != x) return U{0};
    const U bits = std::bit_cast<U>(x + T{0});  // zeros are equal
    const U ascending = (bits & kSign) != 0 ? static_cast<U>(~bits) : bits | kSign;
    return kLargest ? static_cast<U>(~ascending) : ascending;
  } else {
    using U = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;
    constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
    using S = std::make_signed_t<U>;
    const U ascending = static_cast<U>(static_cast<S>(x)) ^ kSign;
    return kLargest ? static_cast<U>(~ascending) : ascending;
  }
}

struct WideKey {
  uint64_t order;
  uint32_t index;
  auto operator<=>(const WideKey&) const = default;
};

template <bool kLargest, typename T>
auto KeyOf(T x, size_t index) {
  const auto order = OrderOf<kLargest>(x);
  if constexpr (sizeof(order) == 4)
    return uint64_t{order} << 32 | index;
  else
    return WideKey{order, static_cast<uint32_t>(index)};
}
uint32_t IndexOf(uint64_t key) {
  return static_cast<uint32_t>(key);
}
uint32_t IndexOf(const WideKey& key) {
  return key.index;
}

template <bool kLargest, typename T>
void Select(const TopKRow<T>& row, uint32_t* indices) {
  using Key = decltype(KeyOf<kLargest>(T{}, 0));
  static PerThread<std::vector<Key>> all_keys;
  std::vector<Key>& keys = all_keys.Get();
  keys.clear();
  if (row.k == 0) return;
  const auto last = static_cast<std::ptrdiff_t>(row.k) - 1;
  const auto drop = [&] {
    std::nth_element(keys.begin(), keys.begin() + last, keys.end());
    keys.resize(row.k);
  };
  constexpr size_t kLeast = 1024;
  const size_t most = std::max(2 * row.k, row.k + kLeast);
  size_t i = 0;
  for (; i < std::min(most, row.length); ++i)
    keys.push_back(KeyOf<kLargest>(row.x[i * row.step], i));
  while (i < row.length) {
    drop();
    // Later elements that are equal to the worst one come after it.
    const T worst = row.x[IndexOf(keys.back()) * row.step];
    const bool is_nan = worst != worst;
    for (; i < row.length && keys.size() < most; ++i) {
      const T x = row.x[i * row.step];
      const bool before = (kLargest ? x > worst : x < worst) || x != x;
      if (before && !is_nan) keys.push_back(KeyOf<kLargest>(x, i));
    }
  }
  if (keys.size() > row.k) drop();
  std::sort(keys.begin(), keys.end());
  for (const Key& key : keys) *indices++ = IndexOf(key);
}

}  // namespace

template <typename T>
void SelectTopK(const TopKRow<T>& row, uint32_t* indices) {
  row.largest ? Select<true>(row, indices) : Select<false>(row, indices);
}

template void SelectTopK(const TopKRow<float>&, uint32_t*);
template void SelectTopK(const TopKRow<double>&, uint32_t*);
template void SelectTopK(const TopKRow<int8_t>&, uint32_t*);
template void SelectTopK(const TopKRow<uint8_t>&, uint32_t*);
template void SelectTopK(const TopKRow<int32_t>&, uint32_t*);
template void SelectTopK(const TopKRow<int64_t>&, uint32_t*);

}  // namespace nn
