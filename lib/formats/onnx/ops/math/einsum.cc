// Einsum: becomes diagonals, sums, products with broadcasting and matrix products, operand by
// operand from left to right.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "formats/onnx/family.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/math/matmul.h"
#include "ops/reduce/reduce.h"

namespace nn::onnx {

namespace {

// A letter, or kEllipsis + k for the k-th axis of the ellipsis from the end.
using Label = int;
constexpr Label kEllipsis = 256;
using Labels = std::vector<Label>;

bool Contains(const Labels& labels, Label label) {
  return std::ranges::find(labels, label) != labels.end();
}

// A value and the labels of its axes.
struct EquationTerm {
  Value* v = nullptr;
  Labels labels;
};

// The labels of a term; an ellipsis represents `covered` axes.
Result<Labels> ParseTerm(std::string_view text, size_t covered) {
  Labels labels;
  bool ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else if (text.substr(i, 3) == "..." && !ellipsis) {
      for (size_t k = covered; k-- > 0;) labels.push_back(kEllipsis + static_cast<Label>(k));
      ellipsis = true;
      i += 2;
    } else {
      return ModelError("the equation has an unexpected '{}'", c);
    }
  }
  return labels;
}

class Einsum {
 public:
  explicit Einsum(ImportContext& ctx) : ctx_(ctx) {}

  Result<Value*> Run() {
    NN_RETURN_IF_ERROR(Parse());
    for (EquationTerm& term : terms_) NN_RETURN_IF_ERROR(TakeDiagonals(term));
    NN_RETURN_IF_ERROR(FindSizes());
    for (EquationTerm& term : terms_) NN_RETURN_IF_ERROR(DropBroadcastAxes(term));
    EquationTerm result = terms_[0];
    for (size_t i = 1; i < terms_.size(); ++i) {
      std::set<Label> needed(out_.begin(), out_.end());
      for (size_t k = i + 1; k < terms_.size(); ++k)
        needed.insert(terms_[k].labels.begin(), terms_[k].labels.end());
      NN_ASSIGN(result, Multiply(result, terms_[i], needed));
    }
    NN_RETURN_IF_ERROR(SumOver(result, [&](Label label) { return !Contains(out_, label); }));
    NN_RETURN_IF_ERROR(Permute(result, out_));
    return result.v;
  }

 private:
  Status Parse() {
    std::string equation = ctx_.String("equation", "");
    std::erase(equation, ' ');
    const size_t arrow = equation.find("->");
    std::string_view left = std::string_view(equation).substr(0, std::min(arrow, equation.size()));
    std::vector<std::string_view> texts;
    for (size_t comma = left.find(','); comma != std::string_view::npos; comma = left.find(',')) {
      texts.push_back(left.substr(0, comma));
      left.remove_prefix(comma + 1);
    }
    texts.push_back(left);
    if (texts.size() != ctx_.input_count())
      return ModelError("the equation has {} terms for {} inputs", texts.size(),
                        ctx_.input_count());
    size_t most_covered = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      NN_ASSIGN(Value* const v, ctx_.Required(i));
      if (!v->type().ranked()) return UnsupportedError("Einsum needs operands of known rank");
      const auto rank = static_cast<size_t>(v->type().rank());
      NN_ASSIGN(const Labels own, ParseTerm(texts[i], 0));
      const bool ellipsis = texts[i].find("...") != std::string_view::npos;
      if (ellipsis ? own.size() > rank : own.size() != rank)
        return ModelError("input {} has rank {}, but its term has {} labels", i, rank, own.size());
      const size_t covered = rank - own.size();
      most_covered = std::max(most_covered, covered);
      NN_ASSIGN(Labels labels, ParseTerm(texts[i], covered));
      terms_.push_back({v, std::move(labels)});
    }
    if (arrow != std::string::npos) {
      NN_ASSIGN(out_, ParseTerm(std::string_view(equation).substr(arrow + 2), most_covered));
      return CheckOutput();
    }
    std::map<Label, int> counts;
    for (const EquationTerm& term : terms_)
      for (const Label label : term.labels) ++counts[label];
    for (size_t k = most_covered; k-- > 0;) out_.push_back(kEllipsis + static_cast<Label>(k));
    for (const auto& [label, count] : counts)
      if (label < kEllipsis && count == 1) out_.push_back(label);
    return {};
  }

