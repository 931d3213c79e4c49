import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, wires } from "../acceptors/accept.ts";
import { generatedAnswers, heldBy, recordedAnswers } from "../bases.ts";
import { tryMutant } from "../try-base.ts";
import {
  blockStop,
  body,
  callItem,
  chunk,
  completed,
  created,
  done,
  fragment,
  functionCall,
  generated,
  inputDelta,
  itemAdded,
  itemDone,
  messageDelta,
  messageStart,
  numbered,
  of,
  streamed,
  toolStart,
} from "./wire-events.ts";

/** Every call in the recordings. A recording that is not listed has none. */
const recordedCalls: Record<string, string[]> = {
  "alibaba-alibaba-tool-call": ['weather {"location": "San Francisco"}'],
  "deepseek-deepseek-tool-call": ['weather {"location": "San Francisco"}'],
  "groq-groq-tool-call": ["weather {}"],
  "groq-tool-use-failed-error-streaming-1": ['get_something_by_name {"name":"example"}'],
  "anthropic-anthropic-json-tool.1": [
    'json {"elements": [{"location": "San Francisco", "temperature": 58, "condition": "sunny"}]}',
  ],
  "anthropic-anthropic-tool-no-args": ["updateIssueList {}"],
  "anthropic-anthropic-tool-search-regex.1": ['get_temp_data {"location": "San Francisco, CA"}'],
  "azure-azure-reasoning-encrypted-content.1": ['calculator {"a":12,"b":7,"op":"add"}'],
  "azure-azure-reasoning-encrypted-content.1.2": ['calculator {"a":19,"b":3,"op":"multiply"}'],
  "azure-azure-reasoning-encrypted-content.1.3": ['calculator {"a":57,"b":10,"op":"multiply"}'],
  "bedrock-mantle-reused-tool-call-ids-stream--0": ["first_tool {}"],
  "open-responses-lmstudio-tool-call.1": ['weather {"location":"San Francisco"}'],
  "openai-openai-client-tool-search.2": [
    'get_weather {"location":"San Francisco, CA","unit":"fahrenheit"}',
  ],
  "openai-openai-tool-search.1": [
    'get_weather {"location":"San Francisco, CA","unit":"fahrenheit"}',
  ],
  "openai-programmatic-tool-calling.2": ['getDemand {"sku":"sku_123"}'],
  "openai-responses-openai-responses-phase-streamed-on-part-start-0": [
    'get_capital {"country":"PotatoLand"}',
  ],
  "openai-responses-openai-responses-streaming-usage-0": ['final_result {"result":6666}'],
  "google-google-model-iter-stream-0": ['get_capital {"country":"France"}'],
  "google-google-model-iter-stream-1": ['get_temperature {"city":"Paris"}'],
  "google-google-stream-no-args-tool-call": [
    "read_theme {}",
    'read_screen {"id":"A"}',
    'read_screen {"id":"B"}',
    'read_screen {"id":"C"}',
  ],
  "google-google-streaming-tool-call-thought-signature-0": ["get_country {}"],
};
/** The names of calls in recordings whose arguments are too long to list. */
const recordedNames: Record<string, string> = {
  "anthropic-anthropic-tool-search-deferred-bm25": "readNoteTree",
  "anthropic-anthropic-tool-search-deferred-bm25.2": "executeEditorOperation",
  "anthropic-anthropic-tool-search-deferred-regex": "readNoteTree",
  "anthropic-anthropic-tool-search-deferred-regex.2": "executeEditorOperation",
  "google-google-stream-tool-call-array-arguments-missing-terminal-function-call": "writeItems",
};

for (const wire of wires)
  describe(`the acceptor of ${wire}`, () => {
    const recorded = recordedAnswers(wire);
    it("accepts every recording and finds its calls", { skip: recorded === undefined }, () => {
      for (const { name, body: bytes } of recorded ?? []) {
        const { calls } = heldBy(wire, bytes);
        const expected = recordedCalls[name] ?? [];
        const long = recordedNames[name];
        if (long !== undefined)
          assert.deepEqual(
            calls.map((call) => call.name),
            [long],
            name,
          );
        else
          assert.deepEqual(
            calls.map(toLine),
            expected.map((line) => toLine(splitLine(line))),
            name,
          );
      }
    });

    it("agrees with this library on generated streams", async () => {
      for (const base of await generatedAnswers(wire, 11, 24)) {
        const { verdict, problem } = await tryMutant(base, "");
        assert.notEqual(verdict.is, "illegal", base.name);
        assert.equal(problem, undefined, base.name);
      }
    });
  });

