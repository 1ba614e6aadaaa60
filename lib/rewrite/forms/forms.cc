#include "rewrite/forms/forms.h"

#include "ir/op_def.h"
#include "ops/nn/conv_transpose.h"
#include "rewrite/forms/recurrent_layout.h"
#include "rewrite/rewrite.h"
#include "rewrite/weights.h"

namespace nn {
namespace {

Result<bool> ApplyLayout(Graph& graph, Node& node, const TargetForms& forms) {
  return forms.layout ? SetLayout(graph, node, *forms.layout) : Result<bool>(false);
}

bool LacksGroups(const Node& node, const TargetForms& forms) {
  return forms.lacks_groups != nullptr && (node.Is<ConvAttrs>() || node.Is<ConvTransposeAttrs>()) &&
         forms.lacks_groups(node);
}

Result<bool> ApplyGroups(Graph& graph, Node& node, const TargetForms& forms) {
  return LacksGroups(node, forms) ? FillGroups(graph, node) : Result<bool>(false);
}

Result<bool> ApplyFilterLayout(Graph& graph, Node& node, const TargetForms& forms) {
  if (forms.filter_layout == nullptr) return false;
  const auto layout = forms.filter_layout(node);
  return layout ? SetFilterLayout(graph, node, *layout) : Result<bool>(false);
}

Result<bool> ApplyTimeFirst(Graph& graph, Node& node, const TargetForms& forms) {
  return forms.time_first ? PutTimeFirst(graph, node) : Result<bool>(false);
}

std::string_view NameOfLayout(const TargetForms& forms) {
  return forms.layout == Layout::kNcx ? "channels first" : "channels last";
}

}  // namespace

Result<std::string_view> ApplyForm(Graph& graph, Node& node, const TargetForms& forms) {
  struct FormRow {
    std::string_view name;
    Result<bool> (*apply)(Graph&, Node&, const TargetForms&);
  };
  const FormRow rows[] = {
      {NameOfLayout(forms), ApplyLayout},
      {"zeros between groups", ApplyGroups},
      {"filter layout", ApplyFilterLayout},
      {"time first", ApplyTimeFirst},
  };
  if (!node.regions().empty()) return std::string_view();
  for (const FormRow& row : rows) {
    const auto changed = row.apply(graph, node, forms);
    if (!changed) return tl::unexpected(changed.error().In(row.name));
    if (*changed) return row.name;
  }
  return std::string_view();
}

std::optional<FilterLayout> ChannelsBeforeTaps(const Node& conv) {
  if (conv.Is<ConvTransposeAttrs>()) return FilterLayout::kIox;
  return conv.Is<ConvAttrs>() ? std::optional(FilterLayout::kOix) : std::nullopt;
}

Status FillGroupsFor(const TargetForms& forms, Graph& graph) {
  for (Node& node : graph.nodes())
    if (LacksGroups(node, forms)) NN_RETURN_IF_ERROR(FillGroups(graph, node).map([](bool) {}));
  return {};
}

}  // namespace nn
