# The port of the suite, for use as an overlay:
#
#   vcpkg install nnsuite --overlay-ports=scripts/packaging/vcpkg/ports
#
# Checked: the syntax (scripts/check-packages recipes). Not run: vcpkg itself. SHA512 is that of the
# release's source archive; with 0, vcpkg prints it.
vcpkg_from_github(
  OUT_SOURCE_PATH SOURCE_PATH
  REPO OWNER/nnsuite
  REF "v${VERSION}"
  SHA512 0
  HEAD_REF main)

vcpkg_cmake_configure(
  SOURCE_PATH ${SOURCE_PATH}
  OPTIONS -DNN_BUILD_TESTS=OFF
          -DFLATC=${CURRENT_HOST_INSTALLED_DIR}/tools/flatbuffers/flatc${VCPKG_HOST_EXECUTABLE_SUFFIX})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/nnsuite)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES nninspect nnvalidate nnconvert nnrun AUTO_CLEAN)
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
