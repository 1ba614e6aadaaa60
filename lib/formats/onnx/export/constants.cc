// Constants of a graph as initializers.
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/export/export.h"
#include "formats/onnx/export/quant/block_form.h"
#include "formats/onnx/file/tensor.h"

namespace nn::onnx {

std::string ExportContext::NameOfConstant(const Value& value) {
  const Tensor& tensor = value.constant();
  if (!trial() && opset_ >= kBlocksOpset)
    if (const auto blocks = BlockedTensorOf(tensor); blocks && opset_ >= blocks->least_opset())
      return AddBlocks(*blocks, value.name());
  return SharedTensor(tensor, value.name());
}

std::string ExportContext::AddBlocks(const BlockedTensor& blocks, std::string_view hint) {
  std::string name = NewName(hint);
  std::vector<std::string> inputs = {SharedTensor(blocks.integers, name + "_quantized")};
  inputs.push_back(AddTensor(blocks.scales, name + "_scale"));
  if (blocks.zeros) inputs.push_back(AddTensor(*blocks.zeros, name + "_zero_point"));
  pb::NodeProto* const node = AddHelper("DequantizeLinear", {{name}, std::move(inputs)});
  SetInt(node, "axis", blocks.axis);
  SetInt(node, "block_size", blocks.block);
  return name;
}

std::string ExportContext::SharedTensor(const Tensor& tensor, std::string_view hint) {
  const bool shares = !trial() && tensor.byte_size() >= kMinShared && !tensor.blob().is_deferred();
  if (!shares) return AddTensor(tensor, hint);
  const bool in_region = graph_ != main_;
  auto& initializers = shared_[tensor.blob().data()];
  for (const SharedInitializer& i : initializers)
    if (i.tensor.dtype() == tensor.dtype() && i.tensor.dims() == tensor.dims() &&
        (in_region || i.of_region))
      return i.name;
  std::string name = NewName(hint);
  WriteTensor(tensor, name, main_->add_initializer(), payloads_);
  initializers.push_back({tensor, name, in_region});
  return name;
}

void ExportContext::AddInitializer(const Tensor& tensor, const std::string& name) {
  if (!trial()) WriteTensor(tensor, name, graph_->add_initializer(), payloads_);
  SetType(name, tensor.dtype());
}

}  // namespace nn::onnx
