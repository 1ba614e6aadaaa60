#include "rewrite/forms/matrices.h"

#include <utility>
#include <vector>

#include "ops/array/shape.h"
#include "ops/math/matmul.h"
#include "rewrite/expand.h"

namespace nn {

Result<bool> VectorsAsMatrices(Graph& graph, Node& node) {
  const int a_rank = node.input(0)->type().rank();
  const int b_rank = node.input(1)->type().rank();
  Value* const bias = node.input(2);  // along the columns, which a vector b does not have
  if ((a_rank != 1 && b_rank != 1) || (bias != nullptr && b_rank == 1)) return false;
  Value* a = node.input(0);
  Value* b = node.input(1);
  MatmulAttrs attrs = node.attrs<MatmulAttrs>();
  if (a_rank == 1) {
    attrs.transpose_a = false;
    NN_ASSIGN(a, Rearrange(graph, a, AxisMap::Insert(1, 0)));
  }
  if (b_rank == 1) {
    attrs.transpose_b = false;
    NN_ASSIGN(b, Rearrange(graph, b, AxisMap::Insert(1, 1)));
  }
  std::vector<Value*> operands = {a, b};
  if (bias != nullptr) operands.push_back(bias);
  NN_ASSIGN(Value * y, ExpansionLike(graph, node).Add("matmul", std::move(operands), attrs));
  if (b_rank == 1) {
    const int rank = y->type().rank();
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::Remove(rank, rank - 1)));
  }
  if (a_rank == 1) {
    const int rank = y->type().rank();
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::Remove(rank, b_rank == 1 ? rank - 1 : rank - 2)));
  }
  graph.Replace(&node, y);
  return true;
}

}  // namespace nn
