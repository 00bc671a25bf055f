"""PyTorch reference of the Locus encoder: one file that follows docs/model.md.

It is the parity oracle, the benchmark's peer and the way to a GPU. Parameter names and layouts are those of
`model.safetensors`, so `LocusEncoder.load_state_dict(strict=True)` takes a checkpoint as it is. Needs PyTorch >= 1.13 only.
"""
import ctypes
import dataclasses
import json
import math
import os
import struct
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TABLE_LIMIT = 1 << 24  # entries of a (T, T, D) table of relative vectors


# ---------------------------------------------------------------------------------------------------------- safetensors
_DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
           "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}


def load_safetensors(path: str) -> Tuple[Dict[str, Tensor], Dict[str, str]]:
    """Tensors and metadata of a file."""
    with open(path, "rb") as file:
        blob = bytearray(file.read())
    if len(blob) < 8:
        raise ValueError(f"{path}: too short for a safetensors file")
    size = struct.unpack_from("<Q", blob)[0]
    if size > len(blob) - 8:
        raise ValueError(f"{path}: the header is longer than the file")
    header = json.loads(bytes(blob[8:8 + size]).decode("utf-8"))
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        dtype, shape, (begin, end) = _DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        count = math.prod(shape)
        if end - begin != count * torch.empty(0, dtype=dtype).element_size() or 8 + size + end > len(blob):
            raise ValueError(f"{path}: tensor {name} does not fit its place")
        if count == 0:
            tensors[name] = torch.empty(shape, dtype=dtype)
        else:
            raw = torch.frombuffer(blob, dtype=torch.uint8, count=end - begin, offset=8 + size + begin).clone()
            tensors[name] = raw.view(dtype).reshape(shape)
    return tensors, metadata


def save_safetensors(path: str, tensors: Dict[str, Tensor], metadata: Optional[Dict[str, str]] = None) -> None:
    """Writes tensors sorted by name, so that equal contents give equal bytes."""
    names = {dtype: name for name, dtype in _DTYPES.items()}
    header, chunks, offset = {}, [], 0
    if metadata:
        header["__metadata__"] = {key: metadata[key] for key in sorted(metadata)}
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        data = ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()) if tensor.numel() else b""
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + len(data)]}
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for data in chunks:
            file.write(data)


# ------------------------------------------------------------------------------------------------------- configuration
@dataclass
class ReferenceConfig:
    """The keys of `shape`, `model.*`, `pe.*` (prefix pe_) and `mask.vector`; `tokens` does not count a CLS token."""
    tokens: int = 16
    features: int = 5
    outputs: int = 4
    task: str = "classification"  # or regression
    mask_vector: str = "none"  # learned, zero; none where nothing is masked
    # model.*
    embed: str = "linear"
    width: int = 64
    layers: int = 4
    heads: int = 1
    mlp_width: int = 0  # 0: four times the width
    norm: str = "post"
    mlp_final_gelu: bool = False
    attention_mask: str = "full"  # or causal
    attention_bias: bool = True
    attention_output: bool = True
    logit_scale: float = 1.0
    position_logit_scale: float = 1.0
    readout: str = "token"
    readout_token: int = -1
    head_hidden: int = 0
    output_gain: float = 1.0
    embed_gain: float = 1.0
    attention_dropout: float = 0.0
    residual_dropout: float = 0.0
    # pe.*
    pe_kind: str = "learned"
    pe_placement: str = "every_layer"
    pe_shared: bool = False
    pe_trainable: str = "auto"  # yes, no, auto: as the kind does by default
    pe_positions: str = "index"
    pe_coord_scale: float = 1.0
    pe_init: str = "normal"
    pe_sigma: float = 0.1
    pe_base: float = 10000.0
    pe_rotary_fraction: float = 1.0
    pe_max_distance: int = 0
    pe_value_term: bool = False
    pe_buckets: int = 32
    pe_eigenvectors: int = 8
    pe_dropout: float = 0.0
    pe_dropout_at_eval: bool = False
    coordinates: List[List[float]] = field(default_factory=list)

    @staticmethod
    def from_json(nested: dict) -> "ReferenceConfig":
        """From the form of config.json; keys of other sections and keys that only training needs are passed over."""
        known = {f.name for f in dataclasses.fields(ReferenceConfig)}
        values = dict(nested.get("shape", {}))
        values.update(nested.get("model", {}))
        values.update({"pe_" + key: value for key, value in nested.get("pe", {}).items()})
        if "vector" in nested.get("mask", {}):
            values["mask_vector"] = nested["mask"]["vector"]
        if nested.get("coordinates"):
            values["coordinates"] = nested["coordinates"]
        return ReferenceConfig(**{key: value for key, value in values.items() if key in known})

    def to_json(self) -> dict:
        nested: dict = {"shape": {}, "model": {}, "pe": {}}
        if self.mask_vector != "none":
            nested["mask"] = {"vector": self.mask_vector}
        for key, value in dataclasses.asdict(self).items():
            if key == "position_logit_scale" and value == 1.0:
                continue  # off: files made before the key existed stay as they are
            if key in ("tokens", "features", "outputs", "task"):
                nested["shape"][key] = value
            elif key.startswith("pe_"):
                nested["pe"][key[3:]] = value
            elif key not in ("mask_vector", "coordinates"):
                nested["model"][key] = value
        if self.coordinates:
            nested["coordinates"] = self.coordinates
        return nested

    def trainable(self) -> bool:
        if self.pe_trainable == "auto":
            return self.pe_kind not in ("sinusoidal", "alibi")
        return self.pe_trainable == "yes"

    def mlp(self) -> int:
        return self.mlp_width or 4 * self.width

    def length(self) -> int:
        return self.tokens + (self.readout == "cls")

    def positions(self) -> List[List[float]]:
        """Scaled coordinates of every token, CLS included: (T, X)."""
        if self.pe_positions == "index":
            rows = [[float(t)] for t in range(self.length())]
        else:
            rows = [[float(v) for v in row] for row in self.coordinates]
            if len(rows) not in (self.tokens, self.length()):
                raise ValueError(f"coordinates have {len(rows)} rows for {self.tokens} tokens")
            if len(rows) < self.length():
                rows.append([sum(column) / len(rows) for column in zip(*rows)])
        return [[v * self.pe_coord_scale for v in row] for row in rows]


