#include "edit/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text/text.h"
#include "edit/needed.h"

namespace nn::edit {
namespace {

bool HasWildcards(std::string_view pattern) {
  return pattern.find_first_of("*?[") != std::string_view::npos;
}

// Values in an order, each of which is found at once: patterns match many.
class Values {
 public:
  Values() = default;
  explicit Values(std::vector<size_t> list)
      : list_(std::move(list)), set_(list_.begin(), list_.end()) {}

  void AddNew(size_t value) {
    if (set_.insert(value).second) list_.push_back(value);
  }
  template <typename Fn>
  void EraseIf(Fn is_erased) {
    std::erase_if(list_, is_erased);
    set_ = {list_.begin(), list_.end()};
  }
  bool Contains(size_t value) const { return set_.contains(value); }
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  const std::vector<size_t>& list() const { return list_; }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<size_t> list_;
  std::unordered_set<size_t> set_;
};

// The values that an operator selects when a pattern matches it.
enum class Side : uint8_t { kReads, kWrites };

class Planner {
 public:
  Planner(const NativeFlow& flow, const EditOptions& options) : flow_(flow), o_(options) {
    for (size_t v = 0; v < flow.values.size(); ++v) index_.emplace(flow.values[v].name, v);
  }

  NativeEdit Compute(const std::vector<NativeEdit::Port>& values) {
    for (const NativeEdit::Port& port : values) ends_.AddNew(port.value);
    FindNeeded();
    for (const size_t v : flow_.inputs)
      if (needed_[v]) edit_.inputs.push_back({v});
    edit_.outputs = values;
    return std::move(edit_);
  }

