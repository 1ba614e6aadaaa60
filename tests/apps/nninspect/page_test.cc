// Pages: nninspect --format html, in a browser where there is one.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "apps/browser.h"
#include "apps/program.h"
#include "support/files.h"
#include "support/skip.h"

namespace nn::test::nninspect_page_test {
namespace {

// Blocks of a convolution and two activations that an addition joins, in scopes or without names.
std::string Blocks(int stages, int blocks, bool named) {
  std::string out = "graph \"blocks\" {\n  in %x: f32[1, 4, 8, 8]\n";
  std::string last = "x";
  for (int i = 0; i < stages * blocks; ++i) {
    const std::string scope = fmt::format("stage{}/block{}/", i / blocks, i % blocks);
    const auto name = [&](const char* op) {
      return named ? fmt::format("\"{}{}\"", scope, op) : std::string();
    };
    out += fmt::format("const %w{}: f32[4, 4, 1, 1] = seeded({})\n", i, i);
    out += fmt::format("%c{0} = conv(%{1}, %w{0}) {2}\n", i, last, name("conv"));
    out += fmt::format("%r{0} = relu(%c{0}) {1}\n", i, name("relu"));
    out += fmt::format("%s{0} = sigmoid(%c{0}) {1}\n", i, name("sigmoid"));
    out += fmt::format("%a{0} = add(%r{0}, %s{0}) {1}\n", i, name("add"));
    last = fmt::format("a{}", i);
  }
  return out + "out \"y</script>\" = %" + last + "\n}";
}

Json DataOf(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t from = page.find(open), to = page.find("</script>", from);
  REQUIRE(from != std::string::npos);
  return Json::parse(page.substr(from + open.size(), to - from - open.size()));
}

std::string MakePage(const TempDir& dir, const std::string& arguments, int code = 0) {
  const ProgramResult r =
      RunProgram("nninspect --format html -o " + dir / "page.html" + " " + arguments);
  CHECK_MESSAGE(r.code == code, r.err);
  return dir / "page.html";
}

TEST_CASE("pages: one file, with all details") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", Blocks(2, 3, true));
  const std::string page = ReadText(MakePage(dir, dir / "m.onnx"));
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(Contains(page, "default-src 'none'"));
  // Refers to nothing outside.
  CHECK(!Contains(page, " src="));
  CHECK(!Contains(page, "href="));
  CHECK(!Contains(page, "url("));
  CHECK(!Contains(page, "https:"));
  const Json model = DataOf(page)["models"][0];
  CHECK(model["operators"].size() == 24);
  const Json conv = model["operators"][0];
  CHECK(conv["op"] == "Conv");
  CHECK(conv["name"] == "stage0/block0/conv");
  CHECK(conv["outputs"][0] == Json({"c0", "f32[1, 4, 8, 8]", 0}));
  CHECK(conv["multiply_adds"] == 1024);
  CHECK(conv["constants"][0]["statistics"]["count"] == 16);
  const Json histogram = conv["constants"][0]["statistics"]["histogram"];
  CHECK(histogram["counts"].size() == 32);
  size_t sum = 0;
  for (const Json& n : histogram["counts"]) sum += n.get<size_t>();
  CHECK(sum == 16);
  // The same bytes each time.
  CHECK(ReadText(MakePage(dir, dir / "m.onnx")) == page);
}

TEST_CASE("pages: findings and times of the other programs") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  Patch(dir / "m.onnx", "pads", "padz");
  const ProgramResult report = RunProgram("nnvalidate --format json " + dir / "m.onnx");
  CHECK(report.code == 1);
  WriteText(dir / "findings.json", report.out);
  const std::string page = MakePage(dir, "--findings " + dir / "findings.json " + dir / "m.onnx");
  const Json findings = DataOf(ReadText(page))["models"][0]["findings"];
  REQUIRE(findings.size() > 0);
  CHECK(findings[0][0] == 0);
  CHECK(findings[0][1] == "error");
  CHECK(Contains(findings[0][3].get<std::string>(), "padz"));

