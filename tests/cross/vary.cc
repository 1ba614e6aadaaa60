#include "cross/vary.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ir/text/text.h"
#include "ir/verify.h"
#include "support/open_sizes.h"

namespace nn::test {
namespace {

using Draw = Variations::Draw;

constexpr int64_t kMaxElements = 1 << 13;  // of one value
constexpr int64_t kMaxListed = 16;         // of a constant that is a list: axes, sizes, pads

template <typename List>
auto& OneOf(List&& list, const Draw& draw) {
  return list[draw(std::size(list))];
}

Dim AnyExtent(const Draw& draw) {
  // Odd primes, and sizes around the widths of vectors.
  static constexpr int64_t kExtents[] = {1,  2,  3,  0,  5,  4,  7,  8,  9,  13,
                                         15, 16, 17, 31, 32, 33, 63, 64, 65, 67};
  static constexpr std::string_view kSymbols[] = {"n", "m"};
  if (draw(12) == 11) return Dim::Symbol(OneOf(kSymbols, draw));
  return OneOf(kExtents, draw);
}

int64_t AnyInteger(const Draw& draw) {
  static constexpr int64_t kIntegers[] = {1, 0, 2, 3, -1, -2, -3, 4, 5, 6, 7, 8, 15, 16, 17, 33};
  return OneOf(kIntegers, draw);
}

// The inputs and constants that are used, whose shapes determine all others.
std::vector<Value*> Leaves(Graph& graph) {
  std::vector<Value*> leaves;
  for (Value& v : graph.values())
    if (v.def() == nullptr && v.type().ranked() && graph.HasUses(&v)) leaves.push_back(&v);
  return leaves;
}

// The elements repeated, each time starting one later. Zeros if there are none.
Result<Tensor> Repeated(const Tensor& tensor, std::vector<int64_t> dims) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(tensor.dtype(), std::move(dims)));
  const int64_t n = tensor.elements();
  for (int64_t i = 0; i < b.elements(); ++i) {
    if (n > 0)
      b.Copy(i, tensor, (i + i / n) % n);
    else
      b.SetInt(i, 0);
  }
  return b.Finish();
}

void ReplaceConstant(Graph& graph, Value* value, Tensor tensor, std::shared_ptr<const Quant> q) {
  graph.ReplaceUses(value, graph.AddConstant(std::move(tensor), value->name(), std::move(q)));
}

// Gives the quantization `count` scales.
void RepeatScales(Quant& quant, size_t count) {
  const auto repeat = [count](auto& list) {
    const auto old = list;
    list.clear();
    for (size_t i = 0; i < count && !old.empty(); ++i) list.push_back(old[i % old.size()]);
  };
  repeat(quant.scales);
  repeat(quant.zero_points);
  repeat(quant.min);
  repeat(quant.max);
}

// The shape of a leaf.
struct Shape {
  Dims dims;
  int quant_axis = -1;
};

Shape ShapeOf(const Value* leaf) {
  const Type& type = leaf->type();
  return {*type.dims, type.quant != nullptr ? type.quant->axis : -1};
}

// Constants and scales are repeated or cut. No effect if a constant would have a symbol.
void SetShape(Graph& graph, Value* leaf, Shape shape) {
  std::shared_ptr<const Quant> quant = leaf->type().quant;
  if (quant != nullptr && quant->per_axis()) {
    if (shape.quant_axis < 0) return;
    auto q = std::make_shared<Quant>(*quant);
    q->axis = shape.quant_axis;
    const Dim& extent = shape.dims[static_cast<size_t>(q->axis)];
    if (!extent.is_const()) return;
    if (extent.value() <= kMaxElements) RepeatScales(*q, static_cast<size_t>(extent.value()));
    quant = q;
  }
  if (!leaf->is_constant()) {
    leaf->set_type(Type(leaf->dtype(), std::move(shape.dims), std::move(quant)));
    return;
  }
  const auto dims = ConstDims(shape.dims);
  if (!dims) return;
  const auto count = CheckedElements(*dims);
  if (!count || *count > kMaxElements) return;
  if (auto tensor = Repeated(leaf->constant(), *dims))
    ReplaceConstant(graph, leaf, *std::move(tensor), std::move(quant));
}

