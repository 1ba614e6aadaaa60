// nnsuite._core: the C interface (nnsuite/nnsuite.h) as Python classes. The package nnsuite, in
// Python, gives it names and NumPy types.
// Design: docs/design/003-python-package.md.
#include <nnsuite/nnsuite.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/python/dlpack.h"

namespace nn::python {
namespace {

namespace py = pybind11;

// An error of the library, which becomes an exception of the package.
struct Failure {
  int code;
  std::string kind;
  std::string message;
};

template <typename T, void (*kFree)(T*)>
struct Deleter {
  void operator()(T* handle) const { kFree(handle); }
};
template <typename T, void (*kFree)(T*)>
using Handle = std::unique_ptr<T, Deleter<T, kFree>>;
using OptionsHandle = Handle<nnsuite_options, nnsuite_options_free>;
using ModelHandle = Handle<nnsuite_model, nnsuite_model_free>;
using ProgramHandle = Handle<nnsuite_program, nnsuite_program_free>;
using TensorHandle = Handle<nnsuite_tensor, nnsuite_tensor_free>;
using TensorListHandle = Handle<nnsuite_tensor_list, nnsuite_tensor_list_free>;
using ErrorHandle = Handle<nnsuite_error, nnsuite_error_free>;

// Calls a function of the library with a place for its error, and throws the error. Returns the
// code of functions that also report: NNSUITE_CHECK_FAILED, NNSUITE_UNSUPPORTED.
template <typename F>
int Call(F&& f) {
  nnsuite_error* error = nullptr;
  const int code = f(&error);
  const ErrorHandle owned(error);
  if (error != nullptr)
    throw Failure{code, nnsuite_error_kind(error), nnsuite_error_message(error)};
  return code;
}

// The same without the interpreter's lock. No Python object may be used in `f`.
template <typename F>
int CallUnlocked(F&& f) {
  const py::gil_scoped_release unlocked;
  return Call(std::forward<F>(f));
}

// A function that is told of progress, and what it threw.
struct Callback {
  py::object function;
  std::exception_ptr thrown;
};

// Options, and what they refer to.
struct Options {
  OptionsHandle handle;
  std::unique_ptr<Callback> progress;

  nnsuite_options* get() const { return handle.get(); }