  WriteModel(dir / "good.onnx", ConvModel());
  const ProgramResult run =
      RunProgram("nnrun --bench --runs 1 --profile --format json " + dir / "good.onnx");
  CHECK_MESSAGE(run.code == 0, run.err);
  WriteText(dir / "times.json", run.out);
  const Json operators = DataOf(ReadText(MakePage(
      dir, "--times " + dir / "times.json " + dir / "good.onnx")))["models"][0]["operators"];
  CHECK(operators[0]["time"].get<double>() > 0);

  // Against itself with other weights of the convolution.
  WriteModel(dir / "other.onnx", ConvModel());
  const ProgramResult half =
      RunProgram("nnconvert --bf16 --weights-only " + dir / "good.onnx " + dir / "other.onnx");
  REQUIRE_MESSAGE(half.code == 0, half.err);
  const ProgramResult against =
      RunProgram("nnrun --format json " + dir / "good.onnx" + " --against " + dir / "other.onnx");
  WriteText(dir / "errors.json", against.out);
  const Json compared = DataOf(ReadText(MakePage(
      dir, "--errors " + dir / "errors.json " + dir / "good.onnx")))["models"][0]["operators"];
  CHECK(compared[0]["error"].get<double>() > 0);
  CHECK(compared[0]["error"].get<double>() < 0.1);

  const auto error = [&](const std::string& arguments) {
    const ProgramResult r = RunProgram("nninspect --format html " + arguments);
    CHECK(r.code != 0);
    return r.err;
  };
  CHECK(Contains(error("--times " + dir / "findings.json " + dir / "m.onnx"),
                 "not a report of nnrun --bench --profile --format json"));
  CHECK(Contains(error("--findings " + dir / "m.onnx " + dir / "m.onnx"),
                 "not a report of nnvalidate --format json"));
  CHECK(Contains(error("--tensors " + dir / "m.onnx"), "cannot be combined"));
  const ProgramResult text = RunProgram("nninspect --times x " + dir / "m.onnx");
  CHECK(Contains(text.err, "--findings, --times and --errors need --format html"));
}

// Helpers of the scripts.
constexpr std::string_view kHelpers = R"js(
const view = page.views[0], get = (id) => document.getElementById(id);
const key = (target, key) => target.dispatchEvent(
    new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
const type = (text) => { get('search').value = text; get('search').dispatchEvent(new Event('input')); };
const heading = () => get('details').querySelector('h2').textContent;
const pixel = (v, x, y) => {
  drawView(v);
  const r = devicePixelRatio, p = v.context.getImageData(
      Math.round((x - v.x) * v.scale * r), Math.round((y - v.y) * v.scale * r), 1, 1).data;
  return '#' + [...p].slice(0, 3).map((c) => c.toString(16).padStart(2, '0')).join('');
};
const click = (v, x, y) => {
  const box = v.canvas.getBoundingClientRect();
  for (const name of ['pointerdown', 'pointerup'])
    v.canvas.dispatchEvent(new PointerEvent(name, {bubbles: true, pointerId: 1,
        clientX: box.left + (x - v.x) * v.scale, clientY: box.top + (y - v.y) * v.scale}));
};
// Boxes that overlap, and ends of lines that are not at a box.
const faults = (v) => {
  let overlaps = 0, loose = 0;
  const {boxes, frames, lines} = v.scene;
  boxes.forEach((a, i) => boxes.slice(0, i).forEach((b) => {
    if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h) ++overlaps;
  }));
  for (const {path, ends} of lines) {
    const [x, y] = path[path.length - 1];
    if (ends && !boxes.some((b) => Math.abs(b.y - y) < 0.01 && Math.abs(b.x + b.w / 2 - x) < 0.01))
      ++loose;
  }
  return {overlaps, loose, boxes: boxes.length, frames: frames.length, lines: lines.length};
};
)js";

std::string Script(std::string_view text) {
  return std::string(kHelpers) + std::string(text);
}

