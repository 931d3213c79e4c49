/** Asks for the token and shows why the last one was refused. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { html } from "htm/preact";
import { parseAddress } from "../address.ts";
import { knot } from "./icon.ts";

export interface SignInProps {
  readonly problem: string | undefined;
  readonly onToken: (token: string, isRemembered: boolean) => void;
}

export function SignIn({ problem, onToken }: SignInProps): VNode {
  const [token, setToken] = useState("");
  const [isRemembered, remember] = useState(false);
  return html`<main class="sign-in">
    <form
      onSubmit=${(event: Event) => {
        event.preventDefault();
        const given = tokenIn(token);
        if (given !== "") onToken(given, isRemembered);
      }}
    >
      ${knot()}
      <h1>Bowline</h1>
      <p class="faint">
        Open the link that <code>bowline serve</code> printed, or paste its token here.
      </p>
      ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        spellcheck=${false}
        autofocus
        value=${token}
        onInput=${(event: Event) => setToken((event.currentTarget as HTMLInputElement).value)}
      />
      <label class="check">
        <input type="checkbox" checked=${isRemembered} onChange=${() => remember(!isRemembered)} />
        Remember it in this browser
      </label>
      <button type="submit" class="primary" disabled=${token.trim() === ""}>Connect</button>
    </form>
  </main>`;
}

/** Also accepts a whole link. */
function tokenIn(text: string): string {
  return parseAddress(/#\S*/.exec(text)?.[0] ?? "").token ?? text.trim();
}