# -------------------------------------------------------------------------------------------------- positional encodings
def sinusoid_table(positions: List[List[float]], width: int, base: float) -> Tensor:
    axes = len(positions[0])
    channels = 2 * (width // (2 * axes))
    table = torch.zeros(len(positions), width, dtype=torch.float64)
    for t, row in enumerate(positions):
        for x, p in enumerate(row):
            for i in range(channels // 2):
                angle = p * base ** (-2.0 * i / channels)
                table[t, x * channels + 2 * i] = math.sin(angle)
                table[t, x * channels + 2 * i + 1] = math.cos(angle)
    return table


def offsets(positions: List[List[float]]) -> Tensor:
    """(X, T, T) rounded key-minus-query coordinates; halves round to even."""
    p = torch.tensor(positions, dtype=torch.float64)
    delta = (p.unsqueeze(0) - p.unsqueeze(1)).permute(2, 0, 1)
    return delta.round().long()


def t5_bucket(offset: int, buckets: int, max_distance: int) -> int:
    half = buckets // 2
    exact = half // 2
    base = half if offset > 0 else 0
    n = abs(offset)
    if n < exact:
        return base + n
    grown = exact + math.floor(math.log(n / exact) / math.log((max_distance or 128) / exact) * (half - exact))
    return base + min(half - 1, grown)


class PositionalEncoding(nn.Module):
    """Tensors of one encoding and its four places of action. Everything that depends on positions alone is cached."""

    def __init__(self, config: ReferenceConfig) -> None:
        super().__init__()
        self.config, self.kind = config, config.pe_kind
        self.positions = config.positions()
        self.length, self.axes = len(self.positions), len(self.positions[0])
        self.cache: dict = {}
        width, head_width = config.width, config.width // config.heads
        sigma, trained = config.pe_sigma, config.trainable()
        if self.kind in ("learned", "sinusoidal"):
            init = "sinusoid" if self.kind == "sinusoidal" else config.pe_init
            self._tensor("table", self._initial_table(init, sigma), trained)
        elif self.kind == "laplacian":
            self._tensor("eigenvectors", torch.zeros(self.length, config.pe_eigenvectors), False)
            self.proj = nn.Linear(config.pe_eigenvectors, width, bias=False)
            nn.init.uniform_(self.proj.weight, -sigma * math.sqrt(3), sigma * math.sqrt(3))
            if not trained:
                weight = self.proj.weight.data
                del self.proj.weight
                self.proj.register_buffer("weight", weight)
        elif self.kind == "relative":
            rounded = offsets(self.positions)
            self.radius = config.pe_max_distance or int(rounded.abs().max())
            shift = torch.arange(self.axes).view(-1, 1, 1) * (2 * self.radius + 1)
            self.index = rounded.clamp(-self.radius, self.radius) + self.radius + shift  # (X, T, T)
            shape = (self.axes * (2 * self.radius + 1), head_width)
            self._tensor("key_table", sigma * torch.randn(shape), trained)
            if config.pe_value_term:
                self._tensor("value_table", sigma * torch.randn(shape), trained)
        elif self.kind == "t5":
            rounded = offsets(self.positions)
            bucket = {int(o): t5_bucket(int(o), config.pe_buckets, config.pe_max_distance) for o in rounded.unique()}
            lookup = torch.tensor([bucket[o] for o in rounded.flatten().tolist()]).view(rounded.shape)
            self.index = lookup + torch.arange(self.axes).view(-1, 1, 1) * config.pe_buckets
            self._tensor("bias_table", sigma * torch.randn(self.axes * config.pe_buckets, config.heads), trained)
        elif self.kind == "alibi":
            slopes = [2.0 ** (-8.0 * (h + 1) / config.heads) for h in range(config.heads)]
            self._tensor("slopes", torch.tensor(slopes), trained)

    def _tensor(self, name: str, value: Tensor, trained: bool) -> None:
        value = value.to(torch.get_default_dtype())
        if trained:
            self.register_parameter(name, nn.Parameter(value))
        else:
            self.register_buffer(name, value)

    def _initial_table(self, init: str, sigma: float) -> Tensor:
        shape = (self.length, self.config.width)
        if init == "sinusoid":
            return sinusoid_table(self.positions, self.config.width, self.config.pe_base)
        if init == "uniform":
            return (torch.rand(shape) * 2 - 1) * sigma * math.sqrt(3)
        if init == "zero":
            return torch.zeros(shape)
        return sigma * torch.randn(shape)

    def _cached(self, name: str, like: Tensor, make) -> Tensor:
        key = (name, like.dtype, like.device)
        if key not in self.cache:
            with torch.inference_mode(False):  # what inference makes, training must be able to use
                made = make()
                self.cache[key] = made.to(like.device, like.dtype if made.is_floating_point() else made.dtype)
        return self.cache[key]

    def added(self, signs: Optional[Tensor]) -> Optional[Tensor]:
        """(T, C) to add to a block's input."""
        if self.kind in ("learned", "sinusoidal"):
            return self.table
        if self.kind == "laplacian":
            vectors = self.eigenvectors if signs is None else self.eigenvectors * signs
            return F.linear(vectors, self.proj.weight)
        return None

    def turns(self, like: Tensor) -> Tensor:
        """(T, D // 2) complex rotations as (T, 1, D // 2, 2) reals; pairs beyond the rotated fraction turn by 0."""
        def make():
            config = self.config
            head_width = config.width // config.heads
            per_axis = math.floor(config.pe_rotary_fraction * head_width + 1e-9) // (2 * self.axes)
            angle = torch.zeros(self.length, head_width // 2, dtype=torch.float64)
            for x in range(self.axes):
                p = torch.tensor([row[x] for row in self.positions], dtype=torch.float64)
                for i in range(per_axis):
                    angle[:, x * per_axis + i] = p * config.pe_base ** (-i / per_axis)
            return torch.stack([angle.cos(), angle.sin()], -1).unsqueeze(1)
        return self._cached("turns", like, make)

    def rotate(self, x: Tensor, rows: Optional[Tensor]) -> Tensor:
        """x (B, n, G, D): rotates pairs (2i, 2i + 1) by the angle of each row's token."""
        turns = self.turns(x)
        turns = torch.view_as_complex(turns if rows is None else turns[rows])
        even = x.shape[-1] // 2 * 2
        pairs = x[..., :even].unflatten(-1, (even // 2, 2))
        pairs = torch.view_as_complex(pairs if even == x.shape[-1] else pairs.contiguous())
        turned = torch.view_as_real(pairs * turns).flatten(-2)
        return turned if even == x.shape[-1] else torch.cat([turned, x[..., even:]], -1)

    def bias(self, like: Tensor) -> Optional[Tensor]:
        """(H, T, T) added to the logits (T5, ALiBi)."""
        if self.kind == "t5":
            index = self._cached("index", like, lambda: self.index)
            return self.bias_table[index].sum(0).permute(2, 0, 1)
        if self.kind == "alibi":
            def make():
                p = torch.tensor(self.positions, dtype=torch.float64)
                return -(p.unsqueeze(0) - p.unsqueeze(1)).square().sum(-1).sqrt()
            return self.slopes.view(-1, 1, 1) * self._cached("distance", like, make)
        return None


# ------------------------------------------------------------------------------------------------------------- the model
class Attention(nn.Module):
    def __init__(self, config: ReferenceConfig) -> None:
        super().__init__()
        width = config.width
        self.config, self.heads, self.head_width = config, config.heads, width // config.heads
        self.scale = config.logit_scale / math.sqrt(self.head_width)
        bound = math.sqrt(6.0 / (4 * width))
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width).uniform_(-bound, bound))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width)) if config.attention_bias else None
        if config.attention_output:
            self.out_proj = nn.Linear(width, width, bias=config.attention_bias)
            if config.attention_bias:
                nn.init.zeros_(self.out_proj.bias)
        else:
            self.out_proj = None
        self.cache: dict = {}
        self.watch: Optional[List[Tensor]] = None  # a list that gets the pattern (B, H, n, T) of every forward pass

    def forward(self, h: Tensor, pe: Optional[PositionalEncoding], rows: Optional[Tensor],
                added: Optional[Tensor] = None) -> Tensor:
        """h (B, T, C) -> (B, n, C): the outputs of all tokens, or of `rows` ((n,) for all examples or (B, n)). `added` is the
        table (T, C) within h."""
        q, k, v = self._project(h, pe, rows)
        batch, count = h.shape[0], q.shape[1]
        logits = self._logits(q, k, pe, rows, batch, added)
        pattern = torch.softmax(logits, -1)
        if self.config.attention_dropout:
            pattern = F.dropout(pattern, self.config.attention_dropout, self.training)
        if pe is not None and pe.kind == "relative" and self.config.pe_value_term:
            out = torch.baddbmm(self._relative_values(pattern, pe, rows, batch), pattern, v)
        else:
            out = torch.bmm(pattern, v)
        if self.heads > 1:
            out = out.view(batch, self.heads, count, self.head_width).transpose(1, 2).reshape(batch, count, -1)
        if self.watch is not None:
            self.watch.append(pattern.view(batch, self.heads, count, -1))
        return out if self.out_proj is None else self.out_proj(out)

    def _project(self, h, pe, rows):
        width, weight, bias = self.config.width, self.in_proj_weight, self.in_proj_bias
        rotary = pe is not None and pe.kind == "rotary"
        if rows is None:
            qk, v = F.linear(h, weight, bias).split((2 * width, width), -1)
            if rotary:
                qk = pe.rotate(qk.unflatten(-1, (2 * self.heads, self.head_width)), None).flatten(-2)
            q, k = qk.split(width, -1)
        else:
            bias_q, bias_kv = (None, None) if bias is None else bias.split((width, 2 * width))
            q = F.linear(take(h, rows), weight[:width], bias_q)
            k, v = F.linear(h, weight[width:], bias_kv).split(width, -1)
            if rotary:
                q = pe.rotate(q.unflatten(-1, (self.heads, self.head_width)), rows).flatten(-2)
                k = pe.rotate(k.unflatten(-1, (self.heads, self.head_width)), None).flatten(-2)
        return self._split(q), self._split(k), self._split(v)

    def _split(self, x: Tensor) -> Tensor:
        """(B, n, C) -> (B H, n, D); one head needs no copy."""
        if self.heads == 1:
            return x
        return x.unflatten(-1, (self.heads, self.head_width)).transpose(1, 2).flatten(0, 1)

    def _causal(self, like: Tensor, length: int) -> Optional[Tensor]:
        if self.config.attention_mask != "causal":
            return None
        key = (length, like.dtype, like.device)
        if key not in self.cache:
            with torch.inference_mode(False):
                full = torch.full((length, length), -math.inf, dtype=like.dtype, device=like.device)
                self.cache[key] = full.triu(1).unsqueeze(0)
        return self.cache[key]

    def _position_products(self, added: Tensor) -> Tensor:
        """(H, T, T): (alpha - 1) scale (Wq P).(Wk P), what position_logit_scale = alpha adds to the logits."""
        width = self.config.width
        q, k = (self._split(F.linear(added, self.in_proj_weight[i * width:(i + 1) * width]).unsqueeze(0)) for i in (0, 1))
        return (self.config.position_logit_scale - 1) * self.scale * torch.bmm(q, k.transpose(1, 2))

    def _logits(self, q, k, pe, rows, batch, added=None) -> Tensor:
        """scale q.k + encoding terms + mask, one baddbmm over all pairs: (B H, n, T)."""
        mask = self._causal(q, k.shape[1])
        if pe is not None and pe.kind == "relative":
            terms = self._relative_logits(q, pe, rows, mask)
            return torch.baddbmm(terms, q, k.transpose(1, 2), beta=self.scale, alpha=self.scale)
        bias = pe.bias(q) if pe is not None else None
        if added is not None and self.config.position_logit_scale != 1.0:
            bias = self._position_products(added)
        bias = mask if bias is None else bias if mask is None else bias + mask
        if bias is None:
            # Not baddbmm with beta = 0: for small shapes PyTorch 1.13 then multiplies uninitialised memory.
            if k.shape[1] < self.head_width:
                return torch.bmm(q, k.transpose(1, 2)).mul_(self.scale)
            return torch.bmm(q * self.scale, k.transpose(1, 2))
        if rows is not None:
            bias = bias[:, rows]  # (H, n, T) or (H, B, n, T)
        if bias.dim() == 4:
            bias = bias.transpose(0, 1)
        bias = bias.expand(batch, self.heads, -1, -1).reshape(q.shape[0], q.shape[1], -1)
        return torch.baddbmm(bias, q, k.transpose(1, 2), beta=1, alpha=self.scale)

    def _relative_logits(self, q, pe, rows, mask) -> Tensor:
        """q . sum_x key_table, (B H, n, T): by a (n, T, D) table if examples share rows and it is small, else by gathering."""
        index = pe._cached("index", q, lambda: pe.index)
        index = index if rows is None else index[:, rows]
        if mask is not None and rows is not None:
            mask = mask[:, rows]
        if index.dim() == 3 and index[0].numel() * self.head_width <= TABLE_LIMIT:
            table = sum(F.embedding(i, pe.key_table) for i in index).transpose(1, 2)
            if mask is None:
                return torch.bmm(q.transpose(0, 1), table).transpose(0, 1)
            return torch.baddbmm(mask.transpose(0, 1), q.transpose(0, 1), table).transpose(0, 1)
        products = torch.matmul(q, pe.key_table.t())
        terms = sum(products.gather(-1, per_head(i, q.shape[0], self.heads)) for i in index)
        if mask is not None:
            terms = terms + (mask if mask.dim() == 3 else per_head(mask[0], q.shape[0], self.heads))
        return terms

    def _relative_values(self, pattern, pe, rows, batch) -> Tensor:
        index = pe._cached("index", pattern, lambda: pe.index)
        index = index if rows is None else index[:, rows]
        if index.dim() == 3 and index[0].numel() * self.head_width <= TABLE_LIMIT:
            table = sum(F.embedding(i, pe.value_table) for i in index)
            return torch.bmm(pattern.transpose(0, 1), table).transpose(0, 1)
        weights = pattern.new_zeros(pattern.shape[0], pattern.shape[1], pe.value_table.shape[0])
        for i in index:
            weights = weights.scatter_add(-1, per_head(i, pattern.shape[0], self.heads), pattern)
        return torch.matmul(weights, pe.value_table)


def per_head(rows: Tensor, count: int, heads: int) -> Tensor:
    """(n, T) or (B, n, T) -> (B H, n, T)."""
    if rows.dim() == 2:
        return rows.unsqueeze(0).expand(count, -1, -1)
    return rows.unsqueeze(1).expand(-1, heads, -1, -1).flatten(0, 1)


def take(x: Tensor, rows: Tensor) -> Tensor:
    """Rows (n,) or (B, n) of x (B, T, C)."""
    if rows.dim() == 1:
        return x[:, int(rows[0]):int(rows[0]) + 1] if rows.numel() == 1 else x[:, rows]
    return x.gather(1, rows.unsqueeze(-1).expand(-1, -1, x.shape[-1]))


class Block(nn.Module):
    def __init__(self, config: ReferenceConfig, own_encoding: bool) -> None:
        super().__init__()
        self.config = config
        if own_encoding:
            self.pe = PositionalEncoding(config)
        self.attn = Attention(config)
        self.norm1 = nn.LayerNorm(config.width)
        steps = [nn.Linear(config.width, config.mlp()), nn.GELU(), nn.Linear(config.mlp(), config.width)]
        self.mlp = nn.Sequential(*steps, *([nn.GELU()] if config.mlp_final_gelu else []))
        self.norm2 = nn.LayerNorm(config.width)

    def drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.config.residual_dropout, self.training) if self.config.residual_dropout else x

    def forward(self, x: Tensor, pe: Optional[PositionalEncoding], rows: Optional[Tensor], signs: Optional[Tensor]):
        added = pe.added(signs) if pe is not None else None
        if added is not None:
            x = x + added
            if self.config.pe_dropout:
                x = F.dropout(x, self.config.pe_dropout, self.training or self.config.pe_dropout_at_eval)
        kept = x if rows is None else take(x, rows)
        if self.config.norm == "post":
            a = self.norm1(kept + self.drop(self.attn(x, pe, rows, added)))
            return self.norm2(a + self.drop(self.mlp(a)))
        a = kept + self.drop(self.attn(self.norm1(x), pe, rows))
        return a + self.drop(self.mlp(self.norm2(a)))


