/** Starts the page: finds the token, or asks for it, and shows the session of the address. */
import { render } from "preact";
import { html } from "htm/preact";
import { GatewayClient } from "../gateway/client/client.ts";
import { createKey } from "../gateway/client/create-key.ts";
import { formatAddress, parseAddress } from "./address.ts";
import { Controller } from "./controller.ts";
import type { PageAction, PageState } from "./state/page-state.ts";
import { initialState, reduce } from "./state/reduce.ts";
import { keepIn } from "./storage.ts";
import { Store } from "./store.ts";
import { createMarkdownReader } from "./text/markdown.ts";
import { createSanitizer } from "./text/sanitize.ts";
import { createTokenKeep } from "./token.ts";
import { App } from "./view/app.ts";
import { PageContext, type PageTools } from "./view/context.ts";
import { SignIn } from "./view/sign-in.ts";
import { applyTheme, readTheme } from "./view/theme.ts";

/** A page in the background draws no frames; its title is wanted all the same. */
const HIDDEN_MS = 300;

start(document.querySelector("#app") as HTMLElement);

function start(place: HTMLElement): void {
  const tab = keepIn(() => sessionStorage);
  const machine = keepIn(() => localStorage);
  const tokens = createTokenKeep(tab, machine);
  applyTheme(readTheme(machine));
  takeToken();
  const token = tokens.read();
  if (token === undefined) ask(undefined);
  else enter(token);

  /** Out of the address, before anything else: it would be copied with it. */
  function takeToken(): void {
    const { token: given, sessionKey = createKey() } = parseAddress(location.hash);
    if (given !== undefined) tokens.write(given, false);
    history.replaceState(null, "", formatAddress(sessionKey));
  }

  function ask(problem: string | undefined): void {
    const onToken = (given: string, isRemembered: boolean): void => {
      tokens.write(given, isRemembered);
      enter(given);
    };
    render(null, place);
    render(html`<${SignIn} problem=${problem} onToken=${onToken} />`, place);
  }

  function enter(given: string): void {
    const { sessionKey = createKey() } = parseAddress(location.hash);
    const client = new GatewayClient({
      url: location.origin + location.pathname,
      token: given,
      name: "page",
    });
    const store = new Store<PageState, PageAction>(initialState(sessionKey), reduce, schedule);
    const controller = new Controller(client, store);
    const newKey = (): string => `${client.welcome?.sessions ?? ""}${createKey()}`;
    /** Another's session is none that this token is for: a new one is shown in its place. */
    const open = (wanted: string): void => {
      if (wanted.startsWith(client.welcome?.sessions ?? "")) return controller.open(wanted);
      const own = newKey();
      history.replaceState(null, "", formatAddress(own));
      controller.open(own);
    };
    // Before the controller hears of it, and asks about the session that is shown.
    client.onState((state) => {
      if (state === "open") open(store.state.conversation.sessionKey);
    });
    const onAddress = (): void => {
      const { token: other, sessionKey: wanted } = parseAddress(location.hash);
      if (other !== undefined) {
        takeToken();
        return location.reload();
      }
      if (wanted !== undefined) open(wanted);
    };
    const leave = (problem?: string): void => {
      stopWatching();
      removeEventListener("hashchange", onAddress);
      // A link with a wrong token does not make it forget the one that it remembers.
      tokens.forget(problem === undefined ? undefined : given);
      client.close();
      ask(problem);
    };
    addEventListener("hashchange", onAddress);
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
      show: (wanted) => (location.hash = formatAddress(wanted === "" ? newKey() : wanted)),
      signOut: () => leave(),
    };
    controller.start();
    render(null, place);
    render(
      html`<${PageContext.Provider} value=${tools}><${App} store=${store} /></${PageContext.Provider}>`,
      place,
    );
  }
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
