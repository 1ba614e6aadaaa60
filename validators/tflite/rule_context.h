// The rule context of TensorFlow Lite: the model and lists of its tensors and operators. Pointers
// are into the file.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/constraints/constraint.h"
#include "formats/tflite/file/native.h"
#include "validators/rule.h"

namespace nn::tflite {

struct TensorAt {
  const fb::Tensor* tensor = nullptr;
  int64_t graph = 0;
  int64_t index = 0;
};

struct Problem {
  Location where;
  std::string message;
};

// The problems that prevent a run, by constraint. For each, the first Findings::kMax + 1 are kept.
class Problems {
 public:
  void Add(Check check, Location where, std::string message) {
    auto& list = lists_[static_cast<size_t>(check)];
    if (list.size() <= Findings::kMax) list.push_back({std::move(where), std::move(message)});
  }
  const std::vector<Problem>& of(Check check) const { return lists_[static_cast<size_t>(check)]; }

 private:
  std::array<std::vector<Problem>, static_cast<size_t>(Check::kCount)> lists_;
};

class RuleContext {
 public:
  explicit RuleContext(const Model& model);

  const Model& native() const { return model_; }
  const fb::Model& root() const { return *model_.root; }
  const std::vector<TensorAt>& tensors() const { return tensors_; }
  const std::vector<OperatorAt>& operators() const { return operators_; }
  // What the interpreter rejects when it prepares the model.
  const Problems& problems() const { return problems_; }

 private:
  const Model& model_;
  std::vector<TensorAt> tensors_;
  std::vector<OperatorAt> operators_;
  Problems problems_;
};

// The size of an element in bits; 0 for types without a fixed size.
int BitsOf(fb::TensorType type);

Location Where(const TensorAt& at, std::string_view field = {});
Location Where(const OperatorAt& at, std::string_view field = {});
// "tensor 3 \"name\"", "operator 5 (CONV_2D)".
std::string Title(const TensorAt& at);
std::string Title(const OperatorAt& at);

}  // namespace nn::tflite
