#include "against/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "against/contents.h"
#include "convert/quantize/quantized_drift.h"

namespace nn::against {
namespace {

class SteppedReference : public Reference {
 public:
  SteppedReference(Stepper& model, std::vector<Tensor> inputs, std::vector<const Value*> values)
      : model_(model), inputs_(std::move(inputs)), values_(std::move(values)) {}

  // Starts the model.
  Status Expect(std::span<const CounterpartId> pairs) {
    NN_RETURN_IF_ERROR(model_.Start(inputs_));
    for (const auto& [value, id, by] : pairs) {
      const Value& other = *values_[id];
      counterparts_.push_back({value, id, NameOf(other), OperatorOf(other), other.type().ToString(),
                               LargestStep(other.type()), by});
      model_.Keep(&other);
    }
    return {};
  }

  const std::vector<Counterpart>& counterparts() const override { return counterparts_; }

  Result<Tensor> Take(size_t i) override { return Next(counterparts_[i].id); }

  Status Visit(const std::function<Status(size_t, const Tensor&)>& visit) override {
    NN_RETURN_IF_ERROR(model_.Start(inputs_));
    for (const Value* v : values_) model_.Keep(v);
    for (size_t id = 0; id < values_.size(); ++id) {
      NN_ASSIGN(const Tensor real, Next(id));
      NN_RETURN_IF_ERROR(visit(id, real));
    }
    return {};
  }

  Result<std::unique_ptr<Reference>> With(std::span<const CounterpartId> pairs) override {
    auto other = std::make_unique<SteppedReference>(model_, inputs_, values_);
    NN_RETURN_IF_ERROR(other->Expect(pairs));
    return other;
  }

 private:
  Result<Tensor> Next(size_t id) {
    const Value* const v = values_[id];
    NN_RETURN_IF_ERROR(model_.Compute(v));
    auto real = RealNumbers(model_.At(v), v->type());
    model_.Release(v);
    return real;
  }

  Stepper& model_;
  std::vector<Tensor> inputs_;
  std::vector<const Value*> values_;
  std::vector<Counterpart> counterparts_;
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

// Whether an uncertain pair that differs is an error of the pairing, or without effect. `taken` are
// the counterparts in pairs by contents.
bool IsNoPair(const ValueDrift& d, const std::unordered_set<size_t>& taken,
              const std::unordered_map<const Value*, const ValueDrift*>& drifts) {
  if (IsCertain(d.other.by)) return false;
  if (!taken.contains(d.other.id) && d.comparable && d.comparison.snr_db >= kUnlikeDb) return false;
  return VanishesBehind(d.value, drifts);
}

void Judge(std::vector<ValueDrift>& drifts) {
  std::unordered_map<const Value*, const ValueDrift*> by_value;
  std::unordered_set<size_t> taken;
  for (const ValueDrift& d : drifts) {
    by_value[d.value] = &d;
    if (d.other.by == PairedBy::kContents) taken.insert(d.other.id);
  }
  for (auto d = drifts.rbegin(); d != drifts.rend(); ++d) {
    // Shapes that cannot be compared show an error of the pair, unless it is certain.
    const bool differs = d->comparable ? !d->comparison.agrees : IsCertain(d->other.by);
    d->parts = differs && !IsNoPair(*d, taken, by_value);
  }
}

Result<std::vector<ValueDrift>> ComparePairs(Stepper& model, const std::vector<Tensor>& inputs,
                                             Reference& reference, const DriftOptions& options) {
  NN_RETURN_IF_ERROR(model.Start(inputs));
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
  return out;
}

// How much more alike the values of a pair by contents must be than those of the pair before, in
// decibels of the SNR. With a large tolerance, values that only have the same size agree.
constexpr double kMoreAlikeDb = 10;

// Adds a pair by contents to those before, in the order of the model's values.
void AddPair(const std::unordered_map<const Value*, size_t>& places, ValueDrift found,
             std::vector<ValueDrift>& drifts) {
  const auto at = std::ranges::lower_bound(drifts, places.at(found.value), {},
                                           [&](const ValueDrift& d) { return places.at(d.value); });
  if (at == drifts.end() || at->value != found.value)
    drifts.insert(at, std::move(found));
  else if (!at->comparable || found.comparison.snr_db >= at->comparison.snr_db + kMoreAlikeDb)
    *at = std::move(found);
}

Status CompareContents(Stepper& model, const std::vector<Tensor>& inputs, Reference& reference,
                       const DriftOptions& options, std::vector<ValueDrift>& drifts) {
  std::vector<ComparedPair> compared;
  for (const ValueDrift& d : drifts) {
    const bool agrees = d.comparable && d.comparison.agrees;
    compared.push_back(
        {{d.value, d.other.id, d.other.by}, agrees, !agrees && !IsCertain(d.other.by)});
  }
  NN_ASSIGN(const std::vector<CounterpartId> pairs,
            PairByContents(model, inputs, reference, compared, options));
  if (pairs.empty()) return {};
  NN_ASSIGN(const std::unique_ptr<Reference> other, reference.With(pairs));
  DriftOptions silent = options;
  silent.progress = nullptr;
  NN_ASSIGN(std::vector<ValueDrift> found, ComparePairs(model, inputs, *other, silent));
  std::unordered_map<const Value*, size_t> places;
  for (const Value* v : ComparedValues(model.graph())) places.emplace(v, places.size());
  for (ValueDrift& d : found)
    if (d.comparable && d.comparison.agrees) AddPair(places, std::move(d), drifts);
  Judge(drifts);
  return {};
}

}  // namespace

Result<std::unique_ptr<Reference>> ModelReference(Stepper& model, std::vector<Tensor> inputs,
                                                  std::span<const ValuePair> pairs) {
  std::vector<const Value*> values = ComparedValues(model.graph());
  std::unordered_map<const Value*, size_t> ids;
  for (size_t i = 0; i < values.size(); ++i) ids[values[i]] = i;
  std::vector<CounterpartId> counterparts;
  for (const ValuePair& p : pairs) counterparts.push_back({p.a, ids.at(p.b), p.by});
  return SteppedReference(model, std::move(inputs), std::move(values)).With(counterparts);
}

std::string NameOf(const Value& value) {
  return value.name().empty() ? fmt::format("%{}", value.id()) : std::string(value.name());
}

std::string OperatorOf(const Value& value) {
  const Node* const node = value.def();
  if (node == nullptr) return value.is_constant() ? "constant" : "input";
  const Source& source = node->source();
  return source.op.empty() ? std::string(node->op_name()) : source.Short();
}

double LargestStep(const Type& type) {
  if (!type.quantized()) return 0;
  return static_cast<double>(*std::ranges::max_element(type.quant->scales));
}

Result<Tensor> RealNumbers(const Tensor& tensor, const Type& type) {
  return type.quantized() ? RealTensor(tensor, type) : tensor;
}

Result<std::vector<ValueDrift>> CompareValues(Stepper& model, const std::vector<Tensor>& inputs,
                                              Reference& reference, const DriftOptions& options) {
  NN_ASSIGN(std::vector<ValueDrift> out, ComparePairs(model, inputs, reference, options));
  Judge(out);
  const auto first = std::ranges::find(out, true, &ValueDrift::parts);
  if (first == out.end() || IsCertain(first->other.by)) return out;
  NN_RETURN_IF_ERROR(CompareContents(model, inputs, reference, options, out));
  NN_RETURN_IF_ERROR(model.Start(inputs));  // frees what values that were not computed would use
  return out;
}

}  // namespace nn::against
