// Writes a model and moves it into place if it passes a check.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "convert/place/staged_model.h"
#include "formats/format.h"
#include "nnsuite/convert.h"

namespace nn {

using nnsuite::WrittenModel;

// Makes the files of a model; called again if a side file needs another name.
using MakeImage = std::function<Result<FileImage>(const ExportOptions&)>;
// Reports that the side file `wanted` got another name, because it exists with other contents.
using OtherName = std::function<void(std::string_view wanted, std::string_view name)>;

// The options with the path of external data in its plain form: "w.bin" for "./w.bin".
ExportOptions WithPlainNames(ExportOptions options);

// Writes a model to `options.path`, which may be "-". Existing side files are not replaced:
// external data gets another name instead, which is reported to `other_name` unless that is null.
// `is_sound` is called with the written files before they are moved into place, and again for each
// further attempt (StagedModel::needs_names). If it returns false, nothing is written, and the
// result is nullopt. Errors are those of the callbacks and of StagedModel, kUsage if the other name
// is taken too, and kIo if other programs keep creating the side files. On error, existing files
// are unchanged.
//
// Callbacks are called on the calling thread. May be called concurrently, even for the same target.
Result<std::optional<WrittenModel>> PlaceModel(
    const MakeImage& make, const ExportOptions& options,
    const std::function<Result<bool>(const StagedModel&)>& is_sound, const OtherName& other_name,
    const WriteProgress& progress);

}  // namespace nn
