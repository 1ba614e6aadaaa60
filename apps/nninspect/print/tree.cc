#include "apps/nninspect/print/tree.h"

#include "base/text/table.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

void AddRows(const inspect::TreeBranch& tree, size_t depth, Table& table) {
  for (const inspect::TreeBranch& branch : tree.branches) {
    const inspect::TreeBranch* at = &branch;
    std::string label = branch.name;
    // A scope that contains only one other scope shares its line.
    while (at->branches.size() == 1 && at->branches[0].operators == at->operators) {
      at = &at->branches[0];
      label += "/" + at->name;
    }
    table.Add({std::string(2 * depth, ' ') + Escape(label), WithThousands(at->operators),
               WithThousands(at->parameters), HumanBytes(at->bytes)});
    AddRows(*at, depth + 1, table);
  }
}

}  // namespace

std::string TreeText(const inspect::TreeBranch& tree) {
  Table table({{"scope"},
               {"operators", Align::kRight},
               {"parameters", Align::kRight},
               {"bytes", Align::kRight}});
  table.Add({"(model)", WithThousands(tree.operators), WithThousands(tree.parameters),
             HumanBytes(tree.bytes)});
  AddRows(tree, 1, table);
  return "\nTree\n" + table.Text(2);
}

}  // namespace nn::app
