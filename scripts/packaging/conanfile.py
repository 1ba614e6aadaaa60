"""The Conan 2 recipe of the suite: conan create scripts/packaging/conanfile.py

Checked: the syntax (scripts/check-packages recipes). Not run: Conan itself, so the versions of the
requirements are those that the sources need, not those of a build.
"""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps
from conan.tools.scm import Git


class NnsuiteConan(ConanFile):
    name = "nnsuite"
    version = "0.1.0"
    package_type = "library"
    license = "Apache-2.0"
    homepage = "https://github.com/OWNER/nnsuite"
    url = "https://github.com/OWNER/nnsuite"
    description = "Tools for neural-network model files: inspect, validate, convert, run"
    topics = ("onnx", "tflite", "coreml", "nnapi")
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("nnsuite uses system calls of Linux")

    def requirements(self):
        self.requires("tl-expected/[>=1.0.0 <2]", transitive_headers=True)
        for requirement in (
                "cli11/[>=2.1 <3]", "flatbuffers/[>=2.0.8]", "fmt/[>=9.1 <10]", "highway/[>=1.0.3 <2]",
                "libjpeg-turbo/[>=2.1 <4]", "libpng/[>=1.6 <2]", "libtiff/[>=4.5 <5]",
                "libwebp/[>=1.2 <2]", "libzip/[>=1.7 <2]", "mimalloc/[>=2.0.9 <3]", "nettle/[>=3.8 <4]",
                "nlohmann_json/[>=3.11 <4]", "openjpeg/[>=2.5 <3]", "protobuf/3.21.12",
                "protozero/[>=1.7 <2]", "re2/20220601", "spdlog/[>=1.10 <2]", "utf8proc/[>=2.6 <3]"):
            self.requires(requirement)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")
        self.tool_requires("ninja/[>=1.11]")
        self.tool_requires("protobuf/<host_version>")
        self.tool_requires("flatbuffers/<host_version>")

    def layout(self):
        cmake_layout(self)

    def source(self):
        Git(self).clone(self.homepage + ".git", target=".", args=["--branch", f"v{self.version}"])

    def generate(self):
        toolchain = CMakeToolchain(self, generator="Ninja")
        toolchain.variables["NN_BUILD_TESTS"] = False
        toolchain.generate()
        dependencies = CMakeDeps(self)
        dependencies.set_property("highway", "cmake_file_name", "hwy")
        dependencies.set_property("highway", "cmake_target_name", "hwy::hwy")
        dependencies.generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["nnsuite"]
        self.cpp_info.set_property("cmake_file_name", "nnsuite")
        self.cpp_info.set_property("cmake_target_name", "nnsuite::nnsuite")
        self.cpp_info.set_property("pkg_config_name", "nnsuite")
