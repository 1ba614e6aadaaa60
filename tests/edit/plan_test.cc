#include "edit/plan.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace nn::test::plan_test {
namespace {

using edit::EditOptions;
using edit::PlanEdit;

// Values by their names.
class FlowText {
 public:
  size_t Value(const std::string& name) {
    for (size_t i = 0; i < flow.values.size(); ++i)
      if (flow.values[i].name == name) return i;
    flow.values.push_back({name});
    return flow.values.size() - 1;
  }

  FlowText& Op(const std::string& type, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, bool has_effect = false) {
    NativeFlow::Operator op = {type, "", {}, {}, has_effect};
    for (const std::string& name : inputs) op.inputs.push_back(Value(name));
    for (const std::string& name : outputs) op.outputs.push_back(Value(name));
    flow.operators.push_back(op);
    return *this;
  }

  FlowText& Ports(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    for (const std::string& name : inputs) flow.inputs.push_back(Value(name));
    for (const std::string& name : outputs) flow.outputs.push_back(Value(name));
    return *this;
  }

  Result<NativeEdit> Plan(const EditOptions& options) const {
    return PlanEdit(flow, options, [](const std::string&) -> Result<ValueType> {
      return ValueType::Tensor(DType::kF32);
    });
  }

  std::vector<std::string> Names(const std::vector<NativeEdit::Port>& ports) const {
    std::vector<std::string> names;
    for (const NativeEdit::Port& port : ports) names.push_back(flow.values[port.value].name);
    return names;
  }

  NativeFlow flow;
};

using Names = std::vector<std::string>;
using Keeps = std::vector<bool>;

TEST_CASE("edit: all assignments of a value before its use stay") {
  FlowText f;
  f.Ports({"x"}, {"y"})
      .Op("init", {"x"}, {"s"})
      .Op("loop", {"s", "x"}, {"s"})
      .Op("use", {"s"}, {"y"})
      .Op("late", {"y"}, {"s"});
  const auto edit = f.Plan({.extract = "..y"});
  REQUIRE(edit.has_value());
  CHECK(edit->keeps == Keeps{true, true, true, false});
  // The loop still assigns what would be the input.
  const auto cut = f.Plan({.extract = "s..s"});
  CHECK_FALSE(cut.has_value());
}

TEST_CASE("edit: operators with effects stay unless a part is cut out") {
  FlowText f;
  f.Ports({"x"}, {"y", "z"})
      .Op("assign", {"x"}, {}, true)
      .Op("a", {"x"}, {"y"})
      .Op("b", {"x"}, {"z"});
  CHECK(f.Plan({.remove_outputs = {"z"}})->keeps == Keeps{true, true, false});
  CHECK(f.Plan({.extract = "x..y"})->keeps == Keeps{false, true, false});
}

TEST_CASE("edit: a part has the operators with effects on the states that it uses") {
  // s begins with a value, is read, and gets what "next" computes from another input.
  FlowText f;
  f.Ports({"x", "u"}, {"y", "z"})
      .Op("initialize", {}, {}, true)
      .Op("handle", {}, {"s"})
      .Op("read", {"s"}, {"r"})
      .Op("add", {"r", "x"}, {"m"})
      .Op("neg", {"m"}, {"y"})
      .Op("next", {"u"}, {"n"})
      .Op("assign", {"s", "n"}, {}, true)
      .Op("other", {"x"}, {"z"});
  f.flow.values[f.Value("s")].is_state = true;
  const auto part = f.Plan({.extract = "..m"});
  REQUIRE(part.has_value());
  CHECK(part->keeps == Keeps{true, true, true, true, false, true, true, false});
  CHECK(f.Names(part->inputs) == Names{"x", "u"});
  // Parts that do not use the state.
  CHECK(f.Plan({.extract = "..z"})->keeps ==
        Keeps{false, false, false, false, false, false, false, true});
  CHECK(f.Plan({.extract = "m..y"})->keeps ==
        Keeps{false, false, false, false, true, false, false, false});
  CHECK(f.Plan({.extract = "x,n..m"})->keeps ==
        Keeps{true, true, true, true, false, false, true, false});
  const auto without = f.Plan({.extract = "x..m"});
  REQUIRE_FALSE(without.has_value());
  CHECK(without.error().code() == ErrorCode::kUnsupported);
  CHECK(without.error().message().find("need \"u\"") != std::string::npos);
}

TEST_CASE("edit: names with commas and with characters of patterns") {
  FlowText f;
  f.Ports({"in,0", "in"}, {"out[1]", "o"})
      .Op("a", {"in,0", "in"}, {"m,1"})
      .Op("b", {"m,1"}, {"out[1]"})
      .Op("c", {"m,1"}, {"o"});
  const auto edit = f.Plan({.extract = "in,in,0..m,1,out[1]"});
  REQUIRE(edit.has_value());
  CHECK(f.Names(edit->inputs) == Names{"in,0", "in"});
  CHECK(f.Names(edit->outputs) == Names{"m,1", "out[1]"});
  CHECK(edit->keeps == Keeps{true, true, false});
  const auto split = f.Plan({.extract = "m,1..o"});
  REQUIRE(split.has_value());
  CHECK(f.Names(split->inputs) == Names{"m,1"});
}

TEST_CASE("edit: an input that another kept operator writes, too, is refused") {
  FlowText f;
  f.Ports({"x"}, {"y"}).Op("split", {"x"}, {"a", "b"}).Op("add", {"a", "b"}, {"y"});
  const auto edit = f.Plan({.extract = "a..y"});
  REQUIRE_FALSE(edit.has_value());
  CHECK(edit.error().code() == ErrorCode::kUnsupported);
  CHECK(edit.error().message().find("\"b\"") != std::string::npos);
  CHECK(f.Names(f.Plan({.extract = "a,b..y"})->inputs) == Names{"a", "b"});
}

TEST_CASE("edit: inputs that nothing used stay, those that became useless go") {
  FlowText f;
  f.Ports({"x", "unused", "z"}, {"y", "w"}).Op("a", {"x"}, {"y"}).Op("b", {"z"}, {"w"});
  CHECK(f.Names(f.Plan({.remove_outputs = {"w"}})->inputs) == Names{"x", "unused"});
  CHECK(f.Names(f.Plan({.extract = "..y"})->inputs) == Names{"x"});
  CHECK(f.Names(f.Plan({.renames = {"x=q"}})->inputs) == Names{"x", "unused", "z"});
}

TEST_CASE("edit: several stars in a new name") {
  FlowText f;
  f.Ports({"net/conv/x:0"}, {"y"}).Op("a", {"net/conv/x:0"}, {"y"});
  const auto edit = f.Plan({.renames = {"net/*/*:0=*.*"}});
  REQUIRE(edit.has_value());
  CHECK(edit->names.at(f.Value("net/conv/x:0")) == "conv.x");
  CHECK_FALSE(f.Plan({.renames = {"net/*=*.*"}}).has_value());
  CHECK_FALSE(f.Plan({.renames = {"net/conv/x:?=*"}}).has_value());
}

}  // namespace
}  // namespace nn::test::plan_test
