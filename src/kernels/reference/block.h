// One transformer block of the oracle, post-LN or pre-LN, forward and backward.
#pragma once

#include "kernels/reference/attention.h"

namespace locus::reference {

template <class S>
struct BlockContext {
  const Encoding<S>& pe;
  const Params<S>& params;
  std::string prefix;  // "blocks.0."
  BlockNoise noise;
};

// Activations, (B, T, C) unless said otherwise.
template <class S>
struct BlockState {
  Array<S> h;         // input + encoding, after dropout
  Array<S> attended;  // the attention's input: h, or LN1(h) in pre-LN
  AttentionState<S> attention;
  Array<S> heads;       // concatenated heads
  Array<S> sum1;        // h + attention
  Array<S> a;           // LN1(sum1), or sum1 in pre-LN
  Array<S> mlp_input;   // a, or LN2(a) in pre-LN
  Array<S> mlp_hidden;  // (B, T, M) before GELU
  Array<S> mlp_out;     // after the second linear, before a final GELU
  Array<S> sum2;        // a + MLP
};

template <class S>
Array<S> norm_forward(const BlockContext<S>& block, const char* name, const Array<S>& x) {
  const std::string at = block.prefix + name;
  return layer_norm_forward(x, tensor(block.params, at + ".weight"), tensor(block.params, at + ".bias"));
}

template <class S>
Array<S> norm_backward(const BlockContext<S>& block, const char* name, const Array<S>& x, const Array<S>& d,
                       Params<S>& gradients) {
  const std::string at = block.prefix + name;
  return layer_norm_backward(x, tensor(block.params, at + ".weight"), d,
                             {&gradients.at(at + ".weight"), &gradients.at(at + ".bias")});
}

template <class S>
Array<S> mha_forward(const BlockContext<S>& block, int examples, BlockState<S>& state) {
  const Spec& spec = block.pe.spec;
  const std::string at = block.prefix + "attn.";
  state.attention.qkv = linear_forward(state.attended, tensor(block.params, at + "in_proj_weight"),
                                       optional_tensor(block.params, at + "in_proj_bias"), spec.width);
  if (spec.position_logit_scale != 1.0 && block.pe.adds_table()) {
    state.attention.positions = linear_forward<S>(added_table_forward(block.pe, block.noise.signs),
                                                  tensor(block.params, at + "in_proj_weight"), nullptr, spec.width);
  }
  state.heads = attention_forward(block.pe, examples, block.noise.pattern, state.attention);
  if (!spec.attention_output) return state.heads;
  return linear_forward(state.heads, tensor(block.params, at + "out_proj.weight"),
                        optional_tensor(block.params, at + "out_proj.bias"), spec.width);
}

template <class S>
Array<S> mha_backward(const BlockContext<S>& block, BlockState<S>& state, Array<S> d, Params<S>& gradients) {
  const Spec& spec = block.pe.spec;
  const std::string at = block.prefix + "attn.";
  if (spec.attention_output) {
    d = linear_backward(state.heads, tensor(block.params, at + "out_proj.weight"), d, spec.width,
                        {&gradients.at(at + "out_proj.weight"), optional_tensor(gradients, at + "out_proj.bias")});
  }
  d = attention_backward(block.pe, block.noise.pattern, state.attention, d);
  if (!state.attention.positions.empty()) {
    const Array<S> d_table =
        linear_backward<S>(added_table_forward(block.pe, block.noise.signs), tensor(block.params, at + "in_proj_weight"),
                           state.attention.d_positions, spec.width, {&gradients.at(at + "in_proj_weight"), nullptr});
    added_table_backward(block.pe, block.noise.signs, d_table);
  }
  return linear_backward(state.attended, tensor(block.params, at + "in_proj_weight"), d, spec.width,
                         {&gradients.at(at + "in_proj_weight"), optional_tensor(gradients, at + "in_proj_bias")});
}

template <class S>
Array<S> mlp_forward(const BlockContext<S>& block, BlockState<S>& state) {
  const Spec& spec = block.pe.spec;
  const std::string at = block.prefix + "mlp.";
  state.mlp_hidden = linear_forward(state.mlp_input, tensor(block.params, at + "0.weight"),
                                    &tensor(block.params, at + "0.bias"), spec.width);
  state.mlp_out = linear_forward(gelu_forward(state.mlp_hidden), tensor(block.params, at + "2.weight"),
                                 &tensor(block.params, at + "2.bias"), spec.mlp_width);
  return spec.mlp_final_gelu ? gelu_forward(state.mlp_out) : state.mlp_out;
}

template <class S>
Array<S> mlp_backward(const BlockContext<S>& block, const BlockState<S>& state, Array<S> d, Params<S>& gradients) {
  const Spec& spec = block.pe.spec;
  const std::string at = block.prefix + "mlp.";
  if (spec.mlp_final_gelu) d = gelu_backward(state.mlp_out, d);
  d = linear_backward(gelu_forward(state.mlp_hidden), tensor(block.params, at + "2.weight"), d, spec.mlp_width,
                      {&gradients.at(at + "2.weight"), &gradients.at(at + "2.bias")});
  d = gelu_backward(state.mlp_hidden, d);
  return linear_backward(state.mlp_input, tensor(block.params, at + "0.weight"), d, spec.width,
                         {&gradients.at(at + "0.weight"), &gradients.at(at + "0.bias")});
}

// x (B, T, C) -> (B, T, C).
template <class S>
Array<S> block_forward(const BlockContext<S>& block, int examples, const Array<S>& x, BlockState<S>& state) {
  const bool pre = block.pe.spec.pre_norm;
  state.h = x;
  add_to_input_forward(block.pe, block.noise.signs, state.h);
  state.h = scaled(state.h, block.noise.input);
  state.attended = pre ? norm_forward(block, "norm1", state.h) : state.h;
  state.sum1 = scaled(mha_forward(block, examples, state), block.noise.attention);
  add_to(state.sum1, state.h);
  state.a = pre ? state.sum1 : norm_forward(block, "norm1", state.sum1);
  state.mlp_input = pre ? norm_forward(block, "norm2", state.a) : state.a;
  state.sum2 = scaled(mlp_forward(block, state), block.noise.mlp);
  add_to(state.sum2, state.a);
  return pre ? state.sum2 : norm_forward(block, "norm2", state.sum2);
}

// d: gradient of the block's output; returns that of its input and adds to the parameters' gradients.
template <class S>
Array<S> block_backward(const BlockContext<S>& block, BlockState<S>& state, const Array<S>& d, Params<S>& gradients) {
  const bool pre = block.pe.spec.pre_norm;
  Array<S> d_a = pre ? d : norm_backward(block, "norm2", state.sum2, d, gradients);
  Array<S> d_mlp = mlp_backward(block, state, scaled(d_a, block.noise.mlp), gradients);
  add_to(d_a, pre ? norm_backward(block, "norm2", state.a, d_mlp, gradients) : d_mlp);
  Array<S> d_h = pre ? d_a : norm_backward(block, "norm1", state.sum1, d_a, gradients);
  Array<S> d_attended = mha_backward(block, state, scaled(d_h, block.noise.attention), gradients);
  add_to(d_h, pre ? norm_backward(block, "norm1", state.h, d_attended, gradients) : d_attended);
  d_h = scaled(d_h, block.noise.input);
  add_to_input_backward(block.pe, block.noise.signs, d_h);
  return d_h;
}

}  // namespace locus::reference
