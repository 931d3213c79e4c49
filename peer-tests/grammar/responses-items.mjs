// Generates items of a Responses answer: their initial and final form, and the events between. The
// events omit the fields that all have (`output_index`, `sequence_number`) and the prefix
// `response.` of their types.
import * as fc from "fast-check";
import { anyArguments, inPieces, someText, text, toolName } from "./values.mjs";

const annotation = fc.oneof(
  fc.record({
    type: fc.constant("url_citation"),
    start_index: fc.nat(9),
    end_index: fc.nat(9),
    url: text,
    title: text,
  }),
  fc.record({
    type: fc.constant("file_citation"),
    index: fc.nat(9),
    file_id: text,
    filename: text,
  }),
);
const outputText = fc.record({
  pieces: inPieces(text),
  annotations: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(annotation, { maxLength: 3 }) },
  ),
});
const content = fc.oneof(
  { weight: 12, arbitrary: outputText },
  { weight: 1, arbitrary: fc.record({ refusal: inPieces(someText) }) },
);

export const messageItem = fc
  .record({
    contents: fc.array(content, { maxLength: 3 }),
    phase: fc.constantFrom({}, { phase: "commentary" }, { phase: null }),
  })
  .map(({ contents, phase }) => (id) => {
    const begun = { id, type: "message", role: "assistant", content: [], ...phase };
    const parts = contents.map((one) => contentPart(id, one));
    const events = parts.flatMap((part, content_index) =>
      part.events.map((event) => ({ ...event, content_index })),
    );
    return { begun, events, ended: { ...begun, content: parts.map((part) => part.ended) } };
  });

function contentPart(item_id, { pieces, annotations, refusal }) {
  const field = refusal === undefined ? "text" : "refusal";
  const name = refusal === undefined ? "output_text" : "refusal";
  const bare =
    refusal === undefined ? { type: name, annotations: [], logprobs: [] } : { type: name };
  const given = refusal ?? pieces;
  const whole = given.join("");
  const ended = { ...bare, ...(annotations && { annotations }), [field]: whole };
  const logprobs = refusal === undefined && { logprobs: [] };
  const events = [
    { type: "content_part.added", part: { ...bare, [field]: "" } },
    ...given.map((delta) => ({ type: `${name}.delta`, delta, ...logprobs, obfuscation: "x7" })),
    ...(annotations ?? []).map((one, annotation_index) => ({
      type: "output_text.annotation.added",
      annotation_index,
      annotation: one,
    })),
    { type: `${name}.done`, [field]: whole, ...logprobs },
    { type: "content_part.done", part: ended },
  ];
  return { ended, events: events.map((event) => ({ ...event, item_id })) };
}

/** A summary, or the thoughts themselves. No server is known to send both. */
export const reasoningItem = fc
  .record({
    sections: fc.array(inPieces(text), { maxLength: 3 }),
    isSummary: fc.boolean(),
    encrypted: fc.constantFrom({}, { encrypted_content: null }, { encrypted_content: "gAAAA" }),
  })
  .map(({ sections, isSummary, encrypted }) => (item_id) => {
    const begun = {
      id: item_id,
      type: "reasoning",
      summary: [],
      ...(!isSummary && { content: [] }),
      ...encrypted,
    };
    const type = isSummary ? "summary_text" : "reasoning_text";
    const event = isSummary ? "reasoning_summary_text" : "reasoning_text";
    const part = isSummary ? "reasoning_summary_part" : "content_part";
    const events = sections.flatMap((pieces, place) => {
      const at = { item_id, [isSummary ? "summary_index" : "content_index"]: place };
      return [
        { type: `${part}.added`, ...at, part: { type, text: "" } },
        ...pieces.map((delta) => ({ type: `${event}.delta`, ...at, delta })),
        { type: `${event}.done`, ...at, text: pieces.join("") },
        { type: `${part}.done`, ...at, part: { type, text: pieces.join("") } },
      ];
    });
    const parts = sections.map((pieces) => ({ type, text: pieces.join("") }));
    return { begun, events, ended: { ...begun, [isSummary ? "summary" : "content"]: parts } };
  });