  // CallUnlocked() of a function that takes the options. Throws what the callback threw, which
  // ended the call.
  template <typename F>
  int Call(F&& f) const {
    try {
      return CallUnlocked(std::forward<F>(f));
    } catch (const Failure&) {
      if (progress != nullptr && progress->thrown) std::rethrow_exception(progress->thrown);
      throw;
    }
  }
};

// Calls a Python function, whose result False, or exception, ends the call. On any thread.
int ReportProgress(void* context, const char* activity, uint64_t done, uint64_t total) {
  const py::gil_scoped_acquire locked;
  auto& callback = *static_cast<Callback*>(context);
  try {
    return callback.function(activity, done, total).is(py::bool_(false)) ? 1 : 0;
  } catch (py::error_already_set&) {
    callback.thrown = std::current_exception();
    return 1;
  }
}

// A text that the library allocated.
class Text {
 public:
  Text() = default;
  ~Text() { nnsuite_text_free(text_); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  char** out() { return &text_; }
  py::object str() const { return text_ == nullptr ? py::none() : py::object(py::str(text_)); }

 private:
  char* text_ = nullptr;
};

// A reference to a Python object that keeps borrowed memory alive.
nnsuite_release kReleaseObject = [](void* object) {
  if (Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire locked;
  Py_DECREF(static_cast<PyObject*>(object));
};

// Gives the library a reference to `object` with the borrowed memory, unless `f` fails.
template <typename F>
void Lend(const py::object& object, F&& f) {
  Py_INCREF(object.ptr());
  try {
    f(static_cast<void*>(object.ptr()));
  } catch (...) {
    Py_DECREF(object.ptr());
    throw;
  }
}

struct Tensor {
  TensorHandle handle;

  std::string dtype() const { return nnsuite_tensor_dtype(handle.get()); }
  std::vector<int64_t> shape() const {
    const int64_t* const begin = nnsuite_tensor_shape(handle.get());
    return {begin, begin + nnsuite_tensor_rank(handle.get())};
  }
  size_t size() const { return nnsuite_tensor_size(handle.get()); }
};

// The shape of an input, in which texts are symbols.
void SetShape(nnsuite_options* options, const std::string& input, const py::sequence& shape) {
  if (py::isinstance<py::str>(shape))
    throw py::type_error("a shape is a list of sizes and symbols");
  bool has_symbol = false;
  std::string text = input;
  for (size_t i = 0; i < shape.size(); ++i) {
    has_symbol = has_symbol || py::isinstance<py::str>(shape[i]);
    text += (i == 0 ? ":" : ",") + py::str(shape[i]).cast<std::string>();
  }
  Call([&](nnsuite_error** error) {
    if (has_symbol) return nnsuite_options_set_text(options, "input-shape", text.c_str(), error);
    const auto sizes = shape.cast<std::vector<int64_t>>();
    return nnsuite_options_set_shape(options, input.c_str(), sizes.data(), sizes.size(), error);
  });
}

// Sets of tensors for all inputs.
void AddSets(nnsuite_options* options, const py::handle& value,
             decltype(nnsuite_options_add_sample)* add) {
  for (const auto& set : value.cast<std::vector<std::vector<const Tensor*>>>()) {
    std::vector<const nnsuite_tensor*> tensors;
    for (const Tensor* t : set) tensors.push_back(t->handle.get());
    Call(
        [&](nnsuite_error** error) { return add(options, tensors.data(), tensors.size(), error); });
  }
}

// Contents of inputs by name.
void SetContents(nnsuite_options* options, const py::handle& value,
                 decltype(nnsuite_options_set_input)* set) {
  for (const auto& [name, tensor] : value.cast<std::map<std::string, const Tensor*>>()) {
    const char* const input = name.c_str();
    const nnsuite_tensor* const contents = tensor->handle.get();
    Call([&](nnsuite_error** error) { return set(options, input, contents, error); });
  }
}

void SetOption(Options& all, std::string name, const py::handle& value) {
  nnsuite_options* const options = all.get();
  if (name == "for_") name.pop_back();  // a word of Python
  std::replace(name.begin(), name.end(), '_', '-');
  const auto set = [&](auto setter, auto v) {
    Call([&](nnsuite_error** error) { return setter(options, name.c_str(), v, error); });
  };
  if (name == "input-shape") {
    for (const auto& [input, shape] : value.cast<std::map<std::string, py::sequence>>())
      SetShape(options, input, shape);
  } else if (name == "samples") {
    AddSets(options, value, nnsuite_options_add_sample);
  } else if (name == "verify-inputs") {
    AddSets(options, value, nnsuite_options_add_verify_inputs);
  } else if (name == "fix-input") {
    SetContents(options, value, nnsuite_options_set_fixed_input);
  } else if (name == "arrays") {
    SetContents(options, value, nnsuite_options_set_input);
  } else if (name == "progress") {
    all.progress = std::make_unique<Callback>();
    all.progress->function = py::reinterpret_borrow<py::object>(value);
    Call([&](nnsuite_error** error) {
      return nnsuite_options_set_progress(options, ReportProgress, all.progress.get(), error);
    });
  } else if (py::hasattr(value, "__fspath__")) {
    SetOption(all, name, py::module_::import("os").attr("fspath")(value));
  } else if (py::isinstance<py::str>(value)) {
    set(nnsuite_options_set_text, value.cast<std::string>().c_str());
  } else if (py::isinstance<py::float_>(value)) {
    set(nnsuite_options_set_real, value.cast<double>());
  } else if (py::isinstance<py::int_>(value)) {  // and bool
    set(nnsuite_options_set_integer, value.cast<int64_t>());
  } else {
    for (const py::handle item : value) SetOption(all, name, item);
  }
}

// Names are keyword arguments; None stands for the default.
Options OptionsOf(const py::dict& values) {
  nnsuite_options* created = nullptr;
  Call([&](nnsuite_error** error) { return nnsuite_options_create(&created, error); });
  Options options{OptionsHandle(created), nullptr};
  for (const auto& [name, value] : values)
    if (!value.is_none()) SetOption(options, name.cast<std::string>(), value);
  return options;
}

// ---- Tensors

Tensor TensorOfArray(const py::array& array, const std::string& dtype,
                     const std::vector<int64_t>& shape) {
  if ((array.flags() & py::array::c_style) == 0)
    throw py::value_error("the array is not contiguous");
  Tensor out;
  Lend(array, [&](void* context) {
    nnsuite_tensor* tensor = nullptr;
    const void* const data = array.data();
    // Not array.nbytes(): pybind11 before 2.12 reads the size of an element from a structure that
    // NumPy 2 has changed.
    const auto size = array.attr("nbytes").cast<size_t>();
    CallUnlocked([&](nnsuite_error** error) {
      return nnsuite_tensor_create(dtype.c_str(), shape.data(), shape.size(), data, size,
                                   kReleaseObject, context, &tensor, error);
    });
    out.handle.reset(tensor);
  });
  return out;
}

Tensor TensorOfStrings(const std::vector<std::string>& strings, const std::vector<int64_t>& shape) {
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
  for (const std::string& s : strings) {
    texts.push_back(s.data());
    sizes.push_back(s.size());
  }
  nnsuite_tensor* tensor = nullptr;
  Call([&](nnsuite_error** error) {
    return nnsuite_tensor_create_strings(shape.data(), shape.size(), texts.data(), sizes.data(),
                                         texts.size(), &tensor, error);
  });
  return {TensorHandle(tensor)};
}

// The bytes as a read-only array that keeps the tensor.
py::array BytesOfTensor(const py::object& self) {
  const auto& tensor = self.cast<const Tensor&>();
  static const uint8_t none = 0;  // for an empty tensor
  const auto* data = static_cast<const uint8_t*>(nnsuite_tensor_bytes(tensor.handle.get()));
  py::array_t<uint8_t> array({static_cast<py::ssize_t>(tensor.size())}, {1},
                             data == nullptr ? &none : data, self);
  array.attr("flags").attr("writeable") = false;
  return array;
}

std::vector<py::bytes> StringsOfTensor(const Tensor& tensor) {
  std::vector<py::bytes> out;
  for (size_t i = 0, size = 0;; ++i) {
    const char* const text = nnsuite_tensor_text(tensor.handle.get(), i, &size);
    if (text == nullptr) return out;
    out.emplace_back(text, size);
  }
}

// By name, as a dictionary.
py::dict TensorsOf(const nnsuite_tensor_list* list) {
  py::dict out;
  for (size_t i = 0; i < nnsuite_tensor_list_size(list); ++i) {
    nnsuite_tensor* shared = nullptr;
    Call([&](nnsuite_error** error) {
      return nnsuite_tensor_share(nnsuite_tensor_list_get(list, i), &shared, error);
    });
    out[nnsuite_tensor_list_name(list, i)] = Tensor{TensorHandle(shared)};
  }
  return out;
}

py::capsule DlpackOfTensor(const Tensor& tensor) {
  nnsuite_tensor* shared = nullptr;
  Call([&](nnsuite_error** error) {
    return nnsuite_tensor_share(tensor.handle.get(), &shared, error);
  });
  PyObject* const capsule = ExportDlpack(shared);
  if (capsule == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::capsule>(capsule);
}

Tensor TensorOfDlpack(const py::object& capsule) {
  nnsuite_tensor* tensor = nullptr;
  Call([&](nnsuite_error** error) { return ImportDlpack(capsule.ptr(), &tensor, error); });
  if (tensor == nullptr) throw py::error_already_set();
  return {TensorHandle(tensor)};
}

// ---- Models

using Names = std::optional<std::vector<std::string>>;

// Inputs by name, or without names in the program's order. Refers to both.
class Inputs {
 public:
  Inputs(const Names& names, const std::vector<const Tensor*>& tensors)
      : has_names_(names.has_value()) {
    if (names && names->size() != tensors.size())
      throw py::value_error("there are as many names as inputs");
    if (names)
      for (const std::string& n : *names) names_.push_back(n.c_str());
    for (const Tensor* t : tensors) tensors_.push_back(t->handle.get());
  }

  const char* const* names() const { return has_names_ ? names_.data() : nullptr; }
  const nnsuite_tensor* const* tensors() const { return tensors_.data(); }
  size_t size() const { return tensors_.size(); }

 private:
  bool has_names_;
  std::vector<const char*> names_;
  std::vector<const nnsuite_tensor*> tensors_;
};

struct Program {
  ProgramHandle handle;

  py::object Describe() const {
    Text json;
    Call([&](nnsuite_error** error) {
      return nnsuite_program_describe(handle.get(), json.out(), error);
    });
    return json.str();
  }

  static std::vector<Tensor> Take(const std::vector<nnsuite_tensor*>& handles) {
    std::vector<Tensor> out;
    for (nnsuite_tensor* t : handles) out.push_back({TensorHandle(t)});
    return out;
  }

  std::vector<Tensor> Run(const Names& names, const std::vector<const Tensor*>& inputs,
                          const py::dict& values) const {
    const Options options = OptionsOf(values);
    const Inputs in(names, inputs);
    std::vector<nnsuite_tensor*> out(nnsuite_program_output_count(handle.get()));
    options.Call([&](nnsuite_error** error) {
      return nnsuite_run_with(handle.get(), in.names(), in.tensors(), in.size(), options.get(),
                              out.data(), out.size(), error);
    });
    return Take(out);
  }

  py::object Bench(const Names& names, const std::vector<const Tensor*>& inputs,
                   const py::dict& values) const {
    const Options options = OptionsOf(values);
    const Inputs in(names, inputs);
    Text json;
    options.Call([&](nnsuite_error** error) {
      return nnsuite_bench(handle.get(), in.names(), in.tensors(), in.size(), options.get(),
                           json.out(), error);
    });
    return json.str();
  }

  py::object ExplainPlan() const {
    Text json;
    Call([&](nnsuite_error** error) {
      return nnsuite_explain_plan(handle.get(), json.out(), error);
    });
    return json.str();
  }

  py::object Trace(const Names& names, const std::vector<const Tensor*>& inputs) const {
    const Inputs in(names, inputs);
    Text json;
    CallUnlocked([&](nnsuite_error** error) {
      return nnsuite_trace(handle.get(), in.names(), in.tensors(), in.size(), json.out(), error);
    });
    return json.str();
  }

  // `expected` has None for an output that is not compared.
  std::pair<int, py::object> CompareOutputs(const std::vector<const Tensor*>& outputs,
                                            const std::vector<const Tensor*>& expected,
                                            const py::dict& values) const {
    const Options options = OptionsOf(values);
    if (outputs.size() != expected.size())
      throw py::value_error("there are as many expected tensors as outputs");
    const auto handles = [](const std::vector<const Tensor*>& tensors) {
      std::vector<const nnsuite_tensor*> out;
      for (const Tensor* t : tensors) out.push_back(t == nullptr ? nullptr : t->handle.get());
      return out;
    };
    const std::vector<const nnsuite_tensor*> got = handles(outputs), want = handles(expected);
    Text json;
    const int code = CallUnlocked([&](nnsuite_error** error) {
      return nnsuite_compare_outputs(handle.get(), got.data(), want.data(), got.size(),
                                     options.get(), json.out(), error);
    });
    return {code, json.str()};
  }

  std::vector<Tensor> GivenInputs() const {
    std::vector<nnsuite_tensor*> out(nnsuite_program_input_count(handle.get()));
    CallUnlocked([&](nnsuite_error** error) {
      return nnsuite_given_inputs(handle.get(), out.data(), out.size(), error);
    });
    return Take(out);
  }

  std::vector<Tensor> SeededInputs(uint64_t seed) const {
    std::vector<nnsuite_tensor*> out(nnsuite_program_input_count(handle.get()));
    CallUnlocked([&](nnsuite_error** error) {
      return nnsuite_seeded_inputs(handle.get(), seed, out.data(), out.size(), error);
    });
    return Take(out);
  }
};

struct Model {
  ModelHandle handle;

  static Model Open(const std::string& path, const py::dict& values) {
    const Options options = OptionsOf(values);
    nnsuite_model* model = nullptr;
    CallUnlocked([&](nnsuite_error** error) {
      return nnsuite_open(path.c_str(), options.get(), &model, error);
    });
    return {ModelHandle(model)};
  }

  static Model FromBytes(const py::bytes& bytes, const std::string& path, const py::dict& values) {
    const Options options = OptionsOf(values);
    char* data = nullptr;
    py::ssize_t size = 0;
    if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw py::error_already_set();
    Model out;
    Lend(bytes, [&](void* context) {
      nnsuite_model* model = nullptr;
      CallUnlocked([&](nnsuite_error** error) {
        return nnsuite_open_memory(data, static_cast<size_t>(size), kReleaseObject, context,
                                   path.c_str(), options.get(), &model, error);
      });
      out.handle.reset(model);
    });
    return out;
  }

  // The report of a function that takes options, and its code.
  template <typename F>
  std::pair<int, py::object> Report(const py::dict& values, F&& function) const {
    const Options options = OptionsOf(values);
    Text text;
    const int code = options.Call([&](nnsuite_error** error) {
      return function(handle.get(), options.get(), text.out(), error);
    });
    return {code, text.str()};
  }

  std::pair<int, py::object> Inspect(const py::dict& values) const {
    return Report(values, nnsuite_inspect);
  }
  std::pair<int, py::object> Validate(const py::dict& values) const {
    return Report(values, nnsuite_validate);
  }
  std::pair<int, py::object> Dump(const py::dict& values) const {
    return Report(values, nnsuite_dump);
  }
  std::pair<int, py::object> Draw(const std::string& form, const py::dict& values) const {
    return Report(values, [&](const nnsuite_model* model, const nnsuite_options* options,
                              char** text, nnsuite_error** error) {
      return nnsuite_draw(model, form.c_str(), options, text, error);
    });
  }
  std::pair<int, py::object> Convert(const std::string& path, const py::dict& values) const {
    return Report(values, [&](const nnsuite_model* model, const nnsuite_options* options,
                              char** text, nnsuite_error** error) {
      return nnsuite_convert(model, path.c_str(), options, text, error);
    });
  }
  std::pair<int, py::object> Diff(const Model& other, const py::dict& values) const {
    return Report(values, [&](const nnsuite_model* model, const nnsuite_options* options,
                              char** text, nnsuite_error** error) {
      return nnsuite_diff_with(model, other.handle.get(), options, text, error);
    });
  }
  std::pair<int, py::object> DrawDiff(const Model& other, const py::dict& values) const {
    return Report(values, [&](const nnsuite_model* model, const nnsuite_options* options,
                              char** text, nnsuite_error** error) {
      return nnsuite_draw_diff(model, other.handle.get(), options, text, error);
    });
  }
  py::object BillOfMaterials() const {
    return Report(
               {},
               [](const nnsuite_model* model, const nnsuite_options*, char** text,
                  nnsuite_error** error) { return nnsuite_bill_of_materials(model, text, error); })
        .second;
  }
  void DumpFile(const std::string& path, const py::dict& values) const {
    Report(values, [&](const nnsuite_model* model, const nnsuite_options* options, char**,
                       nnsuite_error** error) {
      return nnsuite_dump_file(model, path.c_str(), options, error);
    });
  }
  void Write(const std::string& path, const py::dict& values) const {
    Report(values, [&](const nnsuite_model* model, const nnsuite_options* options, char**,
                       nnsuite_error** error) {
      return nnsuite_write(model, path.c_str(), options, error);
    });
  }
  std::tuple<int, py::object, std::optional<Model>> Edit(const py::dict& values) const {
    nnsuite_model* edited = nullptr;
    auto [code, json] = Report(
        values,
        [&](const nnsuite_model* model, const nnsuite_options* options, char** text,
            nnsuite_error** error) { return nnsuite_edit(model, options, &edited, text, error); });
    std::optional<Model> out;
    if (edited != nullptr) out = Model{ModelHandle(edited)};
    return {code, std::move(json), std::move(out)};
  }
  Tensor Constant(size_t index) const {
    nnsuite_tensor* tensor = nullptr;
    CallUnlocked([&](nnsuite_error** error) {
      return nnsuite_model_constant(handle.get(), index, &tensor, error);
    });
    return {TensorHandle(tensor)};
  }
  std::pair<int, py::object> RunTestData(const std::string& folder, const py::dict& values) const {
    return Report(values, [&](const nnsuite_model* model, const nnsuite_options* options,
                              char** text, nnsuite_error** error) {
      return nnsuite_run_test_data(model, folder.c_str(), options, text, error);
    });
  }
  void SaveStepValues(const std::string& folder, const py::dict& values) const {
    Report(values, [&](const nnsuite_model* model, const nnsuite_options* options, char**,
                       nnsuite_error** error) {
      return nnsuite_save_step_values(model, folder.c_str(), options, error);
    });
  }
  py::object SearchDtype(const py::dict& values) const {
    return Report(values, nnsuite_search_dtype).second;
  }
  // The outputs and the states.
  std::pair<py::dict, py::dict> RunSequence(const py::dict& values) const {
    const Options options = OptionsOf(values);
    nnsuite_tensor_list* outputs = nullptr;
    nnsuite_tensor_list* states = nullptr;
    options.Call([&](nnsuite_error** error) {
      return nnsuite_run_sequence(handle.get(), options.get(), &outputs, &states, error);
    });
    const TensorListHandle owned(outputs), owned_states(states);
    return {TensorsOf(outputs), TensorsOf(states)};
  }
  Program Compile(const py::dict& values) const { return Compiled(values, nnsuite_compile); }
  Program CompileForInputs(const py::dict& values) const {
    return Compiled(values, nnsuite_compile_for_inputs);
  }

 private:
  Program Compiled(const py::dict& values, decltype(nnsuite_compile)* compile) const {
    const Options options = OptionsOf(values);
    nnsuite_program* program = nullptr;
    CallUnlocked([&](nnsuite_error** error) {
      return compile(handle.get(), options.get(), &program, error);
    });
    return {ProgramHandle(program)};
  }
};

std::pair<int, py::object> ConvertFolder(const std::string& path, const std::string& output,
                                         const py::dict& values) {
  const Options options = OptionsOf(values);
  Text json;
  const int code = options.Call([&](nnsuite_error** error) {
    return nnsuite_convert_folder(path.c_str(), output.empty() ? nullptr : output.c_str(),
                                  options.get(), json.out(), error);
  });
  return {code, json.str()};
}

void TranslateFailure(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Failure& f) {
    const py::object error =
        py::module_::import("nnsuite._errors").attr("make")(f.code, f.kind, f.message);
    PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
  }
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  m.doc() = "The C interface of nnsuite; use the package nnsuite.";
  py::register_exception_translator(TranslateFailure);
  m.def("version", [] { return nnsuite_version(); });
  m.def("simd_targets", [] {
    Text text;
    Call([&](nnsuite_error** error) { return nnsuite_simd_targets(text.out(), error); });
    return text.str();
  });
  m.def("use_simd_target", [](const std::string& name) {
    Call([&](nnsuite_error** error) { return nnsuite_use_simd_target(name.c_str(), error); });
  });
  m.def("convert_folder", ConvertFolder, py::arg("path"), py::arg("output"), py::arg("options"));

  py::class_<Tensor>(m, "Tensor")
      .def_static("from_array", TensorOfArray, py::arg("array"), py::arg("dtype"), py::arg("shape"))
      .def_static("from_strings", TensorOfStrings, py::arg("strings"), py::arg("shape"))
      .def_static("from_dlpack", TensorOfDlpack, py::arg("capsule"))
      .def_property_readonly("dtype", &Tensor::dtype)
      .def_property_readonly("shape",
                             [](const Tensor& t) { return py::tuple(py::cast(t.shape())); })
      .def_property_readonly("nbytes", &Tensor::size)
      .def("bytes", [](const py::object& self) { return BytesOfTensor(self); })
      .def("strings", StringsOfTensor)
      .def("dlpack", DlpackOfTensor);

  py::class_<Program>(m, "Program")
      .def("describe", &Program::Describe)
      .def("run", &Program::Run, py::arg("names"), py::arg("inputs"), py::arg("options"))
      .def("compare_outputs", &Program::CompareOutputs, py::arg("outputs"), py::arg("expected"),
           py::arg("options"))
      .def("bench", &Program::Bench, py::arg("names"), py::arg("inputs"), py::arg("options"))
      .def("explain_plan", &Program::ExplainPlan)
      .def("trace", &Program::Trace, py::arg("names"), py::arg("inputs"))
      .def("given_inputs", &Program::GivenInputs)
      .def("seeded_inputs", &Program::SeededInputs, py::arg("seed"));

  py::class_<Model>(m, "Model")
      .def_static("open", &Model::Open, py::arg("path"), py::arg("options"))
      .def_static("from_bytes", &Model::FromBytes, py::arg("bytes"), py::arg("path"),
                  py::arg("options"))
      .def_property_readonly(
          "format", [](const Model& self) { return nnsuite_model_format(self.handle.get()); })
      .def_property_readonly(
          "path", [](const Model& self) { return nnsuite_model_path(self.handle.get()); })
      .def("inspect", &Model::Inspect, py::arg("options"))
      .def("validate", &Model::Validate, py::arg("options"))
      .def("dump", &Model::Dump, py::arg("options"))
      .def("dump_file", &Model::DumpFile, py::arg("path"), py::arg("options"))
      .def("draw", &Model::Draw, py::arg("form"), py::arg("options"))
      .def("convert", &Model::Convert, py::arg("path"), py::arg("options"))
      .def("diff", &Model::Diff, py::arg("other"), py::arg("options"))
      .def("draw_diff", &Model::DrawDiff, py::arg("other"), py::arg("options"))
      .def("bill_of_materials", &Model::BillOfMaterials)
      .def("write", &Model::Write, py::arg("path"), py::arg("options"))
      .def("edit", &Model::Edit, py::arg("options"))
      .def("constant", &Model::Constant, py::arg("index"))
      .def("run_sequence", &Model::RunSequence, py::arg("options"))
      .def("run_test_data", &Model::RunTestData, py::arg("folder"), py::arg("options"))
      .def("save_step_values", &Model::SaveStepValues, py::arg("folder"), py::arg("options"))
      .def("search_dtype", &Model::SearchDtype, py::arg("options"))
      .def("compile", &Model::Compile, py::arg("options"))
      .def("compile_for_inputs", &Model::CompileForInputs, py::arg("options"));
}

}  // namespace nn::python
