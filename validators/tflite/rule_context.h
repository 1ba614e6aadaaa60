// The rule context of TensorFlow Lite: the model and lists of its tensors and operators. Pointers
// are into the file.
#pragma once

#include <string>
#include <vector>

#include "formats/tflite/file/native.h"
#include "validators/rule.h"
#include "validators/tflite/prepare/prepare.h"

namespace nn::tflite {

struct TensorAt {
  const fb::Tensor* tensor = nullptr;
  int64_t graph = 0;
  int64_t index = 0;
};

struct OperatorAt {
  const fb::Operator* op = nullptr;
  const fb::SubGraph* subgraph = nullptr;
  const fb::OperatorCode* code = nullptr;  // nullptr if the index is out of range
  int64_t graph = 0;
  int64_t index = 0;
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
