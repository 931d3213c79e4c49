/** Questions about where a text or a name is, and how often. */
import type { Form } from "./form.ts";
import { findDefinition, findSomething, searchText } from "./searches.ts";
import { FILE, FILES, IN, toSort, WORD } from "./vocabulary.ts";

const WHERE = `[${IN} <place>]`;
/** Several words without quotes are a text only after a noun such as "phrase". */
const TEXT =
  "[<noun:word|words|text|string|term|phrase|marker|marks?|expression|occurrences? of word|occurrences? of>] <text>";
const KIND = "[function|class|type|interface|method|variable|constant|const|enum]";
const MENTION =
  "(mentions?|contains?|uses?|includes?|imports?|calls?|says?|talks? about|refers? to|speaks? of|has|have)";
/** Excludes "have", which asks for a length: "how many lines has a.txt?" */
const SAY = "(mentions?|contains?|includes?|says?|imports?)";
const OCCUR =
  "(used|mentioned|called|imported|occur|occurs|appear|appears|written|found|stand|come up|show up)";
const SEARCH =
  "(search through|search|grep|look through|look|scan|check|hunt|i am looking|i am searching|do search)";
const MARKER = "(?:todos?|fixmes?|hacks?|xxx)(?: (?:comments?|markers?|marks?|items?|notes?))?";
const ANYTHING = "[anything|something|much|lines?|mention|word]";
/** For the end of wordings without another place. */
const KINDS = `in ${FILES}`;
const LISTED = "(find|list|show|give|get|name|print|see)";

