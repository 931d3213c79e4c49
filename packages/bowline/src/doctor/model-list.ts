/** The list of models that a server gives. */
import { record, type Json } from "./wire.ts";

export interface ListedModel extends Json {
  readonly id: string;
}

/** Where the list is. What stands behind a `?` in the base URL stays there. */
export function modelsUrl(baseUrl: string): string {
  return baseUrl.replace(/\/*(?=\?|$)/, "/models");
}

/** Its entries, in any of the forms that servers have; undefined for what is no list. */
export function listedModels(answer: unknown): ListedModel[] | undefined {
  const list = Array.isArray(answer) ? answer : (record(answer).data ?? record(answer).models);
  if (!Array.isArray(list)) return undefined;
  return list.map(record).flatMap((entry) => {
    const id = entry.id ?? entry.name;
    return typeof id === "string" && id !== "" ? [{ ...entry, id }] : [];
  });
}

/** Models that do not chat stand in the same lists. */
const noChat = /embed|rerank|whisper|moderation|\btts\b/i;

/** What to ask when nobody says: the first that chats, as far as names tell. */
export function firstToAsk(models: readonly ListedModel[]): string | undefined {
  return (models.find(({ id }) => !noChat.test(id)) ?? models[0])?.id;
}
