# The Homebrew formula of the suite, for a tap.
#
# Checked: the syntax (scripts/check-packages recipes). Not run: brew itself. sha256 is that of the
# release's source archive.
class Nnsuite < Formula
  desc "Inspect, validate, convert and run neural-network model files"
  homepage "https://github.com/OWNER/nnsuite"
  url "https://github.com/OWNER/nnsuite/releases/download/v0.1.0/nnsuite-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "cli11" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :build
  depends_on "protozero" => :build
  depends_on "flatbuffers"
  depends_on "fmt"
  depends_on "highway"
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on "libzip"
  depends_on :linux # files are opened and placed with system calls of Linux
  depends_on "mimalloc"
  depends_on "nettle"
  depends_on "openjpeg"
  depends_on "protobuf@21"
  depends_on "re2"
  depends_on "spdlog"
  depends_on "tl-expected"
  depends_on "utf8proc"
  depends_on "webp"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DNN_BUILD_TESTS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "golden/cnn.onnx"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/nninspect --version")
    system bin/"nnvalidate", pkgshare/"cnn.onnx"
    system bin/"nnconvert", pkgshare/"cnn.onnx", "cnn.tflite"
    system bin/"nnrun", "cnn.tflite", "--digest"
  end
end
