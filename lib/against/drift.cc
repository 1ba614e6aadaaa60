#include "against/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "convert/quantized_drift.h"

namespace nn::against {
namespace {

class SteppedReference : public Reference {
 public:
  SteppedReference(Stepper& model, std::span<const ValuePair> pairs) : model_(model) {
    for (const ValuePair& p : pairs) {
      const Type& type = p.b->type();
      counterparts_.push_back(
          {p.a, NameOf(*p.b), OperatorOf(*p.b), type.ToString(), LargestStep(type), p.by});
      values_.push_back(p.b);
      model_.Keep(p.b);
    }
  }

  const std::vector<Counterpart>& counterparts() const override { return counterparts_; }

  Result<Tensor> Take(size_t i) override {
    const Value* const v = values_[i];
    NN_RETURN_IF_ERROR(model_.Compute(v));
    auto real = RealNumbers(model_.At(v), v->type());
    model_.Release(v);
    return real;
  }

 private:
  Stepper& model_;
  std::vector<Counterpart> counterparts_;
  std::vector<const Value*> values_;
};

ValueDrift Describe(const Counterpart& other) {
  const Value& v = *other.value;
  ValueDrift out;
  out.value = &v;
  out.other = other;
  out.name = NameOf(v);
  out.op = OperatorOf(v);
  out.type = v.type().ToString();
  return out;
}

Status CompareOne(const Tensor& got, const Tensor& want, const DriftOptions& options,
                  ValueDrift& out) {
  const double step = std::max(out.other.step, LargestStep(out.value->type()));
  auto aligned = CompareAligned(want, got, options.atol, options.rtol, step);
  out.here = CountNotFinite(got);
  out.there = CountNotFinite(want);
  if (!aligned) {
    if (aligned.error().code() != ErrorCode::kUnsupported) return tl::unexpected(aligned.error());
    out.comparable = false;
    out.where = aligned.error().message();
    return {};
  }
  out.comparison = std::move(aligned->comparison);
  out.axes = aligned->axes;
  out.where = nn::Describe(out.comparison, aligned->want);
  out.comparable = out.comparison.mismatch.empty();
  return {};
}

// Whether all compared values that are computed next from the value agree, and there are any.
bool VanishesBehind(const Value* value,
                    const std::unordered_map<const Value*, const ValueDrift*>& drifts) {
  std::vector<const Value*> stack = {value};
  std::unordered_set<const Value*> seen;
  bool any = false;
  while (!stack.empty()) {
    const Value* const v = stack.back();
    stack.pop_back();
    for (const Use& use : v->uses())
      for (const Value* y : use.node->outputs()) {
        if (!seen.insert(y).second) continue;
        const auto it = drifts.find(y);
        if (it == drifts.end()) {
          stack.push_back(y);
          continue;
        }
        if (it->second->parts) return false;
        any = any || it->second->comparable;
      }
  }
  return any;
}

// Two values that have nothing to do with each other rarely have a higher SNR.
constexpr double kUnlikeDb = 10;

// Whether an uncertain pair that differs is an error of the pairing, or without effect.
bool IsNoPair(const ValueDrift& d,
              const std::unordered_map<const Value*, const ValueDrift*>& drifts) {
  if (IsCertain(d.other.by)) return false;
  if (d.comparable && d.comparison.snr_db >= kUnlikeDb) return false;
  return VanishesBehind(d.value, drifts);
}

void Judge(std::vector<ValueDrift>& drifts) {
  std::unordered_map<const Value*, const ValueDrift*> by_value;
  for (const ValueDrift& d : drifts) by_value[d.value] = &d;
  for (auto d = drifts.rbegin(); d != drifts.rend(); ++d) {
    // Shapes that cannot be compared show an error of the pair, unless it is certain.
    const bool differs = d->comparable ? !d->comparison.agrees : IsCertain(d->other.by);
    d->parts = differs && !IsNoPair(*d, by_value);
  }
}

}  // namespace

std::unique_ptr<Reference> ModelReference(Stepper& model, std::span<const ValuePair> pairs) {
  return std::make_unique<SteppedReference>(model, pairs);
}

std::string NameOf(const Value& value) {
  return value.name().empty() ? fmt::format("%{}", value.id()) : std::string(value.name());
}

std::string OperatorOf(const Value& value) {
  const Node* const node = value.def();
  if (node == nullptr) return value.is_constant() ? "constant" : "input";
  const Source& source = node->source();
  if (source.op.empty()) return std::string(node->op_name());
  return source.index < 0 ? std::string(source.op.view())
                          : fmt::format("{} {}", source.op.view(), source.index);
}

double LargestStep(const Type& type) {
  if (!type.quantized()) return 0;
  return static_cast<double>(*std::ranges::max_element(type.quant->scales));
}

Result<Tensor> RealNumbers(const Tensor& tensor, const Type& type) {
  return type.quantized() ? RealTensor(tensor, type) : tensor;
}

Result<std::vector<ValueDrift>> CompareValues(Stepper& model, Reference& reference,
                                              const DriftOptions& options) {
  std::vector<ValueDrift> out;
  for (const Counterpart& c : reference.counterparts()) {
    out.push_back(Describe(c));
    model.Keep(c.value);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const Value* const v = out[i].value;
    NN_RETURN_IF_ERROR(model.Compute(v));
    NN_ASSIGN(const Tensor got, RealNumbers(model.At(v), v->type()));
    model.Release(v);
    NN_ASSIGN(const Tensor want, reference.Take(i));
    NN_RETURN_IF_ERROR(CompareOne(got, want, options, out[i]));
    if (options.progress) options.progress();
  }
  Judge(out);
  return out;
}

}  // namespace nn::against
