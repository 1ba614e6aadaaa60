#include "convert/place/place_model.h"

#include "base/text/text.h"

namespace nn {
namespace {

// The model's files under names that are free or already have the same contents.
Result<FileImage> ImageToWrite(const MakeImage& make, ExportOptions options,
                               const OtherName& other_name) {
  NN_ASSIGN(FileImage image, make(options));
  NN_ASSIGN(const SideFile* taken, FindTakenName(image, options.path));
  if (taken == nullptr) return image;
  std::string& file = options.external_data.file;
  const std::string wanted = taken->name;
  file = FreeName(image, file.empty() ? wanted : file);
  if (other_name) other_name(wanted, file);
  NN_ASSIGN(image, make(options));
  NN_ASSIGN(taken, FindTakenName(image, options.path));
  if (taken == nullptr) return image;
  return UsageError("{}: a different file of this name exists; choose another with --external-data",
                    Quote(taken->name));
}

WrittenModel Describe(const FileImage& image) {
  WrittenModel written{image.size(), {}};
  for (const SideFile& side : image.side_files)
    if (!image.is_folder) written.side_files.emplace_back(side.name, side.size());
  return written;
}

}  // namespace

ExportOptions WithPlainNames(ExportOptions options) {
  std::string& file = options.external_data.file;
  file = PlainRelativePath(file).value_or(file);
  return options;
}

Result<std::optional<WrittenModel>> PlaceModel(
    const MakeImage& make, const ExportOptions& options,
    const std::function<Result<bool>(const StagedModel&)>& is_sound, const OtherName& other_name,
    const WriteProgress& progress) {
  constexpr int kMaxAttempts = 5;
  for (int i = 0; i < kMaxAttempts; ++i) {
    NN_ASSIGN(FileImage image, ImageToWrite(make, options, other_name));
    WrittenModel written = Describe(image);
    NN_ASSIGN(StagedModel staged, StagedModel::Write(image, options.path, progress));
    image = FileImage();  // The checks read the files.
    NN_ASSIGN(const bool sound, is_sound(staged));
    if (!sound) return std::nullopt;
    const Status placed = staged.Commit();
    if (staged.lost_name()) continue;
    NN_RETURN_IF_ERROR(placed);
    return written;
  }
  return IoError("{}: other programs keep creating its side files", options.path);
}

}  // namespace nn
