// Parses Markdown for the scripts: prose without code, links to files, anchors of headings.

const link = /(!?)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)/g;
const address = /^[a-z]+:/;

/** Returns the text without its code blocks. */
export function proseOf(text) {
  return text.replaceAll(/^```.*?^```/gms, "");
}

/** Returns the links in prose to files or headings: `{ target, path, anchor }`. */
export function linksOf(text) {
  return Array.from(proseOf(text).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) =>
    split(target),
  ).filter(({ target }) => !address.test(target));
}

/**
 * Replaces the links and images that lead to a file with the result of `change`, which gets `{
 * whole, isImage, label, target, path, anchor }`. Code is not changed.
 */
export function mapLinks(text, change) {
  return text
    .split(/(^```.*?^```)/ms)
    .map((part, index) => (index % 2 === 1 ? part : mapProse(part, change)))
    .join("");
}

function mapProse(prose, change) {
  return prose.replaceAll(link, (whole, mark, label, target) =>
    address.test(target) || target.startsWith("#")
      ? whole
      : change({ whole, isImage: mark !== "", label, ...split(target) }),
  );
}

function split(target) {
  const [path, anchor] = target.split("#");
  return { target, path, anchor };
}

/** Returns the anchor of a heading, as it follows `#` in a link. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
