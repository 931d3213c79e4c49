/** Returns the network by which the attempts of an address are counted. */
import { isIPv6 } from "node:net";

/** The 16-bit groups of an IPv6 network of 64 bits, the size that one customer usually gets. */
const NET_GROUPS = 4;

/**
 * Returns an IPv4 address unchanged, and the /64 network of an IPv6 address. The owner of such a
 * network can use a new address for each attempt.
 */
export function netOf(address: string): string {
  const [plain = ""] = address.split("%"); // removes the zone of a link-local address
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
