/** Lists the sessions of a store whose keys have a prefix, page by page. */
import type { ListOptions, SessionPage, SessionSummary, Store } from "@bowline/core/session";

/** Sessions per store request, and most requests per page. Stores cannot filter by prefix. */
const STEP = 500;
const MAX_STEPS = 20;

/**
 * Returns one page. It may be short or empty and still have a cursor, because other sessions lie in
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
    // Ask for a page that ends at the last session with room: only its cursor says where the next
    // page starts.
    if (last !== undefined)
      page = await store.list({ search, limit: page.sessions.indexOf(last) + 1, cursor: from });
    found.push(...page.sessions.filter(isOwn));
    from = page.cursor;
    if (from === undefined || last !== undefined) break;
  }
  return { sessions: found, ...(from !== undefined && { cursor: from }) };
}
