#include "apps/nninspect/git.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/command_line.h"
#include "apps/nninspect/inspection.h"
#include "apps/nninspect/print/diff.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "base/text/unicode.h"
#include "formats/recognize.h"
#include "inspect/diff/diff.h"

namespace nn::app {
namespace {

// A path as Git shows it: if it has characters that are not plain, in quotes, with the escapes of C
// for them and octal numbers for bytes that have none.
std::string GitPath(std::string_view path) {
  constexpr std::string_view kEscaped = "\a\b\t\n\v\f\r\"\\", kLetters = "abtnvfr\"\\";
  std::string out;
  for (std::string_view rest = path; !rest.empty();) {
    const Character c = FirstCharacter(rest);
    const std::string_view bytes = rest.substr(0, c.bytes);
    rest.remove_prefix(c.bytes);
    if (const size_t i = kEscaped.find(bytes[0]); i != std::string_view::npos)
      out.append(1, '\\').append(1, kLetters[i]);
    else if (c.code_point && ControlLength(bytes) == 0)
      out += bytes;
    else
      for (const char byte : bytes) out += fmt::format("\\{:03o}", static_cast<uint8_t>(byte));
  }
  return out == path ? out : "\"" + out + "\"";
}

// A file before or after the change, as Git passes it.
struct GitFile {
  std::string shown;  // "a/models/m.onnx", as GitPath()
  std::string path;   // often a temporary file; "/dev/null" if there is no file
  std::string mode;

  bool exists() const { return path != "/dev/null"; }
};

// The lines "oid sha256:..." and "size N" of a Git LFS pointer, as "sha256:..., N bytes".
std::string PointerText(std::string_view pointer) {
  const auto value = [&](std::string_view key) -> std::string_view {
    const size_t at = pointer.find(key);
    if (at == std::string_view::npos) return "?";
    const std::string_view rest = pointer.substr(at + key.size());
    return rest.substr(0, rest.find('\n'));
  };
  return fmt::format("{}, {} bytes", value("\noid "), value("\nsize "));
}

// Why the file at `path` is not shown as a model, without the path. Pointers are told apart by what
// they point to.
std::string ReasonText(const std::string& path, const Error& error) {
  constexpr size_t kMaxPointerBytes = 1024;  // stated by the format
  std::string_view reason = error.message();
  if (reason.starts_with(path + ": ")) reason.remove_prefix(path.size() + 2);
  if (const auto file = ReadFile(path, kMaxPointerBytes);
      file && KnownNonModel(file->bytes()).starts_with("a Git LFS pointer"))
    return fmt::format("{} ({})", reason,
                       PointerText({reinterpret_cast<const char*>(file->data()), file->size()}));
  return std::string(reason);
}

// "a: a/m.onnx (ONNX): 16 operators, 19,950 parameters, 79.2 KiB", or the reason why not.
std::string FileLine(std::string_view side, const GitFile& file,
                     const Result<inspect::LoadedModel>& model) {
  if (!model)
    return fmt::format("{}: {}: {}\n", side, file.shown, ReasonText(file.path, model.error()));
  const ModelSummary& s = model->summary;
  return fmt::format("{}: {} ({}): {} operators, {} parameters, {}\n", side, file.shown, s.format,
                     WithThousands(s.operators.size()), WithThousands(s.parameter_count),
                     HumanBytes(model->file_bytes.value_or(0)));
}

bool HaveEqualContents(const GitFile& a, const GitFile& b) {
  const auto x = ReadFile(a.path), y = ReadFile(b.path);
  return x && y && std::ranges::equal(x->bytes(), y->bytes());
}

// The lines of a change other than those about the contents.
std::string ModeLines(const GitFile& a, const GitFile& b) {
  if (!a.exists()) return fmt::format("new file mode {}\n", b.mode);
  if (!b.exists()) return fmt::format("deleted file mode {}\n", a.mode);
  return a.mode == b.mode ? "" : fmt::format("old mode {}\nnew mode {}\n", a.mode, b.mode);
}

std::string ContentLines(const GitFile& a, const GitFile& b, const inspect::LoadOptions& load) {
  if (!a.exists()) return FileLine("b", b, inspect::Load(b.path, load));
  if (!b.exists()) return FileLine("a", a, inspect::Load(a.path, load));
  if (HaveEqualContents(a, b)) return {};
  Result<inspect::LoadedModel> before = inspect::Load(a.path, load);
  Result<inspect::LoadedModel> after = inspect::Load(b.path, load);
  std::string reason;
  if (before && after) {
    const auto diff = inspect::DiffModels(*before, *after);
    before->path = a.shown;
    after->path = b.shown;
    if (diff) return DiffText(*before, *after, *diff);
    reason = fmt::format("not compared: {}\n", diff.error().message());
  }
  return FileLine("a", a, before) + FileLine("b", b, after) + reason;
}

}  // namespace

Result<int> GitDiff(const InspectOptions& o) {
  std::vector<std::string> args = {o.model};
  if (!o.other.empty()) args.push_back(o.other);
  args.insert(args.end(), o.rest.begin(), o.rest.end());
  constexpr size_t kUnmerged = 1, kChanged = 7, kRenamed = 9;
  if (args.size() == kUnmerged) {
    NN_RETURN_IF_ERROR(PrintText(o.output, fmt::format("{}: unmerged\n", GitPath(args[0]))));
    return kExitDone;
  }
  if (args.size() != kChanged && args.size() != kRenamed)
    return UsageError(
        "--git-diff: {} arguments; Git passes PATH OLD-FILE OLD-HEX OLD-MODE NEW-FILE NEW-HEX "
        "NEW-MODE: see --git-setup",
        args.size());
  const bool is_renamed = args.size() == kRenamed;
  const GitFile a = {GitPath("a/" + args[0]), args[1], args[3]};
  const GitFile b = {GitPath("b/" + args[is_renamed ? 7 : 0]), args[4], args[6]};
  inspect::LoadOptions load = {.limits = o.limits};
  load.in_full = true;
  std::string text = fmt::format("nninspect --diff {} {}\n", a.shown, b.shown);
  text += ModeLines(a, b);
  if (is_renamed) text += args[8];  // "similarity index 90%", "rename from ..."
  NN_RETURN_IF_ERROR(PrintText(o.output, text + ContentLines(a, b, load)));
  return kExitDone;
}

Result<int> GitText(const InspectOptions& o) {
  const auto read = ReadModelFile(o.model, o.limits);
  if (!read) {
    NN_RETURN_IF_ERROR(PrintText(o.output, ReasonText(o.model, read.error()) + "\n"));
    return kExitDone;
  }
  NN_RETURN_IF_ERROR(WriteDump(*read, o.output, {.weights = DumpWeights::kDigest}));
  return kExitDone;
}

std::string GitSetup() {
  // Git compares the text forms of models without help.
  constexpr std::string_view kPatterns = "'*.onnx' '*.tflite' '*.mlmodel' '*.nnapi'";
  return fmt::format(
      R"sh(# Makes Git compare models with nninspect in this repository.
set -e
git config diff.nninspect.command 'nninspect --git-diff --'
git config diff.nninspect.textconv 'nninspect --git-text --'
attributes=$(git rev-parse --show-toplevel)/.gitattributes
for pattern in {}; do
  line="$pattern diff=nninspect"
  if ! grep -qsxF "$line" "$attributes"; then
    if [ -s "$attributes" ] && [ -n "$(tail -c 1 "$attributes")" ]; then echo >>"$attributes"; fi
    printf '%s\n' "$line" >>"$attributes"
  fi
done
)sh",
      kPatterns);
}

}  // namespace nn::app
