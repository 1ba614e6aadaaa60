#include "formats/native_edits.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "exec/program.h"
#include "formats/common/describe/compare.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "passes/facts/input_domains.h"
#include "rewrite/legalize.h"
#include "support/files.h"
#include "support/open_sizes.h"
#include "support/paths.h"
#include "validators/runner.h"

namespace nn::test {
namespace {

std::map<std::string, Type> TypesOf(const Graph& graph) {
  std::map<std::string, Type> types;
  for (const Value& value : graph.values())
    if (!value.name().empty()) types.try_emplace(std::string(value.name()), value.type());
  return types;
}

std::string DumpText(const ReadModel& read) {
  const TempDir dir;
  REQUIRE(WriteDump(read, dir / "d.json").has_value());
  return ReadText(dir / "d.json");
}

// The part of the flow from `begin` to `end`: `inputs` are the values from before it, `outputs`
// those that are needed behind it.
NativeEdit PartOf(const NativeFlow& flow, size_t begin, size_t end,
                  const std::map<std::string, Type>& types) {
  NativeEdit edit;
  const size_t count = flow.values.size();
  std::vector<bool> is_known(count), is_read(count), is_needed(count), is_own(count);
  for (const size_t v : flow.inputs) is_known[v] = true;
  for (size_t i = 0; i < flow.operators.size(); ++i) {
    edit.keeps.push_back(i >= begin && i < end);
    for (const size_t v : flow.operators[i].inputs)
      if (i >= end)
        is_needed[v] = true;
      else if (i >= begin && !is_own[v])
        is_read[v] = true;
    for (const size_t v : flow.operators[i].outputs)
      if (i < begin)
        is_known[v] = true;
      else if (i < end)
        is_own[v] = true;
  }
  for (const size_t v : flow.outputs) is_needed[v] = true;
  const auto typed = [&](size_t v) {
    NativeEdit::Port port{v};
    if (const auto it = types.find(flow.values[v].name); it != types.end())
      port.type = ValueType::Tensor(it->second);
    return port;
  };
  const bool is_last = end == flow.operators.size();
  for (size_t v = 0; v < count; ++v) {
    const bool passes = is_last && is_known[v] && is_needed[v] && !is_own[v];
    if (is_known[v] && (is_read[v] || passes)) edit.inputs.push_back(typed(v));
    if (!is_last && is_own[v] && is_needed[v]) edit.outputs.push_back(typed(v));
  }
  if (is_last)
    for (const size_t v : flow.outputs) edit.outputs.push_back({v});
  return edit;
}

}  // namespace

ReadModel FromDump(const std::string& text) {
  auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(text)), "m.json");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return *std::move(read);
}

ImportedModel ImportDump(const std::string& text) {
  const ReadModel read = FromDump(text);
  auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  return *std::move(imported);
}

Json DumpOf(const ReadModel& read) {
  const TempDir dir;
  REQUIRE(WriteDump(read, dir / "d.json").has_value());
  return Json::parse(ReadText(dir / "d.json"))["model"];
}

NativeFlow FlowOrFail(const ReadModel& read) {
  auto flow = read.format->editor.FlowOf(*read.model);
  REQUIRE_MESSAGE(flow.has_value(), flow.error().message());
  return *std::move(flow);
}

size_t ValueAt(const NativeFlow& flow, const std::string& name) {
  const auto it = std::ranges::find(flow.values, name, &NativeFlow::Value::name);
  REQUIRE_MESSAGE(it != flow.values.end(), name);
  return static_cast<size_t>(it - flow.values.begin());
}

NativeEdit IdentityOf(const NativeFlow& flow) {
  NativeEdit edit;
  edit.keeps.assign(flow.operators.size(), true);
  for (const size_t v : flow.inputs) edit.inputs.push_back({v});
  for (const size_t v : flow.outputs) edit.outputs.push_back({v});
  return edit;
}

NativeEdit PieceOf(const NativeFlow& flow, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs,
                   const std::map<std::string, Type>& types) {
  NativeEdit edit;
  edit.keeps.assign(flow.operators.size(), false);
  std::set<size_t> given, needed;
  for (const std::string& name : inputs) {
    NativeEdit::Port port{ValueAt(flow, name)};
    if (const auto it = types.find(name); it != types.end())
      port.type = ValueType::Tensor(it->second);
    given.insert(port.value);
    edit.inputs.push_back(port);
  }
  for (const std::string& name : outputs) {
    edit.outputs.push_back({ValueAt(flow, name)});
    needed.insert(edit.outputs.back().value);
  }
  for (size_t i = flow.operators.size(); i-- > 0;) {
    const auto& op = flow.operators[i];
    if (std::ranges::none_of(op.outputs,
                             [&](size_t v) { return needed.contains(v) && !given.contains(v); }))
      continue;
    edit.keeps[i] = true;
    needed.insert(op.inputs.begin(), op.inputs.end());
  }
  return edit;
}

