#include "formats/onnx/import/dynamic_lstm.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "formats/onnx/export/export.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/spec/recurrent_names.h"

namespace nn::onnx {
namespace {

using ValueNames = std::vector<std::string>;

// Positions of the inputs, and their names in the function.
enum Input : size_t { kX, kW, kR, kB, kLengths, kH, kC, kP, kWScale, kWZero, kRScale, kRZero };
constexpr std::array<const char*, 12> kInputNames = {
    "X", "W", "R", "B", "lengths", "H", "C", "P", "W_scale", "W_zero", "R_scale", "R_zero"};
constexpr int64_t kOpset = 17;

// Adds nodes with one result, whose name is new.
class NodeList {
 public:
  NodeList(google::protobuf::RepeatedPtrField<pb::NodeProto>* nodes, std::string prefix)
      : nodes_(nodes), prefix_(std::move(prefix)) {}

  pb::NodeProto* Node(std::string_view op, const ValueNames& inputs, const ValueNames& outputs) {
    pb::NodeProto* const node = nodes_->Add();
    node->set_op_type(std::string(op));
    for (const std::string& name : inputs) node->add_input(name);
    for (const std::string& name : outputs) node->add_output(name);
    return node;
  }
  pb::NodeProto* Node(std::string_view op, const ValueNames& inputs) {
    return Node(op, inputs, {NewName()});
  }
  std::string Add(std::string_view op, const ValueNames& inputs) {
    return Node(op, inputs)->output(0);
  }
  std::string Add(std::string_view op, const ValueNames& inputs, std::string_view attribute,
                  int64_t value) {
    pb::NodeProto* const node = Node(op, inputs);
    SetInt(node, attribute, value);
    return node->output(0);
  }
  std::string Cast(const std::string& x, pb::TensorProto::DataType type) {
    return Add("Cast", {x}, "to", type);
  }
  std::string Int(int64_t value) { return Add("Constant", {}, "value_int", value); }
  std::string Ints(const std::vector<int64_t>& values) {
    pb::NodeProto* const node = Node("Constant", {});
    SetInts(node, "value_ints", values);
    return node->output(0);
  }
  std::string Float(float value) {
    pb::NodeProto* const node = Node("Constant", {});
    SetFloat(node, "value_float", value);
    return node->output(0);
  }
  // Equal parts of the last axis.
  ValueNames Split(const std::string& x, size_t count) {
    ValueNames parts;
    for (size_t i = 0; i < count; ++i) parts.push_back(NewName());
    SetInt(Node("Split", {x}, parts), "axis", -1);
    return parts;
  }
  // Quantizes x and multiplies it by integers with the scale and the zero point.
  std::string Product(const std::string& x, const std::string& weights, const std::string& scale,
                      const std::string& zero) {
    const ValueNames q = {NewName(), NewName(), NewName()};
    Node("DynamicQuantizeLinear", {x}, q);
    const std::string sums = Add("MatMulInteger", {q[0], weights, q[2], zero});
    return Add("Mul", {Cast(sums, pb::TensorProto::FLOAT), Add("Mul", {q[1], scale})});
  }

 private:
  std::string NewName() { return fmt::format("{}{}", prefix_, ++count_); }

  google::protobuf::RepeatedPtrField<pb::NodeProto>* nodes_;
  std::string prefix_;
  int count_ = 0;
};

struct Settings {
  RecurrentDirection direction = RecurrentDirection::kForward;
  int64_t units = 0;
  float clip = 0;
  bool input_forget = false;
  std::vector<RecurrentFunction> functions;  // three for each direction

  bool IsReverse(int64_t d) const { return d == 1 || direction == RecurrentDirection::kReverse; }
};

// One step of a direction, with values of the function that all steps share.
class Step {
 public:
  Step(NodeList& nodes, const Settings& settings, int64_t direction)
      : n_(nodes),
        s_(settings),
        functions_(&settings.functions[static_cast<size_t>(3 * direction)]) {}

  ValueNames bias, peephole;  // by gate: i, o, f, n; of i, o, f. Empty without

