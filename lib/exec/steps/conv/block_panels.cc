#include "exec/steps/conv/block_panels.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/checked_math.h"

namespace nn {
namespace {

// The weights with longer rows; nullopt if their elements would have no scales by row and column.
std::optional<BlockWeights> WithColumns(const BlockWeights& w, size_t columns) {
  const auto old = static_cast<size_t>(w.columns);
  const size_t joined = columns / old;
  if (joined == 0 || columns % old != 0 || w.row_block.size() % joined != 0 ||
      w.row_step != w.columns || w.column_step != 1)
    return std::nullopt;
  for (size_t r = 0; r < w.row_block.size(); ++r)
    if (w.row_block[r] - w.row_block[r / joined * joined] !=
        w.row_block[r % joined] - w.row_block[0])
      return std::nullopt;
  BlockWeights out = w;
  out.columns = out.row_step = static_cast<int64_t>(columns);
  out.rows = w.rows / static_cast<int64_t>(joined);
  out.row_block.clear();
  for (size_t r = 0; r < w.row_block.size(); r += joined) out.row_block.push_back(w.row_block[r]);
  out.column_block.clear();
  for (size_t c = 0; c < columns; ++c)
    out.column_block.push_back(w.row_block[c / old] - w.row_block[0] + w.column_block[c % old]);
  return out;
}

}  // namespace

std::optional<BlockPanels> PackBlocks(const BlockMatrix& m) {
  if (const size_t columns = std::max(m.k_stride, m.n_stride);
      columns > static_cast<size_t>(m.weights->columns)) {
    const auto reshaped = WithColumns(*m.weights, columns);
    if (!reshaped) return std::nullopt;
    BlockMatrix same = m;
    same.weights = &*reshaped;
    return PackBlocks(same);
  }
  const BlockWeights& w = *m.weights;
  // One stride goes along the rows of the weights, the other along their columns.
  const auto columns = static_cast<size_t>(w.columns);
  const bool k_in_rows = m.k_stride == columns && m.n_stride == 1;
  const bool n_in_rows = m.n_stride == columns && m.k_stride == 1;
  if ((!k_in_rows && !n_in_rows) || m.offset % columns != 0 || m.k == 0 || m.n == 0 ||
      (k_in_rows ? m.n : m.k) > columns)
    return std::nullopt;
  const auto first_row = static_cast<int64_t>(m.offset / columns);
  const auto block_at = [&](bool in_rows, size_t i) -> uint32_t {
    return in_rows ? w.row_block[static_cast<size_t>(first_row) + i] : w.column_block[i];
  };
  BlockPanels p;
  p.bits = w.bits;
  p.k = m.k;
  // The blocks of a column, numbered in the order in which k meets them.
  std::vector<uint32_t> block_of;
  std::unordered_map<uint32_t, uint32_t> numbers;
  for (size_t k = 0; k < m.k; ++k) {
    const uint32_t of_k = block_at(k_in_rows, k);
    const auto [it, is_new] = numbers.emplace(of_k, static_cast<uint32_t>(block_of.size()));
    if (is_new) block_of.push_back(of_k);
    if (p.segments.empty() || p.segments.back().block != it->second)
      p.segments.push_back({static_cast<uint32_t>(k), it->second});
  }
  p.blocks = block_of.size();
  const size_t panels = CeilDiv(m.n, kPanelWidth);
  const bool one_zero = w.zeros.size() == 1;
  const size_t bytes =
      panels * kPanelWidth * (p.panel_lines() + p.blocks * sizeof(float) * (one_zero ? 1 : 2));
  if (bytes > PackedSize(m.k, m.n) * sizeof(float) / 2) return std::nullopt;
  p.lines.resize(panels * p.panel_lines() * kPanelWidth);
  p.scales.resize(panels * p.blocks * kPanelWidth);
  p.zeros = w.zeros;
  if (!one_zero) p.zeros.assign(p.scales.size(), 0.0f);
  for (size_t n = 0; n < m.n; ++n) {
    const size_t panel = n / kPanelWidth, column = n % kPanelWidth;
    uint8_t* line = p.lines.data() + panel * p.panel_lines() * kPanelWidth + column;
    for (size_t k = 0; k < m.k; ++k) {
      const int level =
          k_in_rows ? w.Integer(first_row + static_cast<int64_t>(k), static_cast<int64_t>(n))
                    : w.Integer(first_row + static_cast<int64_t>(n), static_cast<int64_t>(k));
      line[k / p.steps() * kPanelWidth] |=
          static_cast<uint8_t>(level << (k % p.steps() * static_cast<size_t>(p.bits)));
    }
    for (size_t b = 0; b < p.blocks; ++b) {
      const size_t block = block_of[b] + block_at(!k_in_rows, n);
      const size_t to = (panel * p.blocks + b) * kPanelWidth + column;
      p.scales[to] = w.scales[block];
      if (!one_zero) p.zeros[to] = w.zeros[block];
    }
  }
  return p;
}

}  // namespace nn