ReadModel EditOrFail(const ReadModel& read, const NativeEdit& edit) {
  auto edited = read.format->editor.Apply(*read.model, edit);
  REQUIRE_MESSAGE(edited.has_value(), edited.error().message());
  return {read.format, *std::move(edited)};
}

std::string EditError(const ReadModel& read, const NativeEdit& edit) {
  const auto edited = read.format->editor.Apply(*read.model, edit);
  REQUIRE_FALSE(edited.has_value());
  return edited.error().message();
}

PortNames PortsOf(const ReadModel& read) {
  auto names = read.format->describer.PortNamesOf(*read.model);
  REQUIRE_MESSAGE(names.has_value(), names.error().message());
  return *std::move(names);
}

std::vector<std::string> DifferencesOf(const ReadModel& a, const ReadModel& b) {
  const auto differences = CompareModels(a, b);
  // Models whose weights are in files of a package are compared as a whole.
  if (!differences && differences.error().code() == ErrorCode::kUnsupported)
    return DumpText(a) == DumpText(b) ? std::vector<std::string>()
                                      : std::vector<std::string>{"different dumps"};
  REQUIRE_MESSAGE(differences.has_value(), differences.error().message());
  std::vector<std::string> out;
  for (const FieldDifference& d : *differences)
    out.push_back(fmt::format("{}: {} -> {}", d.place, d.a, d.b));
  return out;
}

std::vector<std::string> BrokenRules(const ReadModel& read, const ReadModel* source) {
  std::set<std::string> rules;
  for (const Finding& f : Validate(*read.model, *read.format, {}))
    rules.insert(std::string(f.rule));
  if (source != nullptr)
    for (const std::string& rule : BrokenRules(*source)) rules.erase(rule);
  return {rules.begin(), rules.end()};
}

Tensor TensorOf(DType dtype, const std::vector<int64_t>& dims, const std::vector<double>& values) {
  auto builder = TensorBuilder::Create(dtype, dims);
  REQUIRE(builder.has_value());
  for (size_t i = 0; i < values.size(); ++i) builder->SetDouble(static_cast<int64_t>(i), values[i]);
  return builder->Finish();
}

Result<ModelRun> RunModel(const ReadModel& read, const std::map<std::string, Tensor>& values) {
  NN_ASSIGN(Graph graph, ImportGraph(read, "m"));
  const PortNames names = PortsOf(read);
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    if (graph.inputs()[i].name.empty()) graph.RenameInput(i, names.inputs[i]);
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    if (graph.outputs()[i].name.empty()) graph.RenameOutput(i, names.outputs[i]);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const Port& port : graph.inputs())
    if (const auto it = values.find(port.name); it != values.end())
      shapes[port.name] = it->second.dims();
  NN_RETURN_IF_ERROR(BindInputShapes(graph, shapes));
  NN_RETURN_IF_ERROR(BindOpenSizes(graph));
  const std::vector<Domain> domains = InputDomains(graph);
  ModelRun run;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Port& port = graph.inputs()[i];
    if (const auto it = values.find(port.name); it != values.end()) {
      inputs.push_back(it->second);
    } else {
      NN_ASSIGN(Tensor t, SeededInput(port.name, port.value->type(), i, 1, domains[i]));
      inputs.push_back(std::move(t));
    }
    run.inputs[port.name] = inputs.back();
  }
  NN_ASSIGN(const Program program, Program::Compile(graph, {}));
  NN_ASSIGN(const std::vector<Tensor> results, program.Run(inputs));
  for (size_t i = 0; i < results.size(); ++i) run.outputs[graph.outputs()[i].name] = results[i];
  return run;
}

namespace {

// `part` breaks no rule that the model does not break.
void CheckRules(const ReadModel& part, const std::set<std::string>& present) {
  for (const Finding& f : Validate(*part.model, *part.format, {}))
    CHECK_MESSAGE(present.contains(std::string(f.rule)), f.rule, ": ", f.message);
}

}  // namespace

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dims() == b.dims() &&
         (a.dtype() == DType::kString ? std::ranges::equal(a.strings(), b.strings())
                                      : std::ranges::equal(a.blob().bytes(), b.blob().bytes()));
}

