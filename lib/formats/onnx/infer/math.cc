// Type inference of Einsum and others.
#include <algorithm>
#include <set>

#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

// ---- Einsum -------------------------------------------------------------------------------------

struct EquationTerm {
  std::string before;  // labels before "..."
  std::string after;
  bool ellipsis = false;
};

bool IsLabel(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

EquationTerm ParseTerm(std::string_view text) {
  EquationTerm term;
  const size_t dots = text.find("...");
  term.ellipsis = dots != std::string_view::npos;
  std::ranges::copy_if(text.substr(0, std::min(dots, text.size())), std::back_inserter(term.before),
                       IsLabel);
  if (term.ellipsis)
    std::ranges::copy_if(text.substr(dots + 3), std::back_inserter(term.after), IsLabel);
  return term;
}

struct Labels {
  std::map<char, Dim> dims;
  std::set<char> repeated;
  std::optional<Dims> ellipsis;

  Status Add(const Dims& shape, const EquationTerm& term, size_t operand) {
    const size_t labels = term.before.size() + term.after.size();
    if (term.ellipsis ? shape.size() < labels : shape.size() != labels)
      return ModelError("input {} has rank {}, but its term has {} labels", operand, shape.size(),
                        labels);
    const size_t middle = shape.size() - labels;
    for (size_t i = 0; i < labels; ++i) {
      const bool first = i < term.before.size();
      const char label = first ? term.before[i] : term.after[i - term.before.size()];
      if (!dims.emplace(label, shape[first ? i : i + middle]).second) repeated.insert(label);
    }
    if (!term.ellipsis) return {};
    const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(term.before.size());
    const Dims own(begin, begin + static_cast<std::ptrdiff_t>(middle));
    if (!ellipsis) {
      ellipsis = own;
      return {};
    }
    if (ellipsis->size() != own.size())
      return ModelError("the ellipsis covers {} axes, but in input {} it covers {}",
                        ellipsis->size(), operand, own.size());
    for (size_t i = 0; i < own.size(); ++i)
      if ((*ellipsis)[i] == 1) (*ellipsis)[i] = own[i];
    return {};
  }
};

Status InferEinsum(TypeContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  std::string equation = ctx.node().String("equation", "");
  std::erase(equation, ' ');
  if (equation.empty()) return {};
  const size_t arrow = equation.find("->");
  std::string_view left = std::string_view(equation).substr(0, std::min(arrow, equation.size()));
  Labels labels;
  size_t operand = 0;
  for (bool more = true; more; ++operand) {
    const size_t comma = left.find(',');
    more = comma != std::string_view::npos;
    if (operand < ctx.input_count()) {
      const Dims* shape = ctx.dims(operand);
      if (shape == nullptr) return {};
      const EquationTerm term = ParseTerm(left.substr(0, std::min(comma, left.size())));
      NN_RETURN_IF_ERROR(labels.Add(*shape, term, operand));
    }
    if (more) left.remove_prefix(comma + 1);
  }
  if (operand != ctx.input_count())
    return ModelError("the equation has {} terms for {} inputs", operand, ctx.input_count());
  Dims out;
  const Dims ellipsis = labels.ellipsis.value_or(Dims{});
  if (arrow == std::string::npos) {
    out = ellipsis;
    for (const auto& [label, dim] : labels.dims)
      if (!labels.repeated.contains(label)) out.push_back(dim);
  } else {
    const EquationTerm term = ParseTerm(std::string_view(equation).substr(arrow + 2));
    for (const std::string* part : {&term.before, &term.after}) {
      for (const char label : *part) {
        const auto it = labels.dims.find(label);
        if (it == labels.dims.end())
          return ModelError("label {} of the result is in no input", std::string(1, label));
        out.push_back(it->second);
      }
      if (part == &term.before && term.ellipsis)
        out.insert(out.end(), ellipsis.begin(), ellipsis.end());
    }
  }
  ctx.Set(0, ctx.dtype(0), std::move(out));
  return {};
}

// ---- Others -------------------------------------------------------------------------------------

Status InferBitCast(TypeContext& ctx) {
  const DType to = ctx.TypeAttr("to", DType::kUnknown);
  const DType from = ctx.dtype(0);
  const int bits[] = {to == DType::kUnknown ? 0 : DTypeBits(to),
                      from == DType::kUnknown ? 0 : DTypeBits(from)};
  if (bits[0] != 0 && bits[1] != 0 && bits[0] != bits[1])
    return ModelError("{} has {} bits, but {} has {}", DTypeName(from), bits[1], DTypeName(to),
                      bits[0]);
  ctx.Set(0, to, ctx.in(0).tensor.dims);
  return {};
}

Status InferTensorScatter(TypeContext& ctx) {
  const Dims* cache = ctx.dims(0);
  const Dims* update = ctx.dims(1);
  if (cache != nullptr && update != nullptr) {
    if (cache->size() != update->size())
      return ModelError("update {} does not match cache {}", ctx.in(1).ToString(),
                        ctx.in(0).ToString());
    const auto rank = static_cast<int64_t>(cache->size());
    int64_t axis = ctx.node().Int("axis", -2);
    if (axis < 0) axis += rank;
    if (axis <= 0 || axis >= rank)
      return ModelError("axis {} is out of range for rank {}", ctx.node().Int("axis", -2), rank);
    for (size_t i = 0; i < cache->size(); ++i)
      if (static_cast<int64_t>(i) != axis)
        NN_RETURN_IF_ERROR(ctx.Same((*cache)[i], (*update)[i], "cache and update"));
  }
  NN_RETURN_IF_ERROR(ctx.CheckRank(2, 1));
  if (const Dims* indices = ctx.dims(2); indices != nullptr && cache != nullptr && !cache->empty())
    NN_RETURN_IF_ERROR(ctx.Same((*cache)[0], (*indices)[0], "batches of cache and write_indices"));
  ctx.Like(0, 0);
  return {};
}

// Both inputs must have the same shape.
Status InferSwiGlu(TypeContext& ctx) {
  const Dims* a = ctx.dims(0);
  const Dims* b = ctx.dims(1);
  std::optional<Dims> dims;
  if (a != nullptr && b != nullptr) {
    if (a->size() != b->size())
      return ModelError("the inputs have different ranks: {} and {}", ctx.in(0).ToString(),
                        ctx.in(1).ToString());
    dims = Dims();
    for (size_t i = 0; i < a->size(); ++i) {
      NN_ASSIGN(Dim d, ctx.Same((*a)[i], (*b)[i], fmt::format("axis {} of the inputs", i)));
      dims->push_back(std::move(d));
    }
  }
  ctx.Set(0, ctx.dtype(0), std::move(dims));
  return {};
}

}  // namespace

void AddMathInferences(InferTable& t) {
  t.Add("", "CumProd", 26, InferLikeFirst);
  t.Add("", "Einsum", 12, InferEinsum);
  t.Add("", "BitCast", 26, InferBitCast);
  t.Add("", "TensorScatter", 24, InferTensorScatter);
  t.Add("", "SwiGLU", 28, InferSwiGlu);
}

}  // namespace nn::onnx
