#include "apps/common/model/model.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/common/describe/dump.h"
#include "passes/core/ports.h"

namespace nn::app {

Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options) {
  NN_ASSIGN(const std::string file, WriteDumpFiles(read, path, options));
  if (!file.empty() && PlainRelativePath(options.file) != file) SayOtherName(options.file, file);
  return {};
}

void SayOtherName(std::string_view wanted, std::string_view name) {
  spdlog::info("{} exists with different contents and is kept; the tensors are in {}",
               Quote(wanted), Quote(name));
}

Status FitRanks(Graph& graph, const ReadModel& read, const std::string& path,
                const InputShapes& shapes) {
  if (!read.format->importer.TakesOtherRanks()) return {};
  const bool differs = std::ranges::any_of(graph.inputs(), [&](const Port& p) {
    const auto given = shapes.find(p.name);
    return given != shapes.end() && p.value->type().ranked() &&
           given->second.size() != p.value->type().dims->size();
  });
  if (!differs) return {};
  NN_ASSIGN(graph, ImportGraph(read, path, shapes));
  NamePorts(graph);
  return {};
}

}  // namespace nn::app
