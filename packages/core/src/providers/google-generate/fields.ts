/** Fields as generateContent servers name them: proxies and protobuf dumps write them in snake_case (Q215). */

export type Json = Record<string, unknown>;

const snakeNames = {
  blockReason: "block_reason",
  blockReasonMessage: "block_reason_message",
  boolValue: "bool_value",
  cachedContentTokenCount: "cached_content_token_count",
  candidatesTokenCount: "candidates_token_count",
  finishMessage: "finish_message",
  finishReason: "finish_reason",
  functionCall: "function_call",
  jsonPath: "json_path",
  listValue: "list_value",
  modelVersion: "model_version",
  nullValue: "null_value",
  numberValue: "number_value",
  partialArgs: "partial_args",
  promptFeedback: "prompt_feedback",
  promptTokenCount: "prompt_token_count",
  responseId: "response_id",
  stringValue: "string_value",
  structValue: "struct_value",
  thoughtSignature: "thought_signature",
  thoughtsTokenCount: "thoughts_token_count",
  toolUsePromptTokenCount: "tool_use_prompt_token_count",
  totalTokenCount: "total_token_count",
  usageMetadata: "usage_metadata",
  willContinue: "will_continue",
} as const;

export function field(record: Json, name: keyof typeof snakeNames): unknown {
  return record[name] ?? record[snakeNames[name]];
}
