// The whole encoder of the oracle: embedding, blocks, read-out, loss, and the hand-written backward.
// Entry points: run (loss, outputs, patterns, residual streams), loss, loss_and_gradients.
#pragma once

#include "kernels/reference/block.h"

namespace locus::reference {

template <class S>
struct Forward {
  S loss = S(0);
  Array<S> output = {};                 // (B, O), (B, T, O) for kEvery, (number of masked tokens, O) for kMasked
  std::vector<Array<S>> residual = {};  // block inputs before the encoding, then the last block's output: (B, T, C)
  std::vector<BlockState<S>> blocks = {};
  Array<S> normed = {};  // after the last norm of pre-LN, else empty
  Array<S> read = {};    // the head's input
  Array<S> hidden = {};  // head_hidden > 0: before GELU
};

template <class S>
struct LossAndGradients {
  S loss;
  Array<S> output;
  Params<S> gradients;  // of every tensor but eigenvectors; those of frozen tables are for the caller to ignore
};

// Feature f of a token: the data's, or a one-hot id.
inline double feature_of(const Spec& spec, const Batch& batch, int token, int f) {
  if (batch.ids.empty()) return batch.features[static_cast<std::size_t>(token) * spec.features + f];
  return batch.ids[token] == f ? 1.0 : 0.0;
}

// A token without a value (2) is hidden and never asked for.
inline bool is_asked_for(const Batch& batch, int token) { return !batch.masked.empty() && batch.masked[token] == 1; }
inline bool is_masked(const Batch& batch, int token) { return !batch.masked.empty() && batch.masked[token] != 0; }

// (B, T, C); `token` in helpers counts over (B, tokens).
template <class S>
Array<S> embed_forward(const Spec& spec, const Params<S>& params, const Batch& batch) {
  Array<S> x(static_cast<std::size_t>(batch.examples) * spec.length() * spec.width, S(0));
  const Array<S>* mask_token = optional_tensor(params, "mask_token");
  for (int b = 0; b < batch.examples; ++b) {
    for (int t = 0; t < spec.length(); ++t) {
      S* row = x.data() + (b * spec.length() + t) * spec.width;
      const int token = b * spec.tokens + t;
      for (int c = 0; c < spec.width; ++c) {
        if (t == spec.tokens) {
          row[c] = tensor(params, "cls_token")[c];
        } else if (is_masked(batch, token)) {
          row[c] = mask_token ? (*mask_token)[c] : S(0);
        } else if (!spec.embed_linear) {
          row[c] = S(feature_of(spec, batch, token, c));
        } else {
          row[c] = tensor(params, "embed.bias")[c];
          for (int f = 0; f < spec.features; ++f) {
            row[c] += tensor(params, "embed.weight")[c * spec.features + f] * S(feature_of(spec, batch, token, f));
          }
        }
      }
    }
  }
  return x;
}

template <class S>
void embed_backward(const Spec& spec, const Batch& batch, const Array<S>& dx, Params<S>& gradients) {
  Array<S>* mask_token = optional_tensor(gradients, "mask_token");
  for (int b = 0; b < batch.examples; ++b) {
    for (int t = 0; t < spec.length(); ++t) {
      const S* d = dx.data() + (b * spec.length() + t) * spec.width;
      const int token = b * spec.tokens + t;
      for (int c = 0; c < spec.width; ++c) {
        if (t == spec.tokens) {
          gradients.at("cls_token")[c] += d[c];
        } else if (is_masked(batch, token)) {
          if (mask_token) (*mask_token)[c] += d[c];
        } else if (spec.embed_linear) {
          gradients.at("embed.bias")[c] += d[c];
          for (int f = 0; f < spec.features; ++f) {
            gradients.at("embed.weight")[c * spec.features + f] += d[c] * S(feature_of(spec, batch, token, f));
          }
        }
      }
    }
  }
}

// Rows of (B T) that are read, in order; for kMean and kFlat all of them.
inline std::vector<int> read_rows(const Spec& spec, const Batch& batch) {
  std::vector<int> rows;
  const int length = spec.length();
  for (int b = 0; b < batch.examples; ++b) {
    for (int t = 0; t < length; ++t) {
      bool read = true;
      if (spec.readout == Readout::kToken) read = t == (spec.readout_token + length) % length;
      if (spec.readout == Readout::kGiven) read = t == (batch.read_token[b] + length) % length;
      if (spec.readout == Readout::kCls) read = t == length - 1;
      if (spec.readout == Readout::kMasked) read = is_asked_for(batch, b * spec.tokens + t);
      if (read) rows.push_back(b * length + t);
    }
  }
  return rows;
}

// The head's input. A mean is a sum over T with weight 1/T; every other read-out copies rows.
template <class S>
Array<S> read_forward(const Spec& spec, const Batch& batch, const Array<S>& x) {
  const bool mean = spec.readout == Readout::kMean;
  Array<S> read(mean ? static_cast<std::size_t>(batch.examples) * spec.width : 0, S(0));
  for (const int row : read_rows(spec, batch)) {
    for (int c = 0; c < spec.width; ++c) {
      const S value = x[row * spec.width + c];
      if (mean) {
        read[row / spec.length() * spec.width + c] += value / S(spec.length());
      } else {
        read.push_back(value);
      }
    }
  }
  return read;
}

template <class S>
Array<S> read_backward(const Spec& spec, const Batch& batch, const Array<S>& d_read) {
  Array<S> dx(static_cast<std::size_t>(batch.examples) * spec.length() * spec.width, S(0));
  std::size_t next = 0;
  for (const int row : read_rows(spec, batch)) {
    for (int c = 0; c < spec.width; ++c) {
      dx[row * spec.width + c] =
          spec.readout == Readout::kMean ? d_read[row / spec.length() * spec.width + c] / S(spec.length()) : d_read[next++];
    }
  }
  return dx;
}

inline int head_inputs(const Spec& spec) { return spec.width * (spec.readout == Readout::kFlat ? spec.length() : 1); }

template <class S>
Array<S> head_layer_forward(const Spec& spec, const Params<S>& params, Forward<S>& state) {
  const int in = head_inputs(spec);
  Array<S> output;
  if (spec.head_hidden > 0) {
    state.hidden = linear_forward(state.read, tensor(params, "head.0.weight"), &tensor(params, "head.0.bias"), in);
    output = linear_forward(gelu_forward(state.hidden), tensor(params, "head.2.weight"), &tensor(params, "head.2.bias"),
                            spec.head_hidden);
  } else {
    output = linear_forward(state.read, tensor(params, "head.weight"), &tensor(params, "head.bias"), in);
  }
  for (S& o : output) o *= S(spec.output_gain);
  return output;
}

template <class S>
Array<S> head_layer_backward(const Spec& spec, const Params<S>& params, const Forward<S>& state, Array<S> d,
                             Params<S>& gradients) {
  for (S& o : d) o *= S(spec.output_gain);
  const auto grads = [&](const std::string& name) {
    return LinearGradients<S>{&gradients.at(name + "weight"), &gradients.at(name + "bias")};
  };
  if (spec.head_hidden == 0) {
    return linear_backward(state.read, tensor(params, "head.weight"), d, head_inputs(spec), grads("head."));
  }
  d = linear_backward(gelu_forward(state.hidden), tensor(params, "head.2.weight"), d, spec.head_hidden, grads("head.2."));
  d = gelu_backward(state.hidden, d);
  return linear_backward(state.read, tensor(params, "head.0.weight"), d, head_inputs(spec), grads("head.0."));
}

// The targets of the rows that are read.
inline std::vector<double> read_targets(const Spec& spec, const Batch& batch) {
  if (spec.readout != Readout::kMasked) return batch.targets;
  std::vector<double> targets;
  for (const int row : read_rows(spec, batch)) {
    for (int o = 0; o < spec.outputs; ++o) targets.push_back(batch.targets[row * spec.outputs + o]);
  }
  return targets;
}

template <class S>
Loss<S> task_loss(const Spec& spec, const Batch& batch, const Array<S>& output) {
  if (spec.task == Task::kClassification) return cross_entropy(output, batch.labels);
  return mean_square(output, read_targets(spec, batch));
}

template <class S>
Forward<S> run(const Spec& spec, const Params<S>& params, const Batch& batch, const Noise& noise = {}) {
  LOCUS_CHECK(noise.empty() || static_cast<int>(noise.size()) == spec.layers, "one set of noise per block");
  const Geometry geometry(spec);
  Forward<S> state;
  state.residual.push_back(embed_forward(spec, params, batch));
  for (int l = 0; l < spec.layers; ++l) {
    const Encoding<S> pe(spec, geometry, l, params, nullptr);
    const BlockContext<S> block{pe, params, "blocks." + std::to_string(l) + ".", noise.empty() ? BlockNoise{} : noise[l]};
    state.blocks.emplace_back();
    state.residual.push_back(block_forward(block, batch.examples, state.residual.back(), state.blocks.back()));
  }
  if (spec.pre_norm) {
    state.normed = layer_norm_forward(state.residual.back(), tensor(params, "norm.weight"), tensor(params, "norm.bias"));
  }
  state.read = read_forward(spec, batch, spec.pre_norm ? state.normed : state.residual.back());
  state.output = head_layer_forward(spec, params, state);
  state.loss = task_loss(spec, batch, state.output).value;
  return state;
}

template <class S>
S loss(const Spec& spec, const Params<S>& params, const Batch& batch, const Noise& noise = {}) {
  return run(spec, params, batch, noise).loss;
}

template <class S>
LossAndGradients<S> loss_and_gradients(const Spec& spec, const Params<S>& params, const Batch& batch,
                                       const Noise& noise = {}) {
  const Geometry geometry(spec);
  Forward<S> state = run(spec, params, batch, noise);
  LossAndGradients<S> result{state.loss, state.output, {}};
  for (const auto& [name, values] : params) {
    if (!name.ends_with("eigenvectors")) result.gradients[name].assign(values.size(), S(0));
  }
  Params<S>& gradients = result.gradients;
  Array<S> d = head_layer_backward(spec, params, state, task_loss(spec, batch, state.output).gradient, gradients);
  d = read_backward(spec, batch, d);
  if (spec.pre_norm) {
    d = layer_norm_backward(state.residual.back(), tensor(params, "norm.weight"), d,
                            {&gradients.at("norm.weight"), &gradients.at("norm.bias")});
  }
  for (int l = spec.layers - 1; l >= 0; --l) {
    const Encoding<S> pe(spec, geometry, l, params, &gradients);
    const BlockContext<S> block{pe, params, "blocks." + std::to_string(l) + ".", noise.empty() ? BlockNoise{} : noise[l]};
    d = block_backward(block, state.blocks[l], d, gradients);
  }
  embed_backward(spec, batch, d, gradients);
  return result;
}

}  // namespace locus::reference
