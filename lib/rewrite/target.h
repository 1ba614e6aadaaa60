// The consumers that graphs are legalized for (rewrite/legalize.h): what they have, and the forms
// that they want of it.
// Design: docs/design/007-legalization.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"
#include "ops/nn/conv.h"
#include "ops/support/window.h"
#include "rewrite/legalize.h"

namespace nn {

struct FunctionRow;  // rewrite/functions.h

// A rewrite toward legality for one kind of node. Returns whether it changed the graph, in which
// case the node may be erased. Every rewrite must make progress; no two rewrites may undo each
// other.
struct Rewrite {
  std::string_view op;  // operator that it applies to; empty: any
  std::string_view name;
  Result<bool> (*apply)(Graph&, Node&);  // null: a place of shared ones (rewrite/apply_rule.h)
  // Whether it applies to few nodes, those with known bounds for example, so that no rule counts on
  // it for the nodes that it would add.
  bool is_rare = false;
};

// The forms that a target wants of operators that have several. A node that is illegal gets them at
// the place kForms (rewrite/apply_rule.h) among the rewrites; all keep the bits for finite numbers.
struct TargetForms {
  // The order of axes of operators with the attribute `layout`.
  std::optional<Layout> layout = std::nullopt;
  // Whether the target lacks the groups of a convolution, transposed or not, so that the filter
  // gets zeros between them. Null: it has all.
  bool (*lacks_groups)(const Node& conv) = nullptr;
  // The order of axes of the filter of an operator with the attribute `filter_layout`; nullopt:
  // any.
  std::optional<FilterLayout> (*filter_layout)(const Node& conv) = nullptr;
  // Recurrent layers have the time before the batch.
  bool time_first = false;
};

// The capabilities of a consumer.
struct Target {
  std::string_view name;  // "tflite", for messages
  // Returns why the node is illegal, or nullopt if it is legal. The reason names the attribute,
  // type or shape, not the node.
  std::optional<std::string> (*why_illegal)(const Node&) = nullptr;
  // Whether the operator of an idiom (passes/idioms/idioms.h) may replace its parts. Null: if it is
  // legal, or would be in the other layout.
  bool (*takes_idiom)(const Node&) = nullptr;
  // Whether it has branches and loops that a run decides about (OpDef::decided_by_runs). Their
  // regions are legalized like graphs whose inputs and outputs keep their axes and types.
  bool takes_regions = false;
  // Whether why_illegal accepts nodes that have values of unknown rank; if not, such nodes are
  // illegal. Rewrites never see such nodes.
  bool takes_unranked = false;
  // The forms that it wants of operators.
  TargetForms forms = {};
  // Tried in order on illegal nodes. Those for any operator are not tried on nodes with regions.
  std::span<const Rewrite> rewrites = {};
  // Tried after those, once the order of axes is final: rewrites to nodes that transposes cannot
  // pass.
  std::span<const Rewrite> late_rewrites = {};
  // Whether a shared function (rewrite/functions.h) may replace a node. Null: yes.
  bool (*takes_function)(const Node&, const FunctionRow& row) = nullptr;
  // For targets without a transpose operator: inputs and outputs may get a different axis order
  // instead (see InterfaceAxes).
  bool moves_interface = false;
  // For targets without tensors of rank 0: vectors of one element take their place, inputs and
  // outputs included (see InterfaceAxes).
  bool lacks_scalars = false;
  // The same for targets that lack them as inputs and outputs alone.
  bool lacks_scalar_ports = false;
  // Runs first: converts quantization to the target's form (passes/qdq/qdq.h).
  Status (*prepare)(Graph&) = nullptr;
  // Changes element types that the target lacks, also those of inputs and outputs, which the
  // verification converts, and adds what it changed to the counts unless they are null. Runs once
  // constants are folded and idioms are fused, and again after the rewrites.
  Status (*change_types)(Graph&, RewriteCounts*) = nullptr;
  // Whether the writer stores float32 constants in 16 bits where no number changes by that, if all
  // constants of an operator allow it.
  bool narrows_constants = false;
  // For targets that have quantized u8, but not i8: quantized i8 becomes u8 (MakeUnsigned() in
  // passes/qdq/qdq.h), also that of inputs and outputs (see InterfaceAxes).
  bool shifts_interface = false;
};

}  // namespace nn
