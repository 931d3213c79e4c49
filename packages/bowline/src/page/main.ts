/** Starts the page: finds the token or asks for it, then shows the session in the address. */
import { render } from "preact";
import { html } from "htm/preact";
import { createKey } from "../gateway/client/create-key.ts";
import { formatAddress, parseAddress } from "./address.ts";
import { showApp } from "./show-app.ts";
import { keepIn } from "./storage.ts";
import { createTokenKeep } from "./token.ts";
import { SignIn } from "./view/sign-in.ts";
import { applyTheme, readTheme } from "./view/theme.ts";

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

  /** Removes the token from the address first, so that it is not copied with the address. */
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
    const onToken = (): void => {
      takeToken();
      location.reload();
    };
    const onLeave = (problem: string | undefined): void => {
      // A link with a wrong token must not delete the remembered one.
      tokens.forget(problem === undefined ? undefined : given);
      ask(problem);
    };
    showApp(place, { token: given, tab, machine, onToken, onLeave });
  }
}