export const searchForms: Readonly<Record<string, Form>> = {
  "find a definition": {
    example: "where is parsePrice defined?",
    wordings: [
      String.raw`where is ${KIND} <name:[\w$]+> (defined|declared|implemented) ${WHERE}`,
      String.raw`where <name:[\w$]+> is (defined|declared|implemented) ${WHERE}`,
      String.raw`(find|show) (definition|declaration) of ${KIND} <name:[\w$]+> ${WHERE}`,
      String.raw`(which|what) file (defines|declares|implements) ${KIND} <name:[\w$]+> ${WHERE}`,
    ],
    toStep: ({ name = "" }, refs) => findDefinition(name, refs),
  },
  "count occurrences": {
    example: 'how often does "agent" occur in README.md?',
    wordings: [
      `how many ${FILES} ${WHERE} ${SAY} ${TEXT}`,
      `how many lines ${WHERE} ${SAY} ${TEXT}`,
      `how (often|many times) (does|do|is|are) ${TEXT} (occur|appear|used|mentioned|come up) [in <place>]`,
      `(how many|count) (times|occurrences of) ${TEXT} [are] (in|occurs in|appears in) <place>`,
      `(how many|count) <text:${MARKER}> [are|do] [we|you|i] [have|left] [in <place>]`,
    ],
    toStep: ({ text = "", noun, sort }, refs) =>
      searchText(text, refs, { isLiteral: noun !== undefined, sort: toSort(sort) }),
  },
  "search text": {
    example: 'search for "TODO" in src',
    wordings: [
      String.raw`grep [-r|-n|-rn|-i] <text:${WORD}> <place:[\w./-]+>`,
      `${SEARCH} [in] <place:${FILE}> for ${TEXT}`,
      `${SEARCH} [this|our|my] (folder|project|repo|directory|files) for ${TEXT}`,
      String.raw`(search|scan|check|grep|look) [in|through] <place:[\w./-]+> [folder|directory] for ${TEXT}`,
      `in (which|what) files? is ${TEXT} [${OCCUR}]`,
      `in (which|what) files? (does|do|can i find|can i see) ${TEXT} [${OCCUR}]`,
      `${SEARCH} [for|up] [all|every|each] (lines?|places?|files?) (with|containing|mentioning|that mention|that mentions|that contain|that contains|which contain|which contains|that say|that says) ${TEXT} [in <place>]`,
      `(${SEARCH}|find) [for|up] ${TEXT} ${KINDS}`,
      `${SEARCH} [in|through] ${FILES} ${WHERE} for ${TEXT}`,
      `${SEARCH} [for|up] ${TEXT} in <place>`,
      `find ${TEXT} in <place>`,
      `${SEARCH} [for|up] ${TEXT}`,
      `(which|what|which of) ${FILES} ${WHERE} ${MENTION} ${TEXT} (in|inside) (it|them)`,
      `(which|what|which of) ${FILES} ${WHERE} ${MENTION} ${TEXT}`,
      `${LISTED} ${FILES} ${WHERE} (that|which) ${MENTION} ${TEXT} [in (it|them)]`,
      `${LISTED} ${FILES} ${WHERE} (containing|mentioning|with|using) ${TEXT} [in (it|them)]`,
      `[${LISTED}] [all|every|each] lines? in <place> (that|which) ${MENTION} ${TEXT}`,
      `[${LISTED}] [all|every|each] lines? in <place> (with|containing|mentioning) ${TEXT}`,
      `${LISTED} [all|every|each] lines? (with|containing|mentioning|that mention|that mentions|that contain|that contains) ${TEXT} [in <place>]`,
      `(which|what) lines? (of|in) <place> ${MENTION} ${TEXT}`,
      `(which|what) lines? ${MENTION} ${TEXT} in <place>`,
      `(is|are) [there] (any|some) <text:\\S+> [left] in <place>`,
      `[is|are|do] [we|you|i] [have|see|got] (any|some|all|more) <text:${MARKER}> [left|remaining|open] [in <place>]`,
      `(is|are) <text:${MARKER}> [left|remaining|open|anywhere] [in <place>]`,
      `(is|are) ${ANYTHING} (about|on) ${TEXT} in <place>`,
      `(is|are) ${ANYTHING} (about|on) ${TEXT}`,
      `is ${TEXT} [${OCCUR}] (in|inside|within|by) <place:${FILE}>`,
      `is ${TEXT} ${OCCUR} [in <place>]`,
      `(does|do) ${TEXT} ${OCCUR} [in <place>]`,
      `where in <place> (is|do i find|can i find|does it say) ${TEXT} [${OCCUR}]`,
      `(which|what) files? [have|has] ${TEXT} in (it|them)`,
      `(does|do|did) <place:${FILE}> (contain|mention|include|use|have|say|talk|tell|speak|know|talk about|refer to) ${ANYTHING} [about|of|on] ${TEXT} [in it]`,
      `(does|do) <place:[\\w-]+ (?:folder|directory)> (contain|mention|include|use|say) ${ANYTHING} [about|of] ${TEXT}`,
      `what does <place:${FILE}> (say|tell|mention) (about|of|on) ${TEXT}`,
      `(does|do|did) (anything|any file|something|any|any files|anyone) [files?] (contain|mention|include|use|say|talk about) [anything about] ${TEXT} [in <place>]`,
      `(where is|where does|where do) ${TEXT} ${OCCUR} [in <place>]`,
      `where ${TEXT} [is|are] ${OCCUR} [in <place>]`,
      `(where is|where does|where do) [word] ${KIND} <text:${WORD}> ${OCCUR} [in <place>]`,
      `where (do|does|did) (we|i|it|they|you) (use|call|mention|import|say|write|have) ${TEXT} [in <place>]`,
      `where (does it|do they|do files) (say|mention|talk about) ${TEXT} [in <place>]`,
      `where (can|do|could|might) [i|we] (find|see) (word|text|string|phrase|term) <literal> [in <place>]`,
      `(find|locate|where is) (word|text|string|phrase|term|marker) <literal> [in <place>]`,
      `where (can|do|could) [i|we] (find|see) <text:${MARKER}>`,
      `(find|where is|show|list|get) (all|every|any|each) [occurrences? of|mentions? of|uses of|places? with|lines? with] ${KIND} <text:${WORD}> [in <place>]`,
      `(find|where is|show|list|get) [occurrences? of|mentions? of|uses of] <text:${MARKER}> [in <place>]`,
      `(find|show|list|get) (occurrences?|mentions?|uses) of ${TEXT} [in <place>]`,
      `[any] (occurrences?|mentions?|uses|mention|sign) of ${TEXT} [in <place>]`,
      `any <text:${MARKER}> [left|here] [in <place>]`,
      `(find|where is|locate|where can i find|where do i find) [all|every|any] [occurrences? of] ${KIND} <something:${WORD}>`,
    ],
    toStep: ({ text, literal, something, noun, sort }, refs) =>
      something === undefined
        ? searchText(text ?? literal ?? "", refs, {
            isLiteral: (noun ?? literal) !== undefined,
            sort: toSort(sort),
          })
        : findSomething(something, refs),
  },
};
