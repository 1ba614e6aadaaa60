#include "passes/idioms/linear_form.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/matmul.h"
#include "ops/support/types.h"

namespace nn {
namespace {

constexpr int kMaxVisits = 64;  // of one form

Dims LeadOf(const Value* v) {
  const Dims& dims = *v->type().dims;
  return {dims.begin(), dims.end() - 1};
}

bool HasColumns(const Value* v) {
  return v != nullptr && v->type().ranked() && v->type().rank() > 0;
}

int LastAxis(const Value* v) {
  return v->type().rank() - 1;
}

bool SameColumns(const Value* a, const Value* b) {
  return a->type().dims->back() == b->type().dims->back();
}

Dims WithoutUnits(Dims dims) {
  std::erase(dims, Dim(1));
  return dims;
}

// The axis of `to` for an axis of `from`, which is not of size 1; the lists may differ in axes of
// size 1. nullopt if they differ in others.
std::optional<int> MappedAxis(const Dims& from, int axis, const Dims& to) {
  if (WithoutUnits(from) != WithoutUnits(to)) return std::nullopt;
  const auto before =
      std::count_if(from.begin(), from.begin() + axis, [](const Dim& d) { return !(d == 1); });
  std::ptrdiff_t seen = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1) continue;
    if (seen++ == before) return static_cast<int>(i);
  }
  return std::nullopt;
}

// Elements of one axis of a node's first input, in regular steps.
struct Range {
  int axis;
  int64_t first, step, count;
};

std::optional<Range> RangeOfSlice(const Node& node) {
  const Value* const x = node.input(0);
  const auto& a = node.attrs<SliceAttrs>();
  if (node.inputs().size() != 1) return std::nullopt;
  std::optional<Range> out;
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const int64_t named = a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i];
    const auto axis = NormalizeAxis(named, x->type().rank());
    if (!axis) return std::nullopt;
    const Dim& size = x->type().dim(*axis);
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    // Whole axes may have any size.
    if (node.output()->type().dim(*axis) == size && step == 1) continue;
    if (!size.is_const() || out) return std::nullopt;
    const auto range = RangeOf(a.starts[i], a.ends[i], step, size.value());
    if (!range) return std::nullopt;
    out = Range{*axis, range->start, step, range->count};
  }
  return out;
}

std::optional<Range> RangeOfSplit(const Node& node, const Value* part) {
  const auto axis = NormalizeAxis(node.attrs<SplitAttrs>().axis, part->type().rank());
  if (!axis || !part->type().dim(*axis).is_const()) return std::nullopt;
  Range out{*axis, 0, 1, part->type().dim(*axis).value()};
  for (size_t i = 0; node.output(i) != part; ++i) {
    const Type& before = node.output(i)->type();
    if (!before.ranked() || !before.dim(*axis).is_const()) return std::nullopt;
    out.first += before.dim(*axis).value();
  }
  return out;
}

std::optional<Range> RangeOfGather(const Node& node) {
  const auto& a = node.attrs<GatherAttrs>();
  const Value *const x = node.input(0), *const indices = node.input(1);
  const auto axis = NormalizeAxis(a.axis, x->type().rank());
  if (!axis || a.batch_dims != 0 || !indices->is_constant() ||
      indices->constant().elements() != 1 || !x->type().dim(*axis).is_const())
    return std::nullopt;
  const auto index = CheckIndex(indices->constant().GetInt(0), x->type().dim(*axis).value());
  if (!index) return std::nullopt;
  return Range{*axis, *index, 1, 1};
}

// What a result of a node holds of its first input; nullopt if it is not a range.
std::optional<Range> RangeIn(const Node& node, const Value* result) {
  if (node.inputs().empty() || !HasColumns(node.input(0)) || !result->type().ranked())
    return std::nullopt;
  if (node.Is<SliceAttrs>()) return RangeOfSlice(node);
  if (node.Is<SplitAttrs>()) return RangeOfSplit(node, result);
  if (node.Is<GatherAttrs>()) return RangeOfGather(node);
  if (!node.Is<ReverseAttrs>()) return std::nullopt;
  const auto& axes = node.attrs<ReverseAttrs>().axes;
  if (axes.size() != 1) return std::nullopt;
  const auto axis = NormalizeAxis(axes[0], result->type().rank());
  if (!axis || !result->type().dim(*axis).is_const()) return std::nullopt;
  const int64_t size = result->type().dim(*axis).value();
  return Range{*axis, size - 1, -1, size};
}

