#include "exec/runtime/kernel_table.h"

#include <unordered_map>

namespace nn {

const KernelInfo* FindKernel(std::string_view op) {
  static const auto table = [] {
    std::unordered_map<std::string_view, KernelInfo> by_op;
    for (const KernelInfo& kernel : AllKernels()) by_op.emplace(kernel.op, kernel);
    return by_op;
  }();
  const auto it = table.find(op);
  return it == table.end() ? nullptr : &it->second;
}

}  // namespace nn
