#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "exec/program.h"
#include "support/run_graph.h"

namespace nn::test::norm_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Normalizations of one tensor, each without and with the elementwise nodes that a step can fuse.
// They share a graph, because every run compiles a program.
void CheckNorms(const std::string& x, const std::string& parameters,
                const std::vector<std::string>& ops) {
  std::string text = fmt::format("graph {{ in %x: f32{0}  in %o: f32{0}  {1}\n", x, parameters);
  for (size_t i = 0; i < ops.size(); ++i)
    text += fmt::format(
        "%y{0} = {1}  %n{0} = {1}  %z{0} = mul(%o, %n{0})  %r{0} = relu(%z{0})\n"
        "out \"y{0}\" = %y{0}  out \"r{0}\" = %r{0}\n",
        i, ops[i]);
  RunOnKernels(text + "}");
}

TEST_CASE("norm kernels: layer_norm of every length, axis and operand") {
  for (const char* shape : {"[3, 1]", "[2, 5]", "[5, 16]", "[7, 49]", "[9, 197]", "[3, 8200]"})
    CheckNorms(shape, "", {"layer_norm(%x)", "rms_norm(%x)"});
  struct Row {
    const char* x;
    int axis;
    const char* scale;
    const char* bias;
  };
  for (const Row& r : {
           Row{"[2, 5, 33]", -1, "[33]", "[33]"},
           Row{"[2, 5, 33]", 2, "[33]", nullptr},
           Row{"[2, 5, 33]", -1, nullptr, "[33]"},
           Row{"[2, 5, 33]", -1, "[1, 1, 33]", "[1]"},
           Row{"[2, 5, 33]", -1, "[]", "[5, 33]"},
           Row{"[2, 5, 33]", -1, "[2, 1, 33]", "[2, 5, 1]"},
           Row{"[2, 5, 33]", 1, "[5, 33]", "[33]"},
           Row{"[2, 5, 33]", 1, "[5, 1]", "[5, 33]"},
           Row{"[2, 5, 33]", 1, "[5, 33]", nullptr},
           Row{"[2, 3, 4, 5]", 1, "[3, 4, 5]", "[3, 4, 5]"},
           Row{"[2, 3, 4, 5]", 1, "[3, 1, 1]", "[4, 1]"},
           Row{"[4, 3, 7]", 0, "[7]", "[3, 1]"},
           Row{"[20]", 0, "[20]", "[20]"},
           Row{"[3, 20, 1]", 1, "[20, 1]", "[1]"},
       }) {
    std::string inputs;
    if (r.scale != nullptr) inputs += fmt::format("in %s: f32{}  ", r.scale);
    if (r.bias != nullptr) inputs += fmt::format("in %b: f32{}  ", r.bias);
    CheckNorms(
        r.x, inputs,
        {fmt::format("layer_norm(%x, {}{}) {{axis = {}, epsilon = 0.01}}",
                     r.scale == nullptr ? "_" : "%s", r.bias == nullptr ? "" : ", %b", r.axis)});
  }
}

TEST_CASE("norm kernels: layer_norm gives its statistics") {
  for (const char* shape : {"[2, 5, 33]", "[2, 70, 3]", "[3, 2, 0]", "[0, 2, 3]"})
    for (const int axis : {1, 2})
      RunOnKernels(
          fmt::format("graph {{ in %x: f32{}  %y, %m, %i = layer_norm(%x) {{axis = {}}}  "
                      "%z = relu(%y)  out \"z\" = %z  out \"m\" = %m  out \"i\" = %i }}",
                      shape, axis));
  // A sum that overflows, and a row of equal elements.
  CheckCase({"statistics",
             R"(graph { in %x: f32[2, 2]  %y, %m, %i = layer_norm(%x) {epsilon = 0.25}
                out "y" = %y  out "m" = %m  out "i" = %i })",
             {{3e38, 3e38, 2, 2}},
             {{kNan, kNan, 0, 0}, {kInf, 2}, {0, 2}}});
}

TEST_CASE("norm kernels: rms_norm") {
  CheckNorms("[2, 3, 130]", "in %s: f32[130]  in %t: f32[3, 1]  in %u: f32[1]",
             {"rms_norm(%x, %s)", "rms_norm(%x, %t) {axis = 1, epsilon = 1.0}",
              "rms_norm(%x, %u) {axis = 1}"});
}

