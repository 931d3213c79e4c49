/** Accepts a text to write without quotes if its meaning and its end are unambiguous. */
import { isQuoted, protect, restore } from "./phrase.ts";
import { isReference, Setback } from "./step.ts";
import { refuse } from "./wording.ts";

/** Words that describe a text instead of being it: "a poem", "the date", "numbers from 1 to 9". */
const DESCRIBES =
  /^(?:an?|the|it|this|that|them|my|our|your|his|her|its|their|every|each|all|some|any|of|from|for|about|in|to|me|us)\b|\b(?:something|anything|nothing|everything|what|which|who|how|why|where|when|whatever|numbers?|random|contents?|list|lists|lines|words|names?|poem|story|joke|code|function|script|summary|date|time|today|tests?|class|examples?|random|lorem|about|from|of)\b/i;
const JOINS = /[;\n]|[.:!?]\s|\b(?:and|then|but|or|if|unless|in|into|inside|to)\b/i;
const COMMA_AND_VERB =
  /,\s*(?:show|list|read|print|run|write|create|make|delete|remove|copy|rename|move|add|please|thanks|thank|pls|but|also|now)\b/i;
const POLITE = /(?:^|[\s,])(?:please|pls|plz|thanks|thx|ty|thank you|cheers|for me)[\s.!]*$/i;

/**
 * Returns the text in quotes if it is unambiguous, or throws {@link Setback}. `message` is the
 * whole message, in which only a place such as "in it" may follow the text.
 */
export function toGivenText(text: string, message: string, needsQuotes = false): string {
  if (isQuoted(text) || isReference(text)) return text;
  const plain = restore(text);
  const at = message.lastIndexOf(plain);
  const rest = message.slice(at + plain.length);
  const isAlone = at >= 0 && /^(?:\s*|\s+(?:in|into|inside|to)\b.*)$/is.test(rest);
  const isPlain = !/[.!?…,]$/.test(plain) && !POLITE.test(plain) && !/["`“”]/.test(plain);
  if (
    !needsQuotes &&
    isAlone &&
    isPlain &&
    ![DESCRIBES, JOINS, COMMA_AND_VERB].some((each) => each.test(plain))
  )
    return protect(`"${plain}"`);
  throw new Setback(
    refuse(
      "I write no text of my own, and cannot tell where yours begins and ends.",
      `If this is the text, put it in quotes: "${plain}"`,
    ),
  );
}
