/** Reads a server's list of models. */
import { record, type Json } from "./wire.ts";

export interface ListedModel extends Json {
  readonly id: string;
}

/** Returns the URL of the list. Keeps the query of the base URL. */
export function modelsUrl(baseUrl: string): string {
  return baseUrl.replace(/\/*(?=\?|$)/, "/models");
}

/**
 * Returns the entries of a list, in any of the forms that servers use; undefined if it is not a
 * list.
 */
export function listedModels(answer: unknown): ListedModel[] | undefined {
  const list = Array.isArray(answer) ? answer : (record(answer).data ?? record(answer).models);
  if (!Array.isArray(list)) return undefined;
  return list.map(record).flatMap((entry) => {
    const id = entry.id ?? entry.name;
    return typeof id === "string" && id !== "" ? [{ ...entry, id }] : [];
  });
}

/** Matches ids of models that do not chat but are in the same lists. */
const noChat = /embed|rerank|whisper|moderation|\btts\b/i;

/** Returns the default model: the first that can chat, judged by its name. */
export function firstToAsk(models: readonly ListedModel[]): string | undefined {
  return (models.find(({ id }) => !noChat.test(id)) ?? models[0])?.id;
}
