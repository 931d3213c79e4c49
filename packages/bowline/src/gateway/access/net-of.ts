/** By what somebody is counted who comes from an address. */
import { isIPv6 } from "node:net";

/** What one customer is given of IPv6: 64 bits, in groups of 16. */
const NET_GROUPS = 4;

/**
 * An IPv4 address itself; of an IPv6 address its net of 64 bits, since whoever has one has them all
 * and could come from another each time.
 */
export function netOf(address: string): string {
  const [plain = ""] = address.split("%"); // the interface of an address that is local to one
  if (!isIPv6(plain)) return address;
  const [before = [], after = []] = plain.split("::").map(groupsOf);
  const missing = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const groups = [...before, ...missing, ...after].slice(0, NET_GROUPS);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

function groupsOf(text: string): string[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => (group.includes(".") ? ["0", "0"] : [group]));
}
