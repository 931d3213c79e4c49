/** A source as a wire reports it. */
import { asText, defined } from "../json-value.ts";
import type { SourceContent } from "../llm/message.ts";

interface ReportedSource {
  /** Where the source is: a URL, or the name of a document. */
  readonly place: unknown;
  readonly title?: unknown;
  readonly citedText?: unknown;
  readonly supportedText?: unknown;
  readonly textIndex?: number | undefined;
}

/**
 * Returns the part of a source, or undefined if it has neither place nor title. Only `http` and
 * `https` count as a URL, since pages make links of it.
 */
export function sourceOf(reported: ReportedSource): SourceContent | undefined {
  const { place, title, citedText, supportedText, textIndex } = reported;
  const where = asText(place);
  const isUrl = /^https?:/i.test(where);
  if (where === "" && asText(title) === "") return undefined;
  return {
    type: "source",
    ...defined({
      url: isUrl ? where : undefined,
      title: asText(title) || undefined,
      name: isUrl ? undefined : where || undefined,
      citedText: asText(citedText) || undefined,
      supportedText: asText(supportedText) || undefined,
      textIndex,
    }),
  };
}