  Result<NativeEdit> Run(const TypeOf& type_of) {
    NN_RETURN_IF_ERROR(FindStarts());
    NN_RETURN_IF_ERROR(FindEnds());
    NN_ASSIGN(edit_.strip, ParseStrip(o_.strip));
    NN_RETURN_IF_ERROR(Keep());
    NN_RETURN_IF_ERROR(FindInputs());
    for (const size_t v : ends_) edit_.outputs.push_back({v});
    NN_RETURN_IF_ERROR(SetTypes(flow_.inputs, type_of, edit_.inputs));
    NN_RETURN_IF_ERROR(SetTypes(flow_.outputs, type_of, edit_.outputs));
    NN_RETURN_IF_ERROR(FindNames());
    for (const std::string& text : o_.metadata) {
      const size_t equals = text.find('=');
      if (equals == 0 || equals == std::string::npos)
        return UsageError("--set-metadata {}: expected KEY=TEXT", Quote(text));
      edit_.metadata.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return std::move(edit_);
  }

 private:
  const std::string& NameOf(size_t value) const { return flow_.values[value].name; }

  std::string DescribeOperator(size_t op) const {
    const NativeFlow::Operator& o = flow_.operators[op];
    if (!o.name.empty()) return fmt::format("{} {}", o.type, Quote(o.name));
    if (o.outputs.empty()) return fmt::format("{}, operator {}", o.type, op);
    return fmt::format("{}, which writes {}", o.type, Quote(NameOf(o.outputs.front())));
  }

  // The values that a pattern stands for, in the order of the file.
  Result<Values> Resolve(const std::string& option, const std::string& pattern, Side side) const {
    Values out;
    if (const auto it = index_.find(pattern); it != index_.end()) return Values({it->second});
    for (size_t v = 0; v < flow_.values.size(); ++v)
      if (Matches(pattern, NameOf(v)) && !flow_.values[v].is_constant) out.AddNew(v);
    if (!out.empty()) return out;
    const auto add_operators = [&](const auto& name_of) {
      for (const NativeFlow::Operator& op : flow_.operators) {
        if (!Matches(pattern, name_of(op))) continue;
        for (const size_t v : side == Side::kReads ? op.inputs : op.outputs)
          if (!flow_.values[v].is_constant) out.AddNew(v);
      }
    };
    add_operators([](const NativeFlow::Operator& op) { return op.name; });
    if (out.empty()) add_operators([](const NativeFlow::Operator& op) { return op.type; });
    if (out.empty())
      return UsageError(
          "{} {}: the main graph has no value or operator of that name; nninspect "
          "--values lists the values",
          option, Quote(pattern));
    return out;
  }

  // A list of patterns, separated by commas, which names may contain.
  Status ResolveList(const std::string& option, std::string_view text, Side side,
                     Values& out) const {
    while (!text.empty()) {
      size_t end = std::min(text.find(','), text.size());
      for (size_t e = text.size(); e > end; e = text.rfind(',', e - 1))
        if (index_.contains(std::string(text.substr(0, e)))) end = e;
      NN_ASSIGN(const Values found, Resolve(option, std::string(text.substr(0, end)), side));
      for (const size_t v : found) out.AddNew(v);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
  }

  Result<std::pair<std::string_view, std::string_view>> SplitRange() const {
    const std::string_view text = o_.extract;
    const size_t dots = text.find("..");
    if (dots == std::string_view::npos)
      return UsageError(
          "--extract {}: expected FROM..TO, such as conv1..relu5, or ..relu5 for all "
          "that computes relu5",
          Quote(text));
    return std::pair(text.substr(0, dots), text.substr(dots + 2));
  }

  Status FindStarts() {
    if (!o_.extract.empty()) {
      NN_ASSIGN(const auto range, SplitRange());
      NN_RETURN_IF_ERROR(ResolveList("--extract", range.first, Side::kReads, starts_));
    }
    for (const std::string& pattern : o_.cut_before) {
      NN_ASSIGN(const Values found, Resolve("--cut-before", pattern, Side::kReads));
      for (const size_t v : found) starts_.AddNew(v);
    }
    for (const size_t v : starts_)
      if (flow_.values[v].is_constant)
        return UsageError("{} is a constant, not computed: it cannot become an input",
                          Quote(NameOf(v)));
    return {};
  }

  Status FindEnds() {
    ends_ = Values(flow_.outputs);
    if (!o_.extract.empty()) {
      NN_ASSIGN(const auto range, SplitRange());
      if (!range.second.empty()) {
        ends_ = {};
        NN_RETURN_IF_ERROR(ResolveList("--extract", range.second, Side::kWrites, ends_));
      }
    }
    Values cuts;
    for (const std::string& pattern : o_.cut_after) {
      NN_ASSIGN(const Values found, Resolve("--cut-after", pattern, Side::kWrites));
      for (const size_t v : found) cuts.AddNew(v);
    }
    if (!cuts.empty()) {
      const std::vector<bool> depends = DependentsOf(cuts);
      ends_.EraseIf([&](size_t v) { return depends[v]; });
      for (const size_t v : cuts) ends_.AddNew(v);
    }
    for (const std::string& pattern : o_.remove_outputs) {
      const size_t before = ends_.size();
      ends_.EraseIf([&](size_t v) { return Matches(pattern, NameOf(v)); });
      if (ends_.size() == before)
        return UsageError("--remove-output {}: the outputs are {}", Quote(pattern), NamesOf(ends_));
    }
    for (const std::string& pattern : o_.add_outputs) {
      NN_ASSIGN(const Values found, Resolve("--add-output", pattern, Side::kWrites));
      for (const size_t v : found) ends_.AddNew(v);
    }
    if (ends_.empty()) return UsageError("the edit leaves no output; a model needs one");
    return {};
  }

  std::string NamesOf(const Values& values) const {
    std::vector<std::string> names;
    for (const size_t v : values) names.push_back(Quote(NameOf(v)));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  // The values that are computed from others, without those.
  std::vector<bool> DependentsOf(const Values& values) const {
    std::vector<bool> depends(flow_.values.size()), is_source(flow_.values.size());
    for (const size_t v : values) is_source[v] = true;
    for (const NativeFlow::Operator& op : flow_.operators)
      if (std::ranges::any_of(op.inputs, [&](size_t v) { return depends[v] || is_source[v]; }))
        for (const size_t v : op.outputs) depends[v] = depends[v] || !is_source[v];
    return depends;
  }

  void FindNeeded() {
    const bool is_part = !o_.extract.empty() || !starts_.empty();
    Needed needed = NeededFor(flow_, ends_.list(), starts_.list(),
                              is_part ? Effects::kOnUsedStates : Effects::kAll);
    edit_.keeps = std::move(needed.operators);
    needed_ = std::move(needed.values);
  }

  Status Keep() {
    if (!ChangesStructure(o_)) {
      edit_.keeps.assign(flow_.operators.size(), true);
      return {};
    }
    FindNeeded();
    if (std::ranges::find(edit_.keeps, true) == edit_.keeps.end())
      return UsageError("the edit leaves no operator: {} are inputs, or computed from none",
                        NamesOf(ends_));
    for (size_t i = 0; i < edit_.keeps.size(); ++i) {
      if (!edit_.keeps[i]) continue;
      for (const size_t v : flow_.operators[i].outputs)
        if (starts_.Contains(v)) return WrittenInput(v, i);
    }
    return CheckEffects();
  }

  // A state that the part uses may be changed with values from before the starts.
  Status CheckEffects() const {
    if (starts_.empty()) return {};
    const std::vector<bool> without =
        NeededFor(flow_, ends_.list(), starts_.list(), Effects::kNone).values;
    for (const size_t v : flow_.inputs) {
      if (!needed_[v] || without[v] || starts_.Contains(v)) continue;
      return UnsupportedError(
          "the part uses a state that other operators of the model change, which need {}: begin "
          "the part before those, or make states inputs and outputs with --rewrite --states first",
          Quote(NameOf(v)));
    }
    return {};
  }

  tl::unexpected<Error> WrittenInput(size_t value, size_t op) const {
    Values others;
    for (const size_t v : flow_.operators[op].outputs)
      if (v != value) others.AddNew(v);
    if (others.empty())
      return UnsupportedError(
          "{} cannot become an input: {} also writes other values that are needed",
          Quote(NameOf(value)), DescribeOperator(op));
    return UnsupportedError(
        "{} cannot become an input: {} writes it and {}, and stays; cut before or after these, "
        "too",
        Quote(NameOf(value)), DescribeOperator(op), NamesOf(others));
  }

  // Inputs of the model that are needed, or never were, stay first.
  Status FindInputs() {
    std::vector<bool> used_before;
    if (ChangesStructure(o_))
      used_before = NeededFor(flow_, flow_.outputs, {}, Effects::kAll).values;
    for (const size_t v : flow_.inputs) {
      const bool stays =
          !ChangesStructure(o_) || needed_[v] || (o_.extract.empty() && !used_before[v]);
      if (stays) edit_.inputs.push_back({v});
    }
    const Values before(flow_.inputs);
    for (const size_t v : starts_) {
      if (before.Contains(v)) continue;
      if (needed_[v]) edit_.inputs.push_back({v});
    }
    if (starts_.empty() || std::ranges::any_of(starts_, [&](size_t v) { return needed_[v]; }))
      return CheckWritten();
    return UsageError("no output of the part is computed from {}: it computes {}", NamesOf(starts_),
                      NamesOf(ends_));
  }

  // A file may use values that nothing writes, or before they are written.
  Status CheckWritten() const {
    if (!ChangesStructure(o_)) return {};
    std::vector<bool> is_known(flow_.values.size());
    for (size_t v = 0; v < is_known.size(); ++v) is_known[v] = flow_.values[v].is_constant;
    for (const NativeEdit::Port& port : edit_.inputs) is_known[port.value] = true;
    for (size_t i = 0; i < flow_.operators.size(); ++i) {
      if (!edit_.keeps[i]) continue;
      for (const size_t v : flow_.operators[i].inputs)
        if (!is_known[v])
          return ModelError("{} reads {}, which no operator before it writes", DescribeOperator(i),
                            Quote(NameOf(v)));
      for (const size_t v : flow_.operators[i].outputs) is_known[v] = true;
    }
    return {};
  }

  Status SetTypes(const std::vector<size_t>& ports_before, const TypeOf& type_of,
                  std::vector<NativeEdit::Port>& ports) const {
    const Values before(ports_before);
    for (NativeEdit::Port& port : ports) {
      if (before.Contains(port.value)) continue;
      NN_ASSIGN(port.type, type_of(NameOf(port.value)));
    }
    return {};
  }

  // Whether the edited model has the value.
  std::vector<bool> Remaining() const {
    std::vector<bool> has(flow_.values.size());
    for (const auto* ports : {&edit_.inputs, &edit_.outputs})
      for (const NativeEdit::Port& port : *ports) has[port.value] = true;
    for (size_t i = 0; i < flow_.operators.size(); ++i) {
      if (!edit_.keeps[i]) continue;
      for (const auto* values : {&flow_.operators[i].inputs, &flow_.operators[i].outputs})
        for (const size_t v : *values) has[v] = true;
    }
    return has;
  }

  Status FindNames() {
    const std::vector<bool> has = Remaining();
    for (const std::string& text : o_.renames) NN_RETURN_IF_ERROR(AddRenames(text, has));
    std::map<std::string_view, size_t> owners;
    for (size_t v = 0; v < flow_.values.size(); ++v) {
      if (!has[v]) continue;
      const auto it = edit_.names.find(v);
      const std::string_view name = it == edit_.names.end() ? NameOf(v) : it->second;
      const auto [owner, added] = owners.try_emplace(name, v);
      if (!added)
        return UsageError("--rename: {} and {} would both be {}", Quote(NameOf(owner->second)),
                          Quote(NameOf(v)), Quote(name));
    }
    return {};
  }

  // The value of that name, or those that match, of the edited model.
  Values RemainingOf(const std::string& pattern, const std::vector<bool>& has) const {
    if (const auto it = index_.find(pattern); it != index_.end() && has[it->second])
      return Values({it->second});
    Values out;
    for (size_t v = 0; v < has.size(); ++v)
      if (has[v] && Matches(pattern, NameOf(v))) out.AddNew(v);
    return out;
  }

  // Adds the names of one option. Names may contain "=", so the first one that splits the text into
  // a pattern that matches and a name counts.
  Status AddRenames(const std::string& text, const std::vector<bool>& has) {
    size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return UsageError("--rename {}: expected VALUE=NEW", Quote(text));
    for (; equals != std::string::npos; equals = text.find('=', equals + 1)) {
      const std::string pattern = text.substr(0, equals), to = text.substr(equals + 1);
      const Values found = RemainingOf(pattern, has);
      if (found.empty()) continue;
      return SetNames(text, pattern, to, found);
    }
    return UsageError("--rename {}: the edited model has no value of that name", Quote(text));
  }

  Status SetNames(const std::string& text, const std::string& pattern, const std::string& to,
                  const Values& values) {
    if (to.empty() || !IsUtf8(to))
      return UsageError("--rename {}: the new name is empty or not UTF-8", Quote(text));
    const bool by_pattern = to.find('*') != std::string::npos && HasWildcards(pattern);
    if (values.size() > 1 && !by_pattern)
      return UsageError(
          "--rename {}: the pattern matches {} values, which cannot all be {}; a \"*\" in the new "
          "name is the text that the \"*\" of the pattern matches",
          Quote(text), values.size(), Quote(to));
    for (const size_t v : values) {
      std::string name = to;
      if (by_pattern) {
        const auto parts = StarsOf(pattern, NameOf(v));
        if (!parts || std::ranges::count(to, '*') != static_cast<std::ptrdiff_t>(parts->size()))
          return UsageError(
              "--rename {}: the new name needs as many \"*\" as the pattern, which must have no "
              "other wildcards",
              Quote(text));
        name = Fill(to, *parts);
      }
      if (!edit_.names.try_emplace(v, name).second)
        return UsageError("--rename {}: {} is renamed twice", Quote(text), Quote(NameOf(v)));
    }
    return {};
  }

  // What each "*" of a pattern without other wildcards matches, the first ones as little as
  // possible; nullopt if there are others.
  static std::optional<std::vector<std::string>> StarsOf(std::string_view pattern,
                                                         std::string_view name) {
    if (pattern.find_first_of("?[\\") != std::string_view::npos) return std::nullopt;
    std::vector<std::string> out;
    size_t star = pattern.find('*');
    name.remove_prefix(std::min(star, name.size()));
    while (star != std::string_view::npos) {
      const size_t next = pattern.find('*', star + 1);
      const std::string_view text =
          pattern.substr(star + 1, next == std::string_view::npos ? next : next - star - 1);
      const size_t at =
          next == std::string_view::npos ? name.size() - text.size() : name.find(text);
      out.emplace_back(name.substr(0, at));
      name.remove_prefix(std::min(at + text.size(), name.size()));
      star = next;
    }
    return out;
  }

  static std::string Fill(std::string_view to, const std::vector<std::string>& parts) {
    std::string out;
    size_t part = 0;
    for (const char c : to)
      if (c == '*')
        out += parts[part++];
      else
        out += c;
    return out;
  }

  const NativeFlow& flow_;
  const EditOptions& o_;
  std::unordered_map<std::string, size_t> index_;
  Values starts_, ends_;
  std::vector<bool> needed_;  // values, if the structure changes
  NativeEdit edit_;
};

}  // namespace

bool Matches(const std::string& pattern, const std::string& name) {
  return pattern == name ||
         (!name.empty() && HasWildcards(pattern) && fnmatch(pattern.c_str(), name.c_str(), 0) == 0);
}

bool ChangesStructure(const EditOptions& o) {
  return !o.extract.empty() || !o.cut_before.empty() || !o.cut_after.empty() ||
         !o.remove_outputs.empty() || !o.add_outputs.empty();
}

bool HasEdits(const EditOptions& o) {
  return ChangesStructure(o) || !o.renames.empty() || !o.metadata.empty() || !o.strip.empty();
}

bool MayChangeValues(const EditOptions& o) {
  const auto strip = ParseStrip(o.strip);
  return ChangesStructure(o) || !o.renames.empty() || (strip && strip->names);
}

Result<NativeEdit::Strip> ParseStrip(const std::string& text) {
  NativeEdit::Strip strip;
  size_t begin = 0;
  while (!text.empty() && begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const bool all = part == "all";
    if (!all && part != "docs" && part != "names" && part != "metadata")
      return UsageError("--strip {}: expected all, or docs, names and metadata with commas between",
                        Quote(text));
    strip.docs = strip.docs || all || part == "docs";
    strip.names = strip.names || all || part == "names";
    strip.metadata = strip.metadata || all || part == "metadata";
    begin = end + 1;
  }
  return strip;
}

Result<NativeEdit> PlanEdit(const NativeFlow& flow, const EditOptions& options,
                            const TypeOf& type_of) {
  return Planner(flow, options).Run(type_of);
}

NativeEdit PlanComputation(const NativeFlow& flow, const std::vector<NativeEdit::Port>& values) {
  return Planner(flow, {}).Compute(values);
}

}  // namespace nn::edit
