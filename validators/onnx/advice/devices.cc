// Rules for device configurations (IR version 11).
#include <algorithm>
#include <optional>
#include <set>

#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

std::string ConfigurationPath(int i, std::string_view field) {
  return fmt::format("configuration[{}].{}", i, field);
}

void ConfigurationsComplete(const RuleContext& s, Findings& f) {
  for (int i = 0; i < s.proto().configuration_size(); ++i) {
    const auto& c = s.proto().configuration(i);
    if (c.name().empty())
      f.Add(At(ConfigurationPath(i, "name")), "configuration {} has no name", i);
    if (c.num_devices() < 1)
      f.Add(At(ConfigurationPath(i, "num_devices")),
            "configuration {} has num_devices {}; must be at least 1", Quote(c.name()),
            c.num_devices());
  }
}

void ConfigurationsUnique(const RuleContext& s, Findings& f) {
  std::set<std::string_view> seen;
  for (int i = 0; i < s.proto().configuration_size(); ++i)
    if (!seen.insert(s.proto().configuration(i).name()).second)
      f.Add(At(ConfigurationPath(i, "name")), "another configuration is already named {}",
            Quote(s.proto().configuration(i).name()));
}

void DevicesNamed(const RuleContext& s, Findings& f) {
  for (int i = 0; i < s.proto().configuration_size(); ++i) {
    const auto& c = s.proto().configuration(i);
    if (c.device_size() > 0 && c.device_size() != c.num_devices())
      f.Add(At(ConfigurationPath(i, "device")),
            "configuration {} lists {} devices, but num_devices is {}", Quote(c.name()),
            c.device_size(), c.num_devices());
  }
}

// Calls visit(node, path, configuration) for the device configurations of all nodes.
template <typename Visit>
void EachNodeConfiguration(const RuleContext& s, const Visit& visit) {
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->device_configurations_size(); ++i)
      visit(node, fmt::format("device_configurations[{}]", i), node.node->device_configurations(i));
}

void ConfigurationsKnown(const RuleContext& s, Findings& f) {
  std::set<std::string_view> names;
  for (const auto& c : s.proto().configuration()) names.insert(c.name());
  EachNodeConfiguration(s, [&](const NodeAt& node, const std::string& path, const auto& c) {
    if (!names.contains(c.configuration_id()))
      f.Add(s.Where(node, path + ".configuration_id"),
            "{} refers to device configuration {}, which the model does not have", Title(node),
            Quote(c.configuration_id()));
  });
}

// Calls visit(node, path, spec) for the sharding specifications of all nodes.
template <typename Visit>
void EachSharding(const RuleContext& s, const Visit& visit) {
  EachNodeConfiguration(s, [&](const NodeAt& node, const std::string& path, const auto& c) {
    for (int i = 0; i < c.sharding_spec_size(); ++i)
      visit(node, fmt::format("{}.sharding_spec[{}]", path, i), c.sharding_spec(i));
  });
}

void ShardedValuesKnown(const RuleContext& s, Findings& f) {
  EachSharding(s, [&](const NodeAt& node, const std::string& path, const auto& spec) {
    const auto among = [&](const auto& names) {
      return std::find(names.begin(), names.end(), spec.tensor_name()) != names.end();
    };
    if (spec.tensor_name().empty() || (!among(node.node->input()) && !among(node.node->output())))
      f.Add(s.Where(node, path + ".tensor_name"), "{} has no input or output {}", Title(node),
            Quote(spec.tensor_name()));
  });
}

// The rank of a value of the graph, from its initializer or its declared type.
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

void ShardedAxesInRange(const RuleContext& s, Findings& f) {
  EachSharding(s, [&](const NodeAt& node, const std::string& path, const auto& spec) {
    const auto rank = RankOf(*node.body, spec.tensor_name());
    for (int i = 0; i < spec.sharded_dim_size(); ++i) {
      const auto& dim = spec.sharded_dim(i);
      const auto where = s.Where(node, fmt::format("{}.sharded_dim[{}].axis", path, i));
      if (!dim.has_axis())
        f.Add(where, "{} shards {}, but without an axis", Title(node), Quote(spec.tensor_name()));
      else if (rank && (dim.axis() < -*rank || dim.axis() >= *rank))
        f.Add(where, "{} shards {} along axis {}, but its rank is {}", Title(node),
              Quote(spec.tensor_name()), dim.axis(), *rank);
    }
  });
}

void ShardsCounted(const RuleContext& s, Findings& f) {
  EachSharding(s, [&](const NodeAt& node, const std::string& path, const auto& spec) {
    for (int i = 0; i < spec.sharded_dim_size(); ++i)
      for (const auto& part : spec.sharded_dim(i).simple_sharding())
        if (part.num_shards() < 1)
          f.Add(s.Where(node, fmt::format("{}.sharded_dim[{}]", path, i)),
                "{} splits {} into {} shards; must be at least 1", Title(node),
                Quote(spec.tensor_name()), part.num_shards());
  });
}

constexpr std::string_view kDevicesClause = "IR.md, Multi-Device Configuration";

constexpr Rule kDeviceRules[] = {
    {.info = {.id = "ONNX-DEV-001",
              .statement = "Every device configuration has a name and at least one device.",
              .clause = kDevicesClause,
              .hint = "Set the name, and set num_devices to 1 or more."},
     .check = ConfigurationsComplete},
    {.info = {.id = "ONNX-DEV-002",
              .statement = "Device configurations have different names.",
              .clause = kDevicesClause,
              .hint = "Rename one of the configurations."},
     .check = ConfigurationsUnique},
    {.info = {.id = "ONNX-DEV-003",
              .statement =
                  "The device list of a device configuration is empty or has num_devices entries.",
              .clause = kDevicesClause,
              .hint = "List one name per device, or none."},
     .check = DevicesNamed},
    {.info = {.id = "ONNX-DEV-004",
              .statement =
                  "Every configuration_id of a node names a device configuration of the model.",
              .clause = kDevicesClause,
              .hint = "Correct configuration_id, or add the configuration to the model."},
     .check = ConfigurationsKnown},
    {.info = {.id = "ONNX-DEV-005",
              .statement =
                  "Every sharding specification of a node names an input or output of the node.",
              .clause = kDevicesClause,
              .hint = "Set tensor_name to an input or output of the node."},
     .check = ShardedValuesKnown},
    {.info =
         {.id = "ONNX-DEV-006",
          .statement =
              "Every sharded dimension has an axis that is within the rank of the sharded tensor.",
          .clause = kDevicesClause,
          .hint = "Set axis to a value from -rank to rank - 1."},
     .check = ShardedAxesInRange},
    {.info = {.id = "ONNX-DEV-007",
              .statement = "The number of shards of a sharded dimension is positive.",
              .clause = kDevicesClause,
              .hint = "Set num_shards to 1 or more."},
     .check = ShardsCounted},
};

}  // namespace

std::span<const Rule> DeviceRules() {
  return kDeviceRules;
}

}  // namespace nn::onnx
