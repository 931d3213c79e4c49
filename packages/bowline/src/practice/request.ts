/**
 * The part of an OpenAI chat request that the planner reads. Beyond these types nothing is taken to
 * be well formed.
 */
export interface PracticeRequest {
  readonly messages: readonly PracticeMessage[];
  /** A task that needs a tool that is not here says so in its answer. */
  readonly tools?: readonly { readonly function?: { readonly name?: unknown } }[] | undefined;
}

export interface PracticeMessage {
  readonly role: string;
  /** Text, or parts of which those with a `text` count. */
  readonly content?: unknown;
  readonly tool_calls?:
    | readonly { readonly id?: unknown; readonly function?: { readonly name?: unknown } }[]
    | null;
  readonly tool_call_id?: unknown;
}

/**
 * One turn of the model. With tool calls the text says what is about to be done; without, it is the
 * answer.
 */
export interface PracticeReply {
  readonly text: string;
  readonly toolCalls: readonly PracticeToolCall[];
}

export interface PracticeToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}
