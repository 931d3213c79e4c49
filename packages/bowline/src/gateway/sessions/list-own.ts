/** The sessions of a store whose keys begin in a certain way, page by page. */
import type { ListOptions, SessionPage, SessionSummary, Store } from "@bowline/core/session";

/**
 * Sessions that are asked for at once, and how many times for one page: stores know no beginnings
 * of keys.
 */
const STEP = 500;
const MAX_STEPS = 20;

/**
 * A page may be short, or even empty, and have a cursor: there are many sessions of others in
 * between.
 */
export async function listOwn(
  store: Store,
  { search, limit, cursor }: ListOptions & { readonly limit: number },
  beginning = "",
): Promise<SessionPage> {
  if (beginning === "") return store.list({ search, limit, cursor });
  const isOwn = ({ id }: SessionSummary): boolean => id.startsWith(beginning);
  const found: SessionSummary[] = [];
  let from = cursor;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    let page = await store.list({ search, limit: STEP, cursor: from });
    const own = page.sessions.filter(isOwn);
    const last = own[limit - found.length - 1];
    // The next page begins behind the last one that has room: only a page that ends there says
    // where that is.
    if (last !== undefined)
      page = await store.list({ search, limit: page.sessions.indexOf(last) + 1, cursor: from });
    found.push(...page.sessions.filter(isOwn));
    from = page.cursor;
    if (from === undefined || last !== undefined) break;
  }
  return { sessions: found, ...(from !== undefined && { cursor: from }) };
}
