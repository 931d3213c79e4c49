/**
 * Reads fields in camelCase or snake_case, which proxies and protobuf dumps use. Fields that occur
 * in every chunk are read directly where they are used, which is faster.
 */
// Q215

export type Json = Record<string, unknown>;

const snakeNames = {
  blockReason: "block_reason",
  blockReasonMessage: "block_reason_message",
  boolValue: "bool_value",
  finishMessage: "finish_message",
  jsonPath: "json_path",
  listValue: "list_value",
  numberValue: "number_value",
  partialArgs: "partial_args",
  stringValue: "string_value",
  structValue: "struct_value",
  willContinue: "will_continue",
} as const;

export function field(record: Json, name: keyof typeof snakeNames): unknown {
  return record[name] ?? record[snakeNames[name]];
}