// Whether the rows of a view are described by the axes of its value.
bool IsSynced(const RowView& view) {
  return view.axis == RowView::kAllRows || view.lead == LeadOf(view.value);
}

// The rows in the input of a node that keeps rows in order.
bool StepThroughReshape(RowView& view, Value* x) {
  if (!HasColumns(x) || !SameColumns(x, view.value)) return false;
  if (view.axis != RowView::kAllRows) {
    const Dims lead = LeadOf(x);
    const auto axis = MappedAxis(view.lead, view.axis, lead);
    if (!axis) return false;
    view.lead = lead;
    view.axis = *axis;
  }
  view.value = x;
  return true;
}

bool StepThroughRange(RowView& view, Value* x, const Range& range) {
  if (range.axis == LastAxis(x)) return false;
  if (view.axis == RowView::kAllRows) {
    if (range.count != 1) return false;
    view = {x, LeadOf(x), range.axis, range.first};
    if (x->type().dim(range.axis) == 1) view.axis = RowView::kAllRows;
    return true;
  }
  if (!IsSynced(view) || view.axis != range.axis) return false;
  view = {x, LeadOf(x), view.axis, range.first + view.index * range.step};
  return true;
}

// A transpose that keeps the order of the rows at the index.
bool StepThroughTranspose(RowView& view, const Node& node) {
  if (view.axis == RowView::kAllRows || !IsSynced(view)) return false;
  Value* const x = node.input(0);
  const auto& perm = node.attrs<TransposeAttrs>().perm;
  if (perm.empty() || perm.back() != LastAxis(x)) return false;
  int64_t last = -1;
  for (size_t i = 0; i + 1 < perm.size(); ++i) {
    if (static_cast<int>(i) == view.axis || view.lead[i] == 1) continue;
    if (perm[i] < last) return false;
    last = perm[i];
  }
  view = {x, LeadOf(x), static_cast<int>(perm[static_cast<size_t>(view.axis)]), view.index};
  return true;
}

bool StepUp(RowView& view, NodeSet& nodes) {
  const Node* const node = view.value->def();
  if (node == nullptr || !HasColumns(view.value)) return false;
  bool moved = false;
  if (node->op().movement == Movement::kInOrder)
    moved = StepThroughReshape(view, node->input(0));
  else if (node->Is<TransposeAttrs>())
    moved = StepThroughTranspose(view, *node);
  else if (const auto range = RangeIn(*node, view.value))
    moved = StepThroughRange(view, node->input(0), *range);
  if (moved) nodes.insert(node);
  return moved;
}

RowView Resolved(RowView view, NodeSet& nodes) {
  while (StepUp(view, nodes)) {
  }
  return view;
}

// Whether a constant has the same numbers in all rows.
bool HasEqualRows(const Tensor& t) {
  const int64_t columns = t.rank() == 0 ? 1 : t.dims().back();
  if (columns == 0) return false;
  for (int64_t i = columns; i < t.elements(); ++i)
    if (t.GetDouble(i) != t.GetDouble(i % columns)) return false;
  return true;
}

bool IsFloatConstant(const Value* v) {
  return v->is_constant() && v->dtype() == DType::kF32 && !v->type().quantized();
}

bool IsVector(const Value* v) {
  return IsFloatConstant(v) && v->constant().elements() > 0 && HasEqualRows(v->constant());
}

// Collects the terms of a form.
class Collector {
 public:
  Collector(LinearForm& form, NodeSet& nodes) : form_(form), nodes_(nodes) {}

  bool Add(ColumnView view, double factor) {
    if (--visits_ < 0) return false;
    view.rows = Resolved(view.rows, nodes_);
    Value* const v = view.rows.value;
    if (v->dtype() != DType::kF32 || v->type().quantized() || !HasColumns(v)) return false;
    if (v->is_constant()) return AddVector(v, view, factor);
    const Node* const node = v->def();
    if (node == nullptr) return AddOther(view, factor);
    for (const auto& [op, add] : Rows())
      if (node->Is(op)) return (this->*add)(view, *node, factor);
    if (const auto range = RangeIn(*node, v); range && range->axis == LastAxis(v)) {
      if (range->step != 1 || node->Is<GatherAttrs>()) return AddOther(view, factor);
      Into(*node);
      ColumnView whole = Through(view, node->input(0));
      whole.first += range->first;
      return Add(std::move(whole), factor);
    }
    // Rows that a reshape has joined are told apart again by the values before it.
    if (node->op().movement == Movement::kInOrder && HasColumns(node->input(0)) &&
        SameColumns(node->input(0), v))
      return Into(*node) && Add(Through(view, node->input(0)), factor);
    return AddOther(view, factor);
  }