  Status CheckOutput() const {
    for (size_t i = 0; i < out_.size(); ++i) {
      const Label label = out_[i];
      if (Contains({out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(i)}, label))
        return ModelError("the result has a label twice");
      if (std::ranges::none_of(terms_,
                               [&](const EquationTerm& t) { return Contains(t.labels, label); }))
        return ModelError("label {} of the result is in no input",
                          std::string(1, static_cast<char>(label)));
    }
    return {};
  }

  // Axes with one label become one.
  Status TakeDiagonals(EquationTerm& term) {
    for (size_t i = 0; i < term.labels.size(); ++i) {
      const Label label = term.labels[i];
      const auto behind = term.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      const auto again = std::find(behind, term.labels.end(), label);
      if (again == term.labels.end()) continue;
      const auto j = static_cast<size_t>(again - term.labels.begin());
      const Dim& rows = term.v->type().dim(static_cast<int>(i));
      const Dim& columns = term.v->type().dim(static_cast<int>(j));
      if (!rows.is_const() || !columns.is_const())
        return UnsupportedError("Einsum needs constant sizes for label {}, which a term has twice",
                                std::string(1, static_cast<char>(label)));
      if (rows != columns)
        return ModelError("label {} has sizes {} and {}", std::string(1, static_cast<char>(label)),
                          rows.ToString(), columns.ToString());
      // Both axes go to the end, where they are one axis of n * n elements.
      std::vector<int64_t> perm;
      Labels labels;
      for (size_t k = 0; k < term.labels.size(); ++k) {
        if (k == i || k == j) continue;
        perm.push_back(static_cast<int64_t>(k));
        labels.push_back(term.labels[k]);
      }
      perm.insert(perm.end(), {static_cast<int64_t>(i), static_cast<int64_t>(j)});
      const int64_t n = rows.value();
      NN_ASSIGN(term.v, ctx_.Add("transpose", {term.v}, TransposeAttrs{perm}));
      Dims dims(term.v->type().dims->begin(), term.v->type().dims->end() - 2);
      const auto axis = static_cast<int64_t>(dims.size());
      dims.push_back(rows * columns);
      NN_ASSIGN(term.v, ctx_.Add("reshape", {term.v}, ReshapeAttrs{dims, false}));
      std::vector<int64_t> diagonal;
      for (int64_t k = 0; k < n; ++k) diagonal.push_back(k * (n + 1));
      Value* const indices = ctx_.Constant(Tensor::Ints(diagonal));
      NN_ASSIGN(term.v, ctx_.Add("gather", {term.v, indices}, GatherAttrs{axis, 0}));
      labels.push_back(label);
      term.labels = std::move(labels);
      i = static_cast<size_t>(-1);  // from the first label again
    }
    return {};
  }

  // The size of each label: a number if one is known, not 1 if there is another one.
  Status FindSizes() {
    for (const EquationTerm& term : terms_)
      for (size_t i = 0; i < term.labels.size(); ++i) {
        const Dim& size = term.v->type().dim(static_cast<int>(i));
        const auto [it, is_new] = sizes_.emplace(term.labels[i], size);
        if (is_new || it->second == size || size == 1) continue;
        if (it->second.is_const() && it->second != 1 && size.is_const())
          return ModelError("an axis has sizes {} and {}", it->second.ToString(), size.ToString());
        if (it->second == 1 || size.is_const()) it->second = size;
      }
    return {};
  }

  // An axis of size 1 whose label has another size elsewhere broadcasts.
  Status DropBroadcastAxes(EquationTerm& term) {
    std::vector<int64_t> axes;
    Labels kept;
    for (size_t i = 0; i < term.labels.size(); ++i) {
      const Label label = term.labels[i];
      if (term.v->type().dim(static_cast<int>(i)) == 1 && sizes_.at(label) != 1)
        axes.push_back(static_cast<int64_t>(i));
      else
        kept.push_back(label);
    }
    if (axes.empty()) return {};
    NN_ASSIGN(term.v, ctx_.Add("squeeze", {term.v}, AxesAttrs{axes}));
    term.labels = std::move(kept);
    return {};
  }