  // h and c of the next step; the sums are the products of the inputs and of the states.
  std::pair<std::string, std::string> Run(const std::string& sums, const std::string& c) {
    enum : size_t { kI, kO, kF, kN };
    const ValueNames g = n_.Split(sums, 4);
    const std::string i = Activated(0, Argument(g, kI, c));
    const std::string f =
        s_.input_forget ? n_.Add("Sub", {n_.Float(1), i}) : Activated(0, Argument(g, kF, c));
    const std::string n = Activated(1, Argument(g, kN, ""));
    const std::string next = n_.Add("Add", {n_.Add("Mul", {f, c}), n_.Add("Mul", {i, n})});
    const std::string o = Activated(0, Argument(g, kO, next));
    return {n_.Add("Mul", {o, Applied(functions_[2], next)}), next};
  }

 private:
  std::string Argument(const ValueNames& gates, size_t gate, const std::string& c) {
    std::string x = gates[gate];
    if (!peephole.empty() && !c.empty()) x = n_.Add("Add", {x, n_.Add("Mul", {peephole[gate], c})});
    return bias.empty() ? x : n_.Add("Add", {x, bias[gate]});
  }

  // ONNX Runtime, which defines the operator, does not clip the cell state.
  std::string Activated(size_t function, const std::string& x) {
    if (!std::isfinite(s_.clip)) return Applied(functions_[function], x);
    return Applied(functions_[function],
                   n_.Add("Clip", {x, n_.Float(-s_.clip), n_.Float(s_.clip)}));
  }

  std::string Applied(const RecurrentFunction& f, const std::string& x) {
    const float alpha = f.params()[0], beta = f.params()[1];
    if (f.activation() == RecurrentActivation::kAffine)
      return n_.Add("Add", {n_.Add("Mul", {x, n_.Float(alpha)}), n_.Float(beta)});
    if (f.activation() == RecurrentActivation::kScaledTanh)
      return n_.Add("Mul", {n_.Add("Tanh", {n_.Add("Mul", {x, n_.Float(beta)})}), n_.Float(alpha)});
    for (const RecurrentActivationName& row : kRecurrentActivations) {
      if (row.activation != f.activation()) continue;
      pb::NodeProto* const node = n_.Node(row.onnx, {x});
      if (row.alpha) SetFloat(node, "alpha", alpha);
      if (row.beta) SetFloat(node, "beta", beta);
      return node->output(0);
    }
    return x;
  }

  NodeList& n_;
  const Settings& s_;
  const RecurrentFunction* functions_;
};

class Writer {
 public:
  Writer(const ImportContext& ctx, const Settings& settings)
      : ctx_(ctx), s_(settings), n_(f_.mutable_node(), "v") {}

  pb::FunctionProto Run() && {
    f_.set_name(ctx_.node().op_type());
    f_.add_opset_import()->set_version(kOpset);
    for (const char* name : kInputNames) f_.add_input(name);
    for (const char* name : {"Y", "Y_h", "Y_c"}) f_.add_output(name);
    sizes_ = n_.Add("Shape", {"X"});
    x_ = "X";
    if (Has(kLengths)) LimitSteps();
    const int64_t directions = s_.direction == RecurrentDirection::kBidirectional ? 2 : 1;
    ValueNames y, h, c;
    for (int64_t d = 0; d < directions; ++d) {
      const ValueNames results = RunDirection(d);
      y.push_back(n_.Add("Unsqueeze", {results[2], n_.Ints({1})}));
      h.push_back(n_.Add("Unsqueeze", {results[0], n_.Ints({0})}));
      c.push_back(n_.Add("Unsqueeze", {results[1], n_.Ints({0})}));
    }
    SetInt(n_.Node("Concat", y, {"Y"}), "axis", 1);
    SetInt(n_.Node("Concat", h, {"Y_h"}), "axis", 0);
    SetInt(n_.Node("Concat", c, {"Y_c"}), "axis", 0);
    return std::move(f_);
  }

 private:
  bool Has(size_t input) const { return ctx_.input(input) != nullptr; }

