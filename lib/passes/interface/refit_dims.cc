#include "passes/interface/refit_dims.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace nn {
namespace {

// The axes without those of size 1, which a reshape moves freely.
void DropUnits(const Dims& old_in, const Dims& in, Dims& old_kept, Dims& kept) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == 1) continue;
    old_kept.push_back(old_in[i]);
    kept.push_back(in[i]);
  }
}

// The sizes [begin, end) of `out`, whose product becomes `product`: one of them changes, of several
// that may the smallest, and of those the first or the last.
bool RefitGroup(Dims& out, size_t begin, size_t end, const Dim& product, bool last) {
  std::optional<size_t> changed;
  Dim size;
  for (size_t k = begin; k < end; ++k) {
    Dim rest(1);
    for (size_t i = begin; i < end; ++i)
      if (i != k) rest = rest * out[i];
    const auto quotient = Dim::ExactDiv(product, rest);
    if (!quotient) continue;
    const bool is_smaller = changed && out[k].is_const() && out[*changed].is_const() &&
                            out[k].value() < out[*changed].value() + (last ? 1 : 0);
    if (changed && !is_smaller) continue;
    changed = k;
    size = *quotient;
  }
  if (!changed) return false;
  out[*changed] = size;
  return true;
}

}  // namespace

std::optional<Dims> RefitDims(const Dims& old_in, const Dims& old_out, const Dims& in,
                              std::vector<Dim>& inner) {
  if (old_in == old_out) return in;
  Dims old_kept, kept, out = old_out;
  DropUnits(old_in, in, old_kept, kept);
  size_t i = 0, o = 0;
  while (i < kept.size() || o < out.size()) {
    const size_t first_in = i, first_out = o;
    Dim from(1), to(1);
    if (i < kept.size()) from = old_kept[i++];
    if (o < out.size()) to = old_out[o++];
    while (!(from == to)) {
      const bool extend_out =
          o < out.size() && (i >= kept.size() || Dim::ExactDiv(from, to).has_value());
      if (extend_out) {
        to = to * old_out[o++];
      } else if (i < kept.size() && Dim::ExactDiv(to, from)) {
        from = from * old_kept[i++];
      } else {
        return std::nullopt;
      }
    }
    Dim product(1), old_product(1);
    bool is_same = true;
    for (size_t k = first_in; k < i; ++k) {
      product = product * kept[k];
      old_product = old_product * old_kept[k];
      is_same = is_same && kept[k] == old_kept[k];
    }
    if (is_same) continue;
    // A new factor before axes that become one belongs to the axis before them: the axes after a
    // batch are those of a sample.
    if (first_in < i && first_out > 0 && o == first_out + 1 && !(old_out[first_out] == 1)) {
      const auto factor = Dim::ExactDiv(kept[first_in], old_kept[first_in]);
      if (factor && product == old_product * *factor) {
        out[first_out - 1] = out[first_out - 1] * *factor;
        inner.push_back(out[first_out - 1]);
        continue;
      }
    }
    const bool is_inner = std::ranges::find(inner, kept[i - 1]) != inner.end();
    const bool keeps_unit = i < kept.size() && old_kept[i] == 1;
    while (is_inner && !keeps_unit && o < out.size() && old_out[o] == 1) ++o;
    if (first_out == o) {  // axes of size 1 at the end
      if (out.empty()) return std::nullopt;
      out.back() = out.back() * product;
    } else if (!RefitGroup(out, first_out, o, product, is_inner)) {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<AxisMap> UnitMove(const Dims& old_in, const Dims& old_out, const Dims& in) {
  if (in.size() < 3 || in.size() != old_out.size()) return std::nullopt;
  std::optional<size_t> from;
  Dims rest_in, rest_out;
  size_t before = 0;  // axes of other sizes in front of it
  for (size_t i = 0; i < in.size(); ++i) {
    if (!(in[i] == old_in[i])) {
      if (from || !(old_in[i] == 1)) return std::nullopt;
      from = i;
      before = rest_in.size();
    }
    if (!(old_in[i] == 1)) rest_in.push_back(old_in[i]);
  }
  std::optional<size_t> to;
  for (size_t i = 0; i < old_out.size(); ++i) {
    if (!(old_out[i] == 1)) {
      rest_out.push_back(old_out[i]);
    } else if (rest_out.size() == before) {
      return std::nullopt;  // it need not move
    } else if (!to) {
      to = rest_out.size();
    }
  }
  if (!from || !to || !(rest_in == rest_out)) return std::nullopt;
  std::vector<int> order;
  size_t passed = 0;
  bool is_placed = false;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!is_placed && passed == *to) {
      order.push_back(static_cast<int>(*from));
      is_placed = true;
    }
    if (i == *from) continue;
    order.push_back(static_cast<int>(i));
    if (!(old_in[i] == 1)) ++passed;
  }
  if (!is_placed) order.push_back(static_cast<int>(*from));
  return AxisMap(static_cast<int>(in.size()), std::move(order));
}

}  // namespace nn