TEST_CASE("norm kernels: instance_norm and group_norm of every rank and layout") {
  struct Row {
    const char* x;
    int channels;
    const char* layout;
  };
  for (const Row& r : {
           Row{"[2, 6]", 6, "ncx"},
           Row{"[2, 6]", 6, "nxc"},
           Row{"[2, 6, 40]", 6, "ncx"},
           Row{"[2, 40, 6]", 6, "nxc"},
           Row{"[3, 36, 7, 5]", 36, "ncx"},
           Row{"[1, 5, 11, 66]", 66, "nxc"},
           Row{"[2, 9, 7, 150]", 150, "nxc"},
           Row{"[1, 3, 4, 5, 18]", 18, "nxc"},
           Row{"[2, 1, 1, 24]", 24, "nxc"},
           Row{"[1, 70, 60, 48]", 48, "nxc"},
           Row{"[1, 40, 10, 270]", 270, "nxc"},
       }) {
    std::string parameters = fmt::format("in %s: f32[{0}]  in %b: f32[{0}]", r.channels);
    std::vector<std::string> ops = {
        fmt::format("instance_norm(%x, %s, %b) {{epsilon = 0.1, layout = {}}}", r.layout),
        fmt::format("group_norm(%x, %s, %b) {{groups = {}, layout = {}}}", r.channels, r.layout)};
    for (const int groups : {1, 2, 3, 6}) {
      parameters += fmt::format("  in %s{0}: f32[{0}]", groups);
      for (const std::string& scale : {std::string(), fmt::format("{}", groups)})
        ops.push_back(fmt::format("group_norm(%x, %s{}, %b) {{groups = {}, layout = {}}}", scale,
                                  groups, r.layout));
    }
    CheckNorms(r.x, parameters, ops);
  }
}

// Whether the plan has a step of the operator.
bool HasStep(const std::string& text, std::string_view op) {
  auto program = Program::Compile(Parse(text), {});
  REQUIRE(program.has_value());
  return std::any_of(program->steps().begin(), program->steps().end(),
                     [&](const StepInfo& step) { return step.label.starts_with(op); });
}

TEST_CASE("norm kernels: instance_norm between reshapes is group_norm") {
  const auto between = [](const char* first, const char* last, const char* more) {
    return fmt::format(
        R"(graph {{ in %x: f32[2, 12, 5, 3]  in %s: f32[4]  in %b: f32[4]  in %t: f32[12, 1, 1]
                    %i = reshape(%x) {{dims = {}}}  %n = instance_norm(%i, %s, %b)
                    %r = reshape(%n) {{dims = {}}}  %m = mul(%r, %t)  out "m" = %m  {} }})",
        first, last, more);
  };
  const std::string groups = between("[2, 4, 45]", "[2, 12, 5, 3]", "");
  CHECK(HasStep(groups, "group_norm"));
  CHECK_FALSE(HasStep(groups, "instance_norm"));
  RunOnKernels(groups);
  RunOnKernels(between("[2, 4, 3, 5, 3]", "[2, 12, 5, 3]", ""));
  // Not if the normalized value has another use or another shape.
  const std::string used = between("[2, 4, 45]", "[2, 12, 5, 3]", "out \"n\" = %n");
  CHECK_FALSE(HasStep(used, "group_norm"));
  RunOnKernels(used);
  RunOnKernels(between("[2, 4, 45]", "[2, 12, 3, 5]", ""));
  RunOnKernels(between("[6, 4, 15]", "[2, 12, 5, 3]", ""));
}

