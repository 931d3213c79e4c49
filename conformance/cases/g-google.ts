/** Section G: Google generateContent, calls and finish reasons (Q200 to Q209). */
import { done, fixtures, hello, oslo, rome, runsBoth, runsOslo } from "../fixture.ts";
import { functionCall, google, googleUsage, parts } from "../wire.ts";

const call = functionCall(oslo.arguments);
const text = { text: "Hello." };
const filtered = { ends: "error", errorCode: ["content_filtered", "refusal"] } as const;
const streamed = (name: string, more: object): object => ({ functionCall: { name, ...more } });

export const googleGenerate = fixtures("google-generate", [
  {
    id: "Q200",
    title: "calls without ids",
    body: google(parts([call, functionCall(rome.arguments)]), parts([], "STOP")),
    expect: runsBoth,
  },
  {
    id: "Q200",
    title: "a call with an id",
    body: google(
      parts(
        [{ functionCall: { id: "call_77", name: "get_weather", args: oslo.arguments } }],
        "STOP",
      ),
    ),
    expect: { ...runsOslo, keeps: ["call_77"] },
  },
  {
    id: "Q201",
    title: "two equal calls in two chunks",
    body: google(parts([call]), parts([call]), parts([], "STOP")),
    expect: { ...done, calls: [oslo, oslo], stopReason: "toolUse", uniqueIds: true },
  },
  {
    id: "Q202",
    title: "args missing",
    body: google(parts([{ functionCall: { name: "get_weather" } }], "STOP")),
    expect: { ...done, calls: [{ name: "get_weather", arguments: {} }] },
  },
  {
    id: "Q203",
    title: "streamed arguments",
    body: google(
      parts([streamed("get_weather", { willContinue: true })]),
      parts([
        {
          functionCall: {
            partialArgs: [{ jsonPath: "$.city", stringValue: "Os", willContinue: true }],
            willContinue: true,
          },
        },
      ]),
      parts([
        {
          functionCall: {
            partialArgs: [{ jsonPath: "$.city", stringValue: "lo" }],
            willContinue: true,
          },
        },
      ]),
      parts([{ functionCall: {} }], "STOP"),
    ),
    expect: runsOslo,
  },
  {
    id: "Q203",
    title: "streamed arguments without the terminal part",
    body: google(
      parts([streamed("get_weather", { willContinue: true })]),
      parts([
        {
          functionCall: {
            partialArgs: [{ jsonPath: "$.city", stringValue: "Oslo" }],
            willContinue: true,
          },
        },
      ]),
      parts([], "STOP"),
    ),
    expect: runsOslo,
  },
  { id: "Q204", title: "STOP with a call", body: google(parts([call], "STOP")), expect: runsOslo },
  {
    id: "Q204",
    title: "STOP after text and a call",
    body: google(parts([text]), parts([call]), parts([], "STOP")),
    expect: { ...runsOslo, text: "Hello." },
  },
  {
    id: "Q205",
    title: "a signature on a call",
    body: google(parts([functionCall(oslo.arguments, { thoughtSignature: "c2ln" })], "STOP")),
    expect: { ...runsOslo, keeps: ["c2ln"] },
  },
  {
    id: "Q205",
    title: "a signature on text does not make it a thought",
    body: google(parts([{ text: "Hello.", thoughtSignature: "c2ln" }], "STOP")),
    expect: { ...hello, thinking: "", keeps: ["c2ln"] },
  },
  {
    id: "Q205",
    title: "a signature on an empty last part",
    body: google(parts([text]), parts([{ text: "", thoughtSignature: "c2ln" }], "STOP")),
    expect: { ...hello, keeps: ["c2ln"] },
  },
  {
    id: "Q205",
    title: "a part with nothing but a signature",
    body: google(parts([text]), parts([{ thoughtSignature: "c2ln" }], "STOP")),
    expect: { ...hello, keeps: ["c2ln"] },
  },
  {
    id: "Q205",
    title: "a thought",
    body: google(parts([{ text: "hm", thought: true }]), parts([text], "STOP")),
    expect: { ...hello, thinking: "hm" },
  },
  {
    id: "Q207",
    title: "MALFORMED_FUNCTION_CALL without content",
    body: google({
      candidates: [{ content: {}, finishReason: "MALFORMED_FUNCTION_CALL", index: 0 }],
      usageMetadata: googleUsage,
    }),
    expect: { ends: "error", retryable: true },
  },
  {
    id: "Q207",
    title: "MALFORMED_FUNCTION_CALL with a call",
    body: google(parts([call], "MALFORMED_FUNCTION_CALL")),
    expect: { ends: "error" },
  },
  ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"].map(
    (reason) => ({
      id: "Q208",
      title: `the reason ${reason} without parts`,
      body: google(parts([{ text: "Hel" }]), { candidates: [{ finishReason: reason, index: 0 }] }),
      expect: { ...filtered, text: "Hel", rawStopReason: reason },
    }),
  ),
  ...["UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"].map((reason) => ({
    id: "Q208",
    title: `the reason ${reason} with a call`,
    body: google(parts([call], reason)),
    expect: { ends: "error" } as const,
    note: "The catalogue maps it to an invalid call, but forbids running the call only for MALFORMED_FUNCTION_CALL.",
  })),
  {
    id: "Q208",
    title: "the reason SAFETY after a call",
    body: google(parts([call], "SAFETY")),
    expect: filtered,
  },
  {
    id: "Q208",
    title: "the reason LANGUAGE",
    body: google(parts([{ text: "Hel" }], "LANGUAGE")),
    expect: { ends: "any", text: "Hel" },
    note: "The catalogue does not say whether such an answer was filtered.",
  },
  {
    id: "Q208",
    title: "an unknown reason",
    body: google(parts([text], "FUTURE_REASON")),
    expect: { ...hello, rawStopReason: "FUTURE_REASON" },
  },
  {
    id: "Q209",
    title: "a blocked prompt",
    body: google({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 10 },
    }),
    expect: { ...filtered, errorMessage: /PROHIBITED_CONTENT/ },
  },
]);
