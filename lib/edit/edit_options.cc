#include "edit/edit_options.h"

#include <string_view>
#include <vector>

#include "convert/convert_options.h"
#include "nnsuite/edit.h"

namespace nn::edit {
namespace {

using nnsuite::EditOptions;

// An edit that takes one pattern, or one assignment, each time it is given.
template <auto kMember>
OptionField NativeEditOption(std::string_view name, std::string_view help, std::string_view value) {
  return Option<kMember>(name, {.help = help, .value = value, .group = kEditGroup});
}

}  // namespace

OptionTable EditOptionTable() {
  static const std::vector<OptionField> fields = {
      NativeEditOption<&EditOptions::patch>(
          "compose-json",
          "Apply an RFC 6902 patch to the dump form of the model, whose paths nnconvert IN "
          "OUT.json shows",
          "FILE"),
      NativeEditOption<&EditOptions::extract>(
          "extract",
          "Keep only what computes TO from FROM: names of values, or names or types of operators, "
          "with commas between; * and ? match any characters. Without FROM, from the inputs; "
          "without TO, to the outputs",
          "FROM..TO"),
      NativeEditOption<&EditOptions::cut_before>(
          "cut-before",
          "Make values, or what operators read, inputs, and drop what computed them; repeatable",
          "PATTERN"),
      NativeEditOption<&EditOptions::cut_after>(
          "cut-after",
          "Make values, or what operators write, outputs, and drop what depends on them; "
          "repeatable",
          "PATTERN"),
      NativeEditOption<&EditOptions::remove_outputs>(
          "remove-output", "Drop outputs, and what only they need; repeatable", "PATTERN"),
      NativeEditOption<&EditOptions::add_outputs>(
          "add-output", "Make values, or what operators write, outputs, too; repeatable",
          "PATTERN"),
      NativeEditOption<&EditOptions::renames>(
          "rename",
          "Rename values of the main graph; each * of NEW is the text that the * of VALUE "
          "matches; repeatable",
          "VALUE=NEW"),
      NativeEditOption<&EditOptions::metadata>(
          "set-metadata",
          "Set an entry of the metadata, which nninspect lists; without a text, remove it; "
          "repeatable",
          "KEY=TEXT"),
      NativeEditOption<&EditOptions::strip>(
          "strip",
          "Remove docs, names (of operators, and of values that are no inputs or outputs), "
          "metadata, or all of them; a list with commas",
          "WHAT"),
  };
  return fields;
}

}  // namespace nn::edit
