/**
 * Sets each field of a valid body to values of every type. The check must accept those that the
 * protocol allows, and name the field for all others.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkChatRequest, checkMessagesRequest } from "../../src/testing/index.ts";

type Path = readonly (string | number)[];

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const closed = { ...schema, additionalProperties: false };

const chat = {
  model: "m",
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 100,
  temperature: 1.5,
  reasoning: { effort: "low", max_tokens: 5 },
  metadata: { run: "1" },
  prompt_cache_key: "key",
  session_id: "session",
  parallel_tool_calls: true,
  response_format: {
    type: "json_schema",
    json_schema: { name: "answer", schema: closed, strict: true, description: "An answer" },
  },
  tools: [
    {
      type: "function",
      function: { name: "read", description: "Reads", parameters: schema, strict: false },
    },
  ],
  tool_choice: { type: "function", function: { name: "read" } },
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "one" },
    { role: "assistant", content: "Well." },
    { role: "user", content: "Go on" },
  ],
};

const messages = {
  model: "m",
  stream: true,
  max_tokens: 4000,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  temperature: 1,
  thinking: { type: "enabled", budget_tokens: 2000, display: "omitted" },
  output_config: { effort: "low", format: { type: "json_schema", schema: closed } },
  metadata: { user_id: "u" },
  tools: [
    { name: "read", description: "Reads", input_schema: schema, type: "custom", strict: false },
  ],
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        {
          type: "image",
          source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
        },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "S" },
        { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: "one", is_error: true },
        { type: "text", text: "Go on" },
      ],
    },
  ],
};

const [absent, text] = [undefined, "no such word"];
const values: readonly unknown[] = [absent, null, -1, 0.5, "", " ", text, [], {}, true, "\0"];
/** Fields whose content is not checked, except for characters that no server accepts. */
const anything = values.slice(0, -1);
const anyText = ["", " ", text];

/** The accepted values by field. Fields that are not listed accept none. */
type Takes = Readonly<Record<string, readonly unknown[]>>;

/** Returns the accepted values of the fields of a tool's schema. */
const inSchema = (path: string): Takes => ({
  [`${path}.properties`]: [{}],
  [`${path}.properties.path`]: anything,
  [`${path}.properties.path.type`]: anything,
  [`${path}.required`]: anything,
  [`${path}.required[0]`]: anything.slice(1),
});

const chatTakes: Takes = {
  ...inSchema("tools[0].function.parameters"),
  ...inSchema("response_format.json_schema.schema"),
  model: [text],
  stream: [true],
  stream_options: [absent],
  "stream_options.include_usage": [true],
  max_tokens: [absent],
  temperature: [absent, 0.5],
  reasoning: [absent, {}],
  "reasoning.effort": [absent],
  "reasoning.max_tokens": anything,
  metadata: [absent, {}],
  "metadata.run": [absent, ...anyText],
  prompt_cache_key: [absent],
  session_id: [absent],
  parallel_tool_calls: [absent, true],
  response_format: [absent],
  "response_format.json_schema.schema.required": [],
  "response_format.json_schema.schema.required[0]": [],
  "response_format.json_schema.strict": [absent, true],
  "response_format.json_schema.description": anything,
  "tools[0].function.description": [absent, ...anyText],
  // The schema of this tool is not strict.
  "tools[0].function.strict": anything.filter((value) => value !== true),
  tool_choice: [absent],
  "messages[0].content": [text],
  "messages[1].content": [text],
  "messages[1].content[0].text": [text],
  "messages[2].content": [null, text],
  "messages[3].content": [text],
  "messages[4].content": [text],
  "messages[5].content": [text],
};

const messagesTakes: Takes = {
  ...inSchema("tools[0].input_schema"),
  "tools[0].strict": [absent, true],
  ...inSchema("output_config.format.schema"),
  model: [text],
  stream: [absent, true],
  system: [absent, text],
  "system[0].text": [text],
  "system[0].cache_control": [absent],
  "system[0].cache_control.ttl": [absent],
  temperature: [absent],
  thinking: [absent],
  "thinking.display": anything,
  output_config: [absent, {}],
  "output_config.effort": [absent],
  "output_config.format": [absent],
  metadata: [absent, {}],
  "metadata.user_id": [absent, text],
  "tools[0].description": [absent, ...anyText],
  "tools[0].type": [absent],
  tool_choice: [absent],
  "tool_choice.disable_parallel_tool_use": anything,
  "messages[0].content": [text],
  "messages[0].content[0].text": [text],
  "messages[1].content[0].thinking": anyText,
  "messages[1].content[0].signature": [text],
  "messages[1].content[1].input": [{}],
  "messages[1].content[1].input.path": anything,
  "messages[2].content[0].content": [absent, text],
  "messages[2].content[0].is_error": [absent, true],
  "messages[2].content[1].text": [text],
};

