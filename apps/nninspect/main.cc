// nninspect: says what is in a model file.
#include "apps/common/command_line.h"
#include "apps/nninspect/inspection.h"
#include "base/file.h"

namespace nn::app {
namespace {

void AddOptions(CommandLine& command, InspectOptions& o) {
  CLI::App& app = command.options();
  app.add_option("MODEL", o.model, "Model file")->required();
  auto* nodes = app.add_flag("--nodes", o.nodes, "List every operator");
  auto* format = app.add_option("--format", o.format, "Form of what is printed")
                     ->check(CLI::IsMember({"text", "json"}))
                     ->capture_default_str();
  auto* dump =
      app.add_flag("--dump", o.dump, "Print the whole model as JSON, which is taken for the model")
          ->excludes(nodes)
          ->excludes(format);
  AddWeightsOption(command, o.weights)->needs(dump);
  app.add_option("-o,--output", o.output, "Write to a file")->type_name("FILE");
  AddShapeOptions(command, o.shapes);
}

Result<int> Dump(const InspectOptions& o) {
  if (!o.shapes.empty()) return UsageError("--dump prints the model as it is: it takes no shapes");
  NN_ASSIGN(const ReadModel read, ReadModelFile(o.model, o.limits));
  NN_RETURN_IF_ERROR(WriteDump(read, o.output, o.weights));
  return kExitDone;
}

Result<int> Run(const InspectOptions& o) {
  if (o.dump) return Dump(o);
  NN_ASSIGN(const Inspection inspection, Inspect(o));
  NN_RETURN_IF_ERROR(WriteFile(o.output, o.format == "json"
                                             ? JsonText(InspectionJson(inspection, o.nodes))
                                             : InspectionText(inspection, o.nodes)));
  return kExitDone;
}

}  // namespace
}  // namespace nn::app

int main(int argc, char** argv) {
  nn::app::CommandLine command("nninspect", "Says what is in a neural-network model file.");
  nn::app::InspectOptions options;
  nn::app::AddOptions(command, options);
  return command.Run(argc, argv, [&] {
    options.limits = command.limits();
    return nn::app::Run(options);
  });
}