// Lists of integers, which may have an entry per axis: attributes and small constants.
using ListEdit = std::function<void(std::vector<int64_t>&)>;

void EditConstants(Graph& graph, const ListEdit& edit) {
  for (Value* v : Leaves(graph)) {
    if (!v->is_constant() || v->type().rank() != 1 || !IsInteger(v->dtype()) ||
        v->constant().elements() > kMaxListed)
      continue;
    std::vector<int64_t> list = v->constant().ToInts();
    edit(list);
    auto b = TensorBuilder::Create(v->dtype(), {static_cast<int64_t>(list.size())});
    for (size_t i = 0; b && i < list.size(); ++i) b->SetInt(static_cast<int64_t>(i), list[i]);
    if (b) ReplaceConstant(graph, v, b->Finish(), v->type().quant);
  }
}

void EditLists(Graph& graph, const ListEdit& edit) {
  for (Node& node : graph.nodes())
    for (const AttrField& field : node.op().attrs->fields) {
      AttrValue value = node.attrs().Get(field);
      auto* list = std::get_if<std::vector<int64_t>>(&value);
      if (list == nullptr || list->empty()) continue;
      edit(*list);
      if (auto attrs = node.attrs().With(field.name, value)) node.set_attrs(*std::move(attrs));
    }
  EditConstants(graph, edit);
}

bool IsPermutation(std::vector<int64_t> list) {
  std::sort(list.begin(), list.end());
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// The leaf alone, or all leaves of the same rank.
std::vector<Value*> Peers(Graph& graph, Value* leaf, const Draw& draw) {
  if (draw(4) == 3) return {leaf};
  std::vector<Value*> peers = Leaves(graph);
  std::erase_if(peers, [&](const Value* v) { return v->type().rank() != leaf->type().rank(); });
  return peers;
}

// Equal extents stay equal, including those in lists of integers; or only one changes.
void ChangeExtent(Graph& graph, const Draw& draw) {
  const std::vector<Value*> leaves = Leaves(graph);
  if (leaves.empty()) return;
  Value* leaf = OneOf(leaves, draw);
  if (leaf->type().rank() == 0) return;
  const size_t axis = draw(leaf->type().dims->size());
  const Dim from = (*leaf->type().dims)[axis], to = AnyExtent(draw);
  const size_t mode = draw(4);
  if (mode == 3) {
    Shape shape = ShapeOf(leaf);
    shape.dims[axis] = to;
    return SetShape(graph, leaf, std::move(shape));
  }
  for (Value* v : leaves) {
    Shape shape = ShapeOf(v);
    std::replace(shape.dims.begin(), shape.dims.end(), from, to);
    SetShape(graph, v, std::move(shape));
  }
  if (mode == 2 && from.is_const() && to.is_const())
    EditLists(graph, [&](std::vector<int64_t>& list) {
      std::replace(list.begin(), list.end(), from.value(), to.value());
    });
}

void InsertAxis(Graph& graph, const Draw& draw) {
  const std::vector<Value*> leaves = Leaves(graph);
  if (leaves.empty()) return;
  Value* leaf = OneOf(leaves, draw);
  const size_t axis = draw(leaf->type().dims->size() + 1);
  const Dim extent = AnyExtent(draw);
  for (Value* v : Peers(graph, leaf, draw)) {
    Shape shape = ShapeOf(v);
    shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(axis), extent);
    if (shape.quant_axis >= static_cast<int>(axis)) ++shape.quant_axis;
    SetShape(graph, v, std::move(shape));
  }
  const size_t more = draw(3);  // entries per axis
  if (more == 0) return;
  EditLists(graph, [&](std::vector<int64_t>& list) {
    const auto next = static_cast<int64_t>(list.size());
    const bool permutes = IsPermutation(list);
    for (size_t i = 0; i < more; ++i)
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(draw(list.size() + 1)),
                  permutes ? next + static_cast<int64_t>(i) : AnyInteger(draw));
  });
}

