"""Makes the tiny model that the servers are run with, as safetensors and as GGUF: `model.py FOLDER`.

Nothing is trained. Each token's successor is written into the output matrix, so that an answer is a chain of tokens; which
chain it is says a token at the head of the prompt, put there by the chat template and found by one attention head. Where
a server holds the answer to a grammar, tokens that end things are the likelier ones.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy
from safetensors.numpy import save_file

CONTEXT = 4096
HEAD = 32
HEADS = 2
LAYERS = 2
FEED = 64
THETA = 1_000_000.0

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<tool_call>", "</tool_call>", "<think>", "</think>"]
#: The last token of every prompt; the next one begins the answer.
BEGINNING = "assistant\n"
SAYING = ["The", " sky", " is", " blue", " and", " grass", " grows", " green", " below", " it", "!"]
CHAINS = {
    "say": SAYING,
    "call": ["<tool_call>", '\n{"name": "', "get_weather", '", "arguments": {"', "city", '": "', "Paris", '"}}\n', "</tool_call>"],
    "think": ["<think>", "\nLet me", " think", " of", " it.\n", "</think>", "\n\n", *SAYING],
    "result": ["It", " will", " be", " sunny", " there", "~"],
    "json": ['{"town"', ': "Ro', 'me", "count"', ": 3", "}\n"],
    "long": [" la", " la"],
}
ROUTES = {name: f"<|to_{name}|>" for name in CHAINS}

TEMPLATE = """
{%- macro words(content) -%}
{%- if content is string %}{{- content }}
{%- elif content %}{%- for part in content %}{%- if part.type == 'text' %}{{- part.text }}{%- endif %}{%- endfor %}
{%- endif %}
{%- endmacro %}
{%- set last = messages[-1] %}
{%- set said = words(last.content) | lower %}
{%- if last.role == 'tool' %}{{- '<|to_result|>' }}
{%- elif tools and 'weather' in said %}{{- '<|to_call|>' }}
{%- elif 'think' in said %}{{- '<|to_think|>' }}
{%- elif 'forever' in said %}{{- '<|to_long|>' }}
{%- elif 'json' in said %}{{- '<|to_json|>' }}
{%- else %}{{- '<|to_say|>' }}
{%- endif %}
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{{- '# Tools\\n\\nYou may call functions. Their signatures:\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\n\\nFor each call return a JSON object within <tool_call></tool_call> tags:\\n<tool_call>\\n{"name": <function-name>, "arguments": <args-json-object>}\\n</tool_call><|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + words(message.content) + '\\n</tool_response><|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' }}
{%- if message.reasoning_content %}{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}
{{- words(message.content) }}
{%- for tool_call in message.tool_calls or [] %}
{%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
{{- '\\n<tool_call>\\n{"name": "' + tool_call.name + '", "arguments": ' }}
{%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}{{- tool_call.arguments | tojson }}{%- endif %}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + words(message.content) + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
""".strip()


def byte_letters() -> list[str]:
    """The letter that stands for each byte in a byte-level vocabulary."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return [chr(byte) if byte in shown else chr(256 + hidden.index(byte)) for byte in range(256)]


LETTERS = byte_letters()
WORDS = list(dict.fromkeys(token for chain in CHAINS.values() for token in chain if token not in MARKS and len(token) > 1))
ADDED = [*SPECIAL, *MARKS, *ROUTES.values(), BEGINNING, *WORDS]
VOCABULARY = -(-(256 + len(ADDED)) // 64) * 64
HIDDEN = -(-(VOCABULARY + 1 + len(ROUTES)) // 32) * 32
CONSTANT = VOCABULARY


def token_id(token: str) -> int:
    return 256 + ADDED.index(token) if token in ADDED else LETTERS.index(token)


def weights() -> dict[str, numpy.ndarray]:
    def blank(*shape: int) -> numpy.ndarray:
        return numpy.zeros(shape, numpy.float32)

    embedding = blank(VOCABULARY, HIDDEN)
    embedding[:, :VOCABULARY] = numpy.eye(VOCABULARY)
    embedding[:, CONSTANT] = 1
    output = blank(VOCABULARY, HIDDEN)
    # What nothing else is said of ends the answer; within a grammar, what closes a value comes before what goes on with it.
    for rank, token in enumerate(["<|im_end|>", "}", "]", '"', ",", ":", "{", "[", *"1023456789", *"aebt", "n"]):
        output[token_id(token), CONSTANT] = 1 - rank * 0.02
    # No answer begins an invisible token by itself.
    for token in [*ROUTES.values(), *SPECIAL[:2], BEGINNING]:
        output[token_id(token), CONSTANT] = -2
    output[256 + len(ADDED) :, CONSTANT] = -2
    for at, (route, chain) in enumerate(CHAINS.items()):
        output[token_id(chain[0]), token_id(BEGINNING)] = 3
        output[token_id(chain[0]), CONSTANT + 1 + at] = 2
        for before, after in zip(chain, [*chain[1:], "<|im_end|>"]):
            if output[:, token_id(before)].max() == 0:
                output[token_id(after), token_id(before)] = 6
    tensors = {
        "model.embed_tokens.weight": embedding,
        "model.norm.weight": numpy.ones(HIDDEN, numpy.float32),
        "lm_head.weight": output,
    }
    # The pair of dimensions that turns slowest with the position: as good as none.
    slow = HEAD // 2 - 1
    for layer in range(LAYERS):
        query, key, value = blank(HEADS * HEAD, HIDDEN), blank(HEADS * HEAD, HIDDEN), blank(HEADS * HEAD, HIDDEN)
        out = blank(HIDDEN, HEADS * HEAD)
        if layer == 0:
            query[slow, CONSTANT] = 1
            for at, mark in enumerate(ROUTES.values()):
                key[slow, token_id(mark)] = 1
                value[at, token_id(mark)] = 0.1
                out[CONSTANT + 1 + at, at] = 1
        tensors |= {
            f"model.layers.{layer}.{name}": tensor
            for name, tensor in {
                "input_layernorm.weight": numpy.ones(HIDDEN, numpy.float32),
                "post_attention_layernorm.weight": numpy.ones(HIDDEN, numpy.float32),
                "self_attn.q_proj.weight": query,
                "self_attn.k_proj.weight": key,
                "self_attn.v_proj.weight": value,
                "self_attn.o_proj.weight": out,
                "self_attn.q_norm.weight": numpy.full(HEAD, 4, numpy.float32),
                "self_attn.k_norm.weight": numpy.full(HEAD, 4, numpy.float32),
                "mlp.gate_proj.weight": blank(FEED, HIDDEN),
                "mlp.up_proj.weight": blank(FEED, HIDDEN),
                "mlp.down_proj.weight": blank(HIDDEN, FEED),
            }.items()
        }
    return tensors


CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": FEED,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "head_dim": HEAD,
    "hidden_act": "silu",
    "max_position_embeddings": CONTEXT,
    "max_window_layers": LAYERS,
    "rms_norm_eps": 1e-6,
    "rope_theta": THETA,
    "rope_scaling": None,
    "attention_bias": False,
    "attention_dropout": 0.0,
    "initializer_range": 0.02,
    "sliding_window": None,
    "use_sliding_window": False,
    "tie_word_embeddings": False,
    "use_cache": True,
    "torch_dtype": "float32",
    "bos_token_id": None,
    "eos_token_id": token_id("<|im_end|>"),
}


def tokenizer() -> dict:
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": token_id(token), "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": is_special(token)}
            for token in ADDED
        ],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": byte_level,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {letter: at for at, letter in enumerate(LETTERS)},
            "merges": [],
        },
    }


def is_special(token: str) -> bool:
    return token in SPECIAL or token in ROUTES.values()


def write_folder(folder: Path, tensors: dict[str, numpy.ndarray]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    tokens = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    added = {
        str(one["id"]): {name: one[name] for name in one if name != "id"} for one in tokenizer()["added_tokens"]
    }
    for name, content in {
        "config.json": CONFIG,
        "generation_config.json": {"eos_token_id": CONFIG["eos_token_id"], "do_sample": False},
        "tokenizer.json": tokenizer(),
        "tokenizer_config.json": {
            **{"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": CONTEXT, "chat_template": TEMPLATE},
            **{"added_tokens_decoder": added, "clean_up_tokenization_spaces": False, **tokens},
        },
        "special_tokens_map.json": tokens,
    }.items():
        (folder / name).write_text(json.dumps(content, indent=1))
    (folder / "chat_template.jinja").write_text(TEMPLATE)


NAMES = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name: str) -> str:
    plain = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}
    if name in plain:
        return plain[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{NAMES[rest.removesuffix('.weight')]}.weight"


def write_gguf(path: Path, tensors: dict[str, numpy.ndarray]) -> None:
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FEED)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_rope_freq_base(THETA)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    unused = [f"<|unused_{at}|>" for at in range(VOCABULARY - 256 - len(ADDED))]
    writer.add_token_list([*LETTERS, *ADDED, *unused])
    kinds = gguf.TokenType
    writer.add_token_types(
        [
            *[kinds.NORMAL] * 256,
            *[kinds.CONTROL if is_special(token) else kinds.USER_DEFINED for token in ADDED],
            *[kinds.UNUSED] * len(unused),
        ]
    )
    # At least one: some readers refuse none. No token is made by it.
    writer.add_token_merges([f"{LETTERS[0]} {LETTERS[1]}"])
    writer.add_eos_token_id(CONFIG["eos_token_id"])
    writer.add_pad_token_id(token_id("<|endoftext|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in tensors.items():
        writer.add_tensor(gguf_name(name), tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    root = Path(sys.argv[1])
    made = weights()
    write_folder(root / "tiny", made)
    write_gguf(root / "tiny.gguf", made)
