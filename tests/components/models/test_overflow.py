"""What servers answer to a request that is longer than the window, in the form in which they send it, and what looks
like that and is not."""

import orjson
import pytest

from components.models.replies import Fault, from_status, read_reply
from tests.table import each_row

VLLM = {"object": "error", "type": "BadRequestError", "param": None, "code": 400}
MESSAGES = (
    "This model's maximum context length is {0} tokens. However, you requested {1} tokens ({2} in the messages, {3} "
)
MESSAGES += "in the completion). Please reduce the length of the messages or completion."


def openai(message, code=None, kind="invalid_request_error"):
    return {"error": {"message": message, "type": kind, "param": "messages", "code": code}}


TOO_LONG = {
    "OpenAI": (400, openai(MESSAGES.format(8192, 9000, 8000, 1000), "context_length_exceeded")),
    "OpenAI, configured limit": (
        400, openai("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300100 tokens. "
                    "Please reduce the length of the messages.", "context_length_exceeded"),
    ),
    "OpenAI, responses": (400, openai("Your input exceeds the context window of this model. Please adjust your input.")),
    "Azure": (400, {"error": openai(MESSAGES.format(8192, 9000, 8000, 1000), "context_length_exceeded")["error"]}),
    "Anthropic": (
        400, {"type": "error", "error": {"type": "invalid_request_error",
                                         "message": "prompt is too long: 213462 tokens > 200000 maximum"}},
    ),
    "Anthropic, with the reply": (
        400, {"type": "error", "error": {
            "type": "invalid_request_error",
            "message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length "
                       "or `max_tokens` and try again"}},
    ),
    "Gemini": (
        400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
                        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576)."}},
    ),
    "Vertex": (
        400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
                         "Unable to submit request because the input token count is 40000 but model only supports up to "
                         "32768. Reduce the input token count and try again."}}],
    ),
    "Bedrock": (400, {"message": "Input is too long for requested model."}),
    "Bedrock, counted": (400, {"message": "Too many input tokens. Max input tokens: 8192, request input token count: 9001"}),
    "Bedrock, Nova": (400, {"message": "Input Tokens Exceeded: Number of input tokens exceeds maximum length."}),
    "Bedrock, Mantle": (400, openai("prompt tokens (9000) exceed model maximum (8192)", "validation_error")),
    "Mistral": (
        400, {"object": "error", "type": "invalid_request_error", "code": "3051", "message":
              "Prompt contains 43210 tokens and 0 draft tokens, too large for model with 32768 maximum context length"},
    ),
    "Cohere": (
        400, {"message": "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. "
                         "Try using a shorter prompt."},
    ),
    "Groq": (400, openai("Please reduce the length of the messages or completion.", "context_length_exceeded")),
    "Groq, without its code": (413, openai("Please reduce the length of the messages or completion.")),
    "Cerebras": (
        400, openai("Please reduce the length of the messages or completion. Current length is 8227 while limit is 8192"),
    ),
    "Together": (
        422, openai("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` "
                    "tokens and 512 `max_new_tokens`"),
    ),
    "DeepSeek": (400, openai(MESSAGES.format(65536, 70000, 66000, 4000), "invalid_request_error")),
    "Fireworks": (400, openai("The prompt is too long: 140000, model maximum context length: 131071")),
    "OpenRouter": (
        200, {"error": {"code": 400, "message":
                        "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 "
                        'tokens. Please reduce the length of either one, or use the "middle-out" transform.'}},
    ),
    "OpenRouter, of the provider": (
        400, {"error": {"code": 400, "message": "Provider returned error", "metadata": {
            "provider_name": "x", "raw": '{"message": "prompt is too long: 213462 tokens > 200000 maximum"}'}}},
    ),
    "xAI": (
        400, {"code": "Client specified an invalid argument", "error":
              "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
    ),
    "Databricks": (
        400, {"error_code": "BAD_REQUEST", "message": MESSAGES.format(8192, 9000, 8000, 1000)},
    ),
    "vLLM, before 0.10": (400, VLLM | {"message": MESSAGES.format(2048, 3000, 1000, 2000)}),
    "vLLM, prompt": (
        400, VLLM | {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make "
                                "sure that `max_model_len` is no smaller than the number of text tokens."},
    ),
    "vLLM, multimodal": (
        400, VLLM | {"message": "The prompt (total length 25938) is too long to fit into the model (context length 4096)."},
    ),
    "vLLM, reply": (
        400, {"error": VLLM | {"message":
              "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 "
              "tokens and your request has 200 input tokens (5000 > 4096 - 200)."}},
    ),
    "vLLM, since 0.16": (
        400, {"error": VLLM | {"message":
              "You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only "
              "1024 tokens, resulting in a maximum input length of 1014 tokens."}},
    ),
    "TGI": (422, {"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
                  "error_type": "validation"}),
    "TGI, with the reply": (
        500, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1500 `inputs` "
                       "tokens and 1024 `max_new_tokens`", "error_type": "validation"},
    ),
    "llama.cpp": (
        400, {"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9412, "n_ctx": 8192, "message":
                        "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it"}},
    ),
    "llama.cpp, older": (
        500, {"error": {"code": 500, "type": "server_error", "message":
                        "the request exceeds the available context size. try increasing the context size"}},
    ),
    "llama-cpp-python": (
        500, {"error": {"message": "Requested tokens (5000) exceed context window of 4096", "type": "internal_server_error"}},
    ),
    "Ollama": (400, {"error": {"message": "input length exceeds maximum context length", "type": "api_error"}}),
    "Ollama, cloud": (400, {"error": "prompt too long; exceeded max context length by 4096 tokens"}),
    "SGLang": (
        400, {"object": "error", "code": 400, "type": "BadRequestError", "message":
              "The input (8227 tokens) is longer than the model's context length (8192 tokens)."},
    ),
    "SGLang, with the reply": (
        400, {"object": "error", "code": 400, "message":
              "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of "
              "40000 tokens: 30000 tokens from the input messages and 10000 tokens for the completion."},
    ),
    "LM Studio": (
        400, {"error": "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded "
                       "with context length of only 32768 tokens, which is not enough."},
    ),
    "LM Studio, start": (
        400, {"error": "The number of tokens to keep from the initial prompt is greater than the context length"},
    ),
    "LM Studio, MLX": (500, {"error": "Context size has been exceeded."}),
    "Moonshot": (400, openai("Your request exceeded model token limit: 8192 (requested: 9000)")),
    "MiniMax": (400, openai("invalid params, context window exceeds limit (2013)")),
    "DashScope": (400, openai("Range of input length should be [1, 30720]", "invalid_parameter_error")),
    "Zhipu": (400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}),
    "watsonx": (
        400, {"errors": [], "message":
              "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model"},
    ),
    "GitHub": (400, openai("prompt token count of 70000 exceeds the limit of 64000", "model_max_prompt_tokens_exceeded")),
}  # fmt: skip
NOT = {
    "OpenAI, tokens per minute": (
        429, openai("Request too large for gpt-4o in organization o on tokens per min (TPM): Limit 30000, Requested 40000.",
                    "rate_limit_exceeded", "tokens"), "rate_limit",
    ),
    "Groq, tokens per minute": (
        413, openai("Request too large for model `x` in organization `o` on tokens per minute (TPM): Limit 6000, Requested "
                    "7012, please reduce your message size and try again.", "rate_limit_exceeded", "tokens"), "bad_request",
    ),
    "Bedrock, throttled": (
        400, {"message": "Too many tokens, please wait before trying again."}, "bad_request",
    ),
    "OpenAI, reply": (
        400, openai("max_tokens is too large: 32768. This model supports at most 16384 completion tokens, whereas you "
                    "provided 32768.", "invalid_value"), "bad_request",
    ),
    "Anthropic, reply": (
        400, openai("max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for x"), "bad_request",
    ),
    "Groq, reply": (
        400, openai("`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the "
                    "`context_window` for this model"), "bad_request",
    ),
    "Databricks, reply": (
        400, {"error_code": "BAD_REQUEST", "message":
              "max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens generated."},
        "bad_request",
    ),
    "Cohere, reply": (
        400, {"message": "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model"},
        "bad_request",
    ),
    "Anthropic, bytes": (
        413, {"type": "error", "error": {"type": "request_too_large",
                                         "message": "Request exceeds the maximum allowed number of bytes."}}, "bad_request",
    ),
    "an unknown setting": (400, openai("Unknown parameter: 'context_window'", "unknown_parameter"), "bad_request"),
    "llama.cpp, several requests in one window": (
        500, {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}, "server",
    ),
    "a server that is down": (503, openai("The model's maximum context length could not be read"), "server"),
}  # fmt: skip


def kind(status, body):
    """Of the fault behind a reply; some providers report it with status 200."""
    if status != 200:
        return from_status(status, orjson.dumps(body), {}).kind
    with pytest.raises(Fault) as caught:
        read_reply(body, None)
    return caught.value.kind


@each_row("name", TOO_LONG)
def test_a_too_long_request_is_a_context_overflow(name):
    assert kind(*TOO_LONG[name]) == "context_window"


@each_row("name", NOT)
def test_similar_replies_are_not_a_context_overflow(name):
    status, body, found = NOT[name]
    assert kind(status, body) == found