function pathsOf(value: unknown, path: Path = []): Path[] {
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const own: Path[] = path.length === 0 ? [] : [path];
  return own.concat(
    inner.flatMap(([name, part]) =>
      pathsOf(part, [...path, Array.isArray(value) ? Number(name) : name]),
    ),
  );
}

function withValue(body: object, path: Path, value: unknown): object {
  const copy = JSON.parse(JSON.stringify(body)) as object;
  const place = path
    .slice(0, -1)
    .reduce<object>((at, name) => Reflect.get(at, name) as object, copy);
  const name = path.at(-1) as string;
  if (value === undefined && !Array.isArray(place)) Reflect.deleteProperty(place, name);
  else Reflect.set(place, name, value);
  return copy;
}

function textOf(path: Path): string {
  return path
    .map((name) => (typeof name === "number" ? `[${name}]` : `.${name}`))
    .join("")
    .slice(1);
}

/** The accepted and the refused values at the limits of the numbers. */
const limits: readonly (readonly [typeof chat | typeof messages, string, number[], number[]])[] = [
  [chat, "max_tokens", [1], [0, 1.5]],
  [chat, "temperature", [0, 2], [-0.01, 2.01]],
  [messages, "max_tokens", [2001], [0, 2000]],
  [messages, "temperature", [1], [0.99, 1.01]],
  [messages, "thinking.budget_tokens", [1024, 3999], [1023, 4000]],
];

const protocols = [
  { name: "checkChatRequest", body: chat, takes: chatTakes, problemsOf: checkChatRequest },
  {
    name: "checkMessagesRequest",
    body: messages,
    takes: messagesTakes,
    problemsOf: checkMessagesRequest,
  },
] as const;

for (const { name, body, takes, problemsOf } of protocols)
  describe(name, () => {
    it("accepts a body with all fields", () => assert.deepEqual(problemsOf(body), []));

    for (const path of pathsOf(body))
      it(`accepts the allowed values of ${textOf(path)}, and names the field for others`, () => {
        const taken: unknown[] = [];
        for (const value of values) {
          const problems = problemsOf(withValue(body, path, value));
          // Some rules apply to a whole object. Two apply to fields that belong together: a call
          // and its result (Q127), and tools and their choice (Q109).
          const places = [textOf(path), textOf(path.slice(0, -1)), textOf(path.slice(0, -2))];
          const names = (problem: string): boolean =>
            places.some((place) => problem.startsWith(place || "body")) ||
            /Q127|Q109/.test(problem);
          if (problems.length === 0) taken.push(value);
          else assert.ok(problems.some(names), `${JSON.stringify(value)}: ${problems.join("; ")}`);
        }
        assert.deepEqual(taken, takes[textOf(path)] ?? []);
      });

    it("describes an invalid value briefly", () => {
      for (const [value, words] of [
        [null, "null"],
        [-1, "-1"],
        [true, "true"],
        [[], "an empty list"],
        [[1], "a list"],
        [{}, "an object"],
      ] as const)
        assert.deepEqual(problemsOf({ ...body, model: value }), [
          `model must be text, not ${words}`,
        ]);
      const typeOf = (type: string): string =>
        problemsOf(withValue(body, ["tool_choice", "type"], type)).join();
      assert.match(typeOf("x".repeat(58)), /"x{58}"/);
      assert.match(typeOf("x".repeat(59)), /"x{59}…/);
    });

    for (const [of, path, good, bad] of limits.filter(([one]) => one === body))
      it(`accepts ${path} up to its limits`, () => {
        const isTaken = (value: number): boolean =>
          problemsOf(withValue(of, path.split("."), value)).length === 0;
        assert.deepEqual(good.filter(isTaken), good);
        assert.deepEqual(bad.filter(isTaken), []);
      });
  });
