#include "support/large_models.h"

#include <fmt/core.h>

#include <cassert>
#include <cstdint>
#include <vector>

#include "support/wire.h"

namespace nn::test {
namespace {

using Names = std::vector<std::string>;

constexpr uint64_t kFloat = 1, kInt64 = 7, kBool = 9;

std::string Node(const std::string& op, const Names& inputs, const Names& outputs,
                 const Names& attributes = {}) {
  std::string out;
  for (const std::string& x : inputs) out += Bytes(1, x);
  for (const std::string& y : outputs) out += Bytes(2, y);
  out += Bytes(4, op);
  for (const std::string& a : attributes) out += Bytes(5, a);
  return Bytes(1, out);
}

std::string IntAttribute(const std::string& name, uint64_t v) {
  return Bytes(1, name) + Int(3, v) + Int(20, 2);
}

std::string IntsAttribute(const std::string& name, const std::vector<uint64_t>& values) {
  std::string out = Bytes(1, name);
  for (const uint64_t v : values) out += Int(8, v);
  return out + Int(20, 7);
}

// A dimension is a number or a symbol.
std::string Value(int field, const std::string& name, const Names& dims, uint64_t type = kFloat) {
  std::string shape;
  for (const std::string& d : dims)
    shape += Bytes(1, d[0] >= '0' && d[0] <= '9' ? Int(1, std::stoull(d)) : Bytes(2, d));
  return Bytes(field, Bytes(1, name) + Bytes(2, Bytes(1, Int(1, type) + Bytes(2, shape))));
}
std::string Input(const std::string& name, const Names& dims) {
  return Value(11, name, dims);
}
std::string Output(const std::string& name, const Names& dims) {
  return Value(12, name, dims);
}

std::string Zeros(const std::string& name) {
  return Bytes(5, Int(1, 4) + Int(2, kFloat) + Bytes(8, name) + Bytes(9, std::string(16, '\0')));
}
std::string OneInt(const std::string& name, int64_t v) {
  return Bytes(5, Int(1, 1) + Int(2, kInt64) + Bytes(8, name) +
                      Bytes(9, std::string(reinterpret_cast<const char*>(&v), sizeof(v))));
}

std::string N(std::string_view prefix, size_t i) {
  return fmt::format("{}{}", prefix, i);
}

std::string File(const std::string& graph) {
  return Int(1, 8) + Bytes(7, graph + Bytes(2, "large")) + Bytes(8, Bytes(1, "") + Int(2, 11));
}

std::string ReluChain(size_t n) {
  std::string g = Input("v0", {"4"});
  for (size_t i = 0; i < n; ++i) g += Node("Relu", {N("v", i)}, {N("v", i + 1)});
  return File(g + Output(N("v", n), {"4"}));
}

std::string ReversedChain(size_t n) {
  std::string g = Input("v0", {"4"});
  for (size_t i = n; i-- > 0;) g += Node("Relu", {N("v", i)}, {N("v", i + 1)});
  return File(g + Output(N("v", n), {"4"}));
}

std::string AddChain(size_t n) {
  std::string g = Input("v0", {"4"});
  for (size_t i = 0; i < n; ++i)
    g += Node("Add", {N("v", i), N("w", i)}, {N("v", i + 1)}) + Zeros(N("w", i));
  return File(g + Output(N("v", n), {"4"}));
}

std::string SumInitializers(size_t n) {
  Names inputs = {"x"};
  std::string g = Input("x", {"4"});
  for (size_t i = 0; i < n; ++i) {
    inputs.push_back(N("w", i));
    g += Zeros(inputs.back());
  }
  return File(g + Node("Sum", inputs, {"y"}) + Output("y", {"4"}));
}

std::string ConcatEqual(size_t n) {
  return File(Input("x", {"4"}) + Node("Relu", {"x"}, {"r"}) +
              Node("Concat", Names(n, "r"), {"y"}, {IntAttribute("axis", 0)}) +
              Output("y", {N("", 4 * n)}));
}

std::string WideInterface(size_t n) {
  std::string g;
  for (size_t i = 0; i < n; ++i)
    g +=
        Input(N("x", i), {"4"}) + Node("Relu", {N("x", i)}, {N("y", i)}) + Output(N("y", i), {"4"});
  return File(g);
}

std::string FanOut(size_t n) {
  std::string g = Input("x", {"4"}) + Node("Relu", {"x"}, {"r"});
  for (size_t i = 0; i < n; ++i) g += Node("Neg", {"r"}, {N("y", i)}) + Output(N("y", i), {"4"});
  return File(g);
}

std::string FanIn(size_t n) {
  std::string g = Input("x", {"4"}) + Node("Relu", {"x"}, {"r"}) + Node("Neg", {"r"}, {"s0"});
  for (size_t i = 0; i < n; ++i) g += Node("Sub", {N("s", i), "r"}, {N("s", i + 1)});
  return File(g + Output(N("s", n), {"4"}));
}

std::string LongLived(size_t n) {
  std::string g = Input("v0", {"4"});
  for (size_t i = 0; i < n; ++i) g += Node("Relu", {N("v", i)}, {N("v", i + 1)});
  // Read again in the order of creation.
  g += Node("Neg", {"v0"}, {"s0"});
  for (size_t i = 0; i < n; ++i) g += Node("Sub", {N("s", i), N("v", i + 1)}, {N("s", i + 1)});
  return File(g + Output(N("s", n), {"4"}));
}

std::string SymbolicPools(size_t n) {
  std::string g = Input("v0", {"1", "1", "h", "w"});
  for (size_t i = 0; i < n; ++i)
    g += Node("MaxPool", {N("v", i)}, {N("v", i + 1)},
              {IntsAttribute("kernel_shape", {2, 2}), IntsAttribute("strides", {2, 2})});
  return File(g + Output(N("v", n), {"a", "b", "c", "d"}));
}

std::string Products(size_t n) {
  std::string g = OneInt("flat", -1);
  for (const std::string name : {"a", "b", "c", "d"}) g += Input(name, {"size_" + name});
  std::string last = "a";
  for (size_t i = 0; i < n; ++i) {
    const std::string other(1, static_cast<char>('b' + i % 3));
    g += Node("Concat", {last, other}, {N("c", i)}, {IntAttribute("axis", 0)}) +
         Node("Unsqueeze", {N("c", i)}, {N("u", i)}, {IntsAttribute("axes", {0})}) +
         Node("Unsqueeze", {N("c", i)}, {N("v", i)}, {IntsAttribute("axes", {1})}) +
         Node("Mul", {N("u", i), N("v", i)}, {N("m", i)}) +
         Node("Reshape", {N("m", i), "flat"}, {N("r", i)});
    last = N("r", i);
  }
  return File(g + Output(last, {"n"}));
}

std::string ShapeProducts(size_t n) {
  std::string g =
      Input("x", {"a", "b", "c", "d"}) + Node("Shape", {"x"}, {"s0"}) + OneInt("one", 1);
  for (size_t i = 0; i < n; ++i)
    g += Node("Add", {N("s", i), "one"}, {N("t", i)}) +
         Node("Mul", {N("s", i), N("t", i)}, {N("s", i + 1)});
  return File(g + Node("ConstantOfShape", {N("s", n)}, {"y"}) + Output("y", {"p", "q", "r", "s"}));
}

std::string SymbolSums(size_t n) {
  Names inputs;
  std::string g = OneInt("flat", -1);
  for (size_t i = 0; i < n; ++i) {
    inputs.push_back(N("x", i));
    g += Input(inputs.back(), {N("d", i)});
  }
  g += Node("Concat", inputs, {"c"}, {IntAttribute("axis", 0)}) +
       Node("Unsqueeze", {"c"}, {"u"}, {IntsAttribute("axes", {0})}) +
       Node("Unsqueeze", {"c"}, {"v"}, {IntsAttribute("axes", {1})}) +
       Node("Mul", {"u", "v"}, {"m"}) + Node("Reshape", {"m", "flat"}, {"y"});
  return File(g + Output("y", {"n"}));
}

constexpr LargeModel kModels[] = {
    {"relu_chain", "nodes in a chain", ReluChain},
    {"reversed_chain", "nodes in a chain, the last one first", ReversedChain},
    {"add_chain", "nodes in a chain, each with an initializer of its own", AddChain},
    {"sum_initializers", "initializers that are inputs of one node", SumInitializers},
    {"concat_equal", "inputs of one node that are the same value", ConcatEqual},
    {"wide_interface", "inputs and outputs", WideInterface},
    {"fan_out", "uses of one value, which end in outputs", FanOut},
    {"fan_in", "uses of one value, which are subtracted from another", FanIn},
    {"long_lived", "values that are alive at the same time", LongLived},
    {"symbolic_pools", "pools of a symbolic size", SymbolicPools},
    {"products", "rounds in which a size becomes the square of a sum", Products},
    {"shape_products", "rounds of arithmetic on the contents of a shape", ShapeProducts},
    {"symbol_sums", "symbols, added up and squared", SymbolSums},
};

}  // namespace

std::span<const LargeModel> LargeModels() {
  return kModels;
}

std::string MakeLargeModel(std::string_view name, size_t n) {
  for (const LargeModel& m : kModels)
    if (m.name == name) return m.make(n);
  assert(false);
  return {};
}

std::string NestedModel(size_t depth) {
  const auto graph_attribute = [](const std::string& name, const std::string& graph) {
    return Bytes(1, name) + Bytes(6, graph) + Int(20, 5);
  };
  const auto branch = [&](const std::string& body, const std::string& result) {
    return body + Bytes(2, "branch") + Output(result, {"4"});
  };
  std::string inner = branch(Node("Relu", {"x"}, {"r"}), "r");
  for (size_t i = 0; i < depth; ++i) {
    const std::string result = N("y", i);
    const std::string other = branch(Node("Neg", {"x"}, {result}), result);
    inner =
        branch(Node("If", {"c"}, {result},
                    {graph_attribute("then_branch", inner), graph_attribute("else_branch", other)}),
               result);
  }
  // The outermost branch is the graph's own body, which already has the output.
  return File(Input("x", {"4"}) + Value(11, "c", {}, kBool) + inner);
}

}  // namespace nn::test
