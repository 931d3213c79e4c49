/** The session in the address is the one that is shown: each follows the other. */
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
  /** The address got a token while the page was shown. */
  readonly onToken: () => void;
}

export interface FollowedAddress {
  /** Puts a session into the address, which shows it; an empty key begins a new one. */
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
  /** A token opens the sessions of its user only: in place of any other, a new one is shown. */
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