export const callItem = fc
  .record({
    name: toolName,
    pieces: inPieces(anyArguments),
    shape: fc.constantFrom("all", "all", "no deltas", "no done", "neither"),
    more: fc.constantFrom(
      {},
      {},
      { namespace: "crm" },
      { caller: { type: "direct" } },
      { caller: { type: "program", caller_id: "p1" } },
    ),
  })
  .map(({ name, pieces, shape, more }) => (item_id, n) => {
    const whole = pieces.join("");
    const begun = {
      id: item_id,
      type: "function_call",
      call_id: `call_${n}x`,
      name,
      arguments: "",
      ...more,
    };
    const hasDeltas = shape === "all" || shape === "no done";
    const hasDone = shape === "all" || shape === "no deltas";
    const type = "function_call_arguments";
    const events = [
      ...(hasDeltas ? pieces.map((delta) => ({ type: `${type}.delta`, item_id, delta })) : []),
      ...(hasDone ? [{ type: `${type}.done`, item_id, arguments: whole }] : []),
    ];
    return { begun, events, ended: { ...begun, arguments: whole } };
  });

const searching = ["in_progress", "searching", "completed"];
const mcp = { name: "t", server_label: "s", arguments: "", output: null, error: null };
const mcpError = { type: "mcp_tool_execution_error", content: [] };
/**
 * Items of the server's own tools: the initial fields, the final fields that differ, the events of
 * their progress, and the streamed field with the name of its events.
 */
const kinds = [
  {
    begun: { type: "web_search_call" },
    ended: { action: { type: "search", queries: ["q"] } },
    steps: searching,
  },
  {
    begun: { type: "file_search_call", queries: [], results: null },
    ended: { queries: ["q"] },
    steps: searching,
  },
  {
    begun: { type: "image_generation_call" },
    ended: { result: "aGk=", output_format: "png" },
    steps: ["in_progress", "generating", "completed"],
  },
  {
    begun: { type: "code_interpreter_call", code: "", container_id: "c", outputs: null },
    steps: ["in_progress", "interpreting", "completed"],
    field: "code",
    stream: "code_interpreter_call_code",
  },
  {
    begun: { type: "mcp_list_tools", server_label: "s", tools: [] },
    ended: { tools: [{ name: "t", input_schema: {} }] },
    steps: ["in_progress", "completed"],
  },
  ...["completed", "failed"].map((last) => ({
    begun: { type: "mcp_call", ...mcp },
    ended: last === "completed" ? { output: "o" } : { error: mcpError },
    steps: ["in_progress", last],
    field: "arguments",
    stream: "mcp_call_arguments",
  })),
  { begun: { type: "mcp_approval_request", name: "t", server_label: "s", arguments: "{}" } },
  {
    begun: { type: "custom_tool_call", call_id: "custom", name: "draw", input: "" },
    field: "input",
    stream: "custom_tool_call_input",
  },
  {
    begun: {
      type: "local_shell_call",
      call_id: "shell",
      action: { type: "exec", command: ["ls"], env: {} },
    },
  },
  {
    begun: {
      type: "apply_patch_call",
      call_id: "patch",
      operation: { type: "delete_file", path: "p" },
    },
  },
  {
    begun: {
      type: "computer_call",
      call_id: "computer",
      pending_safety_checks: [],
      action: { type: "wait" },
    },
  },
  { begun: { type: "tool_search_call", call_id: null, execution: "server", arguments: {} } },
  { begun: { type: "compaction", encrypted_content: "gAAAA" } },
];

export const serverItem = fc.tuple(fc.constantFrom(...kinds), inPieces(text)).map(
  ([
    {
      begun: { type, call_id, ...fields },
      ended,
      steps = [],
      field = "",
      stream = "",
    },
    pieces,
  ]) =>
    (item_id, n) => {
      const begun = {
        id: item_id,
        type,
        ...fields,
        ...(call_id != null && { call_id: `${call_id}_${n}` }),
      };
      const whole = { [field]: pieces.join("") };
      const streamed = [
        ...pieces.map((delta) => ({ type: `${stream}.delta`, item_id, delta })),
        { type: `${stream}.done`, item_id, ...whole },
      ];
      const [first = [], ...last] = steps.map((step) => [{ type: `${type}.${step}`, item_id }]);
      const events = [...first, ...(field === "" ? [] : streamed), ...last.flat()];
      return { begun, events, ended: { ...begun, ...ended, ...(field !== "" && whole) } };
    },
);
