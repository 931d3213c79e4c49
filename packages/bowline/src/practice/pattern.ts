/** Compiles the notation of wordings to regular expressions. */

/** Filler: words without effect, allowed between any two words of a wording. */
const SMALL = "me|us|all|any|just|exactly|please|pls";
const FILLER = new RegExp(
  `(?<= )(?:${SMALL}|the|a|an|really|currently|different|now|right now|again|here|there|anywhere|somewhere|everywhere|altogether|overall|in total|in all(?! (?:the|of|my|our|files?))|total|(?:in|of|across|through) (?:all|any|every|each|one)(?: of)?(?: the| my| our| these)? files?|(?:in|of|across|through) (?:the|my|our|these|all) (?:files|code|codebase|whole project)|(?:in|of|inside|within) (?:here|(?:the|this|my|our) (?:current |working )?(?:folder|directory|project|repo|repository)))(?= |$)`,
  "gi",
);
/** Filler that may also be a place: "what is in this folder?" */
const PLACE = /(?:here|folder|directory|project|repo|repository)$/i;
/**
 * Marks the start of filler, so that patterns need not list it. JOINT replaces the spaces in a
 * place, and a pattern can split there. BOND replaces those in other filler, which stays together.
 */
const MARK = "\uE000";
const JOINT = "\u00A0";
const BOND = "\uE001";
const GAP = String.raw`(?:\x20${MARK}[^\x20]+(?=\x20|$))*`;
const SMALL_GAP = String.raw`(?:\x20${MARK}(?:${SMALL})(?=\x20|$))*`;

/** Prepares a phrase for the patterns: marks filler and puts a space before every word. */
export function markFiller(phrase: string): string {
  const spaced = ` ${withoutMarks(phrase)}`.replaceAll(/\s+/g, " ");
  return spaced.replace(
    FILLER,
    (words) => MARK + words.replaceAll(" ", PLACE.test(words) ? JOINT : BOND),
  );
}

export function withoutMarks(text: string): string {
  return text.replaceAll(MARK, "").replaceAll(/[\u00A0\uE001]/g, " ");
}

/**
 * Compiles a wording to a regular expression for a phrase from `markFiller`. [a|b] is optional,
 * (a|b) is an alternative, <part> is the shortest text that fits, <part:a|b> is an alternative. An
 * article before a part without a pattern belongs to the part, and so does any word before
 * <part:.+>.
 */
export function toPattern(wording: string): RegExp {
  const source = ` ${wording}`
    .replaceAll(/<(\w+)(?::([^>]+))?>/g, (_, name: string, own = ".+?") => `(?<${name}>${own})`)
    .replaceAll(/ \[([^\]]+)\]/g, "(?: (?:$1))?")
    .replaceAll(/(what|which|where|who) is\b/g, "$1(?: is| are)")
    .replaceAll(/ (?=(?:\(\?:)*\(\?<\w+>\.\+\?)/g, String.raw`${SMALL_GAP}\s`)
    .replaceAll(/ (?=(?:\(\?:)*\(\?<\w+>\.\+)/g, String.raw`\s`)
    .replaceAll(" ", String.raw`${GAP}\s${MARK}?`);
  return new RegExp(`^${source}${GAP}$`, "is");
}
