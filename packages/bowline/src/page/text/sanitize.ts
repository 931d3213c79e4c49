/**
 * Sanitises a model's HTML and returns it as nodes, so that sanitised text is never parsed again.
 */
import createDOMPurify, { type WindowLike } from "dompurify";
import { safeLink } from "./link.ts";

export type Sanitize = (html: string) => DocumentFragment;

/**
 * Tags for text, lists, tables, code and links. None of them loads, runs, styles or submits
 * anything.
 */
const tags: readonly string[] =
  "a b blockquote br code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre s strong sub sup table tbody td th thead tr u ul".split(
    " ",
  );

/**
 * Creates the sanitiser. `origin` is the page's own: links to it are removed, since they could set
 * a stranger's token.
 */
export function createSanitizer(window: WindowLike, origin: string): Sanitize {
  const purifier = createDOMPurify(window);
  // Do not change the tree in the hook: DOMPurify might skip moved nodes.
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
    // DOMPurify returns null for markup without a body, such as a frameset.
    if (fragment === null) return new DocumentFragment();
    for (const link of fragment.querySelectorAll("a:not([href])"))
      link.replaceWith(...link.childNodes);
    return fragment;
  };
}

/** Makes a link open in a new tab, without referrer, with its address as title. */
function mendLink(link: Element, origin: string): void {
  const address = safeLink(link.getAttribute("href") ?? "");
  if (address === undefined || new URL(address).origin === origin)
    return link.removeAttribute("href");
  link.setAttribute("href", address);
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer");
  link.setAttribute("title", address);
}