TEST_CASE("norm kernels: normalization over any axes") {
  struct Row {
    const char* x;
    const char* axes;
    int axis;
  };
  for (const Row& r : {
           Row{"[3, 51]", "[-1]", 1},
           Row{"[3, 51]", "[0]", 0},
           Row{"[2, 5, 6, 70]", "[3]", 3},
           Row{"[2, 5, 6, 70]", "[1, 2]", 1},
           Row{"[2, 5, 6, 70]", "[3, 1, 2]", 2},
           Row{"[2, 5, 6, 70]", "[1, 2, 3]", 0},
           Row{"[2, 5, 6, 7]", "[0, 3]", 1},
           Row{"[2, 5, 6, 7]", "[2, 1]", 2},
           Row{"[2, 5, 6, 7]", "[3, 2]", 3},
           Row{"[2, 20, 1]", "[1]", 1},
           Row{"[300]", "[0]", 0},
       }) {
    std::vector<std::string> ops = {fmt::format(
        "mean_variance_normalization(%x) {{axes = {}, normalize_variance = false}}", r.axes)};
    for (const char* rule : {"inside", "outside", "floor"})
      for (const char* op : {"l2_normalization", "mean_variance_normalization"})
        ops.push_back(fmt::format("{}(%x) {{axes = {}, epsilon = 0.3, epsilon_rule = {}}}", op,
                                  r.axes, rule));
    for (const int p : {1, 2})
      ops.push_back(fmt::format("lp_normalization(%x) {{axis = {}, p = {}}}", r.axis, p));
    CheckNorms(r.x, "", ops);
  }
  RunOnKernels("graph { in %x: f32[]  %y = l2_normalization(%x) {axes = []}  out \"y\" = %y }");
  CheckCase({"a norm of zero, of infinity and of NaN",
             R"(graph { in %x: f32[4, 2]
                %y = lp_normalization(%x)  %z = l2_normalization(%x)
                out "y" = %y  out "z" = %z })",
             {{0, -0.0, 3, 4, kInf, 1, kNan, 1}},
             {{0, 0, 3.0f / 5.0f, 4.0f / 5.0f, kNan, 0, kNan, kNan},
              {0, 0, 3.0f / 5.0f, 4.0f / 5.0f, kNan, 0, kNan, kNan}}});
}

TEST_CASE("norm kernels: lrn") {
  for (const char* shape : {"[2, 3]", "[2, 4, 5, 1]", "[1, 5, 7, 16]", "[2, 3, 3, 75]"}) {
    std::vector<std::string> ops;
    for (const char* attrs : {"size = 1", "size = 5, alpha = 0.5", "size = 4, beta = 0.5, bias = 2",
                              "size = 200, alpha = 10, beta = 1.25"})
      for (const char* layout : {"ncx", "nxc"})
        ops.push_back(fmt::format("lrn(%x) {{{}, layout = {}}}", attrs, layout));
    CheckNorms(shape, "", ops);
  }
}

TEST_CASE("norm kernels: batch_norm by operands that are computed") {
  for (const char* shape : {"[2, 19, 5]", "[3, 19]", "[1, 19, 6, 7]", "[0, 19]"})
    CheckNorms(shape,
               "in %s: f32[19]  in %b: f32[19]  in %m: f32[19]  in %w: f32[19]  %v = abs(%w)",
               {"batch_norm(%x, %s, %b, %m, %v) {epsilon = 0.01}"});
}

// The rows of an input or result that is part of a concatenation are strided.
TEST_CASE("norm kernels: parts of wider tensors") {
  for (const char* op :
       {"layer_norm(%x, %s, %b)", "layer_norm(%x, %s, %b) {axis = 1}", "rms_norm(%x, %s)",
        "instance_norm(%x, %s, %b) {layout = nxc}",
        "group_norm(%x, %s, %b) {groups = 3, layout = nxc}", "l2_normalization(%x)",
        "l2_normalization(%x) {axes = [1]}", "lp_normalization(%x) {axis = 1}",
        "mean_variance_normalization(%x) {axes = [2, 1]}",
        "mean_variance_normalization(%x) {axes = [0, 1, 2]}", "lrn(%x) {size = 3, layout = nxc}"}) {
    RunOnKernels(fmt::format(
        R"(graph {{ in %w: f32[2, 9, 18]  in %o: f32[2, 9, 5]  in %s: f32[18]  in %b: f32[18]
                    %x = neg(%w)  %y = {}  %c = concat(%x, %o) {{axis = 2}}  %n = relu(%c)
                    %d = concat(%o, %y) {{axis = 2}}  %m = relu(%d)
                    out "n" = %n  out "m" = %m }})",
        op));
  }
}

TEST_CASE("norm kernels: no elements") {
  for (const char* shape : {"[0, 4, 6]", "[2, 0, 6]", "[2, 4, 0]"})
    CheckNorms(shape, "",
               {"layer_norm(%x)", "layer_norm(%x) {axis = 1}", "rms_norm(%x)",
                "l2_normalization(%x) {axes = [1]}", "l2_normalization(%x) {axes = [2, 1]}",
                "lp_normalization(%x)", "mean_variance_normalization(%x) {axes = [1, 2]}",
                "lrn(%x) {layout = nxc}"});
  for (const char* shape : {"[0, 4, 6]", "[2, 0, 6]"})
    CheckNorms(shape, "in %s: f32[6]  in %b: f32[6]",
               {"instance_norm(%x, %s, %b) {layout = nxc}",
                "group_norm(%x, %s, %b) {groups = 3, layout = nxc}"});
}

}  // namespace
}  // namespace nn::test::norm_test
