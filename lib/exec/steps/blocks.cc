#include "exec/steps/blocks.h"

namespace nn {

ProductBlocks::ProductBlocks(size_t count, size_t m, size_t n, size_t k, size_t most_rows)
    : count_(count), m_(m), n_(n), rows_(m, most_rows) {
  if (count == 0 || m == 0 || n == 0) return;
  // Few rows are read in place, as fast as the panels arrive. More rows are staged for all columns
  // of a work item, and panels are read once for all its rows: it should have many of both.
  constexpr size_t kMinRows = 56;
  constexpr size_t kItemProducts = 16384;  // below this, the cost of starting a work item matters
  const bool few = m <= kMatrixF32FewRows;
  const size_t enough = few ? 16 : 8;
  const size_t panels = CeilDiv(n, kPanelWidth);
  const size_t row_products = std::max<size_t>(1, k * kPanelWidth * std::min(m, rows_.block));
  const auto cuts_of = [&](size_t wanted, size_t least_panels) {
    const size_t least = std::max(least_panels, CeilDiv(kItemProducts, row_products));
    return std::clamp<size_t>(wanted, 1, std::max<size_t>(1, panels / least));
  };
  const size_t cuts =
      cuts_of(enough / (count * rows_.items), few ? 4 : kMatrixF32ManyColumns / kPanelWidth);
  columns_ = ColumnBlocks(n, cuts);
  if (items() == 1) columns_ = ColumnBlocks(n, cuts_of(enough / 2, 2));
  if (items() < enough && m > 2 * kMinRows)
    rows_ =
        RowBlocks(m, std::min(most_rows, std::max(kMinRows, m * count * columns_.items / enough)));
}

}  // namespace nn
