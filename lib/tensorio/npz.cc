#include "tensorio/npz.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/file/file.h"
#include "base/text/text.h"
#include "tensorio/npy.h"
#include "tensorio/zip_sink.h"

namespace nn {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr size_t kChunk = size_t{1} << 20;
// 1980-01-01 00:00, the earliest ZIP timestamp, in MS-DOS format.
constexpr zip_uint16_t kDosDate = 1 << 5 | 1;
constexpr zip_uint32_t kFileAttributes = 0100644u << 16;

class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ~ZipError() { zip_error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t* get() { return &error_; }

 private:
  zip_error_t error_;
};

// Converts a libzip error: kLimit if memory is exhausted, else `otherwise`. Some failed allocations
// in libzip leave no code.
tl::unexpected<Error> ZipFailure(ErrorCode otherwise, std::string_view context,
                                 zip_error_t* error) {
  const int code = zip_error_code_zip(error);
  if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK)
    return MakeError(ErrorCode::kLimit, "out of memory for a ZIP archive");
  return MakeError(otherwise, "{}{}", context, zip_error_strerror(error));
}

struct CloseEntry {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};
struct DiscardArchive {
  void operator()(zip_t* z) const { zip_discard(z); }
};
struct FreeSource {
  void operator()(zip_source_t* s) const { zip_source_free(s); }
};
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;
using Archive = std::unique_ptr<zip_t, DiscardArchive>;
using ZipSource = std::unique_ptr<zip_source_t, FreeSource>;

// Opens an archive over `source` and takes ownership of it.
Result<Archive> Open(ZipSource source, int flags) {
  ZipError error;
  Archive archive(zip_open_from_source(source.get(), flags, error.get()));
  if (archive == nullptr) return ZipFailure(ErrorCode::kParse, "not a ZIP archive: ", error.get());
  (void)source.release();
  return archive;
}

// Directory information of an entry.
struct EntryInfo {
  std::string name;
  uint64_t packed = 0;
  uint64_t claimed = 0;  // unpacked size declared by the archive
};

// Lists all entries. kParse if entries overlap: their total size then exceeds the archive's.
Result<std::vector<EntryInfo>> ListEntries(zip_t* archive, uint64_t count, uint64_t archive_bytes) {
  // Sizes of headers without names, APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.16.
  constexpr uint64_t kLocalHeader = 30, kDirectoryEntry = 46, kEndOfDirectory = 22;
  std::vector<EntryInfo> entries;
  uint64_t left = archive_bytes - std::min(archive_bytes, kEndOfDirectory);
  for (zip_uint64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    const char* name = zip_get_name(archive, i, ZIP_FL_ENC_RAW);
    if (name == nullptr || zip_stat_index(archive, i, ZIP_FL_ENC_RAW, &stat) != 0 ||
        (stat.valid & (ZIP_STAT_COMP_SIZE | ZIP_STAT_SIZE)) != (ZIP_STAT_COMP_SIZE | ZIP_STAT_SIZE))
      return ParseError("entry {}: {}", i, zip_strerror(archive));
    entries.push_back({name, stat.comp_size, stat.size});
    const uint64_t headers = kLocalHeader + kDirectoryEntry + entries.back().name.size();
    if (left < headers || left - headers < stat.comp_size)
      return ParseError("entry {} ({}): the archive is smaller than its entries, which overlap", i,
                        Quote(entries.back().name));
    left -= headers + stat.comp_size;
  }
  return entries;
}

Result<Blob> ReadEntry(zip_t* archive, zip_uint64_t index, const EntryInfo& info,
                       uint64_t max_bytes, std::vector<std::byte>& chunk) {
  constexpr uint64_t kDeflateRatio = 1032;  // at most, RFC 1951
  // Of an entry that says it is too large, nothing is unpacked. Others may lie.
  if (info.claimed > max_bytes)
    return LimitError("the unpacked arrays exceed the limit (max-unpacked-bytes)");
  const Entry entry(zip_fopen_index(archive, index, 0));
  if (entry == nullptr) return ZipFailure(ErrorCode::kParse, "", zip_get_error(archive));
  auto bytes = std::make_shared<std::vector<std::byte>>();
  bytes->reserve(std::min({info.claimed, max_bytes, (info.packed + 1) * kDeflateRatio}));
  while (true) {
    const zip_int64_t n = zip_fread(entry.get(), chunk.data(), chunk.size());
    if (n < 0) return ZipFailure(ErrorCode::kParse, "", zip_file_get_error(entry.get()));
    if (n == 0) break;
    if (static_cast<uint64_t>(n) > max_bytes - bytes->size())
      return LimitError("the unpacked arrays exceed the limit (max-unpacked-bytes)");
    bytes->insert(bytes->end(), chunk.begin(), chunk.begin() + n);
  }
  bytes->shrink_to_fit();
  return Blob(std::span<const std::byte>(*bytes), bytes);
}

// The data of one entry, which libzip references until the archive is closed.
struct EntryImage {
  std::vector<Blob> parts;
  std::vector<zip_buffer_fragment_t> fragments;
};

