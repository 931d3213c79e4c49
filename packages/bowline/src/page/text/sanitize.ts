/**
 * Makes HTML of a model harmless, and gives it as nodes: text that was made safe is never parsed a
 * second time.
 */
import createDOMPurify, { type WindowLike } from "dompurify";
import { safeLink } from "./link.ts";

export type Sanitize = (html: string) => DocumentFragment;

/**
 * Words, lists, tables, code and links; nothing that loads, runs, styles, moves, names or sends.
 */
const tags: readonly string[] =
  "a b blockquote br code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre s strong sub sup table tbody td th thead tr u ul".split(
    " ",
  );

/**
 * `origin` is the page's own: links do not lead there, where an address might bring a token of
 * somebody else's.
 */
export function createSanitizer(window: WindowLike, origin: string): Sanitize {
  const purifier = createDOMPurify(window);
  // The tree is not changed here: what a hook moves might be passed over.
  purifier.addHook("afterSanitizeAttributes", (node) => {
    if (node.localName === "a") mendLink(node, origin);
  });
  return (html) => {
    const fragment: DocumentFragment | null = purifier.sanitize(html, {
      ALLOWED_TAGS: [...tags],
      ALLOWED_ATTR: ["href", "start", "align"],
      ALLOWED_NAMESPACES: ["http://www.w3.org/1999/xhtml"],
      ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
      ALLOW_ARIA_ATTR: false,
      ALLOW_DATA_ATTR: false,
      RETURN_DOM_FRAGMENT: true,
    });
    // It gives nothing for what has no body, such as a set of frames.
    if (fragment === null) return new DocumentFragment();
    for (const link of fragment.querySelectorAll("a:not([href])"))
      link.replaceWith(...link.childNodes);
    return fragment;
  };
}

/** A link opens elsewhere, tells nothing of this page, and says where it leads. */
function mendLink(link: Element, origin: string): void {
  const address = safeLink(link.getAttribute("href") ?? "");
  if (address === undefined || new URL(address).origin === origin)
    return link.removeAttribute("href");
  link.setAttribute("href", address);
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer");
  link.setAttribute("title", address);
}
