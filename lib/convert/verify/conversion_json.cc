#include "convert/verify/conversion_json.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ir/types/dtype.h"
#include "nnsuite/version.h"
#include "tensorio/compare.h"

namespace nn {

std::string_view OperatorOf(const UnsupportedNode& node) {
  return node.op == "opaque" ? "unsupported operator" : std::string_view(node.op);
}

namespace {

// A figure that leaves out elements which are not finite (Comparison::has_means).
Json MeanJson(double v, double max_absolute) {
  return std::isfinite(v) && std::isfinite(max_absolute) ? Json(v) : Json(nullptr);
}

Json QuantizedDriftJson(const QuantizedDrift& d) {
  if (!d.failure.empty()) return {{"failure", d.failure}};
  Json outputs = Json::array();
  for (const QuantizedOutputDrift& o : d.outputs)
    outputs.push_back({{"name", o.name},
                       {"max_absolute", o.max_absolute},
                       {"max_steps", o.max_steps ? Json(*o.max_steps) : Json(nullptr)},
                       {"snr_db", MeanJson(o.snr_db, o.max_absolute)},
                       {"cosine", MeanJson(o.cosine, o.max_absolute)}});
  return {{"runs", d.runs}, {"outputs", std::move(outputs)}};
}

Json DimsJson(const std::optional<Dims>& dims) {
  if (!dims) return nullptr;
  Json out = Json::array();
  for (const Dim& d : *dims) out.push_back(d.is_const() ? Json(d.value()) : Json(d.ToString()));
  return out;
}

Json PortsJson(const std::vector<TypedPort>& ports) {
  Json out = Json::array();
  for (const auto& [name, type] : ports) {
    Json port = {{"name", name}, {"type", DTypeName(type.dtype)}, {"shape", DimsJson(type.dims)}};
    if (const auto& q = type.quant) {
      port["quantization"] = {{"scales", q->scales}, {"zero_points", q->zero_points}};
      if (q->per_axis()) port["quantization"]["axis"] = q->axis;
    }
    out.push_back(std::move(port));
  }
  return out;
}

Json InterfaceJson(const Interface& interface) {
  return {{"inputs", PortsJson(interface.inputs)}, {"outputs", PortsJson(interface.outputs)}};
}

// Under `name`, the changes of a kind, if there are any.
void AddPortChanges(const Conversion& c, PortChange::Kind kind, const char* name, Json& json) {
  for (const PortChange& p : c.port_changes) {
    if (p.kind != kind) continue;
    Json port = {
        {"kind", nnsuite::PortSideName(p.side)}, {"name", p.name}, {"from", p.from}, {"to", p.to}};
    if (kind == PortChange::Kind::kMoved) port["axes"] = p.axes;
    if (kind == PortChange::Kind::kShifted) port["offset"] = p.offset;
    json[name].push_back(std::move(port));
  }
}

Json TransposesJson(const std::vector<TransposeNode>& transposes) {
  Json out = Json::array();
  for (const TransposeNode& t : transposes)
    out.push_back(
        {{"node", t.node}, {"from", t.from}, {"to", t.to}, {"axes", t.axes}, {"reason", t.reason}});
  return out;
}

Json RewritesJson(const std::vector<AppliedRewrite>& rewrites) {
  Json out = Json::array();
  for (const AppliedRewrite& r : rewrites)
    out.push_back({{"op", r.op}, {"rewrite", r.rewrite}, {"count", r.count}});
  return out;
}

Json UnsupportedJson(const std::vector<UnsupportedNode>& unsupported) {
  Json out = Json::array();
  for (const UnsupportedNode& o : unsupported)
    out.push_back({{"node", o.node},
                   {"operator", OperatorOf(o)},
                   {"source", o.source},
                   {"reason", o.reason}});
  return out;
}

Json QuantizeJson(const Conversion& c) {
  const QuantizeOutcome& q = *c.quantize;
  Json values = Json::array();
  for (const QuantizedValue& v : q.summary.values) {
    const bool known = v.snr_db && std::isfinite(*v.snr_db);
    values.push_back({{"name", v.name},
                      {"operator", v.op},
                      {"type", v.type},
                      {"snr_db", known ? Json(*v.snr_db) : Json(nullptr)}});
  }
  Json json = {{"constants", q.summary.weights},
               {"operators", q.summary.operators},
               {"kept", q.summary.kept},
               {"float32", q.summary.floats},
               {"samples", q.samples},
               {"equalized_pairs", q.equalized},
               {"corrected_biases", q.corrected},
               {"values", std::move(values)}};
  if (c.bytes_before > 0) json["bytes_before"] = c.bytes_before;
  return json;
}

Json NumberJson(const Tensor& tensor, int64_t i) {
  if (!IsFloat(tensor.dtype())) return tensor.GetInt(i);
  const double number = tensor.GetDouble(i);
  return std::isfinite(number) ? Json(number) : Json(ElementText(tensor, i));
}

// A scalar, or the elements in their order.
Json NumbersJson(const Tensor& tensor) {
  if (tensor.dims().empty()) return NumberJson(tensor, 0);
  Json out = Json::array();
  for (int64_t i = 0; i < tensor.elements(); ++i) out.push_back(NumberJson(tensor, i));
  return out;
}

}  // namespace

Json VerificationJson(const Verification& v) {
  Json symbols = Json::object();
  for (const auto& [name, sizes] : v.symbols) symbols[name] = sizes;
  Json outputs = Json::array();
  for (const OutputDrift& d : v.outputs) {
    Json entry = {{"name", d.name},
                  {"type", d.type},
                  {"agrees", d.worst.agrees},
                  {"identical", d.worst.identical}};
    if (!d.worst.mismatch.empty()) {
      entry["mismatch"] = d.worst.mismatch;
    } else {
      entry["max_absolute"] = d.worst.max_absolute;
      entry["max_relative"] = d.relative;
      entry["snr_db"] = MeanJson(d.worst.snr_db, d.worst.max_absolute);
      entry["cosine"] = MeanJson(d.worst.cosine, d.worst.max_absolute);
      entry["where"] = d.where;
      entry["outside"] = d.worst.outside;
    }
    outputs.push_back(std::move(entry));
  }
  Json json = {{"passed", v.passed},
               {"runs", v.runs},
               {"seeds", v.seeds},
               {"given", v.labels},
               {"narrowed", v.narrowed},
               {"symbols", std::move(symbols)},
               {"qdq_as_integers", v.qdq_as_integers},
               {"outputs", std::move(outputs)}};
  if (v.quantized) json["quantized_model"] = QuantizedDriftJson(*v.quantized);
  return json;
}

Json ConversionHead() {
  return {{"version", 1}, {"tool", {{"name", "nnconvert"}, {"version", nnsuite::Version()}}}};
}

void AddConversionJson(const Conversion& c, const std::optional<Error>& error, Json& json) {
  if (!c.source.outputs.empty()) {
    json["interface"] = {{"source", InterfaceJson(c.source)}};
    if (!c.converted.outputs.empty()) json["interface"]["converted"] = InterfaceJson(c.converted);
  }
  if (!c.edits.empty())
    json["graph_edits"] = {
        {"changes", c.edits},
        {"verification",
         c.edit_verification ? VerificationJson(*c.edit_verification) : Json(nullptr)}};
  if (!c.notes.empty()) json["notes"] = c.notes;
  json["unsupported"] = UnsupportedJson(c.unsupported);
  AddPortChanges(c, PortChange::Kind::kDequantized, "dequantized", json);
  for (const PassedState& s : c.states) {
    Json state = {{"name", s.name}, {"input", s.input}, {"output", s.output}};
    if (s.initial) state["initial"] = NumbersJson(*s.initial);
    json["states"].push_back(std::move(state));
  }
  if (c.hybrids > 0) json["hybrid_kernels"] = c.hybrids;
  if (c.random_nodes > 0) json["random_nodes"] = c.random_nodes;
  AddPortChanges(c, PortChange::Kind::kMoved, "transposed", json);
  AddPortChanges(c, PortChange::Kind::kShifted, "shifted", json);
  json["transposes"] = TransposesJson(c.transposes);
  json["rewritings"] = RewritesJson(c.rewrites);
  json["batch_norms"] = {{"folded", c.batch_norms_folded}, {"lowered", c.batch_norms_lowered}};
  if (c.operators)
    json["operators"] = {{"before", c.operators->before}, {"after", c.operators->after}};
  if (c.quantize) json["quantization"] = QuantizeJson(c);
  if (!c.holdings.empty()) json["holdings"] = AccountsJson(c.holdings);
  if (!c.rest_unchecked.empty()) json["rest_unchecked"] = c.rest_unchecked;
  if (!c.remedy.empty()) json["remedy"] = c.remedy;
  if (error) json["error"] = error->message();
  json["verification"] = c.verification ? VerificationJson(*c.verification) : Json(nullptr);
}

}  // namespace nn