Status AddEntry(zip_t* archive, const NamedTensor& named, EntryImage& image) {
  NN_ASSIGN(image.parts, NpyImage(named.tensor));
  for (const Blob& part : image.parts) {
    // libzip does not modify the data.
    auto* data = reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(part.data()));
    if (!part.empty()) image.fragments.push_back({data, part.size()});
  }
  ZipSource source(
      zip_source_buffer_fragment(archive, image.fragments.data(), image.fragments.size(), 0));
  if (source == nullptr) return ZipFailure(ErrorCode::kInternal, "", zip_get_error(archive));
  const std::string name =
      (IsUtf8(named.name) ? named.name : Escape(named.name)) + std::string(kSuffix);
  const zip_int64_t index = zip_file_add(archive, name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  if (index < 0) return ZipFailure(ErrorCode::kUsage, "", zip_get_error(archive));
  (void)source.release();
  const auto i = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, i, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, i, 0, kDosDate, 0) != 0 ||
      zip_file_set_external_attributes(archive, i, 0, ZIP_OPSYS_UNIX, kFileAttributes) != 0)
    return ZipFailure(ErrorCode::kInternal, "", zip_get_error(archive));
  return {};
}

// Fills and closes an archive.
Status WriteEntries(Archive archive, const std::string& path,
                    std::span<const NamedTensor> tensors) {
  std::vector<EntryImage> images(tensors.size());
  std::set<std::string> names;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name.empty()) return UsageError("{}: array {} has no name", path, i);
    if (!names.insert(tensors[i].name).second)
      return UsageError("{}: two arrays are named {}", path, Quote(tensors[i].name));
    if (auto s = AddEntry(archive.get(), tensors[i], images[i]); !s)
      return tl::unexpected(s.error().In(Quote(tensors[i].name)));
  }
  if (zip_close(archive.get()) != 0)
    return ZipFailure(ErrorCode::kIo, path + ": ", zip_get_error(archive.get()));
  (void)archive.release();
  return {};
}

Status CopyTo(zip_source_t* source, const std::string& path, AtomicFile& file) {
  if (zip_source_open(source) != 0)
    return ZipFailure(ErrorCode::kInternal, path + ": ", zip_source_error(source));
  std::vector<std::byte> chunk(kChunk);
  zip_int64_t n = 0;
  while ((n = zip_source_read(source, chunk.data(), chunk.size())) > 0)
    file.Write(std::span(chunk).first(static_cast<size_t>(n)));
  zip_source_close(source);
  if (n < 0) return ZipFailure(ErrorCode::kInternal, path + ": ", zip_source_error(source));
  return {};
}

}  // namespace

Result<std::vector<NamedTensor>> ReadNpz(const Blob& file, const NpzLimits& limits) {
  // libzip accepts an empty file as an archive without entries.
  if (file.empty()) return ParseError("not a ZIP archive: the file is empty");
  ZipError error;
  ZipSource source(zip_source_buffer_create(file.data(), file.size(), 0, error.get()));
  if (source == nullptr) return ZipFailure(ErrorCode::kInternal, "", error.get());
  NN_ASSIGN(const Archive archive, Open(std::move(source), ZIP_RDONLY));
  const auto count = static_cast<uint64_t>(zip_get_num_entries(archive.get(), 0));
  if (count > limits.max_entries)
    return LimitError("{} arrays exceed the limit of {} (max-items)", count, limits.max_entries);
  NN_ASSIGN(const auto entries, ListEntries(archive.get(), count, file.size()));
  std::vector<NamedTensor> tensors;
  std::set<std::string> names;
  std::vector<std::byte> chunk(kChunk);
  uint64_t left = limits.max_bytes;
  for (zip_uint64_t i = 0; i < count; ++i) {
    std::string name = entries[i].name;
    const std::string who = "array " + Quote(name);
    if (!name.ends_with(kSuffix)) return ParseError("{}: the name does not end in .npy", who);
    name.resize(name.size() - kSuffix.size());
    if (!names.insert(name).second) return ParseError("{}: duplicate name", who);
    auto bytes = ReadEntry(archive.get(), i, entries[i], left, chunk);
    if (!bytes) return tl::unexpected(bytes.error().In(who));
    left -= bytes->size();
    auto tensor = ReadNpy(*bytes);
    if (!tensor) return tl::unexpected(tensor.error().In(who));
    tensors.push_back({std::move(name), *std::move(tensor)});
  }
  return tensors;
}

Status WriteNpz(const std::string& path, std::span<const NamedTensor> tensors, std::string shown) {
  if (shown.empty()) shown = path;
  NN_ASSIGN(AtomicFile file, AtomicFile::Create(path, shown));
  if (tensors.empty()) {  // libzip would write nothing: write an empty end record
    file.Write("PK\x05\x06" + std::string(18, '\0'));
    return file.Commit();
  }
  ZipError error;
  if (!file.temporary_path().empty()) {
    ZipSource sink(NewZipSink(file, error.get()));
    if (sink == nullptr) return ZipFailure(ErrorCode::kInternal, shown + ": ", error.get());
    NN_ASSIGN(Archive archive, Open(std::move(sink), ZIP_CREATE | ZIP_TRUNCATE));
    NN_RETURN_IF_ERROR(WriteEntries(std::move(archive), shown, tensors));
    return file.Commit();
  }
  // Output that is not seekable: build the archive in memory first.
  const ZipSource bytes(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (bytes == nullptr) return ZipFailure(ErrorCode::kInternal, "", error.get());
  zip_source_keep(bytes.get());
  NN_ASSIGN(Archive archive, Open(ZipSource(bytes.get()), ZIP_CREATE | ZIP_TRUNCATE));
  NN_RETURN_IF_ERROR(WriteEntries(std::move(archive), shown, tensors));
  NN_RETURN_IF_ERROR(CopyTo(bytes.get(), shown, file));
  return file.Commit();
}

}  // namespace nn
