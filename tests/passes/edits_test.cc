// Edits of the interface: sizes, layouts, preprocessing, models in a row.
#include "passes/interface/edits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/eval.h"
#include "passes/core/passes.h"
#include "passes/interface/refit_dims.h"
#include "support/run_graph.h"

namespace nn::test::edits_test {
namespace {

// Runs a graph by the reference evaluation, with the shapes of the inputs.
ModelFunction Reference(const Graph& graph) {
  return [&graph](const std::vector<Tensor>& inputs) -> Result<std::vector<Tensor>> {
    Graph bound = graph.Clone();
    std::map<std::string, std::vector<int64_t>> shapes;
    std::vector<const Tensor*> pointers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      shapes[bound.inputs()[i].name] = inputs[i].dims();
      pointers.push_back(&inputs[i]);
    }
    NN_RETURN_IF_ERROR(BindInputShapes(bound, shapes));
    EvalBudget budget;
    return EvalGraph(bound, pointers, budget, false);
  };
}

// Seeded inputs of the graph, whose symbols have these sizes.
std::vector<Tensor> Inputs(const Graph& graph, const std::map<std::string, int64_t>& sizes) {
  Graph bound = graph.Clone();
  REQUIRE(BindSymbols(bound, sizes).has_value());
  return InputsOf(bound, {});
}

// Checks that the edited graph computes what the edit says, bit by bit or nearly.
void CheckEdit(const Graph& before, const Graph& after, const GraphEdit& edit) {
  auto all_sizes = edit.sizes;
  if (all_sizes.empty()) all_sizes.resize(1);
  for (const auto& sizes : all_sizes) {
    const std::vector<Tensor> inputs = Inputs(after, sizes);
    ModelFunction reference = Reference(before);
    if (edit.wrap) reference = edit.wrap(reference);
    const auto want = reference(inputs);
    const auto got = Reference(after)(inputs);
    REQUIRE_MESSAGE(want.has_value(), want.error().message());
    REQUIRE_MESSAGE(got.has_value(), got.error().message());
    REQUIRE(got->size() == want->size());
    for (size_t i = 0; i < got->size(); ++i) {
      const Tensor &a = (*want)[i], &b = (*got)[i];
      REQUIRE(a.dims() == b.dims());
      if (edit.is_exact) {
        CHECK(a.Identical(b));
        continue;
      }
      for (int64_t k = 0; k < a.elements(); ++k)
        CHECK(b.GetDouble(k) == doctest::Approx(a.GetDouble(k)).epsilon(1e-6));
    }
  }
}

std::string Body(std::string_view text) {
  return "graph { " + std::string(text) + " out \"y\" = %y }";
}

bool Mentions(const GraphEdit& edit, std::string_view part) {
  return std::ranges::any_of(
      edit.notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

Dims Parsed(const std::vector<std::string>& texts) {
  Dims out;
  for (const std::string& text : texts) out.push_back(*Dim::Parse(text));
  return out;
}

// ---- Sizes

TEST_CASE("edits: the shape of a reshape follows its input") {
  struct Row {
    std::vector<std::string> old_in, old_out, in, out;
  };
  for (const Row& row : {
           Row{{"1", "8", "6"}, {"1", "8", "2", "3"}, {"n", "8", "6"}, {"n", "8", "2", "3"}},
           Row{{"1", "8", "6"}, {"8", "6"}, {"n", "8", "6"}, {"8*n", "6"}},
           Row{{"1", "3", "2", "2"}, {"1", "12"}, {"n", "3", "2", "2"}, {"n", "12"}},
           Row{{"1", "1", "8"}, {"1", "8"}, {"1", "n", "8"}, {"n", "8"}},
           Row{{"1", "1", "8"}, {"1", "1", "8"}, {"1", "n", "8"}, {"1", "n", "8"}},
           Row{{"8", "1", "6"}, {"8", "2", "3"}, {"8", "n", "6"}, {"8", "2*n", "3"}},
           Row{{"8", "1", "6"}, {"8", "6"}, {"8", "n", "6"}, {"8*n", "6"}},
           Row{{"8", "2", "3"}, {"8", "6"}, {"8", "2*n", "3"}, {"8*n", "6"}},
           Row{{"8", "6"}, {"1", "8", "6"}, {"8*n", "6"}, {"n", "8", "6"}},
           Row{{"4", "6"}, {"2", "2", "6"}, {"2*n", "6"}, {"n", "2", "6"}},
           Row{{"1", "7", "7", "4"}, {"1", "49", "4"}, {"n", "h", "w", "4"}, {"n", "h*w", "4"}},
       }) {
    std::vector<Dim> inner;
    const auto got = RefitDims(Parsed(row.old_in), Parsed(row.old_out), Parsed(row.in), inner);
    REQUIRE(got.has_value());
    CHECK(ToString(*got) == ToString(Parsed(row.out)));
  }
  // A factor that came last stays last.
  std::vector<Dim> inner;
  CHECK(RefitDims(Parsed({"8", "1", "6"}), Parsed({"8", "6"}), Parsed({"8", "n", "6"}), inner));
  const auto split =
      RefitDims(Parsed({"8", "6"}), Parsed({"8", "1", "6"}), Parsed({"8*n", "6"}), inner);
  REQUIRE(split.has_value());
  CHECK(ToString(*split) == "[8, n, 6]");
  CHECK(!RefitDims(Parsed({"49"}), Parsed({"7", "7"}), Parsed({"h*w"}), inner));
}

TEST_CASE("edits: a fixed batch opens, and what holds it follows") {
  struct Row {
    std::string_view name, graph, output;
  };
  for (const Row& row : {
           Row{"heads",
               "in %x: f32[1, 4, 6] %a = reshape(%x) {dims = [1, 4, 2, 3]} %b = transpose(%a) "
               "{perm = [0, 2, 1, 3]} %c = reshape(%b) {dims = [2, 4, 3]} %d = reshape(%c) "
               "{dims = [1, 2, 4, 3]} %e = transpose(%d) {perm = [0, 2, 1, 3]} %y = reshape(%e) "
               "{dims = [1, 4, 6]}",
               "f32[N, 4, 6]"},
           Row{"the rest of a reshape is not the batch",
               "in %x: f32[1, 4, 6] %y = reshape(%x) {dims = [1, -1, 3]}", "f32[N, 8, 3]"},
           Row{"a class token",
               "in %x: f32[1, 4, 6] const %t: f32[1, 1, 6] = seeded(1, 0.5) %y = concat(%t, %x) "
               "{axis = 1}",
               "f32[N, 5, 6]"},
           Row{"equal parts of a constant",
               "in %x: f32[2, 3] const %c: f32[2, 3] = [1, 2, 3, 1, 2, 3] %y = add(%x, %c)",
               "f32[N, 3]"},
           Row{"a mask of the batch",
               "in %x: f32[2, 3] const %c: f32[1] = [0.5] %m = expand(%c) {dims = [2, 3]} "
               "%y = mul(%x, %m)",
               "f32[N, 3]"},
           Row{"the whole axis",
               "in %x: f32[2, 3] %y = slice(%x) {axes = [0], starts = [0], ends = [2]}",
               "f32[N, 3]"},
           Row{"the whole axis, and part of another one",
               "in %x: f32[2, 3] %y = slice(%x) {axes = [0, 1], starts = [0, 1], ends = [2, 3]}",
               "f32[N, 2]"},
           Row{"a broadcast to the batch", "in %x: f32[2, 1, 3] %y = expand(%x) {dims = [2, 4, 3]}",
               "f32[N, 4, 3]"},
           Row{"a moved axis of size 1 is a transpose",
               "in %x: f32[1, 4, 2, 3] %a = reshape(%x) {dims = [4, 2, 1, 3]} const %k: f32[4, 1, "
               "1, 1] = [1, 2, 3, 4] %b = mul(%a, %k) %y = transpose(%b) {perm = [2, 0, 1, 3]}",
               "f32[N, 4, 2, 3]"},
           Row{"a broadcast of merged axes",
               "in %x: f32[1, 4, 1, 3] %a = reshape(%x) {dims = [4, 1, 3]} %b = expand(%a) "
               "{dims = [4, 2, 3]} %y = reshape(%b) {dims = [1, 4, 2, 3]}",
               "f32[N, 4, 2, 3]"},
           Row{"a mask of merged axes",
               "in %x: f32[1, 4, 2, 3] %a = reshape(%x) {dims = [4, 2, 3]} const %m: f32[4, 1, 3] "
               "= "
               "seeded(1, 1) %b = add(%a, %m) %y = reshape(%b) {dims = [1, 4, 2, 3]}",
               "f32[N, 4, 2, 3]"},
           Row{"a shape that is computed",
               "in %x: f32[2, 3, 4] %s = shape_of(%x) const %i: i64[1] = [0] const %r: i64[1] = "
               "[12] %b = gather(%s, %i) %t = concat(%b, %r) {axis = 0} %y = reshape(%x, %t)",
               "f32[N, 12]"},
       }) {
    CAPTURE(row.name);
    const Graph before = Parse(Body(row.graph));
    Graph after = before.Clone();
    const auto edit = SetBatch(after, Dim::Symbol("N"));
    REQUIRE_MESSAGE(edit.has_value(), edit.error().message());
    CHECK(after.outputs()[0].value->type().ToString() == row.output);
    CHECK(edit->sizes.size() == 2);
    CheckEdit(before, after, *edit);
    Graph five = before.Clone();
    const auto number = SetBatch(five, Dim(5));
    REQUIRE_MESSAGE(number.has_value(), number.error().message());
    CHECK(five.inputs()[0].value->type().dim(0) == 5);
    CheckEdit(before, five, *number);
  }
}

TEST_CASE("edits: the node that fixes a batch") {
  struct Row {
    std::string_view graph, message;
  };
  for (const Row& row : {
           Row{"in %x: f32[2, 3] const %c: f32[2, 3] = [1, 2, 3, 4, 5, 6] %y = add(%x, %c) \"sum\"",
               "add \"sum\" fixes the size \"N\": operand 1 is f32[2, 3], with 2 parts that "
               "differ"},
           Row{"in %x: f32[2, 3] const %i: i64[1] = [0] %y = gather(%x, %i) \"first\"",
               "gather \"first\" fixes the size \"N\": its result does not depend on \"N\""},
           Row{"in %x: f32[4, 3] %y = slice(%x) {axes = [0], starts = [0], ends = [2]} \"half\"",
               "slice \"half\" fixes"},
           Row{"in %x: f32[2, 3] const %w: f32[2, 2] = seeded(1, 1) %y = matmul(%w, %x) \"mix\"",
               "matmul \"mix\""},
       }) {
    CAPTURE(row.graph);
    Graph graph = Parse(Body(row.graph));
    const auto edit = SetBatch(graph, Dim::Symbol("N"));
    REQUIRE(!edit.has_value());
    CHECK(edit.error().code() == ErrorCode::kUnsupported);
    CHECK_MESSAGE(edit.error().message().find(row.message) != std::string::npos,
                  edit.error().message());
  }
  Graph sizes = Parse(Body("in %x: f32[2, 3] in %k: f32[3] %y = add(%x, %k)"));
  CHECK(SetBatch(sizes, Dim::Symbol("N")).error().code() == ErrorCode::kUsage);
  CHECK(SetBatch(sizes, Dim(-1)).error().code() == ErrorCode::kUsage);
}

TEST_CASE("edits: a batch has independent samples") {
  constexpr std::string_view kJoins = "joins the samples of a batch";
  const auto why = [](const Result<GraphEdit>& edit) {
    if (edit) return std::string();
    CHECK(edit.error().code() == ErrorCode::kUnsupported);
    return edit.error().message();
  };
  struct Row {
    std::string_view graph, message;
  };
  for (const Row& row : {
           Row{"in %x \"x\": f32[1, 6] %y = reduce_sum(%x) {axes = [0], keep_dims = false}",
               kJoins},
           Row{"in %x \"x\": f32[1, 6] %m = reduce_mean(%x) %y = sub(%x, %m)", kJoins},
           Row{"in %x \"x\": f32[1, 6] const %z: i64[] = [0] %g = gather(%x, %z) "
               "%y = expand_dims(%g) {axes = [0]}",
               "its result does not depend on"},
           // All elements of all samples meet one matrix.
           Row{"in %x \"x\": f32[1, 2, 3] const %w: f32[6, 4] = seeded(1) "
               "%f = reshape(%x) {dims = [6]} %m = matmul(%f, %w) "
               "%y = expand_dims(%m) {axes = [0]}",
               "matmul"},
       }) {
    CAPTURE(row.graph);
    for (const Dim& n : {Dim::Symbol("N"), Dim(3)}) {
      Graph graph = Parse(Body(row.graph));
      const std::string text = why(SetBatch(graph, n));
      CHECK_MESSAGE(!text.empty(), text);
    }
    Graph graph = Parse(Body(row.graph));
    Dims dims = *graph.inputs()[0].value->type().dims;
    dims[0] = Dim::Symbol("N");
    const std::string text = why(SetInputShapes(graph, {{"x", dims}}));
    CHECK_MESSAGE(text.find(row.message) != std::string::npos, text);
  }
  // A first axis of another size may be a sequence.
  const Graph before =
      Parse(Body("in %x \"x\": f32[2, 3] %y = reduce_sum(%x) {axes = [0], keep_dims = false}"));
  Graph after = before.Clone();
  const auto edit = SetInputShapes(after, {{"x", {Dim::Symbol("T"), Dim(3)}}});
  REQUIRE_MESSAGE(edit.has_value(), edit.error().message());
  CHECK(edit->sizes.size() == 1);
  CheckEdit(before, after, *edit);
}

TEST_CASE("edits: shapes with symbols") {
  const char* const text =
      "graph { in %a \"a\": f32[1, 3, 8, 8] in %b \"b\": f32[1, 3, m, m] const %w: f32[4, 3, 3, 3] "
      "= seeded(1, 0.3) %c = conv(%a, %w) {pads = [1, 1, 1, 1], strides = [2, 2]} %y = relu(%c) "
      "%z = exp(%b) out \"y\" = %y out \"z\" = %z }";
  const Graph before = Parse(text);
  Graph after = before.Clone();
  const auto edit = SetInputShapes(
      after, {{"a", Parsed({"N", "3", "h", "w"})}, {"b", Parsed({"N", "3", "k", "k"})}});
  REQUIRE_MESSAGE(edit.has_value(), edit.error().message());
  CHECK(after.inputs()[0].value->type().ToString() == "f32[N, 3, h, w]");
  CHECK(after.inputs()[1].value->type().ToString() == "f32[N, 3, k, k]");
  CHECK(after.outputs()[0].value->type().dim(0).ToString() == "N");
  CHECK(Mentions(*edit, "input \"a\": f32[1, 3, 8, 8] -> f32[N, 3, h, w]"));
  REQUIRE(edit->sizes.size() == 2);
  CHECK(edit->sizes[0] == std::map<std::string, int64_t>{{"N", 1}, {"h", 8}, {"w", 8}});
  CHECK(edit->sizes[1] == std::map<std::string, int64_t>{{"N", 3}, {"h", 8}, {"w", 8}});
  CHECK(edit->guessed_sizes.empty());
  // Equal symbols are equal sizes, and numbers must fit.
  for (const auto& [name, dims] :
       {std::pair("a", Parsed({"N", "N", "8", "8"})), std::pair("a", Parsed({"N", "3", "8"})),
        std::pair("a", Parsed({"2", "3", "8", "8"})), std::pair("b", Parsed({"1", "3", "4", "5"})),
        std::pair("c", Parsed({"N"}))}) {
    Graph graph = before.Clone();
    const auto wrong = SetInputShapes(graph, {{name, dims}});
    REQUIRE(!wrong.has_value());
    CHECK(wrong.error().code() == ErrorCode::kUsage);
  }
  // A product of weights fixes the size of the picture.
  Graph flat =
      Parse(Body("in %x \"x\": f32[1, 3, 4, 4] const %w: f32[48, 2] = seeded(1, 0.3) "
                 "%f = reshape(%x) {dims = [1, 48]} %y = matmul(%f, %w) \"dense\""));
  const auto fixed = SetInputShapes(flat, {{"x", Parsed({"N", "3", "h", "w"})}});
  REQUIRE(!fixed.has_value());
  CHECK(fixed.error().code() == ErrorCode::kUnsupported);
  CHECK(fixed.error().message().find("matmul \"dense\" fixes the size") != std::string::npos);
}

// ---- Layouts

TEST_CASE("edits: layouts") {
  const Graph before = Parse(Body(
      "in %x: f32[1, 3, 8, 6] const %w: f32[4, 3, 3, 3] = seeded(1, 0.3) const %h: f32[] = [0.5] "
      "%a = mul(%x, %h) %b = conv(%a, %w) %c = relu(%b) %y = transpose(%c) "
      "{perm = [0, 2, 3, 1]}"));
  CHECK(LayoutOf(*before.inputs()[0].value) == Layout::kNcx);
  CHECK(LayoutOf(*before.outputs()[0].value) == Layout::kNxc);
  Graph after = before.Clone();
  const auto in = ChangeLayout(after, true, 0, std::nullopt, Layout::kNxc);
  REQUIRE_MESSAGE(in.has_value(), in.error().message());
  CHECK(after.inputs()[0].value->type().ToString() == "f32[1, 8, 6, 3]");
  CheckEdit(before, after, *in);
  Graph both = before.Clone();
  const auto out = ChangeLayout(both, false, 0, std::nullopt, Layout::kNcx);
  REQUIRE_MESSAGE(out.has_value(), out.error().message());
  CHECK(both.outputs()[0].value->type().ToString() == "f32[1, 4, 6, 4]");
  CheckEdit(before, both, *out);
  const auto same = ChangeLayout(both, true, 0, std::nullopt, Layout::kNcx);
  REQUIRE_FALSE(same.has_value());
  CHECK(same.error().code() == ErrorCode::kUsage);
  CHECK(same.error().message() == "--layout x=nchw has no effect: the input has this layout");

  const Graph unclear = Parse(Body("in %x: f32[1, 3, 8, 6] %y = exp(%x)"));
  Graph stated = unclear.Clone();
  CHECK(ChangeLayout(stated, true, 0, std::nullopt, Layout::kNxc).error().code() ==
        ErrorCode::kUsage);
  const auto edit = ChangeLayout(stated, true, 0, Layout::kNcx, Layout::kNxc);
  REQUIRE(edit.has_value());
  CheckEdit(unclear, stated, *edit);
  Graph flat = Parse(Body("in %x: f32[1, 3] %y = exp(%x)"));
  CHECK(ChangeLayout(flat, true, 0, Layout::kNcx, Layout::kNxc).error().code() ==
        ErrorCode::kUsage);
}

// ---- Preprocessing

std::vector<double> Preprocessed(const Graph& before, const Preprocessing& p,
                                 const std::vector<double>& pixels, std::string_view type) {
  Graph after = before.Clone();
  const auto edit = PreprocessInput(after, 0, p);
  REQUIRE_MESSAGE(edit.has_value(), edit.error().message());
  CHECK(after.inputs()[0].value->type().ToString() == type);
  CheckEdit(before, after, *edit);
  const auto out = Reference(after)(InputsOf(after, {pixels}));
  REQUIRE_MESSAGE(out.has_value(), out.error().message());
  return (*out)[0].ToDoubles();
}

void CheckNear(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-6));
}

TEST_CASE("edits: preprocessing") {
  const Graph first = Parse(Body("in %x: f32[1, 3, 1, 2] %y = neg(%x)"));
  const std::vector<double> pixels = {255, 102, 0, 102, 51, 204};
  Preprocessing p;
  p.bytes = true;
  CheckNear(Preprocessed(first, p, pixels, "u8[1, 3, 1, 2]"), {-1, -0.4, 0, -0.4, -0.2, -0.8});
  p.mean = {0.5, 0, 0.1};
  p.std = {0.5, 1, 2};
  CheckNear(Preprocessed(first, p, pixels, "u8[1, 3, 1, 2]"), {-1, 0.2, 0, -0.4, -0.05, -0.35});
  // The numbers are those of the channels of the model.
  p.reverse_colors = true;
  CheckNear(Preprocessed(first, p, pixels, "u8[1, 3, 1, 2]"), {0.6, -0.6, 0, -0.4, -0.45, -0.15});
  p = Preprocessing();
  p.scale = 2;
  p.bias = {1};
  CheckNear(Preprocessed(first, p, {0, 1, 2, 3, 4, 5}, "f32[1, 3, 1, 2]"),
            {-1, -3, -5, -7, -9, -11});
  // Integers are the pixels.
  p = Preprocessing();
  p.bytes = true;
  CHECK(Preprocessed(Parse(Body("in %x: i8[1, 3, 1, 2] %y = reshape(%x) {dims = [6]}")), p, pixels,
                     "u8[1, 3, 1, 2]") == std::vector<double>{127, -26, -128, -26, -77, 76});
  CHECK(Preprocessed(
            Parse(Body("in %x: i8[1, 3, 1, 2]{scale=0.5, zp=-128} %y = reshape(%x) {dims = [6]} : "
                       "i8[6]{scale=0.5, zp=-128}")),
            p, pixels, "u8[1, 3, 1, 2]{scale=0.5, zp=0}") ==
        std::vector<double>{127, -26, -128, -26, -77, 76});
  p.size = std::pair<int64_t, int64_t>(1, 1);
  CHECK(Preprocessed(
            Parse(Body("in %x: i8[1, 3, 1, 2]{scale=0.5, zp=-128} %y = reshape(%x) {dims = [6]} : "
                       "i8[6]{scale=0.5, zp=-128}")),
            p, {255, 0, 51},
            "u8[1, 3, 1, 1]") == std::vector<double>{127, 127, -128, -128, -77, -77});
  p.size.reset();
  // Quantized numbers: 1 is 128 steps.
  p.scale = 1.0 / 255;
  CHECK(Preprocessed(Parse(Body("in %x: u8[1, 3, 1, 2]{scale=0.0078125, zp=128} %y = reshape(%x) "
                                "{dims = [6]} : u8[6]{scale=0.0078125, zp=128}")),
                     p, pixels,
                     "u8[1, 3, 1, 2]") == std::vector<double>{255, 179, 128, 179, 154, 230});
}

TEST_CASE("edits: preprocessing that resizes") {
  std::vector<double> pixels;
  for (int row = 0; row < 2; ++row)
    for (const double v : {0, 100, 200, 40}) pixels.push_back(v);
  Preprocessing p;
  p.bytes = true;
  p.scale = 1;
  p.size = std::pair<int64_t, int64_t>(2, 4);
  // As tests/apps/nnrun/pictures_test.cc has for pictures.
  CHECK(Preprocessed(Parse(Body("in %x: f32[1, 1, 1, 2] %y = relu(%x)")), p, pixels,
                     "u8[1, 1, 2, 4]") == std::vector<double>{71, 117});
  p.layout = Layout::kNcx;
  CHECK(Preprocessed(Parse(Body("in %x: f32[1, 1, 2, 1] %y = relu(%x)")), p,
                     {0, 0, 0, 0, 8, 8, 8, 8}, "u8[1, 1, 2, 4]") == std::vector<double>{0, 8});
  CHECK(Preprocessed(Parse(Body("in %x: f32[1, 1, 2, 8] %y = slice(%x) {axes = [2], starts = [0], "
                                "ends = [1]}")),
                     p, pixels,
                     "u8[1, 1, 2, 4]") == std::vector<double>{0, 25, 75, 125, 175, 160, 80, 40});
  p.layout = Layout::kNxc;
  CHECK(Preprocessed(Parse(Body("in %x: f32[1, 1, 2, 1] %y = relu(%x)")), p, pixels,
                     "u8[1, 2, 4, 1]") == std::vector<double>{71, 117});
  p.mode = ResizeMode::kNearest;
  CHECK(Preprocessed(Parse(Body("in %x: f32[1, 1, 2, 1] %y = relu(%x)")), p, pixels,
                     "u8[1, 2, 4, 1]") == std::vector<double>{100, 40});
}

TEST_CASE("edits: preprocessing that an input cannot take") {
  Preprocessing colors, numbers, zero, size;
  colors.reverse_colors = true;
  numbers.mean = {1, 2};
  zero.std = {0};
  size.size = std::pair<int64_t, int64_t>(4, 4);
  struct Row {
    std::string_view graph;
    Preprocessing p;
  };
  for (const Row& row : {Row{"in %x: f32[1, 4, 8, 8] %y = exp(%x)", colors},
                         Row{"in %x: f32[1, 3, 8, 8] %y = exp(%x)", numbers},
                         Row{"in %x: f32[1, 5, 8, 8] %y = exp(%x)", numbers},
                         Row{"in %x: f32[1, 3, 8, 8] %y = exp(%x)", zero},
                         Row{"in %x: f32[3, 8, 8] %y = exp(%x)", size},
                         Row{"in %x: f32[1, 3, h, w] %y = exp(%x)", size},
                         Row{"in %x: bool[1, 3, 8, 8] %y = not(%x)", zero}}) {
    CAPTURE(row.graph);
    Graph g = Parse(Body(row.graph));
    const auto edit = PreprocessInput(g, 0, row.p);
    REQUIRE(!edit.has_value());
    CHECK(edit.error().code() == ErrorCode::kUsage);
  }
}

// ---- Models in a row

TEST_CASE("edits: models in a row") {
  const Graph before = Parse(
      "graph { in %x \"x\": f32[N, 3] in %k \"k\": f32[3] %y = add(%x, %k) %z = exp(%x) "
      "out \"y\" = %y out \"z\" = %z }");
  const Graph other = Parse(
      "graph { in %a \"a\": f32[N, 3] in %k \"k\": f32[N, 3] const %c: f32[3] = [1, 2, 3] "
      "%b = mul(%a, %c) %y = sub(%b, %k) out \"z\" = %y out \"b\" = %b }");
  Graph after = before.Clone();
  const auto edit = MergeGraph(after, other, {{0, 0}}, "other_", Reference(other));
  REQUIRE_MESSAGE(edit.has_value(), edit.error().message());
  std::string ports;
  for (const Port& p : after.inputs()) ports += p.name + " " + p.value->type().ToString() + "; ";
  for (const Port& p : after.outputs()) ports += p.name + "; ";
  CHECK(ports == "x f32[N, 3]; k f32[3]; other_k f32[N, 3]; z; other_z; b; ");
  CHECK(Mentions(*edit, "input \"k\" of the second model is named \"other_k\""));
  Graph bound = after.Clone();
  REQUIRE(BindSymbols(bound, {{"N", 2}}).has_value());
  CheckEdit(before, bound, *edit);
}

TEST_CASE("edits: models that do not fit in a row") {
  const Graph before = Parse("graph { in %x: f32[1, n] %y = exp(%x) out \"y\" = %y }");
  for (const char* const input : {"i32[1, 4]", "f32[1, 4, 1]", "f32[2, 4]"}) {
    CAPTURE(input);
    const Graph other = Parse(Body("in %x: " + std::string(input) + " %y = neg(%x)"));
    Graph after = before.Clone();
    const auto edit = MergeGraph(after, other, {{0, 0}}, "b_", Reference(other));
    REQUIRE(!edit.has_value());
    CHECK(edit.error().code() == ErrorCode::kUsage);
    CHECK(edit.error().message().find("--connect y=") != std::string::npos);
  }
  // A symbol becomes the size of the other model.
  const Graph four = Parse(Body("in %x: f32[1, 4] %y = neg(%x)"));
  Graph after = before.Clone();
  REQUIRE(MergeGraph(after, four, {{0, 0}}, "b_", Reference(four)).has_value());
  CHECK(after.inputs()[0].value->type().ToString() == "f32[1, 4]");
}

TEST_CASE("edits: a transpose between models of different layouts") {
  const Graph before = Parse(
      Body("in %x: f32[1, 3, 4, 4] const %w: f32[3, 3, 1, 1] = seeded(1, 0.3) %y = conv(%x, %w)"));
  const Graph other = Parse(
      Body("in %x: f32[1, 4, 4, 3] const %w: f32[2, 3, 1, 1] = seeded(2, 0.3) %y = conv(%x, %w) "
           "{layout = nxc}"));
  Graph after = before.Clone();
  const auto edit = MergeGraph(after, other, {{0, 0}}, "b_", Reference(other));
  REQUIRE_MESSAGE(edit.has_value(), edit.error().message());
  CHECK(Mentions(*edit, "is transposed for input"));
  CHECK(after.outputs()[0].value->type().ToString() == "f32[1, 4, 4, 2]");
  CheckEdit(before, after, *edit);
}

}  // namespace
}  // namespace nn::test::edits_test
