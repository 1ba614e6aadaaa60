#include "inspect/diff/digests.h"

#include <utility>
#include <vector>

#include "inspect/report/opaque_reader.h"

namespace nn::inspect {

Result<GraphDigests> DigestsOf(const LoadedModel& model) {
  NN_ASSIGN(const Graph* const graph, GraphOf(model));
  NN_ASSIGN(std::vector<TensorEntry> tensors, TensorsOf(model));
  const OpaqueReader reader(model, std::move(tensors));
  auto digests = DigestGraph(*graph, [&](const Node& node) { return reader.Read(node); });
  if (!digests) return tl::unexpected(digests.error().In(model.path));
  return digests;
}

}  // namespace nn::inspect
