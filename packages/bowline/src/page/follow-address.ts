/** Keeps the address and the shown session in sync. */
import type { GatewayClient } from "../gateway/client/client.ts";
import { createKey } from "../gateway/client/create-key.ts";
import { formatAddress, parseAddress } from "./address.ts";
import type { Controller } from "./controller.ts";
import type { PageAction, PageState } from "./state/page-state.ts";
import type { Store } from "./store.ts";

interface FollowOptions {
  readonly client: GatewayClient;
  readonly controller: Controller;
  readonly store: Store<PageState, PageAction>;
  /** Called when the address gets a token while the page is shown. */
  readonly onToken: () => void;
}

export interface FollowedAddress {
  /** Shows a session and puts it into the address. An empty key starts a new one. */
  readonly show: (sessionKey: string) => void;
  readonly stop: () => void;
}

export function followAddress({
  client,
  controller,
  store,
  onToken,
}: FollowOptions): FollowedAddress {
  const newKey = (): string => `${client.welcome?.sessions ?? ""}${createKey()}`;
  /** Opens a session, or a new one if the token gives no access to that session. */
  const open = (wanted: string): void => {
    if (wanted.startsWith(client.welcome?.sessions ?? "")) return controller.open(wanted);
    const own = newKey();
    history.replaceState(null, "", formatAddress(own));
    controller.open(own);
  };
  const onAddress = (): void => {
    const { token, sessionKey: wanted } = parseAddress(location.hash);
    if (token !== undefined) return onToken();
    if (wanted !== undefined) open(wanted);
  };
  client.onState((state) => {
    if (state === "open") open(store.state.conversation.sessionKey);
  });
  addEventListener("hashchange", onAddress);
  return {
    show: (wanted) => (location.hash = formatAddress(wanted === "" ? newKey() : wanted)),
    stop: () => removeEventListener("hashchange", onAddress),
  };
}
