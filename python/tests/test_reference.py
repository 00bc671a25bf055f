"""Tests of the PyTorch reference by itself: python3 -m unittest discover python/tests. Skipped where PyTorch is missing."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CODE = os.path.join(HERE, "..", "locus")
GOLDEN = os.path.join(HERE, "..", "..", "tests", "golden")
sys.path.insert(0, CODE)

try:
    import torch
except ImportError:
    raise unittest.SkipTest("PyTorch is not installed")

import make_golden
import reference


def golden(name):
    tensors, metadata = reference.load_safetensors(os.path.join(GOLDEN, f"{name}.safetensors"))
    parts = {"param.": {}, "input.": {}, "grad.": {}, "expect.": {}}
    for key, value in tensors.items():
        for prefix, part in parts.items():
            if key.startswith(prefix):
                part[key[len(prefix):]] = value
    return json.loads(metadata["config"]), parts


class ReferenceTest(unittest.TestCase):
    def test_safetensors_read_back_what_was_written(self):
        tensors = {"a": torch.randn(3, 4), "b": torch.arange(5), "c": torch.zeros(0, 2), "d": torch.tensor(2.5).double()}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.safetensors")
            reference.save_safetensors(path, tensors, {"k": "v"})
            read, metadata = reference.load_safetensors(path)
            self.assertEqual(metadata, {"k": "v"})
            self.assertEqual(set(read), set(tensors))
            for name, tensor in tensors.items():
                self.assertEqual(read[name].dtype, tensor.dtype)
                self.assertTrue(torch.equal(read[name], tensor))
            with open(path, "r+b") as file:
                file.truncate(os.path.getsize(path) - 1)
            with self.assertRaises(ValueError):
                reference.load_safetensors(path)

    def test_checkpoints_load_strictly_and_give_the_golden_outputs(self):
        for name in make_golden.cases():
            config, parts = golden(name)
            with tempfile.TemporaryDirectory() as folder, self.subTest(name):
                with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                    json.dump(config, file)
                reference.save_safetensors(os.path.join(folder, "model.safetensors"), parts["param."])
                model = reference.from_checkpoint(folder)
                batch = parts["input."]
                inputs = batch["ids"] if "ids" in batch else batch["features"]
                output = model(inputs, batch.get("masked"), batch.get("read_token"))
                error = (output.double() - parts["expect."]["output"]).abs().max()
                self.assertLess(float(error), 1e-4)
                trained = {key for key, value in model.named_parameters() if value.requires_grad}
                self.assertEqual(trained, set(parts["grad."]))

    def test_sliced_last_layer_has_the_same_gradients(self):
        for name in ("readout_masked", "readout_given", "relative_grid_cls", "rotary_h4_causal", "t5_h4_causal", "readout_mean"):
            config, parts = golden(name)
            batch = {key: value.double() if value.is_floating_point() else value for key, value in parts["input."].items()}
            state = {key: value.double() for key, value in parts["param."].items()}
            model = reference.from_state(reference.ReferenceConfig.from_json(config), state, slice_last_layer=True)
            _, loss = make_golden.run(model.eval(), batch)
            loss.backward()
            for key, parameter in model.named_parameters():
                with self.subTest(case=name, tensor=key):
                    self.assertTrue(torch.allclose(parameter.grad, parts["grad."][key], rtol=1e-8, atol=1e-11))

    def test_training_goes_on_after_inference_mode(self):
        for name, (config, _) in make_golden.cases().items():
            if name.endswith(("h1_full", "h4_causal")):
                model = reference.LocusEncoder(config)
                features = torch.randn(2, config.tokens, config.features)
                with torch.inference_mode():
                    before = model.eval()(features)
                output = model(features)
                output.square().mean().backward()
                self.assertTrue(torch.equal(output, before), name)

    def test_dropout_and_signs_act_in_training_only(self):
        config = reference.ReferenceConfig(width=8, layers=2, pe_kind="laplacian", pe_eigenvectors=3, attention_dropout=0.5,
                                           residual_dropout=0.5, pe_dropout=0.5)
        torch.manual_seed(3)
        model = reference.LocusEncoder(config)
        for block in model.blocks:
            block.pe.eigenvectors.normal_()
        features = torch.randn(4, 16, 5)
        self.assertFalse(torch.equal(model(features), model(features)))
        model.eval()
        self.assertTrue(torch.equal(model(features), model(features)))

    def test_long_relative_sequences_gather_to_the_same_result(self):
        config, parts = golden("relative_value_h4_causal")
        state = {key: value.double() for key, value in parts["param."].items()}
        model = reference.from_state(reference.ReferenceConfig.from_json(config), state).eval()
        reference.TABLE_LIMIT, limit = 0, reference.TABLE_LIMIT
        try:
            output, loss = make_golden.run(model, parts["input."])
            loss.backward()
        finally:
            reference.TABLE_LIMIT = limit
        self.assertTrue(torch.allclose(output, parts["expect."]["output"], rtol=0, atol=1e-11))
        for key, parameter in model.named_parameters():
            self.assertTrue(torch.allclose(parameter.grad, parts["grad."][key], rtol=1e-8, atol=1e-11), key)


class BenchPeerTest(unittest.TestCase):
    def test_it_answers_line_by_line(self):
        config, parts = golden("readout_masked")
        for mode in ("train", "infer"):
            with tempfile.TemporaryDirectory() as folder, self.subTest(mode):
                spec = {"config": config, "tensors": os.path.join(GOLDEN, "readout_masked.safetensors"), "mode": mode,
                        "optimizer": {"kind": "adamw", "lr": 0.01, "clip_norm": 1.0}, "slice_last_layer": True}
                path = os.path.join(folder, "workload.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(spec, file)
                command = [sys.executable, os.path.join(CODE, "bench_peer.py"), path]
                lines = subprocess.run(command, input="go 2\nnonsense\ngo 1\nstop\n", capture_output=True, text=True,
                                       check=True).stdout.split("\n")
                self.assertEqual(lines[0].split()[0], "ready")
                self.assertAlmostEqual(float(lines[0].split()[1]), float(parts["expect."]["loss"]), places=4)
                self.assertGreater(float(lines[1]), 0)
                self.assertTrue(lines[2].startswith("error"))
                self.assertGreater(float(lines[3]), 0)
                self.assertGreater(int(lines[4]), 1000)


if __name__ == "__main__":
    unittest.main()