  // Which steps belong to the sequences: [T, B, 1]. The others are 0 in x, so that they do not
  // take part in its quantization.
  void LimitSteps() {
    lengths_ = n_.Cast("lengths", pb::TensorProto::INT64);
    const std::string count = n_.Add("Gather", {sizes_, n_.Int(0)});
    const std::string steps = n_.Add("Range", {n_.Int(0), count, n_.Int(1)});
    const std::string longest = n_.Add("ReduceMax", {lengths_}, "keepdims", 0);
    const std::string some = n_.Add("Less", {steps, longest});
    x_ = n_.Add("Where", {n_.Add("Unsqueeze", {some, n_.Ints({1, 2})}), "X", n_.Float(0)});
    const std::string column = n_.Add("Unsqueeze", {steps, n_.Ints({1})});
    active_ = n_.Add("Unsqueeze", {n_.Add("Less", {column, lengths_}), n_.Ints({2})});
  }

  // The part of an input that belongs to a direction; no name if it is absent.
  std::string Of(size_t input, int64_t d) {
    return Has(input) ? n_.Add("Gather", {kInputNames[input], n_.Int(d)}) : std::string();
  }

  std::string Initial(size_t input, int64_t d) {
    if (Has(input)) return Of(input, d);
    const std::string batch = n_.Add("Gather", {sizes_, n_.Ints({1})});
    SetInt(n_.Node("Concat", {batch, n_.Ints({s_.units})}, {fmt::format("size{}_{}", input, d)}),
           "axis", 0);
    return n_.Add("ConstantOfShape", {fmt::format("size{}_{}", input, d)});
  }

  // Each sequence from its end.
  std::string Reversed(const std::string& x) {
    pb::NodeProto* const node = n_.Node("ReverseSequence", {x, lengths_});
    SetInt(node, "time_axis", 0);
    SetInt(node, "batch_axis", 1);
    return node->output(0);
  }

  // h, c and y [T, B, H].
  ValueNames RunDirection(int64_t d) {
    std::string gates = n_.Product(x_, Of(kW, d), Of(kWScale, d), Of(kWZero, d));
    const bool turns = s_.IsReverse(d) && Has(kLengths);
    if (turns) gates = Reversed(gates);
    const ValueNames results = {fmt::format("h{}", d), fmt::format("c{}", d),
                                fmt::format("y{}", d)};
    ValueNames inputs = {Initial(kH, d), Initial(kC, d)}, outputs = {results[0], results[1]};
    if (Has(kLengths)) {
      // The step carries what it multiplies, which is 0 after the end, and the last state.
      inputs.push_back(inputs[0]);
      outputs.insert(outputs.begin(), fmt::format("carried{}", d));
      std::swap(outputs[1], outputs[2]);
    }
    const size_t states = inputs.size();
    inputs.push_back(gates);
    if (Has(kLengths)) inputs.push_back(active_);
    outputs.push_back(results[2]);
    pb::GraphProto body = Body(d);
    pb::NodeProto* const scan = n_.Node("Scan", inputs, outputs);
    const bool backward = s_.IsReverse(d) && !turns;
    const size_t scanned = inputs.size() - states;
    SetInt(scan, "num_scan_inputs", static_cast<int64_t>(scanned));
    SetInts(scan, "scan_input_directions", std::vector<int64_t>(scanned, backward));
    SetInts(scan, "scan_output_directions", {backward});
    pb::AttributeProto* const a = scan->add_attribute();
    a->set_name("body");
    a->set_type(pb::AttributeProto::GRAPH);
    *a->mutable_g() = std::move(body);
    return {results[0], results[1], WithLength(turns ? Reversed(results[2]) : results[2])};
  }

  // The results of a loop have an unknown length, unless it is stated.
  std::string WithLength(const std::string& y) {
    const Type& x = ctx_.input(kX)->type();
    if (!x.ranked() || x.rank() != 3 || !x.dim(0).is_const()) return y;
    return n_.Add("Reshape", {y, n_.Ints({x.dim(0).value(), 0, 0})});
  }

