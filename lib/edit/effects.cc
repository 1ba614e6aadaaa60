#include "edit/effects.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file/same_bytes.h"
#include "base/text/text.h"

namespace nn::edit {
namespace {

// One option of an edit, alone.
struct Single {
  std::string_view option;
  std::string text;
  EditOptions edits;
};

std::vector<Single> SinglesOf(const EditOptions& o) {
  std::vector<Single> out;
  const auto add = [&](std::string_view option, std::string EditOptions::*field) {
    if ((o.*field).empty()) return;
    out.push_back({option, o.*field, {}});
    out.back().edits.*field = o.*field;
  };
  const auto add_list = [&](std::string_view option, std::vector<std::string> EditOptions::*field) {
    for (const std::string& text : o.*field) {
      out.push_back({option, text, {}});
      out.back().edits.*field = {text};
    }
  };
  add("--extract", &EditOptions::extract);
  add_list("--cut-before", &EditOptions::cut_before);
  add_list("--cut-after", &EditOptions::cut_after);
  add_list("--remove-output", &EditOptions::remove_outputs);
  add_list("--add-output", &EditOptions::add_outputs);
  add_list("--rename", &EditOptions::renames);
  add_list("--set-metadata", &EditOptions::metadata);
  add("--strip", &EditOptions::strip);
  return out;
}

bool HaveSameValues(const std::vector<NativeEdit::Port>& a,
                    const std::vector<NativeEdit::Port>& b) {
  return std::ranges::equal(a, b, {}, &NativeEdit::Port::value, &NativeEdit::Port::value);
}

// Whether an edit changes more than texts for readers. `none` is an edit without changes.
bool ChangesFlow(const NativeFlow& flow, const NativeEdit& edit, const NativeEdit& none) {
  const auto changes = [&](const auto& name) {
    return flow.values[name.first].name != name.second;
  };
  return edit.keeps != none.keeps || !HaveSameValues(edit.inputs, none.inputs) ||
         !HaveSameValues(edit.outputs, none.outputs) || std::ranges::any_of(edit.names, changes);
}

// The model as its format writes it; nullopt if the edit or the file is not possible.
std::optional<FileImage> ImageOf(const ReadModel& source, const NativeEdit& edit) {
  const auto model = source.format->editor.Apply(*source.model, edit);
  if (!model) return std::nullopt;
  ExportOptions options;
  for (const std::string_view extension : source.format->extensions) {
    options.path = "model" + std::string(extension);
    if (auto image = source.format->writer.Save(**model, options)) return *std::move(image);
  }
  return std::nullopt;
}

bool IsSameImage(const std::optional<FileImage>& a, const std::optional<FileImage>& b) {
  if (!a || !b) return false;
  const auto same = [](const SideFile& x, const SideFile& y) {
    return x.name == y.name && HaveSameBytes(x.parts, y.parts);
  };
  return HaveSameBytes(a->parts, b->parts) &&
         std::ranges::equal(a->side_files, b->side_files, same);
}

std::string_view WhyNone(const EditOptions& single) {
  return !single.renames.empty()    ? "the values have these names"
         : !single.metadata.empty() ? "it leaves the metadata as they are"
         : !single.strip.empty()    ? "the model has none of this"
                                    : "the model has these inputs, outputs and operators";
}

}  // namespace

Status CheckEffects(const ReadModel& source, const NativeFlow& flow, const EditOptions& options) {
  const TypeOf no_type = [](const std::string&) { return Result<ValueType>(ValueType()); };
  NN_ASSIGN(const NativeEdit none, PlanEdit(flow, {}, no_type));
  std::optional<FileImage> unchanged;
  for (const Single& single : SinglesOf(options)) {
    const auto edit = PlanEdit(flow, single.edits, no_type);
    if (!edit || ChangesFlow(flow, *edit, none)) continue;
    if (!edit->metadata.empty() || edit->strip.any()) {
      if (!unchanged) unchanged = ImageOf(source, none);
      if (!IsSameImage(ImageOf(source, *edit), unchanged)) continue;
    }
    return UsageError("{} {} has no effect: {}", single.option, Quote(single.text),
                      WhyNone(single.edits));
  }
  return {};
}

}  // namespace nn::edit
