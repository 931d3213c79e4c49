/** Checks the arguments of {@link DurableSessions}. Throws `invalid_argument`. */
import { checkNames } from "@bowline/core/agent";
import { invalid } from "../options.ts";
import { toJson } from "@bowline/core/session";
import type { QueuedInput } from "./contract.ts";
import type { ApprovalAnswer, StartInput } from "./run-types.ts";

const LONGEST_KEY = 512;
/** The keys of a run's entries begin with its id. */
const LONGEST_RUN_ID = 256;
/** Bytes of JSON. */
const LARGEST_METADATA = 16 * 1024;
const LARGEST_LIMIT = 10_000;

const queuedNames: Readonly<Record<keyof QueuedInput, true>> = {
  id: true,
  queue: true,
  message: true,
  agent: true,
};
const startNames: Readonly<Record<keyof StartInput, true>> = {
  ...queuedNames,
  runId: true,
  metadata: true,
  owner: true,
  maxOwned: true,
};

export function checkKey(what: string, key: string, longest: number = LONGEST_KEY): void {
  if (typeof key === "string" && key.length > 0 && key.length <= longest) return;
  throw invalid(`The ${what} must be a string of 1 to ${longest} characters.`);
}

export function checkLimit(limit: number | undefined): void {
  if (limit === undefined || (Number.isInteger(limit) && limit >= 1 && limit <= LARGEST_LIMIT))
    return;
  throw invalid(`The limit must be a whole number from 1 to ${LARGEST_LIMIT}.`);
}

const answerNames: Readonly<Record<keyof ApprovalAnswer, true>> = {
  decision: true,
  by: true,
  reason: true,
  remember: true,
};

/** Checks an answer to an approval. */
export function checkAnswer(answer: ApprovalAnswer): void {
  checkNames(answer, Object.keys(answerNames), "field of an answer:");
  const { decision, by, reason, remember } = answer;
  if (decision !== "allow" && decision !== "deny")
    throw invalid('The decision must be "allow" or "deny".');
  for (const [name, text] of Object.entries({ by, reason }))
    if (text !== undefined && typeof text !== "string")
      throw invalid(`The field ${name} of an answer must be a string.`);
  if (remember !== undefined && remember !== "session")
    throw invalid('The field remember of an answer must be "session".');
}

/** Checks a message for the inbox. */
export function checkInput(input: QueuedInput | StartInput): void {
  const { id, queue, agent } = input;
  checkKey("id of a message", id);
  if (agent !== undefined) checkKey("name of an agent", agent);
  switch (queue) {
    case "steering":
    case "followUp":
      return checkNames(input, Object.keys(queuedNames), "field of a message:");
    case "start":
      return checkStart(input);
    default:
      throw invalid('The queue must be "steering", "followUp" or "start".');
  }
}

function checkStart(input: StartInput): void {
  checkNames(input, Object.keys(startNames), "field of a message:");
  const { runId, metadata, owner, maxOwned } = input;
  checkKey("id of a run", runId, LONGEST_RUN_ID);
  if (owner !== undefined) checkKey("owner of a run", owner);
  if (maxOwned !== undefined && !(owner !== undefined && Number.isInteger(maxOwned)))
    throw invalid("maxOwned must be a whole number, and needs an owner.");
  if (metadata === undefined) return;
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
    throw invalid("The metadata of a message must be an object.");
  if (Buffer.byteLength(toJson(metadata)) > LARGEST_METADATA)
    throw invalid(`The metadata of a message must be at most ${LARGEST_METADATA} bytes of JSON.`);
}