int CheckCuts(const ReadModel& read, const std::set<std::string>& known, size_t most) {
  const NativeFlow flow = FlowOrFail(read);
  const size_t count = flow.operators.size();
  const auto imported = read.format->importer.Import(*read.model);
  const auto types =
      imported.has_value() ? TypesOf(imported->graph) : std::map<std::string, Type>();
  const auto rules = BrokenRules(read);
  std::set<std::string> broken = known;
  broken.insert(rules.begin(), rules.end());
  const auto whole = RunModel(read);
  int cuts = 0;
  const size_t step = std::max<size_t>(1, count / (most + 1));
  for (size_t at = step; at < count; at += step) {
    CAPTURE(at);
    auto first = read.format->editor.Apply(*read.model, PartOf(flow, 0, at, types));
    auto second = read.format->editor.Apply(*read.model, PartOf(flow, at, count, types));
    if (!first || !second) {
      const Error& error = first ? second.error() : first.error();
      CHECK_MESSAGE(error.code() == ErrorCode::kUnsupported, error.message());
      continue;
    }
    ++cuts;
    const ReadModel head{read.format, *std::move(first)};
    const ReadModel tail{read.format, *std::move(second)};
    CheckRules(head, broken);
    CheckRules(tail, broken);
    if (!whole) continue;
    std::map<std::string, Tensor> values = whole->inputs;
    const auto between = RunModel(head, values);
    REQUIRE_MESSAGE(between.has_value(), between.error().message());
    values.insert(between->outputs.begin(), between->outputs.end());
    const auto result = RunModel(tail, values);
    REQUIRE_MESSAGE(result.has_value(), result.error().message());
    for (const auto& output : whole->outputs) {
      CAPTURE(output.first);
      REQUIRE(result->outputs.contains(output.first));
      CHECK(SameBits(result->outputs.at(output.first), output.second));
    }
  }
  return cuts;
}

namespace {

// The model, or the graph as a model of the format; nullopt for others.
std::optional<ReadModel> ModelOf(const std::string& path, const Format& format) {
  if (!path.ends_with(".graph")) {
    auto read = ReadModelFile(path);
    if (!read || read->format != &format) return std::nullopt;
    return *std::move(read);
  }
  auto graph = ParseGraph(ReadText(path));
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const auto unsupported = Legalize(*graph, *format.target);
  if (!unsupported || !unsupported->empty()) return std::nullopt;
  const auto image = format.writer.Write(*graph, {});
  if (!image) return std::nullopt;
  std::string file;
  for (const Blob& b : image->parts) file.append(reinterpret_cast<const char*>(b.data()), b.size());
  auto model = format.reader.Read(Blob::Copy(std::as_bytes(std::span(file))), "", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  return ReadModel{&format, *std::move(model)};
}
}  // namespace

int CheckCutsOfAll(std::string_view name,
                   const std::map<std::string, std::set<std::string>>& known) {
  int cuts = 0;
  const Format& format = *FindFormat(name);
  for (const char* folder : {"golden", "tests/fuzz/corpus"})
    for (const auto& entry : std::filesystem::directory_iterator(SourcePath(folder))) {
      const std::string path = entry.path().string();
      CAPTURE(path);
      if (!entry.is_regular_file()) continue;
      const auto read = ModelOf(path, format);
      if (!read) continue;
      const auto flow = format.editor.FlowOf(*read->model);
      if (!flow) {
        CHECK_MESSAGE(flow.error().code() == ErrorCode::kUnsupported, flow.error().message());
        continue;
      }
      // The first identity drops what nothing uses; models of the corpus have nothing of that kind.
      const ReadModel same = EditOrFail(*read, IdentityOf(*flow));
      const ReadModel& before = path.ends_with(".graph") ? same : *read;
      const ReadModel again = EditOrFail(same, IdentityOf(FlowOrFail(same)));
      CHECK(fmt::format("{}", fmt::join(DifferencesOf(before, again), "\n")) == "");
      const auto it = known.find(entry.path().filename().string());
      cuts += CheckCuts(*read, it == known.end() ? std::set<std::string>() : it->second);
    }
  return cuts;
}

}  // namespace nn::test
