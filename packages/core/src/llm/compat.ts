/** What a server wants otherwise than its protocol's reference, as data. */

/**
 * Switches of a target, each off unless set: without any, a request is as the protocol's reference
 * says. A vendor's row sets them; a caller may override each.
 */
export interface Compat extends Dialect {
  /** The field that limits the answer's tokens. Default `max_tokens`. */
  // Q105
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /**
   * The role of the system prompt. Default `system`. With `user`, also on google-generate, the
   * prompt is the first message of the conversation, for models that have no such role.
   */
  // Q107
  systemRole?: "system" | "developer" | "user";
  /** Whether `stream_options.include_usage` is sent. Default true. */
  // Q106
  streamUsage?: boolean;
  /** How thinking is asked for. Default `reasoning_effort`. */
  // Q134
  thinkingFormat?:
    | "reasoning_effort"
    | "reasoning"
    | "thinking"
    | "enable_thinking"
    | "chat_template_kwargs"
    | "none";
  /**
   * Whether reasoning text is sent back to the same model; on anthropic-messages also
   * what has no signature.
   */
  // Q132, Q133
  replayReasoning?: boolean;
  /**
   * Whether `temperature` is refused: always, or in a request that asks for thinking, which on
   * openai-chat is dialect.
   */
  // Q113
  noTemperature?: boolean | "thinking";
  /**
   * The header that carries the key bare, in place of `Authorization: Bearer`, such as Azure's
   * `api-key`.
   */
  // Q135
  keyHeader?: string;
  /**
   * Whether the server answers a part of a conversation that is too long without saying so. An
   * answer to more tokens than {@link Model.contextWindow} then ends as `context_overflow`.
   */
  // Q244
  cutsPrompt?: boolean;
  /** Anthropic: ask for adaptive thinking with an effort instead of a token budget. */
  adaptiveThinking?: boolean;
  /** Anthropic: the effort `xhigh` is not known, and `high` is asked for. */
  noXhigh?: boolean;
}

/**
 * What not every page pays for. Of these, and of `StreamOptions.output`, `streamOpenaiChat`,
 * the smallest wire, knows nothing: on openai-chat they are for `streamOpenaiCompatible`, which is
 * the wire of `streamByProtocol` and so the default.
 */
export interface Dialect {
  /**
   * Whether the server holds an answer to a schema: in any request, or only in one without tools.
   * `supportsOutput` reads it. Default `json_schema` on the vendors' own protocols and `none`
   * on openai-chat, where servers differ.
   */
  structuredOutput?: "json_schema" | "no_tools" | "none";
  /**
   * The server cannot stream. It is asked for the whole answer, which then comes as one burst of
   * events.
   */
  noStreaming?: boolean;
  /**
   * Whether `StreamOptions.metadata` is kept back on openai-chat: OpenAI takes it only of
   * answers that it stores.
   */
  noMetadata?: boolean;
  /**
   * Whether efforts are low, medium and high only: minimal is sent as low, those above high as high.
   */
  // Q134
  plainEfforts?: boolean;
  /**
   * The body's field for `StreamOptions.sessionId` on openai-chat, such as
   * `prompt_cache_key`.
   */
  cacheKeyField?: string;
  /** The header for it. */
  cacheKeyHeader?: string;
  /**
   * The words of JSON Schema that the server takes, in tools and output. What another word
   * says goes into the description; `const` becomes `enum`, `oneOf` becomes `anyOf`, a `$ref` what
   * it leads to. Default: schemas are sent as given.
   */
  // Q115
  schemaKeywords?: readonly string[];
  /**
   * The most that a tool choice may ask for: `StreamOptions.onWarning` hears of more.
   * Default: a tool by name.
   */
  // Q112
  toolChoice?: "required" | "auto";
  /**
   * What becomes of an answer that ends the transcript, so that the next one is to go on from it: the field that marks it, or `none` where that is refused and a user's turn is put
   * behind it. Default: it goes out as it is.
   */
  // Q126, Q173
  prefill?: "prefix" | "partial" | "none";
  /**
   * Whether tools that are only history are declared when there are no others. Always so on
   * anthropic-messages.
   */
  // Q111
  toolsForHistory?: boolean;
  /**
   * Thinking in `<think>` tags of the text; `open`: the first tag is missing.
   * Default: tags are text.
   */
  // Q087, Q088
  thinkTags?: "split" | "open";
  /**
   * Calls that the model writes into its text, read where tools were declared and no real
   * call came. Default: text.
   */
  // Q069
  textCalls?: "hermes" | "mistral" | "json";
  /** Ids of calls are numbers of so many digits: Mistral takes 9 letters or digits. */
  // Q119
  callIdDigits?: number;
  /** Whether an answer without text is `""` rather than null. */
  // Q120
  noNullContent?: boolean;
  /** Whether a result has the tool's name. */
  // Q128
  toolResultName?: boolean;
  /** Whether a word of the assistant must stand between results and a user's message. */
  // Q124
  assistantAfterTool?: boolean;
  /** Whether user messages in a row are made one. */
  // Q125
  mergeUsers?: boolean;
}