class LocusEncoder(nn.Module):
    """`slice_last_layer` computes the last block's queries, MLP and norms only for the tokens that are read."""

    def __init__(self, config: ReferenceConfig, slice_last_layer: bool = False) -> None:
        super().__init__()
        self.config, self.slice_last_layer = config, slice_last_layer
        width, gain = config.width, config.embed_gain
        if config.embed == "linear":
            self.embed = nn.Linear(config.features, width)
            self.embed.weight.data *= gain
            self.embed.bias.data *= gain
            if config.mask_vector == "learned":
                self.mask_token = nn.Parameter(0.02 * gain * torch.randn(width))
        elif config.features != width:
            raise ValueError("embed = none needs features = width")
        if config.readout == "cls":
            self.cls_token = nn.Parameter(0.02 * gain * torch.randn(width))
        shared = config.pe_shared or config.pe_placement == "input"
        if shared:
            self.pe = PositionalEncoding(config)
        self.shared_encoding = shared
        self.blocks = nn.ModuleList(Block(config, not shared) for _ in range(config.layers))
        if config.norm == "pre":
            self.norm = nn.LayerNorm(width)
        into = width * (config.length() if config.readout == "flat" else 1)
        if config.head_hidden > 0:
            hidden = config.head_hidden
            self.head = nn.Sequential(nn.Linear(into, hidden), nn.GELU(), nn.Linear(hidden, config.outputs))
        else:
            self.head = nn.Linear(into, config.outputs)

    def embedded(self, inputs: Tensor, masked: Optional[Tensor]) -> Tensor:
        """Features (B, T, F), or ids (B, T) with -1 for a blank -> (B, T, C)."""
        config = self.config
        is_ids = not inputs.is_floating_point()
        if config.embed == "none":
            x = F.one_hot(inputs + 1, config.features + 1)[..., 1:].to(self.head_dtype()) if is_ids else inputs
        elif is_ids:
            table = torch.cat([self.embed.bias.unsqueeze(0), self.embed.weight.t() + self.embed.bias])
            x = F.embedding(inputs + 1, table)
        else:
            x = self.embed(inputs)
        if masked is not None:
            vector = getattr(self, "mask_token", None)
            x = torch.where(masked.bool().unsqueeze(-1), x.new_zeros(()) if vector is None else vector, x)
        if config.readout == "cls":
            x = torch.cat([x, self.cls_token.expand(x.shape[0], 1, -1)], 1)
        return x

    def head_dtype(self) -> torch.dtype:
        return next(self.head.parameters()).dtype

    def encoding(self, layer: int) -> Optional[PositionalEncoding]:
        if not self.shared_encoding:
            return self.blocks[layer].pe
        return self.pe if layer == 0 or self.config.pe_placement == "every_layer" else None

    def read_rows(self, x: Tensor, masked: Optional[Tensor], read_token: Optional[Tensor]) -> Optional[Tensor]:
        """The tokens read: (n,), (B, n), or None for all. Unequal counts of masked tokens are padded with token 0."""
        readout = self.config.readout
        if readout == "token":
            return torch.tensor([self.config.readout_token % x.shape[1]], device=x.device)
        if readout == "cls":
            return torch.tensor([x.shape[1] - 1], device=x.device)
        if readout == "given":
            return read_token.view(-1, 1) % x.shape[1]
        if readout == "masked":
            counts = masked.bool().sum(1)
            most = int(counts.max())
            order = torch.sort(masked.to(torch.uint8), dim=1, descending=True, stable=True)[1][:, :most]
            return order.where(torch.arange(most, device=x.device) < counts.unsqueeze(1), order.new_zeros(()))
        return None

    def forward(self, inputs: Tensor, masked: Optional[Tensor] = None, read_token: Optional[Tensor] = None) -> Tensor:
        config = self.config
        x = self.embedded(inputs, masked)
        rows = self.read_rows(x, masked, read_token) if self.slice_last_layer else None
        signs: Dict[int, Tensor] = {}
        for layer, block in enumerate(self.blocks):
            pe = self.encoding(layer)
            flip = None
            if self.training and pe is not None and pe.kind == "laplacian":
                if id(pe) not in signs:
                    signs[id(pe)] = torch.randint(0, 2, pe.eigenvectors.shape[1:], device=x.device).to(x.dtype) * 2 - 1
                flip = signs[id(pe)]
            x = block(x, pe, rows if layer == config.layers - 1 else None, flip)
        if config.norm == "pre":
            x = self.norm(x)
        output = self.head(self.read(x, masked, read_token, rows))
        return output if config.output_gain == 1.0 else output * config.output_gain

    def read(self, x: Tensor, masked: Optional[Tensor], read_token: Optional[Tensor], rows: Optional[Tensor]) -> Tensor:
        """(B, C) for one token, (B, T, C) for every, (N, C) for masked tokens in order of example and token."""
        readout = self.config.readout
        if readout == "mean":
            return x.mean(1)
        if readout == "flat":
            return x.flatten(1)
        if readout == "every":
            return x
        if readout == "masked":
            if rows is None:
                return x[masked.bool()]
            counts = masked.bool().sum(1, keepdim=True)
            if bool((counts == x.shape[1]).all()):
                return x.flatten(0, 1)
            return x[torch.arange(x.shape[1], device=x.device) < counts]
        if rows is not None:
            return x[:, 0]
        if readout == "given":
            return x[torch.arange(x.shape[0], device=x.device), read_token % x.shape[1]]
        return x[:, -1 if readout == "cls" else self.config.readout_token]

    def loss(self, output: Tensor, wanted: Tensor, masked: Optional[Tensor] = None) -> Tensor:
        """`wanted`: labels (B), or targets (B, O), (B, T, O) for the read-outs `every` and `masked`."""
        if self.config.task == "classification":
            return F.cross_entropy(output, wanted)
        if self.config.readout == "masked":
            wanted = wanted[masked.bool()]
        return F.mse_loss(output, wanted)


