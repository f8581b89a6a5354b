"""Whether a provider refuses a request because it is longer than the model's context window, in each one's words.

Prompt and ``max_tokens`` share the window, so a request of which only both together are too long overflows as well.
Not an overflow: a limit of tokens per minute, and a ``max_tokens`` that exceeds what the model may write in a reply.
"""

import re

_LONGEST = 16_000  # of a complaint that is read; what is longer holds an echo of the request
_NOT = (
    r"tokens per (minute|min|hour|day)\b|\b(tpm|tpd)\b|rate[ _-]?limit|please wait",  # OpenAI, Groq, Bedrock
    r"at most [\d,]+ completion tokens",  # OpenAI
    r"maximum (allowed number of )?output",  # Anthropic, Cohere
    r"maximum value for .?max_tokens",  # Groq
    r"max_tokens \([\d,]+\) cannot exceed|length of max output tokens",  # Databricks
)
_TOO_LONG = (
    # OpenAI, Azure, DeepSeek, Mistral, Fireworks, Ollama, OpenRouter, vLLM, SGLang, the server of llama-cpp-python
    r"maximum context (length|limit|size|window)",
    # OpenAI's responses, Anthropic, llama.cpp and llama-cpp-python; codes, and sentences in the other order
    r"exceed[^.]{0,60}context[ _-]?(window|length|size|limit)|context[ _-]?(window|length|size|limit)[^.]{0,40}exceed",
    # vLLM, SGLang, LM Studio
    r"(longer|greater|larger) than the (model's |available |maximum )?(context (length|window|size)|model length)",
    r"context length (is|of) only|max_model_len",
    # Anthropic, Bedrock, Fireworks, vLLM
    r"\b(prompt|input|request)( \([^()]{0,80}\))? is too long",
    # Groq, Cerebras, OpenAI
    r"reduce the length of (the|your|either) (messages|input|prompt|one)|current length is [\d,]+ while limit is",
    # Gemini and Vertex, and GitHub's models
    r"(input|prompt) token count (\([\d,]+\) |of [\d,]+ )?exceeds|input token count is [\d,]+ but",
    # OpenAI, Bedrock, watsonx, Cohere
    r"input tokens( [\d,]+)? (cannot )?exceed|prompt tokens \([\d,]+\) exceed|too many (input |prompt )?tokens",
    # Text Generation Inference, Together
    r"`?inputs`? (tokens \+ `?max_new_tokens`? must be|must have less than [\d,]+ tokens)",
    # xAI, TensorRT-LLM, Moonshot, DashScope, Zhipu
    r"maximum (prompt|input) length|exceeded model token limit",
    r"range of input length should be|prompt exceeds max length",
)
_OTHER, _OVERFLOW = (re.compile("|".join(parts), re.IGNORECASE) for parts in (_NOT, _TOO_LONG))


def is_overflow(code: str, text: str) -> bool:
    """Whether the code and the text of an error report a request that is longer than the window."""
    report = f"{code}: {text}"[:_LONGEST]
    return _OTHER.search(report) is None and _OVERFLOW.search(report) is not None
