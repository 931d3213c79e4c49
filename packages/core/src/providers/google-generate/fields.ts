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
  citationMetadata: "citation_metadata",
  citationSources: "citation_sources",
  codeExecutionResult: "code_execution_result",
  documentName: "document_name",
  executableCode: "executable_code",
  finishMessage: "finish_message",
  groundingChunkIndices: "grounding_chunk_indices",
  groundingChunks: "grounding_chunks",
  groundingMetadata: "grounding_metadata",
  groundingSupports: "grounding_supports",
  inlineData: "inline_data",
  jsonPath: "json_path",
  listValue: "list_value",
  mimeType: "mime_type",
  numberValue: "number_value",
  partialArgs: "partial_args",
  retrievedContext: "retrieved_context",
  retrievedUrl: "retrieved_url",
  startIndex: "start_index",
  stringValue: "string_value",
  structValue: "struct_value",
  toolCall: "tool_call",
  toolResponse: "tool_response",
  toolType: "tool_type",
  urlContextMetadata: "url_context_metadata",
  urlMetadata: "url_metadata",
  urlRetrievalStatus: "url_retrieval_status",
  webSearchQueries: "web_search_queries",
  willContinue: "will_continue",
} as const;

export function field(record: Json, name: keyof typeof snakeNames): unknown {
  return record[name] ?? record[snakeNames[name]];
}
