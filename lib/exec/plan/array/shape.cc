// Transposition, on the matrix transposition kernel.
#include <algorithm>
#include <cstring>
#include <optional>

#include "exec/kernels/move/transpose.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ops/array/shape.h"

namespace nn {
namespace {

// Elements per work item.
constexpr size_t kTransposeItem = 32768;

struct Axis {
  size_t size, in_stride, out_stride;
};

// The axes of the result, outermost first, without axes of size 1 and with axes joined that are
// also adjacent in the input.
std::vector<Axis> JoinAxes(const std::vector<int64_t>& in_shape, const std::vector<int64_t>& perm) {
  const auto in_strides = Strides(in_shape);
  std::vector<int64_t> out_shape;
  out_shape.reserve(perm.size());
  for (const int64_t p : perm) out_shape.push_back(in_shape[static_cast<size_t>(p)]);
  const auto out_strides = Strides(out_shape);
  std::vector<Axis> axes;
  for (size_t k = 0; k < perm.size(); ++k) {
    if (out_shape[k] == 1) continue;
    const Axis a{static_cast<size_t>(out_shape[k]),
                 static_cast<size_t>(in_strides[static_cast<size_t>(perm[k])]),
                 static_cast<size_t>(out_strides[k])};
    if (!axes.empty() && axes.back().in_stride == a.size * a.in_stride)
      axes.back() = {axes.back().size * a.size, a.in_stride, a.out_stride};
    else
      axes.push_back(a);
  }
  return axes;
}

// A batch of matrices, each transposed or (if the innermost axis stays) copied row by row.
class TransposeStep : public Step {
 public:
  MemoryView in, out;
  size_t element = 4;
  std::vector<Axis> outer;  // all but the two of the matrix
  Axis row{1, 0, 0};        // innermost in the result
  Axis column{1, 1, 1};     // innermost in the input
  size_t matrices = 1;
  // The part of a matrix per work item, and the number of work items.
  size_t row_cut = 1, row_cuts = 1, column_cut = 1, column_cuts = 1;

  size_t grid() const override { return matrices * row_cuts * column_cuts; }

  void SetItems() {
    constexpr size_t kManyRows = 256;
    const size_t rows = std::max<size_t>(1, row.size);
    const size_t columns = std::max<size_t>(1, column.size);
    row_cut = std::min(rows, std::max(kManyRows, kTransposeItem / columns));
    row_cuts = (rows + row_cut - 1) / row_cut;
    column_cut = std::min(columns, std::max<size_t>(1, kTransposeItem / row_cut));
    column_cuts = (columns + column_cut - 1) / column_cut;
  }

  void Run(const Memory& memory, size_t item) const override {
    size_t from = 0;
    size_t to = 0;
    size_t rest = item / (row_cuts * column_cuts);
    for (size_t i = outer.size(); i-- > 0;) {
      from += rest % outer[i].size * outer[i].in_stride;
      to += rest % outer[i].size * outer[i].out_stride;
      rest /= outer[i].size;
    }
    const size_t first = item / column_cuts % row_cuts * row_cut;
    const size_t rows = std::min(row_cut, row.size - first);
    const size_t begin = item % column_cuts * column_cut;
    const size_t columns = std::min(column_cut, column.size - begin);
    from += first * row.in_stride + begin;
    to += first * row.out_stride + begin * column.out_stride;
    const std::byte* x = in.As<const std::byte>(memory) + from * element;
    std::byte* y = out.As<std::byte>(memory) + to * element;
    if (column.out_stride != 1) {
      TransposeMatrix(x, row.in_stride, y, column.out_stride, rows, columns, element);
      return;
    }
    for (size_t r = 0; r < rows; ++r)
      std::memcpy(y + r * row.out_stride * element, x + r * row.in_stride * element,
                  columns * element);
  }
};

Result<bool> PlanTranspose(PlanContext& ctx) {
  const Node& node = ctx.node();
  const int bits = DTypeBits(node.output()->dtype());
  const auto shape = ShapeOf(node.input(0));
  // Strides refer to dense rows.
  const MemoryView in_place = ctx.ViewOf(node.input(0));
  if (bits < 8 || (!shape.empty() && in_place.row_stride != static_cast<size_t>(shape.back())))
    return false;
  std::vector<Axis> axes = JoinAxes(shape, node.attrs<TransposeAttrs>().perm);
  auto step = std::make_unique<TransposeStep>();
  step->in = in_place;
  step->out = ctx.ViewOf(node.output());
  step->element = static_cast<size_t>(bits / 8);
  const auto take = [&](auto is_wanted) -> std::optional<Axis> {
    const auto it = std::find_if(axes.begin(), axes.end(), is_wanted);
    if (it == axes.end()) return std::nullopt;
    const Axis found = *it;
    axes.erase(it);
    return found;
  };
  step->column = take([](const Axis& a) { return a.in_stride == 1; }).value_or(step->column);
  // Rows: the result's innermost axis, or the next one if that is the column axis itself.
  if (const auto innermost = take([](const Axis& a) { return a.out_stride == 1; })) {
    step->row = *innermost;
  } else if (!axes.empty()) {
    step->row = axes.back();
    axes.pop_back();
  }
  step->outer = std::move(axes);
  for (const Axis& a : step->outer) step->matrices *= a.size;
  step->SetItems();
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) step->matrices = 0;
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

}  // namespace

void AddShapeKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "transpose", .plan = PlanTranspose});
}

}  // namespace nn