void RemoveAxis(Graph& graph, const Draw& draw) {
  const std::vector<Value*> leaves = Leaves(graph);
  if (leaves.empty()) return;
  Value* leaf = OneOf(leaves, draw);
  if (leaf->type().rank() == 0) return;
  const size_t axis = draw(leaf->type().dims->size());
  for (Value* v : Peers(graph, leaf, draw)) {
    Shape shape = ShapeOf(v);
    shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    if (shape.quant_axis >= static_cast<int>(axis))
      shape.quant_axis = shape.quant_axis == static_cast<int>(axis) ? -1 : shape.quant_axis - 1;
    SetShape(graph, v, std::move(shape));
  }
  const size_t fewer = draw(3);
  if (fewer == 0) return;
  EditLists(graph, [&](std::vector<int64_t>& list) {
    const bool permutes = IsPermutation(list);
    for (size_t i = 0; i < fewer && !list.empty(); ++i) {
      if (permutes)
        std::erase(list, static_cast<int64_t>(list.size()) - 1);
      else
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(draw(list.size())));
    }
  });
}

void SwapAxes(Graph& graph, const Draw& draw) {
  const std::vector<Value*> leaves = Leaves(graph);
  if (leaves.empty()) return;
  Value* leaf = OneOf(leaves, draw);
  if (leaf->type().rank() == 0) return;
  const size_t a = draw(leaf->type().dims->size()), b = draw(leaf->type().dims->size());
  for (Value* v : Peers(graph, leaf, draw)) {
    Shape shape = ShapeOf(v);
    std::swap(shape.dims[a], shape.dims[b]);
    if (shape.quant_axis == static_cast<int>(a))
      shape.quant_axis = static_cast<int>(b);
    else if (shape.quant_axis == static_cast<int>(b))
      shape.quant_axis = static_cast<int>(a);
    SetShape(graph, v, std::move(shape));
  }
}

// An edit that keeps the length, or a list of another length.
template <typename T, typename Entry>
void ChangeList(std::vector<T>& list, int rank, const Draw& draw, const Entry& entry) {
  switch (draw(4)) {
    case 0:
      if (!list.empty()) OneOf(list, draw) = entry();
      return;
    case 1:
      if (!list.empty()) std::swap(OneOf(list, draw), OneOf(list, draw));
      return;
    case 2:
      if (!list.empty()) OneOf(list, draw) = OneOf(list, draw);
      return;
    default: {
      const int lengths[] = {rank, rank - 2, 2 * rank, 2 * rank - 4, 1, 2, rank - 1, rank + 1, 0};
      list.resize(static_cast<size_t>(std::max(0, OneOf(lengths, draw))));
      for (T& t : list) t = entry();
    }
  }
}

void ChangeAttribute(Node& node, const std::vector<AttrValue>& known, const AttrField& field,
                     const Draw& draw) {
  AttrValue value = node.attrs().Get(field);
  int rank = 0;
  for (const Value* v : node.inputs())
    if (v != nullptr && v->type().ranked()) rank = std::max(rank, v->type().rank());
  if (draw(3) == 0) {
    value = OneOf(known, draw);
  } else if (auto* number = std::get_if<int64_t>(&value)) {
    *number = AnyInteger(draw);
  } else if (auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    if (draw(4) == 3) {
      list->resize(static_cast<size_t>(rank));
      std::iota(list->begin(), list->end(), int64_t{0});
      for (size_t i = 0; i + 1 < list->size(); ++i)
        std::swap((*list)[i], (*list)[i + draw(list->size() - i)]);
    } else {
      ChangeList(*list, rank, draw, [&] { return AnyInteger(draw); });
    }
  } else if (auto* dims = std::get_if<Dims>(&value)) {
    ChangeList(*dims, rank, draw, [&] { return draw(3) == 0 ? Dim(-1) : AnyExtent(draw); });
  } else if (auto* reals = std::get_if<std::vector<float>>(&value)) {
    ChangeList(*reals, rank, draw, [&] { return static_cast<float>(AnyInteger(draw)) / 2; });
  } else {
    value = OneOf(known, draw);
  }
  if (auto attrs = node.attrs().With(field.name, value)) node.set_attrs(*std::move(attrs));
}

