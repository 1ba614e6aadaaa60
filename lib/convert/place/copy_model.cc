#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "convert/place/place_model.h"
#include "convert/place/staged_model.h"
#include "convert/place/written.h"

namespace nn {
namespace {

// Writes the files of a copy, unless it is a dry run.
Result<Conversion> PlaceCopy(const MakeImage& make,
                             const std::function<Result<bool>(const StagedModel&)>& is_sound,
                             const ConvertJob& o) {
  const auto make_copy = [&](const ExportOptions& options) -> Result<FileImage> {
    auto image = make(options);
    if (!image) return tl::unexpected(o.InInput(image.error()));
    return image;
  };
  const ExportOptions output = WithPlainNames(OutputOf(o));
  Conversion out;
  if (o.dry_run) {
    NN_RETURN_IF_ERROR(make_copy(output));
    return out;
  }
  NN_ASSIGN(out.written,
            PlaceModel(make_copy, output, is_sound, o.hooks.other_name, o.hooks.write_progress));
  return out;
}

// Whether all ports that were renamed have the requested names. Other names may change too: those
// that a format gives to unnamed and equally named ports depend on the rest.
bool AreRenamed(const std::vector<std::string>& before, const std::vector<std::string>& wanted,
                const std::vector<std::string>& after) {
  if (after.size() != before.size()) return false;
  for (size_t i = 0; i < before.size(); ++i)
    if (wanted[i] != before[i] && after[i] != wanted[i]) return false;
  return true;
}

// A copy that was read again.
Result<ReadModel> ReadCopy(const ReadModel& read, const StagedModel& staged, const ConvertJob& o) {
  return ReadWritten(staged.Read(o.limits), *read.format, [&] { return FirstError(read); });
}

// The rule that a copy breaks; nullopt if there is none, or if the source breaks one, too.
std::optional<Finding> NewFlaw(const ReadModel& read, const ReadModel& written) {
  auto flaw = FirstError(written);
  if (flaw && FirstError(read)) flaw.reset();
  return flaw;
}

// Checks that a renamed copy has the names, and breaks a rule only if the source does.
Status CheckRenamed(const ReadModel& read, const StagedModel& staged, const PortNames& names,
                    const ConvertJob& o) {
  NN_ASSIGN(const ReadModel written, ReadCopy(read, staged, o));
  NN_ASSIGN(const PortNames before, read.format->describer.PortNamesOf(*read.model));
  NN_ASSIGN(const PortNames after, written.format->describer.PortNamesOf(*written.model));
  if (!AreRenamed(before.inputs, names.inputs, after.inputs) ||
      !AreRenamed(before.outputs, names.outputs, after.outputs))
    return UnsupportedError(
        "the names cannot be changed in place, because other parts of the file share them");
  if (const auto flaw = NewFlaw(read, written))
    return UsageError("with the new names, the model violates rule {}: {}", flaw->rule,
                      flaw->message);
  return {};
}

// Checks that the types which were added to a copy break a rule only if the source does.
Status CheckTyped(const ReadModel& read, const StagedModel& staged, const ConvertJob& o) {
  NN_ASSIGN(const ReadModel written, ReadCopy(read, staged, o));
  if (const auto flaw = NewFlaw(read, written))
    return UnsupportedError("with the inferred types, the model violates rule {}: {}", flaw->rule,
                            flaw->message);
  return {};
}

// Adds a note on the results whose declared types the inferred ones replace.
void NoteCorrectedTypes(const ReadModel& read, std::vector<std::string>& notes) {
  constexpr size_t kMaxListed = 3;
  std::vector<std::string> listed;
  size_t count = 0;
  for (TypeDefect& defect : read.format->describer.CheckTypes(*read.model)) {
    const bool is_result = defect.element.find(".output[") != std::string::npos;
    if (defect.kind == TypeDefect::Kind::kInference || !is_result) continue;
    if (++count <= kMaxListed) listed.push_back(std::move(defect.message));
  }
  if (count == 0) return;
  const std::string more =
      count > kMaxListed ? fmt::format("; and {} more", count - kMaxListed) : "";
  notes.push_back(fmt::format("the inferred type{} of {} result{} replace{} the declared: {}{}",
                              count == 1 ? "" : "s", count, count == 1 ? "" : "s",
                              count == 1 ? "s" : "", fmt::join(listed, "; "), more));
}

}  // namespace

Result<Conversion> CopyModel(const ReadModel& read, const ConvertJob& o) {
  const auto make = [&](const ExportOptions& options) {
    return read.format->writer.Save(*read.model, options);
  };
  const auto is_sound = [&](const StagedModel& staged) -> Result<bool> {
    if (o.infer_shapes) NN_RETURN_IF_ERROR(CheckTyped(read, staged, o));
    if (o.edited) NN_RETURN_IF_ERROR(ReadCopy(read, staged, o));
    return true;
  };
  NN_ASSIGN(Conversion out, PlaceCopy(make, is_sound, o));
  if (o.infer_shapes) NoteCorrectedTypes(read, out.notes);
  return out;
}

Result<Conversion> RenameModel(const ReadModel& read, const PortNames& names, const ConvertJob& o) {
  const auto make = [&](const ExportOptions& options) {
    return read.format->editor.Rename(*read.model, names, options);
  };
  const auto is_sound = [&](const StagedModel& staged) -> Result<bool> {
    NN_RETURN_IF_ERROR(CheckRenamed(read, staged, names, o));
    return true;
  };
  return PlaceCopy(make, is_sound, o);
}

}  // namespace nn
