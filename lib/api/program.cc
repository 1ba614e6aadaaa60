#include "nnsuite/program.h"

#include "api/access.h"
#include "api/convert.h"
#include "exec/program.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"

namespace nnsuite {

namespace {

std::vector<PortType> PortTypes(const std::vector<nn::Port>& ports) {
  std::vector<PortType> out;
  for (const nn::Port& p : ports) out.push_back({p.name, nn::api::WrapType(p.value->type())});
  return out;
}

}  // namespace

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Result<Program> Program::Compile(const Graph& graph, const ProgramOptions& options) {
  return Compile(graph.Clone(), options);
}

Result<Program> Program::Compile(Graph&& graph, const ProgramOptions& options) {
  std::vector<nn::Domain> domains = nn::InputDomains(Access::Of(graph));
  NN_ASSIGN(nn::Program program, nn::Program::Compile(std::move(Access::Of(graph)), options));
  std::vector<PortType> in = PortTypes(program.graph().inputs());
  std::vector<PortType> out = PortTypes(program.graph().outputs());
  return Program(std::unique_ptr<Impl>(
      new Impl{std::move(program), std::move(in), std::move(out), std::move(domains)}));
}

const std::vector<PortType>& Program::inputs() const {
  return impl_->inputs;
}
const std::vector<PortType>& Program::outputs() const {
  return impl_->outputs;
}

Result<std::vector<Tensor>> Program::Run(std::span<const Tensor> inputs,
                                         const ProgressCallback& progress) const {
  nn::RunRecord record;
  record.progress = nn::api::Reporting(progress, "steps", "run");
  NN_ASSIGN(const std::vector<nn::Tensor> results, impl_->program.Run(Access::Of(inputs), record));
  std::vector<Tensor> out;
  for (const nn::Tensor& t : results) out.push_back(Access::Wrap(t));
  return out;
}

uint64_t Program::arena_bytes() const {
  return impl_->program.arena_bytes();
}
uint64_t Program::packed_bytes() const {
  return impl_->program.packed_bytes();
}

Result<std::vector<Tensor>> Program::SeededInputs(uint64_t seed) const {
  std::vector<Tensor> out;
  const std::vector<nn::Port>& ports = impl_->program.graph().inputs();
  for (size_t i = 0; i < ports.size(); ++i) {
    NN_ASSIGN(const nn::Tensor tensor,
              nn::SeededInput(ports[i].name, ports[i].value->type(), i, seed, impl_->domains[i]));
    out.push_back(Access::Wrap(tensor));
  }
  return out;
}

std::vector<std::string> SimdTargets() {
  return nn::SimdTargets();
}

Status UseSimdTarget(std::string_view name) {
  return nn::UseSimdTarget(name);
}

}  // namespace nnsuite