function splitLine(line: string): { name: string; arguments: string } {
  const place = line.indexOf(" ");
  return { name: line.slice(0, place), arguments: line.slice(place + 1) };
}

function toLine({ name, arguments: args }: { name: string; arguments: string }): string {
  return `${name} ${JSON.stringify(JSON.parse(args))}`;
}

const held = (name: string, args: string, id?: string) => ({
  text: "",
  calls: [{ id, name, arguments: args }],
  ending: "complete",
});

describe("an acceptor", () => {
  it("joins argument fragments of several interleaved calls", () => {
    const stream = body(
      chunk(fragment(0, "", "f")),
      chunk(fragment(1, '{"b"', "g")),
      chunk(fragment(0, '{"a":1}')),
      chunk(fragment(1, ":2}")),
      chunk({}, "tool_calls"),
      done,
    );
    const calls = [
      { id: "call_0", name: "f", arguments: '{"a":1}' },
      { id: "call_1", name: "g", arguments: '{"b":2}' },
    ];
    const verdict = { is: "legal", held: { text: "", calls, ending: "complete" } };
    assert.deepEqual(accept("openai-chat", stream), verdict);
  });

  it("ignores everything after the wire's last event", () => {
    const stream = body(chunk({ content: "Hello" }), chunk({}, "stop"), done, "no event\n\n");
    const said = { text: "Hello", calls: [], ending: "complete" };
    assert.deepEqual(accept("openai-chat", stream), { is: "legal", held: said });
  });

  it("reads a server error as a failed answer", () => {
    const stream = body(chunk({ content: "Hel" }), { error: { message: "overloaded" } });
    const said = { text: "Hel", calls: [], ending: "failed" };
    assert.deepEqual(accept("openai-chat", stream), { is: "legal", held: said });
  });

  it("marks a call that is sent twice as doubtful, and counts it once", () => {
    const twice = chunk(fragment(0, "{}", "f"));
    const verdict = accept("openai-chat", body(twice, twice, chunk({}, "tool_calls"), done));
    assert.deepEqual(verdict, {
      is: "doubtful",
      reason: "whole arguments that are sent twice",
      held: {
        ...held("f", "{}"),
        calls: [{ id: "call_0", name: "f", arguments: "{}", mayBeRefused: true }],
      },
    });
  });

  it("marks a message that ends after its stop reason as doubtful", () => {
    const stream = body(
      messageStart,
      toolStart(0),
      inputDelta(0, "{}"),
      blockStop(0),
      messageDelta("tool_use"),
    );
    assert.deepEqual(accept("anthropic-messages", stream), {
      is: "doubtful",
      reason: "ends after the stop reason, without message_stop",
      held: held("f", "{}", "toolu_0"),
    });
  });

  it("marks gaps in sequence numbers as doubtful when the copies agree", () => {
    const [first = {}, second = {}, , ...others] = numbered(
      created,
      itemAdded(0, callItem("")),
      { type: "keepalive" },
      of("function_call_arguments.delta", 0, { item_id: "fc_0", delta: "{}" }),
      itemDone(0, callItem("{}")),
      completed(callItem("{}")),
    );
    assert.deepEqual(accept("openai-responses", body(first, second, ...others)), {
      is: "doubtful",
      reason: "sequence numbers that are not consecutive",
      held: held("f", "{}", "call_0"),
    });
  });

  it("joins streamed arguments by their paths and keeps all digits of numbers", () => {
    const number = '{"jsonPath":"$.list[0].n","numberValue":12345678901234567890}';
    const stream = body(
      generated([functionCall({ name: "f", willContinue: true })]),
      generated([streamed("$.a", "x", true)]),
      generated([streamed("$.a", "y", false)]),
      `data: {"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[${number}]}}]}}]}\n\n`,
      generated([], "STOP"),
    );
    const args = '{"a":"xy","list":[{"n":12345678901234567890}]}';
    assert.deepEqual(accept("google-generate", stream), { is: "legal", held: held("f", args) });
  });
});