  template <typename Predicate>
  Status SumOver(EquationTerm& term, Predicate is_summed) {
    ReduceAttrs a;
    a.keep_dims = false;
    Labels kept;
    for (size_t i = 0; i < term.labels.size(); ++i) {
      if (is_summed(term.labels[i]))
        a.axes.push_back(static_cast<int64_t>(i));
      else
        kept.push_back(term.labels[i]);
    }
    if (a.axes.empty()) return {};
    NN_ASSIGN(term.v, ctx_.Add("reduce_sum", {term.v}, std::move(a)));
    term.labels = std::move(kept);
    return {};
  }

  // The axes in the order of `labels`, all of which the term has.
  Status Permute(EquationTerm& term, const Labels& labels) {
    if (term.labels == labels) return {};
    std::vector<int64_t> perm;
    for (const Label label : labels)
      perm.push_back(std::ranges::find(term.labels, label) - term.labels.begin());
    NN_ASSIGN(term.v, ctx_.Add("transpose", {term.v}, TransposeAttrs{perm}));
    term.labels = labels;
    return {};
  }

  Dims SizesOf(const Labels& labels) const {
    Dims dims;
    for (const Label label : labels) dims.push_back(sizes_.at(label));
    return dims;
  }

  Status Reshape(EquationTerm& term, const Dims& dims) {
    if (*term.v->type().dims == dims) return {};
    NN_ASSIGN(term.v, ctx_.Add("reshape", {term.v}, ReshapeAttrs{dims, false}));
    return {};
  }

  // The product, summed over the labels that are not needed.
  Result<EquationTerm> Multiply(EquationTerm a, EquationTerm b, const std::set<Label>& needed) {
    const auto alone = [&](const EquationTerm& other) {
      return [&needed, &other](Label label) {
        return !needed.contains(label) && !Contains(other.labels, label);
      };
    };
    NN_RETURN_IF_ERROR(SumOver(a, alone(b)));
    NN_RETURN_IF_ERROR(SumOver(b, alone(a)));
    Labels both, summed, rows, columns;
    for (const Label label : a.labels) {
      if (!Contains(b.labels, label))
        rows.push_back(label);
      else
        (needed.contains(label) ? both : summed).push_back(label);
    }
    for (const Label label : b.labels)
      if (!Contains(a.labels, label)) columns.push_back(label);
    const auto joined = [](std::initializer_list<const Labels*> parts) {
      Labels out;
      for (const Labels* part : parts) out.insert(out.end(), part->begin(), part->end());
      return out;
    };
    NN_RETURN_IF_ERROR(Permute(a, joined({&both, &rows, &summed})));
    NN_RETURN_IF_ERROR(Permute(b, joined({&both, &summed, &columns})));
    EquationTerm y;
    y.labels = joined({&both, &rows, &columns});
    Dims left = SizesOf(both), right = left;
    if (summed.empty()) {
      const Dims own = SizesOf(rows);
      left.insert(left.end(), own.begin(), own.end());
      left.insert(left.end(), columns.size(), Dim(1));
      right.insert(right.end(), rows.size(), Dim(1));
      const Dims others = SizesOf(columns);
      right.insert(right.end(), others.begin(), others.end());
      if (!rows.empty() || !columns.empty()) {
        NN_RETURN_IF_ERROR(Reshape(a, left));
        NN_RETURN_IF_ERROR(Reshape(b, right));
      }
      NN_ASSIGN(y.v, ctx_.Add("mul", {a.v, b.v}));
      return y;
    }
    const Dim depth = Product(SizesOf(summed));
    left.insert(left.end(), {Product(SizesOf(rows)), depth});
    right.insert(right.end(), {depth, Product(SizesOf(columns))});
    NN_RETURN_IF_ERROR(Reshape(a, left));
    NN_RETURN_IF_ERROR(Reshape(b, right));
    NN_ASSIGN(y.v, ctx_.Add("matmul", {a.v, b.v}, MatmulAttrs{}));
    NN_RETURN_IF_ERROR(Reshape(y, SizesOf(y.labels)));
    return y;
  }

  ImportContext& ctx_;
  std::vector<EquationTerm> terms_;
  Labels out_;
  std::map<Label, Dim> sizes_;
};

Status ImportEinsum(ImportContext& ctx) {
  NN_ASSIGN(Value* const y, Einsum(ctx).Run());
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace

namespace {

constexpr ImportRow kEinsumImports[] = {
    {.op = "Einsum", .since = 12, .import = ImportEinsum},
};

}  // namespace

Family EinsumFamily() {
  return {.imports = kEinsumImports};
}

}  // namespace nn::onnx
