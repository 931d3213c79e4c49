/** How a server deviates from its protocol's reference, as data. */

/**
 * Deviations of one server from its protocol's reference. A switch that is absent is off, and the
 * request then follows the reference. A vendor's row sets the switches; a caller may override each.
 */
export interface Compat extends Dialect {
  /** The field that limits the answer's tokens. Default `max_tokens`. */
  // Q105
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /**
   * The role of the system prompt. Default `system`. Use `user` for models without a system role:
   * the prompt becomes the first user message (also on google-generate).
   */
  // Q107
  systemRole?: "system" | "developer" | "user";
  /** Whether `stream_options.include_usage` is sent. Default true. */
  // Q106
  streamUsage?: boolean;
  /** How a request asks for thinking. Default `reasoning_effort`. */
  // Q134
  thinkingFormat?:
    | "reasoning_effort"
    | "reasoning"
    | "thinking"
    | "enable_thinking"
    | "chat_template_kwargs"
    | "none";
  /**
   * Whether reasoning text is sent back to the model that wrote it. On anthropic-messages this
   * includes thinking without a signature.
   */
  // Q132, Q133
  replayReasoning?: boolean;
  /**
   * Whether the server refuses `temperature`: always (true), or only when the request asks for
   * thinking. On openai-chat, `thinking` works with `streamOpenaiCompatible` only.
   */
  // Q113
  noTemperature?: boolean | "thinking";
  /**
   * The header that carries the API key without a scheme, instead of `Authorization: Bearer`.
   * Azure's is `api-key`.
   */
  // Q135
  keyHeader?: string;
  /**
   * Whether the server silently drops part of a conversation that is too long. If it reports more
   * prompt tokens than {@link Model.contextWindow}, the call then fails with `context_overflow`.
   */
  // Q244
  cutsPrompt?: boolean;
  /** Anthropic: request adaptive thinking with an effort instead of a token budget. */
  adaptiveThinking?: boolean;
  /** Anthropic: the server does not know the effort `xhigh`; `high` is sent instead. */
  noXhigh?: boolean;
}

/**
 * Switches for servers with their own dialect. `streamOpenaiChat`, the smallest wire, ignores them
 * and `StreamOptions.output`, so that pages need not load the code. On openai-chat they take effect
 * with `streamOpenaiCompatible`, which `streamByProtocol` uses by default.
 */
export interface Dialect {
  /**
   * Whether the server can force an answer to match a schema: in any request (`json_schema`), or
   * only in requests without tools (`no_tools`). `supportsOutput` reads it. Default `json_schema`
   * on the vendors' own protocols and `none` on openai-chat, where servers differ.
   */
  structuredOutput?: "json_schema" | "no_tools" | "none";
  /**
   * The server cannot stream. The request asks for the whole answer, which arrives as one burst of
   * events.
   */
  noStreaming?: boolean;
  /**
   * Whether `StreamOptions.metadata` is left out on openai-chat. OpenAI accepts it only for answers
   * that it stores.
   */
  noMetadata?: boolean;
  /**
   * Whether the server knows the efforts low, medium and high only. `minimal` is sent as low, and
   * the levels above high as high.
   */
  // Q134
  plainEfforts?: boolean;
  /**
   * The body field that carries `StreamOptions.sessionId` on openai-chat, such as
   * `prompt_cache_key`.
   */
  cacheKeyField?: string;
  /** The header that carries `StreamOptions.sessionId` on openai-chat. */
  cacheKeyHeader?: string;
  /**
   * The JSON Schema keywords that the server accepts, in tools and output. Other keywords move to
   * the description, except that `const` becomes `enum`, `oneOf` becomes `anyOf`, and `$ref` is
   * replaced by its target. Default: schemas are sent as given.
   */
  // Q115
  schemaKeywords?: readonly string[];
  /**
   * The strongest tool choice that the server accepts. A stronger one is weakened to it and
   * reported to `StreamOptions.onWarning`. Default: a tool by name.
   */
  // Q112
  toolChoice?: "required" | "auto";
  /**
   * How to send a transcript that ends with an assistant message, which the model should continue.
   * `prefix` and `partial` set that field on the message. `none` appends a user message, for
   * servers that refuse such a transcript. Default: the message is sent as it is.
   */
  // Q126, Q173
  prefill?: "prefix" | "partial" | "none";
  /**
   * Whether to declare the tools that the transcript used when the request declares no others.
   * Always done on anthropic-messages.
   */
  // Q111
  toolsForHistory?: boolean;
  /**
   * How to read thinking in `<think>` tags of the text: `split` expects both tags, `open` only the
   * closing one. Default: tags are text.
   */
  // Q087, Q088
  thinkTags?: "split" | "open";
  /**
   * The format of tool calls that the model writes into its text. They are read when the request
   * declared tools and no real call came. Default: they are text.
   */
  // Q069
  textCalls?: "hermes" | "mistral" | "json";
  /**
   * Send call ids as numbers of this many digits. Mistral accepts only ids of 9 letters or digits.
   */
  // Q119
  callIdDigits?: number;
  /** Whether an answer without text is sent as `""` instead of null. */
  // Q120
  noNullContent?: boolean;
  /** Whether a tool result carries the tool's name. */
  // Q128
  toolResultName?: boolean;
  /** Whether an assistant message must stand between tool results and a user message. */
  // Q124
  assistantAfterTool?: boolean;
  /** Whether consecutive user messages are merged into one. */
  // Q125
  mergeUsers?: boolean;
}
