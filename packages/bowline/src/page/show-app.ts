/** The page of a token: connects, and draws what comes, until the token is refused or forgotten. */
import { render } from "preact";
import { html } from "htm/preact";
import { GatewayClient } from "../gateway/client/client.ts";
import { createKey } from "../gateway/client/create-key.ts";
import { parseAddress } from "./address.ts";
import { Controller } from "./controller.ts";
import { followAddress } from "./follow-address.ts";
import type { PageAction, PageState } from "./state/page-state.ts";
import { initialState, reduce } from "./state/reduce.ts";
import type { Keep } from "./storage.ts";
import { Store } from "./store.ts";
import { createMarkdownReader } from "./text/markdown.ts";
import { createSanitizer } from "./text/sanitize.ts";
import { App } from "./view/app.ts";
import { PageContext, type PageTools } from "./view/context.ts";

export interface ShowAppOptions {
  readonly token: string;
  readonly tab: Keep;
  readonly machine: Keep;
  /** The address got another token. */
  readonly onToken: () => void;
  /** The page is no longer connected: the token was refused, or the user signed out. */
  readonly onLeave: (problem: string | undefined) => void;
}

/** A page in the background draws no frames; its title is wanted all the same. */
const HIDDEN_MS = 300;

export function showApp(
  place: HTMLElement,
  { token, tab, machine, onToken, onLeave }: ShowAppOptions,
): void {
  const { sessionKey = createKey() } = parseAddress(location.hash);
  const client = new GatewayClient({
    url: location.origin + location.pathname,
    token,
    name: "page",
  });
  const store = new Store<PageState, PageAction>(initialState(sessionKey), reduce, schedule);
  const controller = new Controller(client, store);
  // Before the controller hears of it, and asks about the session that is shown.
  const address = followAddress({ client, controller, store, onToken });
  const leave = (problem?: string): void => {
    stopWatching();
    address.stop();
    client.close();
    onLeave(problem);
  };
  const stopWatching = store.subscribe(() => {
    if (store.state.refusal !== undefined) leave(store.state.refusal);
  });
  const tools: PageTools = {
    controller,
    reader: createMarkdownReader(),
    sanitize: createSanitizer(window, location.origin),
    tab,
    machine,
    now: () => Date.now(),
    show: address.show,
    signOut: () => leave(),
  };
  controller.start();
  render(null, place);
  render(
    html`<${PageContext.Provider} value=${tools}><${App} store=${store} /></${PageContext.Provider}>`,
    place,
  );
}

/**
 * With the next frame. One that was asked for does not come when the page goes into the background
 * before.
 */
function schedule(draw: () => void): void {
  const frame = requestAnimationFrame(() => now());
  const timer = setTimeout(() => now(), HIDDEN_MS);
  const now = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    draw();
  };
}
