/**
 * The part of an OpenAI chat request that the planner reads. Nothing beyond these types is assumed
 * to be valid.
 */
export interface PracticeRequest {
  readonly messages: readonly PracticeMessage[];
  /** The available tools. If one is missing, the answer says so. */
  readonly tools?: readonly { readonly function?: { readonly name?: unknown } }[] | undefined;
}

export interface PracticeMessage {
  readonly role: string;
  /** Text, or parts, of which those with `text` are read. */
  readonly content?: unknown;
  readonly tool_calls?:
    | readonly { readonly id?: unknown; readonly function?: { readonly name?: unknown } }[]
    | null;
  readonly tool_call_id?: unknown;
}

/** One turn of the model. With tool calls, the text announces them; otherwise it is the answer. */
export interface PracticeReply {
  readonly text: string;
  readonly toolCalls: readonly PracticeToolCall[];
}

export interface PracticeToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}
