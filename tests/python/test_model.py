import json
import os
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import nnsuite

BROKEN = b"""ir_version: 8 opset_import { version: 17 } graph { name: "g"
  node { input: "x" output: "y" op_type: "Rleu" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { } } } } }"""

SUM = b"""ir_version: 8 opset_import { version: 13 } graph { name: "g"
  node { op_type: "Add" input: "x" input: "k" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  input { name: "k" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } }"""


def program(name, *arguments):
    command = [sys.executable, "-m", "nnsuite", name, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_model_describes_itself(golden):
    for name, form in {
        "cnn.onnx": "onnx",
        "mobile_quant.tflite": "tflite",
        "superres.mlmodel": "coreml",
        "squeeze.nnapi": "nnapi",
    }.items():
        model = nnsuite.open(golden / name)
        assert model.format == form
        assert model.path == str(golden / name)
        assert "operators" in repr(model)
        assert model._repr_svg_().startswith("<svg") or "<svg" in model.svg()
        assert model.dot().startswith("digraph")
        assert model.inspect()["operators"]["count"] > 0


def test_reports_are_those_of_the_programs(cnn, golden):
    path = golden / "cnn.onnx"
    done = program("inspect", path, "--format", "json", "--nodes", "--cost", "--batch", 2)
    assert cnn.inspect(nodes=True, cost=True, batch=2) == json.loads(done.stdout)
    done = program("validate", path, "--format", "json", "--no-config")
    assert cnn.validate().report == json.loads(done.stdout)
    other = nnsuite.open(golden / "squeeze.nnapi")
    done = program("inspect", "--diff", path, golden / "squeeze.nnapi", "--format", "json")
    assert done.returncode == 1
    assert cnn.diff(other) == json.loads(done.stdout)
    assert cnn.diff(cnn)["equal"]


def test_programs_of_the_package(golden, tmp_path):
    assert program("validate", golden / "cnn.onnx").stdout.endswith("no findings\n")
    assert program("convert", golden / "cnn.onnx", tmp_path / "m.tflite").returncode == 0
    assert program("run", tmp_path / "m.tflite", "--batch", "1", "--digest").returncode == 0
    assert program("train").returncode == 2
    assert "usage" in program("train").stderr


def test_a_function_of_a_program(tmp_path):
    folder = tmp_path / "m.mlmodelc"
    folder.mkdir()
    body = "func {}<ios17>(tensor<fp32, [1]> x) {{ tensor<fp32, [1]> y = mul(x = x, y = fp32({})); }} -> (y);"
    functions = "\n".join(body.format(name, factor) for name, factor in [("main", 2), ("other", 3)])
    (folder / "model.mil").write_text(f"program(1.0)\n{{\n{functions}\n}}\n")
    x = {"x": np.ones(1, np.float32)}
    assert nnsuite.open(folder).run(x)["y"] == [2]
    assert nnsuite.open(folder, function="other").run(x)["y"] == [3]
    with pytest.raises(nnsuite.UsageError, match="but main, other"):
        nnsuite.open(folder, function="third")


def test_errors_have_exit_codes_and_rules(golden, tmp_path):
    with pytest.raises(nnsuite.UsageError) as caught:
        nnsuite.open("/no/such/model.onnx")
    assert (caught.value.exit_code, caught.value.kind) == (2, "io")
    assert "/no/such/model.onnx" in str(caught.value)
    with pytest.raises(nnsuite.LimitError) as caught:
        nnsuite.open(golden / "cnn.onnx", max_file_bytes=10)
    assert caught.value.exit_code == 4
    with pytest.raises(nnsuite.UsageError, match="no option is named"):
        nnsuite.open(golden / "cnn.onnx", max_bytes=10)

    broken = nnsuite.Model.from_bytes(BROKEN, "m.textproto")
    findings = broken.validate()
    assert findings.failed
    assert [f.rule for f in findings] == ["ONNX-NODE-004"]
    assert findings[0].severity == "error"
    assert "[ONNX-NODE-004]" in str(findings[0])
    assert not broken.validate(disable=["ONNX-NODE-004"]).failed
    with pytest.raises(nnsuite.CheckError) as caught:
        broken.check()
    assert caught.value.rules == ("ONNX-NODE-004",)
    assert caught.value.exit_code == 1
    with pytest.raises(nnsuite.UnsupportedError, match="Rleu") as caught:
        broken.compile()
    assert caught.value.exit_code == 3
    with pytest.raises(nnsuite.UnsupportedError):
        broken.convert(tmp_path / "m.tflite")


def test_conversions(cnn, tmp_path):
    report = cnn.convert(tmp_path / "m.tflite", batch=1, threads=2)
    assert report["result"] == "converted"
    assert report["verification"]["passed"]
    x = cnn.compile(batch=1).seeded_inputs(3)
    got = nnsuite.open(tmp_path / "m.tflite").run(x)
    assert np.allclose(got["classes"], cnn.run(x, batch=1)["classes"], atol=1e-6)

    assert cnn.convert(tmp_path / "dry.tflite", dry_run=True)["result"] == "convertible"
    assert not (tmp_path / "dry.tflite").exists()
    with pytest.raises(nnsuite.UsageError):
        cnn.convert(tmp_path / "m.xyz")
    samples = [[np.random.default_rng(i).random((1, 3, 32, 32), np.float32)] for i in range(3)]
    report = cnn.convert(tmp_path / "q.tflite", samples=samples, quantize="int8")
    assert report["quantization"]["samples"] == 3
    with pytest.raises(nnsuite.UsageError, match="samples"):
        cnn.convert(tmp_path / "q.tflite", quantize="int8")
    with pytest.raises(nnsuite.UsageError):
        cnn.convert(tmp_path / "q.tflite", samples=samples)


def test_conversions_report_progress(cnn, tmp_path):
    told = []
    cnn.convert(tmp_path / "m.tflite", batch=1, progress=lambda *step: told.append(step))
    assert [step for step in told if step[0] == "runs"] == [("runs", i, 3) for i in range(4)]
    done, total = [step[1:] for step in told if step[0] == "bytes"][-1]
    assert done == total > 0
    with pytest.raises(nnsuite.LimitError, match="the caller ended the conversion"):
        cnn.convert(tmp_path / "no.tflite", batch=1, progress=lambda *_: False)

    def fail(activity, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        cnn.convert(tmp_path / "no.tflite", batch=1, progress=fail)
    assert not (tmp_path / "no.tflite").exists()
    with pytest.raises(nnsuite.UsageError, match="reports no progress"):
        cnn.compile(batch=1, progress=fail)


def test_edits_and_runs_report_progress(cnn):
    told = []
    cnn.edit(cut_after=["features"], progress=lambda *step: told.append(step))
    assert told == [("runs", i, 3) for i in range(4)]
    with pytest.raises(nnsuite.LimitError, match="the caller ended the edit"):
        cnn.edit(cut_after=["features"], progress=lambda *_: False)
    program = cnn.compile(batch=1)
    inputs = program.seeded_inputs()
    told.clear()
    program.run(inputs, progress=lambda *step: told.append(step))
    assert [step[1] for step in told] == list(range(told[-1][2] + 1))
    with pytest.raises(nnsuite.LimitError, match="the caller ended the run"):
        program.run(inputs, progress=lambda *_: False)


def test_assertions_and_targets_are_checked(cnn):
    assert not cnn.validate(for_=["tflite"]).failed
    findings = cnn.validate(assert_max_params=10)
    assert findings.failed and findings[0].rule == "ASSERT-MAX-PARAMS"
    assert cnn.bill_of_materials()["bomFormat"] == "CycloneDX"


def test_known_findings_are_hidden(golden, tmp_path):
    model = nnsuite.open(golden / "cnn.onnx")
    baseline = tmp_path / "known.json"
    written = model.validate(assert_max_params=10, write_baseline=str(baseline))
    assert not written.failed and written.known == 1 and not written
    assert not model.validate(assert_max_params=10, baseline=str(baseline)).failed
    statement = tmp_path / "statement.json"
    statement.write_text(
        '{"_type": "https://in-toto.io/Statement/v1", "predicateType": "none",'
        ' "subject": [{"name": "m", "digest": {"sha256": "00"}}]}'
    )
    assert model.validate(attestation=str(statement))[0].rule == "ATTEST-SUBJECT"


def test_conversions_are_attested(cnn, tmp_path):
    statement, path = str(tmp_path / "statement.json"), tmp_path / "m.tflite"
    cnn.convert(path, batch=1, attest=statement)
    assert not nnsuite.open(path).validate(attestation=statement)
    assert cnn.validate(attestation=statement)
    with pytest.raises(nnsuite.UsageError, match="dry run"):
        cnn.convert(path, batch=1, attest=statement, dry_run=True)


def test_differences_have_shapes(cnn):
    part = cnn.edit(cut_after=["features"])
    assert not cnn.diff(part, batch=2)["equal"]
    assert "<html" in cnn.diff_html(part, batch=2)
    with pytest.raises(nnsuite.UsageError):
        cnn.diff(part, input_shape={"none": [1]})


def test_the_models_of_a_folder_are_converted(golden, tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    for name in ("cnn.onnx", "squeeze.nnapi"):
        shutil.copy(golden / name, models)
    told = []
    report = nnsuite.convert_folder(
        models, tmp_path / "out", to="tflite", jobs=2, progress=lambda *step: told.append(step)
    )
    assert [c["result"] for c in report["conversions"]] == ["converted", "converted"]
    assert told[0] == ("models", 0, 2) and told[-1] == ("models", 2, 2)
    report = nnsuite.convert_folder(models, tmp_path / "out", to="tflite")
    assert report["summary"]["unchanged"] == 2
    assert nnsuite.convert_folder(models, to="coreml", dry_run=True)["dry_run"]

    def fail(activity, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        nnsuite.convert_folder(models, tmp_path / "out", to="tflite", jobs=2, progress=fail)
    with pytest.raises(nnsuite.UsageError):
        nnsuite.convert_folder(models, tmp_path / "out")


def test_inputs_from_files_and_literals(cnn, tmp_path):
    image = np.linspace(0, 1, 2 * 3 * 32 * 32, dtype=np.float32).reshape(2, 3, 32, 32)
    np.savez(tmp_path / "in.npz", image=image)
    program = cnn.compile_for_inputs(inputs=str(tmp_path / "in.npz"), threads=2)
    given = program.given_inputs()
    assert np.array_equal(given["image"], image)
    assert program.run(given)["classes"].shape == (2, 10)
    (tmp_path / "red.ppm").write_bytes(b"P6 1 1 255\n\xff\0\0")
    picture = f"image={tmp_path / 'red.ppm'}"
    program = cnn.compile_for_inputs(
        input=[picture], scale=1, mean=[0.5, 1, 2], std=2, image_color="bgr", image_layout="nchw"
    )
    assert program.given_inputs()["image"][0, :, 7, 9].tolist() == [-0.25, -0.5, 126.5]
    seeded = cnn.compile_for_inputs(seed=4, batch=1)
    assert np.array_equal(
        seeded.given_inputs()["image"], cnn.compile(batch=1).seeded_inputs(4)["image"]
    )
    with pytest.raises(nnsuite.UsageError, match="not given"):
        cnn.compile_for_inputs(input="picture=1")
    with pytest.raises(nnsuite.UsageError, match="number"):
        cnn.compile_for_inputs(input=picture, mean="1")
    with pytest.raises(TypeError):
        cnn.compile_for_inputs(input=[picture, None])


def test_outputs_are_compared(cnn, golden, tmp_path):
    compiled = cnn.compile(batch=1)
    outputs = compiled.run(compiled.seeded_inputs(0))
    report = compiled.compare_outputs(outputs, outputs)
    assert report["passed"] and report["outputs"][0]["identical"]
    other = compiled.run(compiled.seeded_inputs(1))
    assert not compiled.compare_outputs(outputs, other)["passed"]
    assert compiled.compare_outputs(outputs, other, atol=10)["passed"]
    want = tmp_path / "want.npz"
    np.savez(want, classes=other["classes"])
    report = compiled.compare_outputs(outputs, expect=want)
    done = program("run", golden / "cnn.onnx", "--batch", 1, "--expect", want, "--format", "json")
    assert done.returncode == 1
    assert report == json.loads(done.stdout)["expect"]
    with pytest.raises(nnsuite.UsageError, match="scores"):
        compiled.compare_outputs(outputs, {"scores": outputs["classes"]})
    with pytest.raises(nnsuite.UsageError):
        compiled.compare_outputs(outputs)


def test_sequences_and_inputs_in_memory(cnn, tmp_path):
    image = np.full((1, 3, 32, 32), 0.5, np.float32)
    compiled = cnn.compile_for_inputs(arrays={"image": image})
    assert np.array_equal(compiled.given_inputs()["image"], image)
    once = compiled.run({"image": image})["classes"]
    told = []
    outputs, states = cnn.run_sequence(
        steps=2, arrays={"image": image}, progress=lambda *state: told.append(state)
    )
    assert outputs["classes"].shape == (2, *once.shape) and states == {}
    assert np.array_equal(outputs["classes"][1], once)
    assert told == [("steps", done, 2) for done in range(3)]
    with pytest.raises(nnsuite.UsageError, match="carry"):
        cnn.run_sequence(carry="classes=image", batch=1)
    with pytest.raises(nnsuite.UsageError, match="no states"):
        cnn.run_sequence(state=tmp_path / "s.npz", batch=1)


def test_values_of_steps_and_a_search_for_types(cnn, golden, tmp_path):
    image = np.full((1, 3, 32, 32), 0.5, np.float32)
    cnn.save_step_values(tmp_path / "steps", arrays={"image": image})
    values = json.loads((tmp_path / "steps" / "index.json").read_text())["values"]
    (first,) = [v for v in values if v["kind"] == "input"]
    assert np.array_equal(np.load(tmp_path / "steps" / first["file"]), image)
    with pytest.raises(nnsuite.UsageError, match="rtol"):
        cnn.search_dtype(batch=1)
    found = cnn.search_dtype(dtype="bf16", rtol=0.01, batch=1)
    done = program("run", golden / "cnn.onnx", "--batch", 1, "--search-dtype", "bf16", "--rtol",
                   0.01, "--format", "json")
    assert found == json.loads(done.stdout)["search_dtype"]


def test_test_data_of_onnx(tmp_path):
    text = """ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Neg" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}"""
    model = nnsuite.Model.from_bytes(text.encode(), "m.textproto")
    for name, values in (("input_0", [1, 2]), ("output_0", [-1, -2.1])):  # as TensorProto
        data = np.array(values, np.float32).tobytes()
        (tmp_path / f"{name}.pb").write_bytes(b"\x08\x02\x10\x01\x4a\x08" + data)
    (result,) = model.run_test_data(tmp_path)
    assert result["set"] == str(tmp_path) and not result["passed"]
    assert result["outputs"][0]["outside"] == 1
    assert model.run_test_data(tmp_path, atol=0.2)[0]["passed"]
    with pytest.raises(nnsuite.UsageError):
        model.run_test_data(tmp_path / "nosuch")


def test_benchmarks_plans_and_traces(cnn, golden):
    compiled = cnn.compile(batch=1)
    x = compiled.seeded_inputs(0)
    told = []
    report = compiled.bench(x, runs=2, warmup=1, progress=lambda *state: told.append(state))
    assert report["runs"] == 2 and "steps" not in report
    assert told == [("runs", done, 3) for done in range(4)]
    assert compiled.bench(list(x.values()), runs=1, step_times=True)["steps"]
    with pytest.raises(nnsuite.UsageError, match="runs"):
        compiled.bench(x, runs=0)
    with pytest.raises(ZeroDivisionError):
        compiled.bench(x, progress=lambda *state: 1 // 0)
    done = program("run", golden / "cnn.onnx", "--batch", 1, "--explain-plan", "--format", "json")
    assert compiled.explain_plan()["plan"] == json.loads(done.stdout)["plan"]
    events = json.loads(compiled.trace(x))["traceEvents"]
    assert len([e for e in events if e["ph"] == "X"]) >= len(compiled.explain_plan()["plan"]["steps"])
    reference = cnn.compile(batch=1, backend="reference")
    assert reference.explain_plan()["plan"] is None
    with pytest.raises(nnsuite.UsageError, match="has no plan"):
        reference.trace(x)


def test_simd_targets_give_the_same_bits(cnn):
    targets = nnsuite.simd_targets()
    assert targets
    x = cnn.compile(batch=1).seeded_inputs(1)
    outputs = []
    try:
        for target in (targets[0], targets[-1]):
            nnsuite.use_simd_target(target)
            outputs.append(cnn.run(x, batch=1)["classes"].tobytes())
        with pytest.raises(nnsuite.UsageError):
            nnsuite.use_simd_target("ABACUS")
    finally:
        nnsuite.use_simd_target("")
    assert outputs[0] == outputs[1]


def test_an_import_of_all_names_keeps_open():
    names = {}
    exec("from nnsuite import *", names)
    assert "open" not in names
    assert names["InternalError"].exit_code == 2


def test_findings_do_not_share_a_report():
    first, second = nnsuite.Findings(), nnsuite.Findings()
    first.report["path"] = "m.onnx"
    assert second.report == {} and not second.failed


def test_patterns_of_rules(golden):
    model = nnsuite.open(golden / "cnn.onnx")
    assert not model.validate(enable=["onnx-lint-*"], disable=["ONNX-LINT-*"]).failed
    with pytest.raises(nnsuite.UsageError, match="unknown rule"):
        model.validate(enable=["ONNX-NONE-*"])


def test_conversions_with_names_and_contents_of_inputs(cnn, tmp_path):
    image = np.random.default_rng(0).random((1, 3, 32, 32), np.float32)
    report = cnn.convert(tmp_path / "r.onnx", rename_input="image=picture")
    assert report["renamed"]
    assert nnsuite.open(tmp_path / "r.onnx").inspect()["inputs"][0]["name"] == "picture"
    report = cnn.convert(tmp_path / "m.tflite", verify_inputs=[[image], [image]])
    assert report["verification"]["runs"] == 2
    with pytest.raises(nnsuite.UsageError, match="no input to fix is named"):
        cnn.convert(tmp_path / "m.tflite", fix_input={"pixels": image})

    total = nnsuite.Model.from_bytes(SUM, "m.textproto")
    total.convert(tmp_path / "s.tflite", fix_input={"k": np.float32([1, 2])})
    got = nnsuite.open(tmp_path / "s.tflite").run(np.float32([1, 1]))
    assert [v.tolist() for v in got.values()] == [[2, 3]]


def test_conversions_with_edits_of_the_graph(cnn, tmp_path):
    report = cnn.convert(
        tmp_path / "m.tflite",
        input_shape={"image": ["N", 3, 32, 32]},
        preprocess=["image:u8,mean=0.5,std=0.5"],
        layout=["image=nhwc"],
    )
    assert report["graph_edits"]["verification"]["passed"]
    pixels = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), np.uint8)
    got = nnsuite.open(tmp_path / "m.tflite").run(pixels, input_shape={"image": pixels.shape})
    image = (pixels / np.float32(255) - np.float32(0.5)) / np.float32(0.5)
    image = np.ascontiguousarray(image.transpose(0, 3, 1, 2))
    assert np.allclose(got["classes"], cnn.run(image, batch=2)["classes"], atol=1e-5)

    tail = tmp_path / "tail.textproto"
    tail.write_text("""ir_version: 8 opset_import { version: 17 } graph { name: "t"
      node { input: "c" output: "best" op_type: "ArgMax"
             attribute { name: "axis" i: 1 type: INT } }
      input { name: "c" type { tensor_type { elem_type: 1
              shape { dim { dim_param: "n" } dim { dim_value: 10 } } } } }
      output { name: "best" type { tensor_type { elem_type: 7
               shape { dim { dim_param: "n" } dim { dim_value: 1 } } } } } }""")
    cnn.convert(tmp_path / "best.onnx", merge=str(tail), connect=["classes=c"])
    best = nnsuite.open(tmp_path / "best.onnx").run(image, batch=2)["best"]
    assert best[:, 0].tolist() == cnn.run(image, batch=2)["classes"].argmax(1).tolist()
    with pytest.raises(nnsuite.UsageError, match="--connect requires --merge"):
        cnn.convert(tmp_path / "m.onnx", connect=["classes=c"])
    with pytest.raises(TypeError):
        cnn.convert(tmp_path / "m.onnx", input_shape={"image": "N,3,32,32"})


def test_outputs_that_differ(tmp_path):
    def constant(name, dims, value):
        return f'initializer {{ name: "{name}" data_type: 1 {dims} float_data: {value} }}'

    tensor = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 1 }"
    tensor += " dim { dim_value: 16 } dim { dim_value: 16 } } } }"
    text = f"""ir_version: 8 opset_import {{ version: 15 }} graph {{ name: "g"
      node {{ input: "x" input: "w" output: "t" op_type: "Conv" }}
      node {{ input: "t" input: "s" input: "b" input: "m" input: "v" output: "y"
             op_type: "BatchNormalization" }}
      {constant("w", "dims: 1 dims: 1 dims: 1 dims: 1", 0.3)} {constant("s", "dims: 1", 0.7)}
      {constant("b", "dims: 1", 0.1)} {constant("m", "dims: 1", 0.2)}
      {constant("v", "dims: 1", 0.9)}
      input {{ name: "x" {tensor} }} output {{ name: "y" {tensor} }} }}"""
    model = nnsuite.Model.from_bytes(text.encode(), "norm.textproto")
    # Folding rounds differently, which no tolerance allows here.
    with pytest.raises(nnsuite.CheckError, match="outputs differ: y") as caught:
        model.convert(tmp_path / "m.tflite", fold_batch_norm=True, atol=0.0, rtol=0.0)
    assert caught.value.report["result"] == "refuted"
    assert not (tmp_path / "m.tflite").exists()
    model.convert(tmp_path / "m.tflite", fold_batch_norm=True)


def test_unsupported_nodes_are_named(tmp_path):
    text = b"""ir_version: 8 opset_import { version: 17 } graph { name: "g"
      node { input: "x" output: "y" op_type: "Asin" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } }"""
    model = nnsuite.Model.from_bytes(text, "asin.textproto")
    with pytest.raises(nnsuite.UnsupportedError) as caught:
        model.convert(tmp_path / "m.nnapi")
    assert caught.value.report["unsupported"][0]["source"] == "Asin"


def test_edits(cnn, tmp_path):
    part = cnn.edit(cut_after=["features"], set_metadata=["author=me"])
    assert part.edit_report["new_outputs"] == ["features"]
    assert part.edit_report["verification"]["passed"]
    part.write(tmp_path / "part.onnx")
    facts = nnsuite.open(tmp_path / "part.onnx").inspect()
    assert [o["name"] for o in facts["outputs"]] == ["features"]
    with pytest.raises(nnsuite.UsageError):
        cnn.edit(cut_after="no such value")


def test_copies_and_dumps(cnn, golden, tmp_path):
    cnn.write(tmp_path / "copy.onnx")
    assert (tmp_path / "copy.onnx").read_bytes() == (golden / "cnn.onnx").read_bytes()
    restored = nnsuite.Model.from_bytes(cnn.dump().encode())
    assert cnn.diff(restored)["equal"]
    assert json.loads(cnn.dump(weights="none"))["format"] == "onnx"


def test_dumps_have_weights_beside(cnn, tmp_path):
    cnn.dump_file(tmp_path / "m.json", weights="w.npz")
    assert (tmp_path / "w.npz").exists()
    assert nnsuite.open(tmp_path / "m.json").diff(cnn)["equal"]
    with pytest.raises(nnsuite.UsageError):
        cnn.dump_file(tmp_path / "m.json", weights="w.txt")


def test_constants(cnn):
    constants = cnn.constants
    weights = constants["stem.weight"]
    assert weights.shape == (16, 3, 3, 3)
    assert weights.numpy().dtype == np.float32
    assert len(constants) == len(cnn.inspect(tensors=True)["tensors"])
    with pytest.raises(KeyError):
        constants["no such tensor"]


def test_threads_run_one_program(cnn):
    compiled = cnn.compile(batch=1)
    x = compiled.seeded_inputs(0)
    expected = compiled.run(x)["classes"].tobytes()
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(compiled.run(x)["classes"].tobytes()))
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [expected] * 4


def test_the_lock_is_released_in_runs(golden):
    """Another thread goes on during a run, although nothing makes this one give up the lock."""
    compiled = nnsuite.open(golden / "superres.mlmodel").compile()
    x = compiled.seeded_inputs(0)
    turns = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=count)
    try:
        thread.start()
        during = 0
        deadline = time.monotonic() + 60
        while during == 0 and time.monotonic() < deadline:
            before = turns[0]
            compiled.run(x)
            during += turns[0] - before
    finally:
        done.set()
        sys.setswitchinterval(interval)
    thread.join()
    assert during > 0


def test_stubs_have_all_names():
    folder = os.path.dirname(nnsuite.__file__)
    with open(os.path.join(folder, "_core.pyi"), encoding="utf-8") as file:
        stub = file.read()
    assert os.path.exists(os.path.join(folder, "py.typed"))
    from nnsuite import _core

    for cls in (_core.Model, _core.Program, _core.Tensor):
        for name in vars(cls):
            if not name.startswith("_"):
                assert f"def {name}(" in stub, name
    for cls in (nnsuite.Model, nnsuite.Program, nnsuite.Tensor, nnsuite.open):
        assert cls.__doc__