  // The graph of one step of direction d; adds to the function what its steps share.
  pb::GraphProto Body(int64_t d) {
    const std::string r = Of(kR, d), scale = Of(kRScale, d), zero = Of(kRZero, d);
    pb::GraphProto g;
    g.set_name("step");
    const std::string prefix = fmt::format("s{}_", d);
    NodeList nodes(g.mutable_node(), prefix);
    Step step(nodes, s_, d);
    if (Has(kB)) {
      const ValueNames halves = n_.Split(Of(kB, d), 2);
      step.bias = n_.Split(n_.Add("Add", halves), 4);
    }
    if (Has(kP)) step.peephole = n_.Split(Of(kP, d), 3);
    const std::string old_h = prefix + "h", old_c = prefix + "c", gates = prefix + "gates";
    const std::string last = prefix + "last", active = prefix + "active";
    ValueNames inputs = {old_h, old_c, gates};
    if (Has(kLengths)) inputs.insert(inputs.begin() + 2, last);
    for (const std::string& name : inputs) AddPort(g.add_input(), name, pb::TensorProto::FLOAT);
    const auto [h, c] =
        step.Run(nodes.Add("Add", {gates, nodes.Product(old_h, r, scale, zero)}), old_c);
    ValueNames outputs = {h, c};
    if (Has(kLengths)) {
      AddPort(g.add_input(), active, pb::TensorProto::BOOL);
      outputs = {nodes.Add("Where", {active, h, nodes.Float(0)}),
                 nodes.Add("Where", {active, c, old_c}), nodes.Add("Where", {active, h, last})};
    }
    outputs.push_back(nodes.Add("Identity", {outputs[0]}));
    for (const std::string& name : outputs) AddPort(g.add_output(), name, pb::TensorProto::FLOAT);
    return g;
  }

  static void AddPort(pb::ValueInfoProto* port, const std::string& name,
                      pb::TensorProto::DataType type) {
    port->set_name(name);
    port->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  }

  const ImportContext& ctx_;
  const Settings& s_;
  pb::FunctionProto f_;
  NodeList n_;
  std::string sizes_, x_, lengths_, active_;
};

// R is [D, H, 4 H].
Result<int64_t> UnitsOf(const ImportContext& ctx) {
  const Value* const r = ctx.input(kR);
  if (r != nullptr && r->type().ranked() && r->type().rank() == 3 && r->type().dim(1).is_const())
    return r->type().dim(1).value();
  const int64_t units = ctx.Int("hidden_size", 0);
  if (units <= 0) return UnsupportedError("the number of units is unknown");
  return units;
}

Result<std::vector<RecurrentFunction>> FunctionsOf(const RecurrentAttrs& a) {
  using enum RecurrentActivation;
  const size_t wanted = 3 * static_cast<size_t>(a.directions());
  std::vector<RecurrentFunction> out;
  for (size_t i = 0; a.activations.empty() && i < wanted; ++i)
    out.emplace_back(i % 3 == 0 ? kSigmoid : kTanh, 0.0f, 0.0f, a.clip);
  for (size_t i = 0; i < a.activations.size(); ++i) {
    const auto activation = ParseEnum<RecurrentActivation>(a.activations[i]);
    if (!activation) return ModelError("unknown activation {}", Quote(a.activations[i]));
    out.emplace_back(*activation, a.alpha[i], a.beta[i], a.clip);
  }
  if (out.size() != wanted) return ModelError("{} activations; must have {}", out.size(), wanted);
  return out;
}

Result<Settings> ReadSettings(const ImportContext& ctx) {
  LstmAttrs a;
  NN_RETURN_IF_ERROR(ReadRecurrentAttrs(ctx, a));
  Settings out;
  out.direction = a.direction;
  out.clip = a.clip;
  out.input_forget = ctx.Int("input_forget", 0) != 0;
  NN_ASSIGN(out.units, UnitsOf(ctx));
  NN_ASSIGN(out.functions, FunctionsOf(a));
  return out;
}

}  // namespace

bool IsDynamicLstm(std::string_view domain, std::string_view op) {
  return domain == kMicrosoft && op == kDynamicLstm;
}

Result<pb::FunctionProto> FunctionOfDynamicLstm(const ImportContext& ctx) {
  for (const size_t i : {kX, kW, kR, kWScale, kRScale}) NN_RETURN_IF_ERROR(ctx.Required(i));
  NN_ASSIGN(const Settings settings, ReadSettings(ctx));
  return Writer(ctx, settings).Run();
}

}  // namespace nn::onnx
