#include "validators/coreml/flow.h"

#include <set>
#include <unordered_map>

namespace nn::coreml {
namespace {

constexpr int kLegacyRank = 5;

// The blobs that a network adds to those of the enclosing scope, each with the layers that write
// it.
class Scope {
 public:
  using Writers = std::set<std::string_view>;

  explicit Scope(const Scope* parent) : parent_(parent) {}

  bool Has(std::string_view blob) const {
    for (const Scope* s = this; s != nullptr; s = s->parent_)
      if (s->own_.contains(blob)) return true;
    return false;
  }

  bool Writes(std::string_view blob, std::string_view layer) const {
    for (const Scope* s = this; s != nullptr; s = s->parent_)
      if (const auto found = s->own_.find(blob); found != s->own_.end())
        if (found->second.contains(layer)) return true;
    return false;
  }

  std::string_view FirstWriter(std::string_view blob) const {
    for (const Scope* s = this; s != nullptr; s = s->parent_)
      if (const auto found = s->own_.find(blob); found != s->own_.end())
        return *found->second.begin();
    return {};
  }

  void Add(std::string_view blob, std::string_view layer) {
    if (!Writes(blob, layer)) own_[blob].insert(layer);
  }

  void AddAll(std::string_view blob, const Writers& layers) {
    for (const std::string_view layer : layers) Add(blob, layer);
  }

  int RankOf(std::string_view blob) const {
    for (const Scope* s = this; s != nullptr; s = s->parent_)
      if (const auto found = s->ranks_.find(blob); found != s->ranks_.end()) return found->second;
    return -1;
  }

  void SetRank(std::string_view blob, int rank) { ranks_[blob] = rank; }

  // Blobs that this scope adds, or to which it adds writers.
  const std::unordered_map<std::string_view, Writers>& own() const { return own_; }

 private:
  const Scope* parent_;
  std::unordered_map<std::string_view, Writers> own_;
  std::unordered_map<std::string_view, int> ranks_;
};

class Walker {
 public:
  Walker(NetworkAt& network, std::deque<std::string>& lists, std::vector<LayerAt>& layers)
      : network_(network), lists_(lists), layers_(layers) {}

  void Run() {
    Scope scope(nullptr);
    AddInterface(scope);
    Walk(*network_.layers, network_.path, 0, false, scope);
    for (const auto& [blob, writers] : scope.own())
      if (!inputs_.contains(blob) || writers.size() > 1) network_.written.insert(blob);
  }

 private:
  void AddInterface(Scope& scope) {
    const pb::ModelDescription& d = network_.model->description();
    for (const auto& input : d.input()) {
      inputs_.insert(input.name());
      scope.Add(input.name(), kInputLayer);
      const auto& type = input.type();
      if (type.has_multiarraytype())
        model_ranks_[input.name()] =
            network_.exact_arrays ? type.multiarraytype().shape_size() : kLegacyRank;
      else if (type.has_imagetype())
        model_ranks_[input.name()] = network_.exact_images ? 4 : kLegacyRank;
    }
    for (const auto& output : d.output())
      if (const int rank = output.type().multiarraytype().shape_size(); rank > 0)
        model_ranks_[output.name()] = rank;
    if (!network_.exact_ranks()) model_ranks_.clear();
    for (const auto& [blob, rank] : model_ranks_) scope.SetRank(blob, rank);
  }