 private:
  using AddNode = bool (Collector::*)(const ColumnView&, const Node&, double);
  struct Row {
    std::string_view op;
    AddNode add;
  };
  static std::span<const Row> Rows();

  bool Into(const Node& node) {
    nodes_.insert(&node);
    return true;
  }

  bool AddVector(Value* v, const ColumnView& view, double factor) {
    if (!IsVector(v)) return false;
    form_.bias.push_back({v, view.first, factor});
    return true;
  }

  bool AddOther(const ColumnView& view, double factor) {
    form_.others.push_back({view, factor});
    return IsSynced(view.rows);
  }

  bool AddOperand(const ColumnView& view, Value* operand, double factor) {
    if (operand->is_constant()) return AddVector(operand, view, factor);
    return SameElements(operand, view.rows.value) && Add(Through(view, operand), factor);
  }

  bool AddSum(const ColumnView& view, const Node& node, double factor) {
    return Into(node) && AddOperand(view, node.input(0), factor) &&
           AddOperand(view, node.input(1), factor);
  }

  bool AddDifference(const ColumnView& view, const Node& node, double factor) {
    return Into(node) && AddOperand(view, node.input(0), factor) &&
           AddOperand(view, node.input(1), -factor);
  }

  bool AddNegation(const ColumnView& view, const Node& node, double factor) {
    return Into(node) && Add(Through(view, node.input(0)), -factor);
  }

  // A product with a number or a vector, or a quotient by a number.
  template <bool is_quotient>
  bool AddScaled(const ColumnView& view, const Node& node, double factor) {
    for (const size_t i : {size_t{1}, size_t{0}}) {
      if (is_quotient && i == 0) break;
      Value *const x = node.input(1 - i), *const by = node.input(i);
      if (!SameElements(x, view.rows.value) || x->is_constant()) continue;
      if (const auto number = NumberIn(by)) {
        Into(node);
        return Add(Through(view, x), is_quotient ? factor / *number : factor * *number);
      }
      if (is_quotient || !IsVector(by)) continue;
      Into(node);
      const ColumnView operand = Through(view, x);
      const RowView rows = Resolved(operand.rows, nodes_);
      form_.scaled.push_back({rows, {by, view.first, factor}});
      return IsSynced(rows);
    }
    return AddOther(view, factor);
  }

  bool AddProduct(const ColumnView& view, const Node& node, double factor) {
    const auto& a = node.attrs<MatmulAttrs>();
    Value *const x = node.input(0), *const w = node.input(1);
    if (a.transpose_a || !IsFloatConstant(w) || w->type().rank() != 2 || !HasColumns(x))
      return AddOther(view, factor);
    Into(node);
    if (Value* const bias = node.input(2))
      if (!bias->is_constant() || !AddVector(bias, view, factor)) return false;
    LinearForm::Product product;
    product.matrix = w;
    product.transposed = a.transpose_b;
    product.first_column = view.first;
    product.factor = factor;
    RowView rows = view.rows;
    rows.value = x;
    return AddRows(rows, product);
  }

  // The product with a value, or with each part of a concatenation.
  bool AddRows(const RowView& x, LinearForm::Product& product) {
    const RowView rows = Resolved(x, nodes_);
    const Node* const node = rows.value->def();
    if (node != nullptr && node->Is<ConcatAttrs>() && IsLastAxis(*node) && IsSynced(rows)) {
      Into(*node);
      for (Value* const part : node->inputs()) {
        RowView of_part = rows;
        of_part.value = part;
        if (!AddRows(of_part, product)) return false;
      }
      return true;
    }
    if (!HasColumns(rows.value) || !rows.value->type().dims->back().is_const()) return false;
    const RowView operand = OperandView(x, nodes_);
    product.x = operand;
    product.rows = rows.value->type().dims->back().value();
    form_.products.push_back(product);
    product.first_row += product.rows;
    return IsSynced(operand);
  }

  static bool IsLastAxis(const Node& concat) {
    const int rank = concat.output()->type().rank();
    const auto axis = NormalizeAxis(concat.attrs<ConcatAttrs>().axis, rank);
    return axis && *axis == rank - 1;
  }

  // Columns of one part of a concatenation.
  bool AddOfConcat(const ColumnView& view, const Node& node, double factor) {
    if (!IsLastAxis(node)) return AddOther(view, factor);
    ColumnView part = view;
    for (Value* const x : node.inputs()) {
      if (!HasColumns(x) || !x->type().dims->back().is_const()) break;
      const int64_t size = x->type().dims->back().value();
      if (part.first + part.count <= size) {
        Into(node);
        part.rows.value = x;
        return Add(std::move(part), factor);
      }
      if (part.first < size) break;
      part.first -= size;
    }
    return AddOther(view, factor);
  }

