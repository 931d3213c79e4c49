// Generates streams of Gemini's generateContent. Excluded: arguments that are streamed by path,
// which the official client does not assemble; and answers that are empty or only thoughts, which
// our client reports as an error.
import * as fc from "fast-check";
import { argumentsText, inPieces, text, toolName } from "./values.mjs";

const signature = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.base64String({ minLength: 4 }).map((thoughtSignature) => ({ thoughtSignature })),
  },
);
const thoughtFlag = fc.constantFrom({}, {}, {}, { thought: true }, { thought: false });

const texts = fc
  .tuple(inPieces(text), thoughtFlag, signature)
  .map(([pieces, kind, signed]) =>
    pieces.map((piece, n) => ({ text: piece, ...kind, ...(n === pieces.length - 1 && signed) })),
  );
const call = fc
  .record({ name: toolName, id: fc.boolean(), args: fc.option(argumentsText), signed: signature })
  .map(({ name, id, args, signed }) => [
    {
      functionCall: {
        ...(id && { id: true }),
        name,
        ...(args !== null && { args: JSON.parse(args) }),
      },
      ...signed,
    },
  ]);
const other = fc
  .tuple(
    fc.constantFrom(
      { inlineData: { mimeType: "image/png", data: "aGk=" } },
      { executableCode: { language: "PYTHON", code: "print('😀')\n" } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "😀\n" } },
      { fileData: { mimeType: "image/png", fileUri: "gs://a/b" } },
    ),
    signature,
  )
  .map(([part, signed]) => [{ ...part, ...signed }]);

const count = fc.nat(9999);
/**
 * The counts of successive chunks. They are totals so far, and a count that was sent once is
 * repeated in later chunks.
 */
const usages = fc
  .record({
    prompt: count,
    cached: fc.option(count),
    tools: fc.option(count),
    later: fc.array(fc.tuple(fc.option(count), fc.option(count)), { minLength: 1, maxLength: 4 }),
  })
  .map(({ prompt, cached, tools, later }) => {
    let said;
    let thoughts;
    return later.map(([more, thought]) => {
      if (more !== null) said = (said ?? 0) + more;
      if (thought !== null) thoughts = (thoughts ?? 0) + thought;
      return {
        promptTokenCount: prompt + (cached ?? 0),
        ...(cached !== null && { cachedContentTokenCount: cached }),
        ...(said !== undefined && { candidatesTokenCount: said }),
        ...(thoughts !== undefined && { thoughtsTokenCount: thoughts }),
        ...(tools !== null && { toolUsePromptTokenCount: tools }),
        totalTokenCount: prompt + (cached ?? 0) + (tools ?? 0) + (said ?? 0) + (thoughts ?? 0),
      };
    });
  });

const answer = fc.record({
  parts: fc.array(
    fc.oneof(
      { weight: 5, arbitrary: texts },
      { weight: 3, arbitrary: call },
      { weight: 1, arbitrary: other },
    ),
    { maxLength: 5 },
  ),
  /** Which parts begin a new chunk. The others join the previous one. */
  breaks: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
  ending: fc.constantFrom(
    "STOP",
    "STOP",
    "STOP",
    "STOP",
    "MAX_TOKENS",
    "CONTINUATION",
    "SAFETY",
    "RECITATION",
    "OTHER",
    "MALFORMED_FUNCTION_CALL",
    "blocked",
    "error",
  ),
  /** The content of the chunk with the reason, besides the last parts. */
  last: fc.constantFrom(
    "with content",
    {},
    { content: {} },
    { content: { role: "model" } },
    { content: { role: "model", parts: [{ text: "" }] } },
  ),
  usages,
  /** Whether earlier chunks than the last have counts. */
  isCounted: fc.boolean(),
  hasIndex: fc.boolean(),
  fields: fc.constantFrom({}, { createTime: "2026-05-04T20:01:02.264968Z" }),
  modelVersion: fc.constantFrom("recorded", "gemini-9"),
  extras: fc.constantFrom(
    {},
    { safetyRatings: [{ category: "HARM_CATEGORY_HARASSMENT", probability: "NEGLIGIBLE" }] },
    { groundingMetadata: { webSearchQueries: ["q"] } },
    { avgLogprobs: -0.1 },
  ),
});

export const generateStream = answer
  .map((parts) => ({ ...parts, parts: parts.parts.flat().map(withId) }))
  .filter(({ parts }) =>
    parts.some((part) => part.text === undefined || (part.text !== "" && part.thought !== true)),
  )
  .map(toEvents);

function withId(part, n) {
  if (part.functionCall?.id === undefined) return part;
  return { ...part, functionCall: { ...part.functionCall, id: `fc-${n}` } };
}

function toEvents({
  ending,
  last,
  usages: counts,
  isCounted,
  hasIndex,
  fields,
  modelVersion,
  extras,
  ...answered
}) {
  const chunk = (candidate, n, more) => ({
    ...(candidate !== undefined && {
      candidates: [{ ...candidate, ...(hasIndex && { index: 0 }) }],
    }),
    ...more,
    usageMetadata: counts[Math.min(n, counts.length - 1)],
    modelVersion,
    ...fields,
    responseId: "resp-7",
  });
  const block = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } };
  if (ending === "blocked") return [{ data: chunk(undefined, 0, block) }];
  const candidates = groups(answered).map((parts) => ({ content: { role: "model", parts } }));
  if (ending === "error") {
    const error = {
      error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" },
    };
    return [...candidates.map((candidate, n) => chunk(candidate, n)), error].map((data) => ({
      data,
    }));
  }
  if (last === "with content")
    candidates.push({ ...candidates.pop(), finishReason: ending, ...extras });
  else candidates.push({ ...last, finishReason: ending, ...extras });
  return candidates.map((candidate, n) => {
    const { usageMetadata, ...data } = chunk(candidate, n);
    return { data: { ...data, ...((isCounted || candidate.finishReason) && { usageMetadata }) } };
  });
}

function groups({ parts, breaks }) {
  const found = [];
  for (const [n, part] of parts.entries()) {
    if (n === 0 || breaks[n % breaks.length]) found.push([part]);
    else found.at(-1).push(part);
  }
  return found;
}