// One of the small constants of integers.
void ChangeContents(Graph& graph, const Draw& draw) {
  size_t count = 0;
  EditConstants(graph, [&](const std::vector<int64_t>&) { ++count; });
  if (count == 0) return;
  const size_t which = draw(count);
  size_t i = 0;
  EditConstants(graph, [&](std::vector<int64_t>& list) {
    if (i++ == which)
      ChangeList(list, static_cast<int>(list.size()), draw, [&] { return AnyInteger(draw); });
  });
}

bool IsSmall(const Graph& graph) {
  Graph bound = graph.Clone();
  if (!BindOpenSizes(bound)) return false;
  return std::all_of(bound.values().begin(), bound.values().end(), [](const Value& v) {
    if (!v.type().ranked()) return true;
    int64_t elements = 1;
    for (const Dim& d : *v.type().dims) {
      if (!d.is_const()) continue;
      const auto more = CheckedMul(elements, d.value());
      if (!more) return false;
      elements = *more;
    }
    return elements <= kMaxElements;
  });
}

// The declared parts of the output types that inference cannot determine; nullopt if they would be
// wrong for other shapes.
std::optional<std::vector<Type>> Declared(const Graph& graph) {
  Graph clone = graph.Clone();
  std::vector<Type> declared;
  for (Node& node : clone.nodes()) {
    std::vector<Type> types;
    for (Value* v : node.outputs()) {
      types.push_back(v->type());
      v->set_type(Type());
    }
    const bool inferred = InferNode(node).has_value();
    for (size_t i = 0; i < types.size(); ++i) {
      Value* v = node.output(i);
      const bool same = inferred && v->dtype() == types[i].dtype &&
                        (v->type().quant == nullptr) == (types[i].quant == nullptr) &&
                        (v->type().quant == nullptr || *v->type().quant == *types[i].quant);
      Type type;
      // The declared axis is that of the row's own shape.
      const bool moves = node.op().movement != Movement::kNone;
      if (!same && moves && types[i].quant != nullptr && types[i].quant->per_axis())
        return std::nullopt;
      if (!same) {
        type.dtype = types[i].dtype;
        type.quant = types[i].quant;
      }
      declared.push_back(std::move(type));
      v->set_type(types[i]);
    }
  }
  return declared;
}

// Whether inference accepts the graph. Internal errors are left to the caller.
bool Infers(Graph& graph, const std::vector<Type>& declared) {
  size_t i = 0;
  for (Node& node : graph.nodes())
    for (Value* v : node.outputs()) v->set_type(declared[i++]);
  const Status s = Verify(graph);
  return s || s.error().code() == ErrorCode::kInternal;
}

}  // namespace

Variations::Variations(std::span<const Row> rows) {
  for (const Row& row : rows)
    for (const CrossCase& c : row.Cases()) {
      const auto graph = ParseGraph(c.graph);
      if (!graph) continue;
      for (const Node& node : graph->nodes())
        for (const AttrField& field : node.op().attrs->fields) {
          std::vector<AttrValue>& known = values_[{node.op().name, field.name}];
          const AttrValue value = node.attrs().Get(field);
          if (std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
        }
    }
}

Graph Variations::Vary(const Graph& graph, const Draw& draw) const {
  const auto declared = Declared(graph);
  Graph varied = graph.Clone();
  if (!declared) return varied;
  for (size_t left = draw(kChanges + 1); left > 0; --left) {
    Graph next = varied.Clone();
    switch (draw(7)) {
      case 0:
      case 1:
        ChangeExtent(next, draw);
        break;
      case 2:
        InsertAxis(next, draw);
        break;
      case 3:
        RemoveAxis(next, draw);
        break;
      case 4:
        SwapAxes(next, draw);
        break;
      case 5:
        ChangeContents(next, draw);
        break;
      default: {
        Node& node = *std::next(next.nodes().begin(),
                                static_cast<std::ptrdiff_t>(draw(next.nodes().size())));
        const auto fields = node.op().attrs->fields;
        if (fields.empty()) break;
        const AttrField& field = OneOf(fields, draw);
        const auto known = values_.find({node.op().name, field.name});
        if (known != values_.end()) ChangeAttribute(node, known->second, field, draw);
      }
    }
    next.EraseDeadValues();
    if (Infers(next, *declared) && IsSmall(next)) varied = std::move(next);
  }
  return varied;
}

}  // namespace nn::test