  LinearForm& form_;
  NodeSet& nodes_;
  int visits_ = kMaxVisits;
};

std::span<const Collector::Row> Collector::Rows() {
  static constexpr Row kRows[] = {
      {"add", &Collector::AddSum},          {"sub", &Collector::AddDifference},
      {"neg", &Collector::AddNegation},     {"mul", &Collector::AddScaled<false>},
      {"div", &Collector::AddScaled<true>}, {"matmul", &Collector::AddProduct},
      {"concat", &Collector::AddOfConcat},
  };
  return kRows;
}

}  // namespace

RowView ViewOf(Value* v, NodeSet& nodes) {
  RowView view;
  view.value = v;
  return Resolved(std::move(view), nodes);
}

RowView OperandView(RowView view, NodeSet& nodes) {
  view = Resolved(std::move(view), nodes);
  const Node* const node = view.value->def();
  if (node == nullptr || view.axis != RowView::kAllRows || !HasColumns(view.value)) return view;
  const auto range = RangeIn(*node, view.value);
  Value* const x = node->inputs().empty() ? nullptr : node->input(0);
  // The gathered column of [T] is not a column of a matrix.
  if (!range || range->count != 1 || !HasColumns(x) || range->axis != LastAxis(x) ||
      node->Is<GatherAttrs>() || x->type().dims->back() == 1)
    return view;
  nodes.insert(node);
  return {x, LeadOf(x), range->axis, range->first};
}

ColumnView ColumnsOf(Value* v, NodeSet& nodes) {
  ColumnView out;
  out.rows.value = v;
  if (!HasColumns(v) || !v->type().dims->back().is_const()) return out;
  out.count = v->type().dims->back().value();
  while (true) {
    out.rows = Resolved(out.rows, nodes);
    const Node* const node = out.rows.value->def();
    if (node == nullptr || node->Is<GatherAttrs>()) return out;
    const auto range = RangeIn(*node, out.rows.value);
    if (!range || range->axis != LastAxis(out.rows.value) || range->step != 1) return out;
    nodes.insert(node);
    out.first += range->first;
    out.rows.value = node->input(0);
  }
}

ColumnView Through(const ColumnView& view, Value* operand) {
  ColumnView out = view;
  out.rows.value = operand;
  return out;
}

double VectorPart::at(int64_t column) const {
  const Tensor& t = values->constant();
  const int64_t size = t.rank() == 0 ? 1 : t.dims().back();
  return factor * t.GetDouble(size == 1 ? 0 : first + column);
}

bool LinearForm::Product::SameWeights(const Product& other) const {
  return matrix == other.matrix && transposed == other.transposed && first_row == other.first_row &&
         rows == other.rows && first_column == other.first_column && factor == other.factor;
}

double LinearForm::Product::at(int64_t row, int64_t column) const {
  const Tensor& t = matrix->constant();
  const int64_t i = first_row + row, j = first_column + column;
  return factor * t.GetDouble(transposed ? j * t.dim(1) + i : i * t.dim(1) + j);
}

void LinearForm::Scale(double factor) {
  for (Product& p : products) p.factor *= factor;
  for (Scaled& s : scaled) s.vector.factor *= factor;
  for (Other& o : others) o.factor *= factor;
  for (VectorPart& b : bias) b.factor *= factor;
}

std::optional<LinearForm> LinearFormOf(const ColumnView& view, NodeSet& nodes) {
  LinearForm form;
  form.columns = view.count;
  if (!Collector(form, nodes).Add(view, 1)) return std::nullopt;
  return form;
}

bool Reverses(const Node& node, int axis) {
  const auto range = RangeIn(node, node.output());
  return range && range->axis == axis && range->step == -1 &&
         node.output()->type() == node.input(0)->type() && range->first == range->count - 1;
}

std::optional<double> NumberIn(const Value* v) {
  if (v == nullptr || !v->is_constant() || v->dtype() != DType::kF32 || v->type().quantized() ||
      v->constant().elements() != 1)
    return std::nullopt;
  return v->constant().GetDouble(0);
}

bool SameElements(const Value* a, const Value* b) {
  return a->type().ranked() && b->type().ranked() &&
         Product(*a->type().dims) == Product(*b->type().dims);
}

}  // namespace nn
