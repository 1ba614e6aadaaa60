#include "formats/nnapi/terms.h"

#include <limits>

#include "formats/nnapi/rewrites.h"
#include "ops/math/elementwise.h"

namespace nn::nnapi {

Term Terms::Keep(Result<Value*> v) {
  if (v) return {this, *v};
  if (status_) status_ = tl::unexpected(v.error());
  return {this, nullptr};
}

Term Terms::Of(Value* v) {
  return {this, v};
}

Term Terms::Apply(std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
  if (!status_) return {this, nullptr};
  return Keep(e_.Add(op, std::move(inputs), std::move(attrs)));
}

Term Terms::Shaped(Value* v, const std::vector<int64_t>& dims) {
  if (!status_) return {this, nullptr};
  return Keep(Reshaped(graph_, node_, v, dims));
}

Result<bool> Terms::Replace(Term y) {
  if (!status_) return tl::unexpected(status_.error());
  return e_.Replace(y.value());
}

Result<Value*> Terms::ValueOf(Term y) const {
  if (!status_) return tl::unexpected(status_.error());
  return y.value();
}

Term Relu(Term x) {
  return x.Function("relu");
}

Term AtMostOne(Term x) {
  return Unit(x);
}

Term Unit(Term x) {
  return x.Function("clip", ClipAttrs{-1, 1});
}

Term Step(Term x) {
  return AtMostOne(Relu(x * 0x1p127) * 0x1p127);
}

Term SignOf(Term x) {
  return Unit(x * 0x1p127 * 0x1p127);
}

Term InfiniteAt(Term step) {
  return step * static_cast<double>(std::numeric_limits<float>::max()) * 2.0;
}

}  // namespace nn::nnapi
