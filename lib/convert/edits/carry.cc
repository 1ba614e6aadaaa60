#include "convert/edits/carry.h"

#include "base/text/text.h"
#include "convert/edits/port_finder.h"

namespace nn {

Result<Connection> CarriedPortsOf(const std::string& text, const Graph& graph) {
  NN_ASSIGN(const Assignment output, PortFinder(graph.outputs(), {"out"}).Split(text));
  const PortFinder inputs(graph.inputs(), {"in"});
  NN_ASSIGN(const auto input, inputs.Find(output.value));
  if (!input) return UsageError("{}: {} {}", text, Quote(output.value), inputs.NoMatch());
  const Type& from = graph.outputs()[output.port].value->type();
  const Type& to = graph.inputs()[*input].value->type();
  const bool same = from.dtype == to.dtype && from.quantized() == to.quantized() &&
                    (!to.quantized() || from.quant->SameMapping(*to.quant));
  if (!same || (from.ranked() && to.ranked() && from.rank() != to.rank()))
    return UsageError("{}: the output is {}, but the input {}", text, from.ToString(),
                      to.ToString());
  return Connection{output.port, *input};
}

}  // namespace nn