def from_checkpoint(folder: str, slice_last_layer: bool = False) -> LocusEncoder:
    """The model of a folder with `config.json` and `model.safetensors`, in evaluation mode."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = ReferenceConfig.from_json(json.load(file))
    state, _ = load_safetensors(os.path.join(folder, "model.safetensors"))
    return from_state(config, state, slice_last_layer).eval()


def from_state(config: ReferenceConfig, state: Dict[str, Tensor], slice_last_layer: bool = False) -> LocusEncoder:
    """Sizes that only the tensors tell (a mask vector, the number of eigenvectors) are taken from them."""
    config = dataclasses.replace(config, mask_vector="learned" if "mask_token" in state else "zero")
    for name, tensor in state.items():
        if name.endswith("pe.eigenvectors"):
            config.pe_eigenvectors = tensor.shape[1]
    model = LocusEncoder(config, slice_last_layer)
    model.to(state["head.weight" if "head.weight" in state else "head.0.weight"].dtype)
    model.load_state_dict(state, strict=True)
    return model


def make_optimizer(model: nn.Module, kind: str = "adam", lr: float = 1e-4, beta1: float = 0.9, beta2: float = 0.999,
                   eps: float = 1e-8, weight_decay: float = 0.0, momentum: float = 0.0, **_) -> torch.optim.Optimizer:
    """torch.optim in its multi-tensor form."""
    trained = [p for p in model.parameters() if p.requires_grad]
    if kind == "sgd":
        return torch.optim.SGD(trained, lr=lr, momentum=momentum, weight_decay=weight_decay, foreach=True)
    maker = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
    return maker(trained, lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay, foreach=True)
