#include "tensorio/zip_sink.h"

#include <zip.h>

#include <cerrno>
#include <memory>

namespace nn {
namespace {

class ZipSink {
 public:
  explicit ZipSink(AtomicFile& file) : file_(file) { zip_error_init(&error_); }
  ~ZipSink() { zip_error_fini(&error_); }
  ZipSink(const ZipSink&) = delete;
  ZipSink& operator=(const ZipSink&) = delete;

  // zip_source_callback(3).
  static zip_int64_t Call(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command) {
    return static_cast<ZipSink*>(self)->Do(data, size, command);
  }

 private:
  zip_int64_t Do(void* data, zip_uint64_t size, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
            ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_COMMIT_WRITE,
            ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_REMOVE, -1);
      case ZIP_SOURCE_STAT: {
        auto* st = static_cast<zip_stat_t*>(data);
        zip_stat_init(st);
        st->valid = ZIP_STAT_SIZE;
        st->size = 0;
        return sizeof(*st);
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, size);
      case ZIP_SOURCE_WRITE:
        return Write({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
      case ZIP_SOURCE_SEEK_WRITE: {
        const zip_int64_t to =
            zip_source_seek_compute_offset(at_, file_.size(), data, size, &error_);
        if (to < 0) return -1;
        at_ = static_cast<zip_uint64_t>(to);
        return 0;
      }
      case ZIP_SOURCE_TELL_WRITE:
        return static_cast<zip_int64_t>(at_);
      case ZIP_SOURCE_FREE:
        delete this;
        return 0;
      default:  // the archive is new: nothing to read or open
        return 0;
    }
  }

  zip_int64_t Write(std::span<const std::byte> bytes) {
    file_.WriteAt(at_, bytes);
    if (!file_.status()) {
      zip_error_set(&error_, ZIP_ER_WRITE, errno);
      return -1;
    }
    at_ += bytes.size();
    return static_cast<zip_int64_t>(bytes.size());
  }

  AtomicFile& file_;
  zip_uint64_t at_ = 0;
  zip_error_t error_;
};

}  // namespace

zip_source_t* NewZipSink(AtomicFile& file, zip_error_t* error) {
  auto sink = std::make_unique<ZipSink>(file);
  zip_source_t* source = zip_source_function_create(ZipSink::Call, sink.get(), error);
  if (source != nullptr) (void)sink.release();
  return source;
}

}  // namespace nn