TEST_CASE("pages: search, keys, groups and colors in a browser") {
  const auto browser = FindBrowser();
  if (!browser) return Skip("Chromium is not installed");
  const TempDir dir;
  WriteModel(dir / "m.onnx", Blocks(2, 3, true));
  const Json r = RunInBrowser(*browser, MakePage(dir, dir / "m.onnx"), Script(R"js(
result = {ready: Number(document.documentElement.dataset.ready), title: get('title').textContent};
result.first = faults(view);
type('stage1/block2/c');
result.found = [...get('results').children].map((li) => li.textContent);
key(get('search'), 'Enter');
result.selected = heading();
result.details = get('details').textContent;
result.bars = get('details').querySelectorAll('svg.bars rect').length;
result.status = get('status').textContent;
key(view.canvas, 'ArrowDown');
result.below = heading();
key(view.canvas, 'ArrowUp');
result.above = heading();
const b = view.rectOf(view.selected);
result.fill = [pixel(view, b.x + 8, b.y + 4), kindColors(view.model, 0, page.colors)[0]];
key(view.canvas, 't');
result.dark = [document.documentElement.dataset.theme, pixel(view, b.x + 8, b.y + 4),
               kindColors(view.model, 0, page.colors)[0], pixel(view, view.x + 2, view.y + 2)];
page.setHeat('multiply_adds');
result.heat = [pixel(view, b.x + 8, b.y + 4), heatColors(1, page.colors)[0]];
key(view.canvas, 'c');
result.closed = faults(view);
key(view.canvas, 'e');
result.open = faults(view);
key(view.canvas, 'Escape');
result.model = heading();
const box = view.scene.boxes.find((x) => x.index === 1);
view.moveTo(box, true);
click(view, box.x + box.w / 2, box.y + 5);
result.clicked = heading();
const frame = view.scene.frames.find((f) => f.group.title === 'block0');
view.moveTo(frame, true);
click(view, frame.x + 12, frame.y + 10);
result.toggled = [frame.group.open, heading()];
key(view.canvas, 'Enter');
result.again = frame.group.open;
const x = view.x;
view.canvas.dispatchEvent(new WheelEvent('wheel', {deltaX: 50, deltaY: 0, cancelable: true}));
result.moved = view.x > x;
const scale = view.scale;
key(view.canvas, '+');
result.scaled = view.scale > scale;
key(view.canvas, 'f');
result.fits = view.scene.h * view.scale <= view.canvas.clientHeight;
)js"));
  REQUIRE(r.is_object());
  CHECK(r["ready"].get<int>() > 0);
  CHECK(r["title"] == "m.onnx");
  for (const char* name : {"first", "closed", "open"}) {
    CAPTURE(name);
    CHECK(r[name]["overlaps"] == 0);
    CHECK(r[name]["loose"] == 0);
  }
  // 24 operators, input and output; two stages that repeat a block.
  CHECK(r["first"]["boxes"] == 10);
  CHECK(r["open"]["boxes"] == 26);
  CHECK(r["closed"]["boxes"] == 4);
  REQUIRE(r["found"].size() == 1);
  CHECK(r["found"][0] == "#20 Conv stage1/block2/conv");
  CHECK(r["selected"] == "#20 Conv");
  CHECK(r["status"] == "#20 Conv");
  const std::string details = r["details"];
  for (const char* text : {"stage1/block2/conv", "kernel_shape[1, 1]", "f32[1, 4, 8, 8]",
                           "FLOAT[4, 4, 1, 1]", "multiply-adds1,024", "0 zeros"})
    CHECK_MESSAGE(Contains(details, text), text);
  CHECK(r["bars"] == 32);
  CHECK(r["below"] == "#21 Relu");
  CHECK(r["above"] == "#20 Conv");
  CHECK(r["fill"][0] == r["fill"][1]);
  CHECK(r["dark"][0] == "dark");
  CHECK(r["dark"][1] == r["dark"][2]);
  CHECK(r["dark"][1] != r["fill"][1]);
  CHECK(r["dark"][3] == "#14171b");
  CHECK(r["heat"][0] == r["heat"][1]);
  CHECK(r["model"] == "blocks");
  CHECK(r["clicked"] == "#0 Conv");
  CHECK(r["toggled"] == Json({false, "block0"}));
  CHECK(r["again"] == true);
  CHECK(r["moved"] == true);
  CHECK(r["scaled"] == true);
  CHECK(r["fits"] == true);
}

TEST_CASE("pages: two models side by side in a browser") {
  const auto browser = FindBrowser();
  if (!browser) return Skip("Chromium is not installed");
  const TempDir dir;
  WriteModel(dir / "a.onnx", ConvModel());
  std::string other = ConvModel();
  other.replace(other.find("seeded(2)"), 9, "seeded(3)");
  other.replace(other.find("relu(%hidden)"), 13, "tanh(%hidden)");
  WriteModel(dir / "b.tflite", other);
  const std::string models = "--diff " + dir / "a.onnx" + " " + dir / "b.tflite";
  const Json r = RunInBrowser(*browser, MakePage(dir, models, 1), Script(R"js(
const [a, b] = page.views;
result = {title: get('title').textContent, views: document.querySelectorAll('.view canvas').length};
result.summary = get('details').textContent;
result.links = [...get('details').querySelectorAll('li a')].map((link) => link.textContent);
key(a.canvas, 'n');
result.first = heading();
result.text = get('details').textContent;
result.other = b.selected && b.panel.boxes[b.selected.box][1];
const box = a.rectOf(a.selected);
page.select(a, null);
result.marked = [pixel(a, box.x + box.w / 2, box.y), page.colors.changed];
key(a.canvas, 'n');
result.second = heading();
)js"));
  REQUIRE(r.is_object());
  CHECK(r["title"] == "a.onnx  ↔  b.tflite");
  CHECK(r["views"] == 2);
  CHECK(Contains(r["summary"].get<std::string>(), "Operators that differ: "));
  CHECK(r["links"][0] == "changed: #0 Conv conv1");
  CHECK(r["links"][1] == "removed: #1 Relu relu1");
  CHECK(r["first"] == "#0 Conv");
  CHECK(Contains(r["text"].get<std::string>(), "4 of 4 elements differ"));
  CHECK(r["other"] == "CONV_2D");
  CHECK(r["marked"][0] == r["marked"][1]);
  CHECK(r["second"] == "#1 Relu");
}

TEST_CASE("pages: 5,000 operators in a browser") {
  const auto browser = FindBrowser();
  if (!browser) return Skip("Chromium is not installed");
  const TempDir dir;
  for (const bool named : {true, false}) {
    CAPTURE(named);
    WriteModel(dir / "m.onnx", Blocks(50, 25, named));
    const Json r = RunInBrowser(*browser, MakePage(dir, dir / "m.onnx"), Script(R"js(
result = {ready: Number(document.documentElement.dataset.ready), operators: view.model.operators.length};
const time = (act) => { const t = performance.now(); act(); return performance.now() - t; };
result.open = time(() => { view.setAll(true); drawView(view); });
result.boxes = view.scene.boxes.length;
view.home();
drawView(view);
result.drawn = view.drawn;
result.frames = [];
for (let i = 0; i < 51; ++i) result.frames.push(time(() => { view.y += 100; drawView(view); }));
result.frames.sort((a, b) => a - b);
result.whole = time(() => { view.fit(); drawView(view); });
result.search = time(() => type('sigmoid'));
)js"));
    REQUIRE(r.is_object());
    CHECK(r["operators"] == 5000);
    CHECK(r["boxes"] == 5002);
    MESSAGE("ready after ", r["ready"].dump(), " ms, all open ", r["open"].dump(), " ms, a frame ",
            r["frames"][25].dump(), " ms, the whole ", r["whole"].dump(), " ms");
    CHECK(r["ready"].get<double>() < 2000);
    CHECK(r["frames"][25].get<double>() < 16);
    // Only what is visible is drawn.
    CHECK(r["drawn"].get<int>() > 10);
    CHECK(r["drawn"].get<int>() < 300);
  }
}

}  // namespace
}  // namespace nn::test::nninspect_page_test