  void Walk(const Layers& layers, const std::string& path, int loop_depth, bool nested,
            Scope& scope) {
    lists_.push_back(path);
    const std::string* list = &lists_.back();
    for (int i = 0; i < layers.size(); ++i) {
      const auto& layer = layers.Get(i);
      const size_t number = layers_.size();
      LayerAt& at = layers_.emplace_back();
      at.layer = &layer;
      at.network = &network_;
      at.signature = FindSignature(layer.layer_case());
      at.version = network_.model->version();
      at.exact_ranks = network_.exact_ranks();
      at.list = list;
      at.index = i;
      at.loop_depth = loop_depth;
      at.nested = nested;
      NoteRanks(number, scope);
      if (layer.has_branch()) WalkBranch(number, scope);
      if (layer.has_loop()) WalkLoop(number, scope);
      for (int k = 0; k < layer.input_size(); ++k)
        if (!scope.Has(layer.input(k))) network_.faults.missing.push_back({number, k});
      for (int k = 0; k < layer.output_size(); ++k) {
        if (!layer.has_copy() && scope.Has(layer.output(k)))
          network_.faults.repeated.push_back({number, k, scope.FirstWriter(layer.output(k))});
        scope.Add(layer.output(k), layer.name());
      }
    }
  }

  // Stores the ranks that the layer declares, then looks up the known ranks of its blobs.
  void NoteRanks(size_t number, Scope& scope) {
    if (!network_.exact_ranks()) return;
    LayerAt& at = layers_[number];
    const auto note = [&](const auto& blobs, const auto& tensors, bool is_output) {
      if (tensors.size() != blobs.size()) return;
      for (int i = 0; i < tensors.size(); ++i) {
        const int rank = static_cast<int>(tensors.Get(i).rank());
        const int known = scope.RankOf(blobs.Get(i));
        if (known < 0)
          scope.SetRank(blobs.Get(i), rank);
        else if (known != rank)
          network_.faults.other_rank.push_back(
              {number, is_output, i, known, model_ranks_.contains(blobs.Get(i))});
      }
    };
    note(at.layer->input(), at.layer->inputtensor(), false);
    note(at.layer->output(), at.layer->outputtensor(), true);
    for (const auto& blob : at.layer->input()) at.input_ranks.push_back(scope.RankOf(blob));
    for (const auto& blob : at.layer->output()) at.output_ranks.push_back(scope.RankOf(blob));
  }

  void WalkBranch(size_t number, Scope& scope) {
    const LayerAt at = layers_[number];
    const auto& branch = at.layer->branch();
    Scope first(&scope);
    Scope second(&scope);
    Walk(branch.ifbranch().layers(), at.path() + ".branch.ifBranch", at.loop_depth, true, first);
    Walk(branch.elsebranch().layers(), at.path() + ".branch.elseBranch", at.loop_depth, true,
         second);
    if (branch.elsebranch().layers().empty()) return;
    for (const auto& [blob, writers] : first.own())
      if (second.Has(blob)) scope.AddAll(blob, writers);
    for (const auto& [blob, writers] : second.own())
      if (first.Has(blob)) scope.AddAll(blob, writers);
  }

  void WalkLoop(size_t number, Scope& scope) {
    const LayerAt at = layers_[number];
    const auto& loop = at.layer->loop();
    const bool has_condition = !loop.conditionnetwork().layers().empty();
    if (has_condition) {
      Scope condition(&scope);
      Walk(loop.conditionnetwork().layers(), at.path() + ".loop.conditionNetwork", at.loop_depth,
           true, condition);
      if (!condition.own().contains(loop.conditionvar()))
        network_.faults.stale_conditions.push_back(number);
      for (const auto& [blob, writers] : condition.own()) scope.AddAll(blob, writers);
    }
    Scope body(&scope);
    Walk(loop.bodynetwork().layers(), at.path() + ".loop.bodyNetwork", at.loop_depth + 1, true,
         body);
    for (const auto& [blob, writers] : body.own())
      if (!has_condition || scope.Has(blob)) scope.AddAll(blob, writers);
  }

  NetworkAt& network_;
  std::deque<std::string>& lists_;
  std::vector<LayerAt>& layers_;
  std::unordered_set<std::string_view> inputs_;
  std::unordered_map<std::string_view, int> model_ranks_;
};

}  // namespace

void WalkNetwork(NetworkAt& network, std::deque<std::string>& lists, std::vector<LayerAt>& layers) {
  Walker(network, lists, layers).Run();
}

}  // namespace nn::coreml
