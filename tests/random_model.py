"""Writes a model of random weights for llama.cpp: ``python random_model.py FILE``, where the ``gguf`` package is installed.

Two layers of the architecture ``llama`` and a token for each printable letter. The first part of every state is about the
same, so the first column of the output weights is a bias: letters are likelier than bytes that are no text, calls begin
and texts end soon. Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

import sys

import numpy as np
from gguf import GGUFWriter, TokenType

CONTEXT, WIDTH, HIDDEN, LAYERS, HEADS = 32768, 64, 128, 2, 4
TEMPLATE = """{%- if tools %}<|im_start|>system
You may call functions:
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
Answer with <tool_call>{"name": <name>, "arguments": <arguments>}</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}<|im_start|>user
<tool_response>{{ message.content }}</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
# Token -> its type, and how much likelier it is than a letter, in nats.
SPECIAL = {
    "<unk>": (TokenType.UNKNOWN, -20), "<s>": (TokenType.CONTROL, -20), "</s>": (TokenType.CONTROL, -20),
    "<|im_start|>": (TokenType.CONTROL, -20), "<|im_end|>": (TokenType.CONTROL, 3),
    "<tool_call>": (TokenType.USER_DEFINED, 3), "</tool_call>": (TokenType.USER_DEFINED, 0),
}  # fmt: skip
BYTES = {f"<0x{byte:02X}>": (TokenType.BYTE, -20) for byte in range(256)}
LETTERS = {chr(code).replace(" ", "▁"): (TokenType.NORMAL, 2 if code == ord('"') else 0) for code in range(32, 127)}


def main(path):
    """Write the file."""
    tokens = SPECIAL | BYTES | LETTERS
    names = list(tokens)
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(names)
    writer.add_token_scores([0.0] * len(names))
    writer.add_token_types([kind for kind, _ in tokens.values()])
    writer.add_bos_token_id(names.index("<s>"))
    writer.add_eos_token_id(names.index("<|im_end|>"))
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)
    for name, weights in random_weights([likelier for _, likelier in tokens.values()]).items():
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def random_weights(biases):
    """The weights by their names."""
    draw = np.random.default_rng(0).normal
    embedded, output = draw(size=(len(biases), WIDTH)), draw(0, 0.1, size=(len(biases), WIDTH))
    embedded[:, 0] = 8  # about 6 after the last norm
    output[:, 0] = np.array(biases) / 6
    weights = {"token_embd": embedded, "output": output, "output_norm": np.ones(WIDTH)}
    for layer in range(LAYERS):
        shapes = {
            "attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, WIDTH), "attn_v": (WIDTH, WIDTH), "attn_output": (WIDTH, WIDTH),
            "ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN),
        }  # fmt: skip
        weights |= {f"blk.{layer}.{name}": draw(0, 0.05, size=shape) for name, shape in shapes.items()}
        weights |= {f"blk.{layer}.{name}": np.ones(WIDTH) for name in ("attn_norm", "ffn_norm")}
    return weights


if __name__ == "__main__":
    main(sys.argv[1])
