/** Shows the page for a token: connects and draws until the token is refused or forgotten. */
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
  /** Called when the address contains another token. */
  readonly onToken: () => void;
  /** Called when the page is disconnected: the token was refused, or the user signed out. */
  readonly onLeave: (problem: string | undefined) => void;
}

/** A page in the background has no animation frames, but its title must still change. */
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
  // Register before the controller starts and asks for the shown session.
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

/** Draws with the next frame, or after a delay if the page goes into the background first. */
function schedule(draw: () => void): void {
  const frame = requestAnimationFrame(() => now());
  const timer = setTimeout(() => now(), HIDDEN_MS);
  const now = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    draw();
  };
}
