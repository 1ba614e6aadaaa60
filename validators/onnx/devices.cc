// Rules of configurations for several devices (IR version 11).
#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

std::string Path(int i, std::string_view field) {
  return fmt::format("configuration[{}].{}", i, field);
}

void ConfigurationsComplete(const Subject& s, Findings& f) {
  for (int i = 0; i < s.proto().configuration_size(); ++i) {
    const auto& c = s.proto().configuration(i);
    if (c.name().empty()) f.Add(At(Path(i, "name")), "configuration {} has no name", i);
    if (c.num_devices() < 1)
      f.Add(At(Path(i, "num_devices")), "configuration {} has {} devices", Quote(c.name()),
            c.num_devices());
  }
}

void ConfigurationsUnique(const Subject& s, Findings& f) {
  std::set<std::string_view> seen;
  for (int i = 0; i < s.proto().configuration_size(); ++i)
    if (!seen.insert(s.proto().configuration(i).name()).second)
      f.Add(At(Path(i, "name")), "a second configuration is named {}",
            Quote(s.proto().configuration(i).name()));
}

void DevicesNamed(const Subject& s, Findings& f) {
  for (int i = 0; i < s.proto().configuration_size(); ++i) {
    const auto& c = s.proto().configuration(i);
    if (c.device_size() > 0 && c.device_size() != c.num_devices())
      f.Add(At(Path(i, "device")), "configuration {} names {} devices and has {}", Quote(c.name()),
            c.device_size(), c.num_devices());
  }
}

// Calls visit(node, path, configuration) for the configurations of nodes.
template <typename Visit>
void EachNodeConfiguration(const Subject& s, const Visit& visit) {
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->device_configurations_size(); ++i)
      visit(node, fmt::format("device_configurations[{}]", i), node.node->device_configurations(i));
}

void ConfigurationsKnown(const Subject& s, Findings& f) {
  std::set<std::string_view> names;
  for (const auto& c : s.proto().configuration()) names.insert(c.name());
  EachNodeConfiguration(s, [&](const NodeAt& node, const std::string& path, const auto& c) {
    if (!names.contains(c.configuration_id()))
      f.Add(s.Where(node, path + ".configuration_id"), "{} is of configuration {}, which is none",
            Title(node), Quote(c.configuration_id()));
  });
}

// Calls visit(node, path, spec) for what says how values of nodes are spread.
template <typename Visit>
void EachSharding(const Subject& s, const Visit& visit) {
  EachNodeConfiguration(s, [&](const NodeAt& node, const std::string& path, const auto& c) {
    for (int i = 0; i < c.sharding_spec_size(); ++i)
      visit(node, fmt::format("{}.sharding_spec[{}]", path, i), c.sharding_spec(i));
  });
}

void ShardedValuesKnown(const Subject& s, Findings& f) {
  EachSharding(s, [&](const NodeAt& node, const std::string& path, const auto& spec) {
    const auto among = [&](const auto& names) {
      return std::find(names.begin(), names.end(), spec.tensor_name()) != names.end();
    };
    if (spec.tensor_name().empty() || (!among(node.node->input()) && !among(node.node->output())))
      f.Add(s.Where(node, path + ".tensor_name"), "{} has no input or output {}", Title(node),
            Quote(spec.tensor_name()));
  });
}

// The rank that an initialiser or a declared type gives a value of the graph.
std::optional<int> RankOf(const Body& body, const std::string& name) {
  if (body.graph == nullptr) return std::nullopt;
  for (const auto& tensor : body.graph->initializer())
    if (tensor.name() == name) return tensor.dims_size();
  for (const auto* infos : {&body.graph->input(), &body.graph->output(), &body.graph->value_info()})
    for (const auto& info : *infos)
      if (info.name() == name && info.type().tensor_type().has_shape())
        return info.type().tensor_type().shape().dim_size();
  return std::nullopt;
}

void ShardedAxesInRange(const Subject& s, Findings& f) {
  EachSharding(s, [&](const NodeAt& node, const std::string& path, const auto& spec) {
    const auto rank = RankOf(*node.body, spec.tensor_name());
    for (int i = 0; i < spec.sharded_dim_size(); ++i) {
      const auto& dim = spec.sharded_dim(i);
      const auto where = s.Where(node, fmt::format("{}.sharded_dim[{}].axis", path, i));
      if (!dim.has_axis())
        f.Add(where, "{} spreads {} along no axis", Title(node), Quote(spec.tensor_name()));
      else if (rank && (dim.axis() < -*rank || dim.axis() >= *rank))
        f.Add(where, "{} spreads {} along axis {}, but its rank is {}", Title(node),
              Quote(spec.tensor_name()), dim.axis(), *rank);
    }
  });
}

void ShardsCounted(const Subject& s, Findings& f) {
  EachSharding(s, [&](const NodeAt& node, const std::string& path, const auto& spec) {
    for (int i = 0; i < spec.sharded_dim_size(); ++i)
      for (const auto& part : spec.sharded_dim(i).simple_sharding())
        if (part.num_shards() < 1)
          f.Add(s.Where(node, fmt::format("{}.sharded_dim[{}]", path, i)),
                "{} spreads {} over {} shards", Title(node), Quote(spec.tensor_name()),
                part.num_shards());
  });
}

constexpr std::string_view kClause = "IR.md, Multi-Device Configuration";

constexpr Rule kRules[] = {
    {{"ONNX-DEV-001", Severity::kError, "A configuration of devices has a name and devices.",
      kClause, false, ""},
     ConfigurationsComplete},
    {{"ONNX-DEV-002", Severity::kError, "Configurations of devices have different names.", kClause,
      false, "Rename one of them."},
     ConfigurationsUnique},
    {{"ONNX-DEV-003", Severity::kError,
      "A configuration that names its devices names as many as it has.", kClause, false, ""},
     DevicesNamed},
    {{"ONNX-DEV-004", Severity::kError, "Nodes name configurations of the model.", kClause, false,
      ""},
     ConfigurationsKnown},
    {{"ONNX-DEV-005", Severity::kError,
      "What a node spreads over devices is among its inputs and outputs.", kClause, false, ""},
     ShardedValuesKnown},
    {{"ONNX-DEV-006", Severity::kError, "The axis of a sharding is one of the value.", kClause,
      false, ""},
     ShardedAxesInRange},
    {{"ONNX-DEV-007", Severity::kError, "An axis is split into a positive number of shards.",
      kClause, false, ""},
     ShardsCounted},
};

}  // namespace

std::span<const Rule> DeviceRules() {
  return kRules;
}

}  // namespace nn::onnx
